"""Queries over HTTP. Members are in camelCase, as whoever wrote the first of these systems called them:
`queryKey`, `lastProcessedDate`, `consecutiveFailures`.
"""

from datetime import date
from typing import Annotated, Any

from fastapi import Body, Path, Query

from thresher.admin.keys import READ, WRITE
from thresher.admin.tasks import Added
from thresher.apps.queries.http.answer import Camel, camel_answer
from thresher.apps.queries.model import IngestionRun
from thresher.apps.queries.service import alarms as open_alarms
from thresher.apps.queries.service import queries
from thresher.core.errors import UsageError
from thresher.web.route import AfterId, AfterKey, BeforeId, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said

Key = Annotated[str, Path(description="Key or name of the query.")]


class QueryAsked(RequestBody):
    """A search that is repeated: its client, its text, the client's parameters, and its limits."""

    model_config = like(
        name="python, remote", client="remotive", text="python", parameters={"category": "software-dev"}
    )

    name: Text
    client: Text
    text: Text = ""
    parameters: dict[str, str] = {}
    start: Text | None = None
    maxPages: int | None = None  # noqa: N815  as the API has it
    maxOffers: int | None = None  # noqa: N815


class DaysAsked(RequestBody):
    """Days of the past, such as 2026-01-31. With `dryRun` nothing is changed."""

    model_config = like(first="2026-01-01", last="2026-01-31", dryRun=True)

    first: Text
    last: Text
    dryRun: bool = False  # noqa: N815


class ResetAsked(RequestBody):
    """With `dryRun` nothing is changed."""

    model_config = like(dryRun=True)

    dryRun: bool = False  # noqa: N815


async def listed(
    runtime: CurrentRuntime,
    retired: Annotated[bool, Query(description="Show retired queries too.")] = False,
    limit: Limit = 1_000,
    after: AfterKey = None,
) -> Camel[list[queries.QueryView]]:
    """List queries by client and name: when each ran last, whether that succeeded, how far it has come,
    whether it runs now.
    """
    return await camel_answer(
        runtime, lambda: queries.list_views(runtime.store, retired=retired, after=after, limit=limit)
    )


async def shown(runtime: CurrentRuntime, key: Key) -> Camel[queries.QueryDetail]:
    """Show one query, by key or name, with its latest runs and its days: seen, recent, partial or missing."""
    return await camel_answer(runtime, lambda: queries.show_query(runtime.store, key))


async def runs(
    runtime: CurrentRuntime, limit: Limit = 50, before: BeforeId = None
) -> Camel[list[IngestionRun]]:
    """List the latest ingestion runs of all queries, newest first, with their counters."""
    return await camel_answer(runtime, lambda: queries.runs_of_all(runtime.store, limit, before))


async def clients(runtime: CurrentRuntime) -> Camel[list[queries.ClientView]]:
    """List the clients that queries search with, their parameters, and the variables that they need."""
    return await camel_answer(runtime, lambda: queries.list_clients(runtime.store))


async def alarms(
    runtime: CurrentRuntime,
    cleared: Annotated[bool, Query(description="Show alarms that are over too.")] = False,
    limit: Limit = 100,
    after: AfterId = 0,
) -> Camel[list[open_alarms.AlarmView]]:
    """List open alarms, the oldest first: what a person has to know, since when, and how often."""
    return await camel_answer(
        runtime, lambda: open_alarms.alarms_by_id(runtime.store, cleared=cleared, after=after, limit=limit)
    )


async def sync(runtime: CurrentRuntime) -> Camel[Added]:
    """Sync the sheet and the files of companies now, whatever the hour. A worker does it in its turn."""
    return await camel_answer(runtime, lambda: queries.sync_now(runtime.store, runtime.registry))


async def add(runtime: CurrentRuntime, body: QueryAsked) -> Camel[queries.QueryView]:
    """Add a query. One that searches for the same keeps its history and takes the new name and limits."""
    wanted = {
        "client": body.client,
        "text": body.text,
        "parameters": body.parameters,
        "start": body.start,
        "max_pages": body.maxPages,
        "max_offers": body.maxOffers,
    }
    return await camel_answer(runtime, lambda: queries.add_query(runtime.store, body.name, wanted))


async def run(runtime: CurrentRuntime, key: Key) -> Camel[Added]:
    """Make a query due now. A worker runs it in its turn."""
    return await camel_answer(runtime, lambda: queries.run_now(runtime.store, runtime.registry, [key]))


async def pause(
    runtime: CurrentRuntime, key: Key, body: Annotated[ReasonBody | None, Body()] = None
) -> Camel[queries.QueryView]:
    """Pause a query until it is resumed. A run that is under way ends as usual."""
    return await camel_answer(
        runtime, lambda: queries.pause(runtime.store, key, said(body, "paused manually"))
    )


async def resume(runtime: CurrentRuntime, key: Key) -> Camel[queries.QueryView]:
    """Run a paused query again."""
    return await camel_answer(runtime, lambda: queries.resume(runtime.store, key))


async def reset(
    runtime: CurrentRuntime, key: Key, body: Annotated[ResetAsked | None, Body()] = None
) -> Camel[queries.Rewound]:
    """Forget how far a query has come: its history is looked at again. Nothing is stored twice."""
    dry = body is not None and body.dryRun
    return await camel_answer(runtime, lambda: queries.reset(runtime.store, key, dry_run=dry))


async def backfill(runtime: CurrentRuntime, key: Key, body: DaysAsked) -> Camel[queries.Rewound]:
    """Look at days of the past, again or for the first time, newest first."""
    first, last = _day(body.first, "first"), _day(body.last, "last")
    return await camel_answer(
        runtime, lambda: queries.backfill(runtime.store, key, first, last, dry_run=body.dryRun)
    )


async def remove(runtime: CurrentRuntime, key: Key) -> Camel[queries.QueryView]:
    """Retire a query: it runs no more, and what it has found is kept."""
    return await camel_answer(runtime, lambda: queries.retire(runtime.store, key))


def _day(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name} is {text[:40]!r}; write a day as 2026-01-31") from None


_QUERY: dict[str, Any] = {
    "queryKey": "remotive:3f2a9c1b7d04",
    "name": "python, remote",
    "client": "remotive",
    "text": "python",
    "parameters": {"category": "software-dev"},
    "status": "SUCCESS",
    "running": False,
    "lastRunAt": "2026-03-02T10:15:00.000Z",
    "lastSuccessAt": "2026-03-02T10:15:09.000Z",
    "lastErrorAt": "2026-02-27T10:15:00.000Z",
    "lastRunSucceeded": True,
    "lastProcessedDate": "2026-02-26",
    "nextUpdatedSince": "2026-02-27",
    "consecutiveFailures": 0,
    "dueAt": "2026-03-02T16:15:09.000Z",
    "dueLater": True,
    "offers": 120,
    "startDate": "2026-02-01",
    "maxPages": 10,
    "maxOffers": 500,
    "error": "the client answered 503 (after 3 retries)",
    "pausedAt": "2026-03-02T11:00:00.000Z",
    "pausedReason": "paused manually",
    "retiredAt": "2026-03-02T11:00:00.000Z",
    "clientClosedUntil": "2026-03-02T16:15:00.000Z",
    "clientClosedReason": "429 Too Many Requests",
    "clientSource": "queries.remotive",
    "createdAt": "2026-02-01T09:00:00.000Z",
    "declaredIn": "file",
}
_RUN = {
    "id": 12,
    "queryKey": "remotive:3f2a9c1b7d04",
    "client": "remotive",
    "status": "SUCCESS",
    "startedAt": "2026-03-02T10:15:00.000Z",
    "finishedAt": "2026-03-02T10:15:09.000Z",
    "windowFrom": "2026-02-27",
    "windowTo": "2026-03-02",
    "updatedSince": "2026-02-27",
    "pagesFetched": 3,
    "offersFetched": 120,
    "offersNew": 12,
    "offersUpdated": 3,
    "offersKnown": 105,
    "offersGone": 0,
    "reposts": 1,
    "detailsFetched": 0,
    "requestsCount": 3,
    "http429Count": 0,
    "errorsCount": 0,
    "retries": 0,
    "companiesAggregated": 9,
    "companiesFailed": 0,
    "stopReason": "window_exhausted",
    "verdict": "found",
    "note": "10 pages are the limit of a run",
}
_DAY = {"day": "2026-02-26", "state": "partial", "why": "max_pages"}
_CLIENT = {
    "name": "remotive",
    "title": "Remotive",
    "parameters": {"category": "Category of Remotive, such as software-dev."},
    "window": "none",
    "needs": ["REMOTIVE_KEY"],
    "missing": ["REMOTIVE_KEY"],
    "details": False,
    "terms": "Remotive asks to be named as the source.",
    "own": False,
}
_ADDED = {"id": 41, "kind": "query_cycle", "key": "cycle", "new": True}
_REWOUND = {
    "queryKey": "remotive:3f2a9c1b7d04",
    "name": "python, remote",
    "days": 31,
    "first": "2026-01-01",
    "last": "2026-01-31",
    "dryRun": True,
}
_ALARM = {
    "id": 3,
    "name": "client_stopped",
    "subject": "queries.infojobs",
    "message": "api.infojobs.net answered 401 Unauthorized",
    "raisedAt": "2026-03-02T10:15:00.000Z",
    "lastAt": "2026-03-02T10:15:00.000Z",
    "times": 1,
    "toldAt": "2026-03-02T10:16:00.000Z",
    "clearedAt": "2026-03-02T12:00:00.000Z",
    "isOpen": True,
}


_DETAIL = {"query": _QUERY, "runs": [_RUN], "days": [_DAY]}

ROUTES = (
    Route(
        "GET",
        "/api/queries",
        listed,
        READ,
        example=[_QUERY],
        probe=True,
        page_by="queryKey",
        name="list_queries",
    ),
    Route("POST", "/api/queries", add, WRITE, example=_QUERY, name="add_query"),
    Route("GET", "/api/query-clients", clients, READ, example=[_CLIENT], name="list_query_clients"),
    Route("GET", "/api/query-alarms", alarms, READ, example=[_ALARM], page_by="id", name="list_query_alarms"),
    Route("POST", "/api/query-sync", sync, WRITE, example=_ADDED, name="sync_queries"),
    Route("GET", "/api/ingestion-runs", runs, READ, example=[_RUN], page_by="id", name="list_ingestion_runs"),
    Route("POST", "/api/queries/{key:path}/run", run, WRITE, example=_ADDED, name="run_query"),
    Route("POST", "/api/queries/{key:path}/pause", pause, WRITE, example=_QUERY, name="pause_query"),
    Route("POST", "/api/queries/{key:path}/resume", resume, WRITE, example=_QUERY, name="resume_query"),
    Route("POST", "/api/queries/{key:path}/reset", reset, WRITE, example=_REWOUND, name="reset_query"),
    Route(
        "POST", "/api/queries/{key:path}/backfill", backfill, WRITE, example=_REWOUND, name="backfill_query"
    ),
    Route("DELETE", "/api/queries/{key:path}", remove, WRITE, example=_QUERY, name="retire_query"),
    Route("GET", "/api/queries/{key:path}", shown, READ, example=_DETAIL, name="get_query"),
)
