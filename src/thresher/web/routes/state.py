"""Whether the server is there, how the queue stands, and the list of routes for programs."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from thresher.admin.keys import READ
from thresher.admin.status import read_status
from thresher.admin.times import read_now
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.route import CurrentRuntime, Route
from thresher.web.schemas import described


async def health(runtime: CurrentRuntime) -> Response:
    """Check that the server can reach its database. Needs no key, and says nothing else."""
    return await answer(runtime.store, _healthy, runtime.store)


def _healthy(store: Store) -> dict[str, Any]:
    read_now(store)
    return {"status": "ok"}


async def status(runtime: CurrentRuntime) -> Response:
    """Summarise the queue: waiting, running and ended tasks, the workers, and the closed gates."""
    return await answer(runtime.store, read_status, runtime.store)


async def openapi(request: Request) -> Response:
    """Describe this API for programs."""
    return JSONResponse(described(request))


ROUTES = (
    Route("GET", "/api/health", health, None),
    Route("GET", "/api/status", status, READ, probe=True),
    Route("GET", "/api/openapi.json", openapi, READ),
)
