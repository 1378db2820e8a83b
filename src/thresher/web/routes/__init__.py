"""Every route of the API: this list is all there is."""

from thresher.web.route import Route
from thresher.web.routes import (
    boards,
    companies,
    costs,
    events,
    explain,
    export,
    matches,
    postings,
    profile,
    settings,
    sources,
    state,
    tasks,
)

ROUTES: tuple[Route, ...] = (
    *state.ROUTES,
    *companies.ROUTES,
    *boards.ROUTES,
    *postings.ROUTES,
    *matches.ROUTES,
    *explain.ROUTES,
    *profile.ROUTES,
    *tasks.ROUTES,
    *sources.ROUTES,
    *events.ROUTES,
    *costs.ROUTES,
    *settings.ROUTES,
    *export.ROUTES,
)
