"""Postings over HTTP: list them, open one."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from thresher.admin.keys import READ
from thresher.admin.times import read_now
from thresher.apps.hiring.postings import PostingView, list_postings, show_posting
from thresher.apps.hiring.postings import since as moment
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route


async def postings(
    runtime: CurrentRuntime,
    state: Annotated[str | None, Query(description="State: open or closed.")] = None,
    board: Annotated[str | None, Query(description="Only rows of the board with this key.")] = None,
    company: Annotated[str | None, Query(description="Only rows of the company with this key.")] = None,
    outcome: Annotated[
        str | None, Query(description="What was decided: saved, skipped, filtered or unknown.")
    ] = None,
    since: Annotated[
        str | None, Query(description="Only postings seen since: 12h, 7d, 2w, 2026-01-31.")
    ] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Response:
    """List postings, newest first."""
    wanted = {"state": state, "board": board, "company": company, "outcome": outcome, "before": before}
    return await answer(runtime.store, _listed, runtime.store, since, limit, wanted)


def _listed(store: Store, since: str | None, limit: int, wanted: dict[str, str | None]) -> list[PostingView]:
    after = moment(since, read_now(store)) if since else None
    return list_postings(store, seen_since=after, limit=limit, **wanted)


async def posting(runtime: CurrentRuntime, key: str) -> Response:
    """Show one posting, by its key or its URL: its content, the facts read from it with their places, and its
    history.
    """
    return await answer(runtime.store, show_posting, runtime.store, key)


ROUTES = (
    Route("GET", "/api/postings", postings, READ, page_by="key"),
    Route("GET", "/api/postings/{key:path}", posting, READ),
)
