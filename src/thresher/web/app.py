"""The served application: the API with authentication, body limits and routes, and the pages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from thresher.core.errors import ThresherError
from thresher.runtime import Runtime
from thresher.web.answer import Pools
from thresher.web.auth import Authentication
from thresher.web.body import BodyReader, Shares
from thresher.web.openapi import document
from thresher.web.pages.live import Changes
from thresher.web.pages.site import Site
from thresher.web.problem import on_error, on_http, on_invalid, on_surprise
from thresher.web.readiness import Readiness
from thresher.web.refresh import keep_fresh
from thresher.web.route import OURS, Guarded, app_routes, body_limits
from thresher.web.routes import ROUTES
from thresher.web.traffic import Traffic


def make_app(runtime: Runtime) -> FastAPI:
    """Build the API and the dashboard of a project."""
    app = make_api(runtime)
    app.add_middleware(Authentication, store=runtime.store, apps=runtime.registry.apps)
    app.add_middleware(Site, runtime=runtime, state=app.state)  # added last, so it stands first
    return app


def make_api(runtime: Runtime) -> FastAPI:
    """Build the API alone, for whoever says in the request who asks. The framework's own pages load from
    elsewhere, so they are off.
    """
    app = FastAPI(
        title="Thresher",
        version=version("thresher"),
        lifespan=partial(_lifespan, runtime),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.runtime, app.state.shares, app.state.pools = runtime, Shares(), Pools()
    app.state.changes = Changes(runtime.store, lambda: float(runtime.store.settings["web.live_interval"]))
    app.state.readiness, app.state.traffic = Readiness(runtime.store), Traffic()
    app.router.route_class = Guarded
    mounted = [*((OURS, route) for route in ROUTES), *app_routes(runtime.registry.apps, ROUTES)]
    for owner, route in mounted:
        route.add_to(app, owner)
    app.add_exception_handler(ThresherError, on_error)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(Exception, on_surprise)
    app.state.document = cache(partial(document, app, mounted, runtime.registry.apps))
    limits = body_limits(route for _, route in mounted)
    app.add_middleware(BodyReader, settings=lambda: runtime.store.settings, limits=limits)
    return app


@asynccontextmanager
async def _lifespan(runtime: Runtime, app: FastAPI) -> AsyncIterator[None]:
    fresh = asyncio.create_task(keep_fresh(runtime))
    try:
        yield
    finally:
        app.state.pools.shutdown()
        fresh.cancel()
        with suppress(asyncio.CancelledError):
            await fresh
