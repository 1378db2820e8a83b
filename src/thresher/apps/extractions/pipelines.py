"""The kinds of tasks of the extractions app, the slots that they share, and what happens on a schedule."""

from thresher.apps.extractions import completion, detect, extract_api, extract_data, fetch_page, start

PIPELINES = (
    *detect.PIPELINES,
    *start.PIPELINES,
    *fetch_page.PIPELINES,
    *extract_data.PIPELINES,
    *extract_api.PIPELINES,
    *completion.PIPELINES,
)
SOURCES = (*detect.SOURCES, *fetch_page.SOURCES, *extract_data.SOURCES, *extract_api.SOURCES)
SCHEDULES = completion.SCHEDULES
