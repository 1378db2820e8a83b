"""The pipelines and schedules of the prices app, in the order in which work flows through them."""

from thresher.apps.prices import alerting, collect, refresh, retention, valuing

PIPELINES = (
    *refresh.PIPELINES,
    *collect.PIPELINES,
    *valuing.PIPELINES,
    *alerting.PIPELINES,
    *retention.PIPELINES,
)
SCHEDULES = (*refresh.SCHEDULES, *valuing.SCHEDULES, *alerting.SCHEDULES, *retention.SCHEDULES)
