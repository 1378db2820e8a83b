"""Whether the server is there, how the queue stands, and the list of routes for programs."""

from typing import Any, Literal, TypedDict

from starlette.requests import Request

from thresher.admin.keys import READ
from thresher.admin.status import Status, read_status
from thresher.admin.times import read_now
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.openapi import described
from thresher.web.route import CurrentRuntime, Route
from thresher.web.routes.examples import AT, GATE


class HealthView(TypedDict):
    """The server is there."""

    status: Literal["ok"]


async def health(runtime: CurrentRuntime) -> Answer[HealthView]:
    """Check that the server can reach its database. Needs no key, and says nothing else."""
    return await answer(runtime.store, _healthy, runtime.store)


def _healthy(store: Store) -> HealthView:
    read_now(store)
    return {"status": "ok"}


async def status(runtime: CurrentRuntime) -> Answer[Status]:
    """Summarise the queue: waiting, running and ended tasks, the workers, and the closed gates."""
    return await answer(runtime.store, read_status, runtime.store)


async def openapi(request: Request) -> Answer[dict[str, Any]]:
    """Describe this API for programs: an OpenAPI document."""
    return await described(request)


HEALTHY = {"status": "ok"}
_WORKER = {
    "id": 2,
    "name": "north",
    "host": "north.example",
    "pid": 4_711,
    "alive": True,
    "started_at": AT,
    "lease_until_at": AT,
    "holds": 1,
    "tasks": [{"id": 42, "kind": "page", "stage": "fetch", "started_at": AT}],
    "serves": ["shop"],
}
_STATUS = {
    "at": AT,
    "schema": 26,
    "counts": {"page": {"pending": 12, "running": 1, "succeeded": 984}},
    "waiting": {"due": 12, "delayed": 1, "next_at": AT},
    "oldest": {"id": 41, "kind": "page", "created_at": AT},
    "workers": [_WORKER],
    "closed": [GATE],
    "runs": 1,
    "unserved": ["4 tasks of kind report wait for a worker that knows it"],
    "refused": {"duplicate": 3},
    "deep": 0,
}

ROUTES = (
    Route("GET", "/api/health", health, None, example=HEALTHY, name="check_health"),
    Route("GET", "/api/status", status, READ, probe=True, example=_STATUS, name="get_status"),
    Route(
        "GET",
        "/api/openapi.json",
        openapi,
        READ,
        example={"openapi": "3.1.0", "paths": {}},
        name="get_openapi",
    ),
)
