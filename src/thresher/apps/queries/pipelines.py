"""The pipelines of the queries app and their schedules."""

from thresher.apps.queries import cycle, retention

PIPELINES = (*cycle.PIPELINES, *retention.PIPELINES)
SCHEDULES = (*cycle.SCHEDULES, *retention.SCHEDULES)
