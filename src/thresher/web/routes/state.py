"""Whether the server is there, how the queue stands, and the list of routes for programs."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from thresher.admin.keys import Scope
from thresher.admin.status import read_status
from thresher.admin.times import read_now
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.cookie import SECURE_NAME
from thresher.web.route import Owner, Route, Shop

KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "scraper": {"type": "apiKey", "in": "header", "name": "X-Scraper-API-Key"},
    "login": {"type": "apiKey", "in": "cookie", "name": SECURE_NAME},
}
SCRAPERS = "/api/scraper/"


async def health(runtime: Shop) -> Response:
    """Whether the server can reach its database. Needs no key, and says nothing else."""
    return await answer(runtime.store, _healthy, runtime.store)


def _healthy(store: Store) -> dict[str, Any]:
    read_now(store)
    return {"status": "ok"}


async def status(runtime: Shop) -> Response:
    """The queue at a glance: what waits, runs and has ended, who works, and which gates are closed."""
    return await answer(runtime.store, read_status, runtime.store)


async def openapi(request: Request) -> Response:
    """This API, described for programs."""
    return JSONResponse(_described(request))


async def scraper_openapi(request: Request) -> Response:
    """The part of it that a scraper's key opens."""
    said = _described(request)
    return JSONResponse(
        {**said, "paths": {path: each for path, each in said["paths"].items() if path.startswith(SCRAPERS)}}
    )


def _described(request: Request) -> dict[str, Any]:
    said = dict(request.app.openapi())
    said["components"] = {**said.get("components", {}), "securitySchemes": KEYS}
    return {**said, "security": [{name: []} for name in KEYS]}


ROUTES = (
    Route("GET", "/api/health", health, Owner.THRESHER, None),
    Route("GET", "/api/status", status, Owner.THRESHER, Scope.READ),
    Route("GET", "/api/openapi.json", openapi, Owner.THRESHER, Scope.READ),
    Route("GET", f"{SCRAPERS}openapi.json", scraper_openapi, Owner.ROLES, Scope.SCRAPE),
)
