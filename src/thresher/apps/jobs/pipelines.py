"""The pipelines of the jobs app, its notification source, and the schemas it extracts."""

from thresher.apps.jobs.company.pipeline import company
from thresher.apps.jobs.discovery.pipeline import discovery
from thresher.apps.jobs.job import job
from thresher.apps.jobs.notify import SOURCE, notify
from thresher.apps.jobs.review import review
from thresher.apps.jobs.scoring.judgement import judgement_schema
from thresher.apps.jobs.scraping.learned_rows import OPENINGS
from thresher.apps.jobs.scraping.pipeline import scrape, scrape_source
from thresher.core.pipeline import Schedule
from thresher.core.task import NewTask

EVERY = 600.0  # seconds between two rounds over the boards that are due; how often each is due is a setting

PIPELINES = (company, discovery, scrape, scrape_source, job, review, notify)
SOURCES = (SOURCE,)
SCHEDULES = (Schedule("jobs.scrape", NewTask("scrape", key="scrape"), every=EVERY),)
SCHEMAS = (judgement_schema(), OPENINGS)
