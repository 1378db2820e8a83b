"""What the jobs app brings: its pipelines, its schedule, and the shapes that it asks pages and models for."""

from thresher.apps.jobs.company.pipeline import company
from thresher.apps.jobs.discovery.discovery import discovery
from thresher.apps.jobs.job import job
from thresher.apps.jobs.looks.openings import OPENINGS
from thresher.apps.jobs.looks.scrape import scrape
from thresher.apps.jobs.looks.scrape_source import scrape_source
from thresher.apps.jobs.notify import SOURCE, notify
from thresher.apps.jobs.scoring.judgement import judgement_schema
from thresher.core.pipeline import App, Schedule
from thresher.core.task import NewTask

EVERY = 600.0  # seconds between two rounds over the boards that are due; how often each is due is a setting

app = App(
    "jobs",
    pipelines=(company, discovery, scrape, scrape_source, job, notify),
    sources=(SOURCE,),
    schedules=(Schedule("jobs.scrape", NewTask("scrape", key="scrape"), every=EVERY),),
    schemas=(judgement_schema(), OPENINGS),
)
