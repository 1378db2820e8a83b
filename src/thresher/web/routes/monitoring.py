"""What machines ask that look after this one: whether it lives, whether it is ready, and its figures.

These paths stand beside `/api`, where such machines look for them.
"""

from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.keys import READ
from thresher.admin.metrics import CONTENT_TYPE, exposition, fetch_metrics, read_metrics
from thresher.web.answer import JSON, Answer, written
from thresher.web.problem import Problem
from thresher.web.route import CurrentRuntime, Route
from thresher.web.routes.state import HEALTHY, HealthView

NOT_READY = Problem(503, "NotReady", "not ready; the server's log says why", {"Retry-After": "1"})


async def alive() -> Answer[HealthView]:
    """Tell that the server runs. Asks no database, and needs no key."""
    return _ok()


async def ready(request: Request) -> Answer[HealthView] | Response:
    """Tell whether the database answers and has all migrations: 200, or 503. Needs no key, and says nothing
    else.
    """
    return NOT_READY.response() if await request.app.state.readiness.problem() else _ok()


def _ok() -> Answer[HealthView]:
    return Answer(written(HEALTHY), media_type=JSON)


async def metrics(runtime: CurrentRuntime, request: Request) -> Response:
    """Show the figures of the queue and of this server, as Prometheus reads them."""
    found = await runtime.store.run(read_metrics, runtime.store)
    ours = [*request.app.state.traffic.metrics(), *fetch_metrics(runtime.traffic)]
    return Response(exposition([*found, *ours]), media_type=CONTENT_TYPE)


_TEXT = {"responses": {"200": {"content": {"text/plain": {"schema": {"type": "string"}}}}}}
ROUTES = (
    Route("GET", "/healthz", alive, None, example=HEALTHY, name="check_alive"),
    Route("GET", "/readyz", ready, None, example=HEALTHY, name="check_ready"),
    Route("GET", "/metrics", metrics, READ, _TEXT, probe=True, name="get_metrics"),
)
PATHS = frozenset(route.path for route in ROUTES)
PROBES = frozenset(route.path for route in ROUTES if route.scope is None)
