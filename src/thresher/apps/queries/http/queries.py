"""Queries over HTTP. Members are in camelCase, as whoever wrote the first of these systems called them:
`queryKey`, `lastProcessedDate`, `consecutiveFailures`.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Annotated, Any

from fastapi import Body, Query
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.admin.plain import jsonable
from thresher.apps.queries.service import queries
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web.answer import answer
from thresher.web.route import CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said

_SECOND_WORD = re.compile(r"_([a-z0-9])")
# What a client or a person wrote keeps its names.
_AS_WRITTEN = frozenset(("parameters",))


def camel(value: Any) -> Any:
    """JSON whose members are in camelCase."""
    plain = jsonable(value)
    if isinstance(plain, Mapping):
        return {_camel(name): each if name in _AS_WRITTEN else camel(each) for name, each in plain.items()}
    return [camel(each) for each in plain] if isinstance(plain, list) else plain


def _camel(name: str) -> str:
    return _SECOND_WORD.sub(lambda match: match[1].upper(), name)


async def _answer(runtime: Runtime, work: Callable[[], Any]) -> Response:
    return await answer(runtime.store, lambda: camel(work()))


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

    first: Text
    last: Text
    dryRun: bool = False  # noqa: N815


class ResetAsked(RequestBody):
    """With `dryRun` nothing is changed."""

    dryRun: bool = False  # noqa: N815


async def listed(
    runtime: CurrentRuntime,
    retired: Annotated[bool, Query(description="Show retired queries too.")] = False,
) -> Response:
    """List queries: when each ran last, whether that succeeded, how far it has come, whether it runs now."""
    return await _answer(runtime, lambda: queries.list_views(runtime.store, retired=retired))


async def shown(runtime: CurrentRuntime, key: str) -> Response:
    """Show one query, by key or name, with its latest runs and its days: seen, recent, partial or missing."""
    return await _answer(runtime, lambda: queries.show_query(runtime.store, key))


async def runs(runtime: CurrentRuntime, limit: Limit = 50) -> Response:
    """List the latest ingestion runs of all queries, newest first, with their counters."""
    return await _answer(runtime, lambda: queries.recent_runs(runtime.store, limit=limit))


async def clients(runtime: CurrentRuntime) -> Response:
    """List the clients that queries search with, their parameters, and the variables that they need."""
    return await _answer(runtime, lambda: queries.list_clients(runtime.store))


async def add(runtime: CurrentRuntime, body: QueryAsked) -> Response:
    """Add a query. One that searches for the same keeps its history and takes the new name and limits."""
    wanted = {
        "client": body.client,
        "text": body.text,
        "parameters": body.parameters,
        "start": body.start,
        "max_pages": body.maxPages,
        "max_offers": body.maxOffers,
    }
    return await _answer(runtime, lambda: queries.add_query(runtime.store, body.name, wanted))


async def run(runtime: CurrentRuntime, key: str) -> Response:
    """Make a query due now. A worker runs it in its turn."""
    return await _answer(runtime, lambda: queries.run_now(runtime.store, runtime.registry, [key]))


async def pause(
    runtime: CurrentRuntime, key: str, body: Annotated[ReasonBody | None, Body()] = None
) -> Response:
    """Pause a query until it is resumed. A run that is under way ends as usual."""
    return await _answer(runtime, lambda: queries.pause(runtime.store, key, said(body, "paused manually")))


async def resume(runtime: CurrentRuntime, key: str) -> Response:
    """Run a paused query again."""
    return await _answer(runtime, lambda: queries.resume(runtime.store, key))


async def reset(
    runtime: CurrentRuntime, key: str, body: Annotated[ResetAsked | None, Body()] = None
) -> Response:
    """Forget how far a query has come: its history is looked at again. Nothing is stored twice."""
    dry = body is not None and body.dryRun
    return await _answer(runtime, lambda: queries.reset(runtime.store, key, dry_run=dry))


async def backfill(runtime: CurrentRuntime, key: str, body: DaysAsked) -> Response:
    """Look at days of the past, again or for the first time, newest first."""
    first, last = _day(body.first, "first"), _day(body.last, "last")
    return await _answer(
        runtime, lambda: queries.backfill(runtime.store, key, first, last, dry_run=body.dryRun)
    )


async def remove(runtime: CurrentRuntime, key: str) -> Response:
    """Retire a query: it runs no more, and what it has found is kept."""
    return await _answer(runtime, lambda: queries.retire(runtime.store, key))


def _day(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name} is {text[:40]!r}; write a day as 2026-01-31") from None


ROUTES = (
    Route("GET", "/api/queries", listed, READ, probe=True),
    Route("POST", "/api/queries", add, WRITE),
    Route("GET", "/api/query-clients", clients, READ),
    Route("GET", "/api/ingestion-runs", runs, READ),
    Route("POST", "/api/queries/{key:path}/run", run, WRITE),
    Route("POST", "/api/queries/{key:path}/pause", pause, WRITE),
    Route("POST", "/api/queries/{key:path}/resume", resume, WRITE),
    Route("POST", "/api/queries/{key:path}/reset", reset, WRITE),
    Route("POST", "/api/queries/{key:path}/backfill", backfill, WRITE),
    Route("DELETE", "/api/queries/{key:path}", remove, WRITE),
    Route("GET", "/api/queries/{key:path}", shown, READ),
)
