"""Postings over HTTP: list them, open one."""

from typing import Annotated, Any

from fastapi import Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.admin.times import read_now
from thresher.apps.hiring.groups import Grouped, ungroup
from thresher.apps.hiring.postings import PostingDetail, PostingView, list_postings, show_posting
from thresher.apps.hiring.postings import since as moment
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route

Key = Annotated[str, Path(description="Key or URL of the posting.")]


async def postings(
    runtime: CurrentRuntime,
    state: Annotated[str | None, Query(description="State: open or closed.")] = None,
    board: Annotated[str | None, Query(description="Only rows of the board with this key.")] = None,
    company: Annotated[str | None, Query(description="Only rows of the company with this key.")] = None,
    query: Annotated[str | None, Query(description="Only what the query with this key has found.")] = None,
    outcome: Annotated[
        str | None, Query(description="What was decided: saved, skipped, filtered or unknown.")
    ] = None,
    since: Annotated[
        str | None, Query(description="Only postings seen since: 12h, 7d, 2w, 2026-01-31.")
    ] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[PostingView]]:
    """List postings as they were found on boards and by scrapers, newest first."""
    wanted = {"state": state, "board": board, "company": company, "query": query, "outcome": outcome}
    wanted["before"] = before
    return await answer(runtime.store, _listed, runtime.store, since, limit, wanted)


def _listed(store: Store, since: str | None, limit: int, wanted: dict[str, str | None]) -> list[PostingView]:
    after = moment(since, read_now(store)) if since else None
    return list_postings(store, seen_since=after, limit=limit, **wanted)


async def leave(runtime: CurrentRuntime, key: Key) -> Answer[Grouped]:
    """Say that a posting is not the same opening as the others of its group. It stays apart from them, and is
    judged for itself.
    """
    return await answer(runtime.store, ungroup, runtime.store, runtime.registry, key)


async def posting(runtime: CurrentRuntime, key: Key) -> Answer[PostingDetail]:
    """Show one posting, by its key or its URL: its content, the facts read from it with their places, and its
    history.
    """
    return await answer(runtime.store, show_posting, runtime.store, key)


_AT = "2026-03-02T10:15:00.000Z"
_POSTING: dict[str, Any] = {
    "key": "greenhouse:acme/1",
    "title": "Senior Python Engineer",
    "company_name": "Acme",
    "location": "Portland, OR",
    "pay": "$100k-$120k",
    "url": "https://acme.com/careers/1",
    "posted": "2026-03-01",
    "state": "open",
    "outcome": "saved",
    "completeness": "good",
    "board": "greenhouse:acme",
    "group": None,
    "first_seen_at": _AT,
    "seen_at": _AT,
    "closed_at": None,
}
_DETAIL = {
    "posting": _POSTING,
    "data": {"title": "Senior Python Engineer", "company": "acme.com", "state": "open"},
    "evidence": {"source": "9f…", "places": {"pay": {"quote": "$100,000", "start": 210, "end": 218}}},
    "group": None,
    "same": [],
    "apart": [],
    "outcome": "saved",
    "status": "new",
    "tasks": [41],
}

_GROUPED: dict[str, Any] = {"group": "acme-engineer", "lead": None, "members": []}

ROUTES = (
    Route("GET", "/api/postings", postings, READ, page_by="key", example=[_POSTING], name="list_postings"),
    Route("POST", "/api/postings/{key:path}/ungroup", leave, WRITE, name="ungroup_posting", example=_GROUPED),
    Route("GET", "/api/postings/{key:path}", posting, READ, example=_DETAIL, name="get_posting"),
)
