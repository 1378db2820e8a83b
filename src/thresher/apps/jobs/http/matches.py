"""Matches over HTTP: the openings that suit the profile, and what was done about them."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.admin.times import read_now
from thresher.apps.jobs.service.matches import (
    Changed,
    MatchView,
    Search,
    check,
    list_matches,
    saved_search,
    set_status,
)
from thresher.apps.jobs.service.why_no_matches import WhyNoMatches, why_no_matches
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import RequestBody, Text


class MatchChanged(RequestBody):
    """What you have done about a match."""

    status: Text
    note: Text | None = None


async def matches(
    runtime: CurrentRuntime,
    status: Annotated[str | None, Query(description="Status: new, viewed, applied or dismissed.")] = None,
    priority: Annotated[str | None, Query(description="Priority: high, medium or low.")] = None,
    min_score: Annotated[int | None, Query(ge=-100_000, le=100_000, description="Minimum score.")] = None,
    since: Annotated[
        str | None, Query(description="Only matches decided since: 12h, 7d, 2w, 2026-01-31.")
    ] = None,
    company: Annotated[str | None, Query(description="Part of the company's name.")] = None,
    words: Annotated[str | None, Query(description="Words that the title must contain.")] = None,
    view: Annotated[str | None, Query(description="Name of a saved search, instead of filters.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """List matches, best first."""
    search = Search(status, priority, min_score, since, company, words)
    if view is not None and search.filters:
        raise UsageError("a view has its own filters; use either view or filters")
    return await answer(runtime.store, _listed, runtime.store, search, view, limit, before)


def _listed(
    store: Store, search: Search, view: str | None, limit: int, before: str | None
) -> list[MatchView]:
    now = read_now(store)
    asked = check(search, now) if view is None else saved_search(store, view)
    return list_matches(store, asked, now, limit, before)


async def why(runtime: CurrentRuntime) -> Response:
    """Explain why there are not more matches: reasons by count, nearest misses, and the change that brings
    most.
    """
    return await answer(runtime.store, _explained, runtime.store)


def _explained(store: Store) -> WhyNoMatches:
    return why_no_matches(store, read_now(store))


async def change_match(runtime: CurrentRuntime, key: str, body: MatchChanged) -> Response:
    """Record what you did about a match. No later analysis changes it."""
    return await answer(runtime.store, _changed, runtime.store, key, body)


def _changed(store: Store, key: str, body: MatchChanged) -> Changed:
    (changed,) = set_status(store, [key], body.status, body.note)
    return changed


ROUTES = (
    Route("GET", "/api/matches", matches, READ, page_by="key"),
    Route("GET", "/api/matches/why", why, READ),
    Route("PATCH", "/api/matches/{key:path}", change_match, WRITE),
)
