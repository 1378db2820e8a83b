"""Failures over HTTP: what failed, by error, kind and source; and to send it back, after a dry run."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from thresher.admin.failures import failure_filters, group_failures, plan_retry, retry_newest_failures
from thresher.admin.keys import READ, WRITE
from thresher.admin.times import seconds
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import RequestBody, Text, answers, like

MAX_COUNTED = 5_000  # failures of one error that are read
MAX_GROUPS = 200
MAX_EXAMPLES = 20  # tasks that a dry run names


class RetryAsked(RequestBody):
    """Which failed tasks: all that match every filter given. Ages are written as 90s, 10m, 2h or 1d. Without
    `apply` they are only counted.
    """

    model_config = like(error="TimedOut", apply=False)

    error: Text | None = None
    kind: Text | None = None
    source: Text | None = None
    older: Text | None = None
    newer: Text | None = None
    apply: bool = False


async def failures(
    runtime: CurrentRuntime,
    error: Annotated[str | None, Query(description="Error class, such as TimedOut.")] = None,
    kind: Annotated[str | None, Query(description="The kind of task.")] = None,
    source: Annotated[
        str | None, Query(description="Name of a source, or a gate such as host:example.com.")
    ] = None,
    state: Annotated[
        str | None, Query(description="failed (for good) or retrying (to be tried again). Default: both.")
    ] = None,
) -> Response:
    """List failures by error, kind and source, each group with its size and an example."""
    return await answer(runtime.store, _groups, runtime.store, state, error, kind, source)


def _groups(
    store: Store, state: str | None, error: str | None, kind: str | None, source: str | None
) -> list[dict[str, Any]]:
    wanted = failure_filters(store, error=error, kind=kind, source=source, older=None, newer=None)
    return [asdict(each) for each in group_failures(store, state, MAX_COUNTED, **wanted)[:MAX_GROUPS]]


async def retry(runtime: CurrentRuntime, body: RetryAsked) -> Response:
    """Send failed tasks that match back to waiting with a fresh retry budget. Without `apply`, say how many
    these are, and name some.
    """
    return await answer(runtime.store, _retried, runtime.store, body)


def _retried(store: Store, body: RetryAsked) -> dict[str, Any]:
    older, newer = (seconds(age) if age else None for age in (body.older, body.newer))
    wanted = failure_filters(
        store, error=body.error, kind=body.kind, source=body.source, older=older, newer=newer
    )
    if not body.apply:
        plan = plan_retry(store, **wanted)
        said = {"matched": len(plan.ids), "more": plan.more, "examples": plan.ids[:MAX_EXAMPLES]}
        return {"applied": False, **said, "retried": 0, "key_taken": 0}
    done = retry_newest_failures(store, **wanted)
    counts = {"retried": len(done.result.retried), "key_taken": len(done.result.key_taken)}
    return {"applied": True, "matched": done.matched, "more": False, "examples": [], **counts}


_GROUP = {
    "state": "failed",
    "error": "TimedOut",
    "kind": "page",
    "source": "source:acme",
    "count": 12,
    "example": 4711,
    "message": "acme.example did not answer within 20 s",
    "first_at": "2026-11-19T16:00:00Z",
    "last_at": "2026-11-19T17:00:00Z",
    "next_at": "2026-11-19T17:10:00Z",
}
_RETRIED = {"applied": False, "matched": 12, "more": False, "examples": [4711], "retried": 0, "key_taken": 0}

ROUTES = (
    Route(
        "GET",
        "/api/failures",
        failures,
        READ,
        {"responses": {"200": answers([_GROUP], perhaps=("error", "source", "message", "next_at"))}},
    ),
    Route(
        "POST",
        "/api/failures/retry",
        retry,
        WRITE,
        {"responses": {"200": answers(_RETRIED)}},
        shows=("error", "kind", "source", "older", "newer", "apply"),
    ),
)
