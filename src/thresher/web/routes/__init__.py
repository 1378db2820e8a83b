"""Every route of Thresher itself. The apps bring theirs: `App(routes=...)`."""

from thresher.web.route import Route
from thresher.web.routes import (
    costs,
    events,
    explain,
    export,
    failures,
    keys,
    login,
    monitoring,
    needs,
    people,
    records,
    runs,
    schedules,
    settings,
    sources,
    state,
    tasks,
    webhooks,
)

ROUTES: tuple[Route, ...] = (
    *state.ROUTES,
    *monitoring.ROUTES,
    *login.ROUTES,
    *keys.ROUTES,
    *people.ROUTES,
    *explain.ROUTES,
    *tasks.ROUTES,
    *failures.ROUTES,
    *runs.ROUTES,
    *schedules.ROUTES,
    *sources.ROUTES,
    *events.ROUTES,
    *costs.ROUTES,
    *settings.ROUTES,
    *export.ROUTES,
    *needs.ROUTES,
    *records.ROUTES,
    *webhooks.ROUTES,
)
