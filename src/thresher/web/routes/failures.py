"""Failures over HTTP: what failed or is tried again, in groups; send what failed back."""

from typing import Annotated, Any

from fastapi import Body, Query

from thresher.admin.failures import (
    FailureGroup,
    Rescue,
    failure_filters,
    group_failures,
    retry_newest_failures,
)
from thresher.admin.keys import READ, WRITE
from thresher.admin.times import seconds
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime, Route
from thresher.web.routes.examples import AT
from thresher.web.schemas import RequestBody, Text, like

MAX_COUNTED = 5_000  # failures of one error that are counted


class FailuresRetried(RequestBody):
    """Which failed tasks go back: those of an error, a kind, a source; those that failed longer ago than
    `older` or more recently than `newer` (such as 12h). Without `apply` they are only counted.
    """

    model_config = like(error="TimedOut", kind="page", newer="1d", apply=True)

    error: Text | None = None
    kind: Text | None = None
    source: Text | None = None
    older: Text | None = None
    newer: Text | None = None
    # As the command has it: without a filter this is every failure, and whoever sends {} may not know that.
    apply: bool = False


async def failures(
    runtime: CurrentRuntime,
    state: Annotated[str | None, Query(description="State: failed or retrying.")] = None,
    error: Annotated[str | None, Query(description="Class of the error, such as TimedOut.")] = None,
    kind: Annotated[str | None, Query(description="The kind of task.")] = None,
    source: Annotated[str | None, Query(description="Name of a source or gate; none for no gate.")] = None,
    older: Annotated[str | None, Query(description="Only what failed longer ago than 12h, 7d, 2w.")] = None,
    newer: Annotated[str | None, Query(description="Only what failed in the last 12h, 7d, 2w.")] = None,
) -> Answer[list[FailureGroup]]:
    """List what failed and what is tried again, by error, kind and source, the largest group first. Of each
    error the newest 5,000 are counted.
    """
    asked = {"error": error, "kind": kind, "source": source, "older": older, "newer": newer}
    return await answer(runtime.store, _grouped, runtime.store, state, asked)


def _grouped(store: Store, state: str | None, asked: dict[str, str | None]) -> list[FailureGroup]:
    return group_failures(store, state, MAX_COUNTED, **_filters(store, asked))


async def retry(
    runtime: CurrentRuntime, body: Annotated[FailuresRetried | None, Body()] = None
) -> Answer[Rescue]:
    """Send the newest failed tasks that match back to waiting, at most 5,000 at once. Without `apply`, only
    say how many these are, and name some.
    """
    return await answer(runtime.store, _retried, runtime.store, body or FailuresRetried())


def _retried(store: Store, body: FailuresRetried) -> Rescue:
    filters = _filters(store, body.model_dump(exclude={"apply"}))
    return retry_newest_failures(store, apply=body.apply, **filters)


def _filters(store: Store, asked: dict[str, str | None]) -> dict[str, Any]:
    ages = {name: seconds(age) if (age := asked.pop(name)) else None for name in ("older", "newer")}
    return failure_filters(store, error=asked["error"], kind=asked["kind"], source=asked["source"], **ages)


_GROUP = {
    "state": "failed",
    "error": "ServerError",
    "kind": "page",
    "source": "shop",
    "count": 12,
    "example": 41,
    "message": "503 Service Unavailable",
    "first_at": AT,
    "last_at": AT,
    "next_at": None,
}
_RESCUE = {
    "matched": 3,
    "applied": True,
    "examples": [43, 42, 41],
    "result": {"retried": [41, 42], "key_taken": [43]},
}

ROUTES = (
    Route("GET", "/api/failures", failures, READ, probe=True, name="list_failures", example=[_GROUP]),
    Route(
        "POST",
        "/api/failures/retry",
        retry,
        WRITE,
        shows=("error", "kind", "source", "older", "newer", "apply"),
        name="retry_failures",
        example=_RESCUE,
    ),
)
