"""What is served as one application: the API with its door, its cap and its routes, and the pages beside
it.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from functools import partial
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from thresher.build import Runtime
from thresher.core.errors import ThresherError
from thresher.web.body import Cap
from thresher.web.door import Door
from thresher.web.pages.site import Site
from thresher.web.problem import on_error, on_http, on_invalid, on_surprise
from thresher.web.refresh import keep_fresh
from thresher.web.route import Guarded
from thresher.web.routes import ROUTES
from thresher.web.spool import Shares

EXPORTS = 4  # at the same time; more wait for one of these to end
IMPORTS = 2  # bodies with postings that are imported at the same time; nobody else waits for them
HASHERS = 2  # passwords that are checked at the same time, each with 32 MiB and a core


def make_app(runtime: Runtime) -> FastAPI:
    """The API and the dashboard of a project. No page loads anything from elsewhere, so there is none of the
    framework's own.
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
    app.state.runtime, app.state.shares = runtime, Shares()
    app.router.route_class = Guarded
    for route in ROUTES:
        route.add_to(app)
    app.add_exception_handler(ThresherError, on_error)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(Exception, on_surprise)
    app.add_middleware(Cap, settings=lambda: runtime.store.settings)
    app.add_middleware(Door, store=runtime.store)
    app.add_middleware(Site, runtime=runtime, state=app.state)  # added last, so it stands first
    return app


@asynccontextmanager
async def _lifespan(runtime: Runtime, app: FastAPI) -> AsyncIterator[None]:
    app.state.writers = writers = ThreadPoolExecutor(EXPORTS, thread_name_prefix="export")
    app.state.importers = importers = ThreadPoolExecutor(IMPORTS, thread_name_prefix="import")
    app.state.hashers = hashers = ThreadPoolExecutor(HASHERS, thread_name_prefix="password")
    fresh = asyncio.create_task(keep_fresh(runtime))
    try:
        yield
    finally:
        # Not waited for: a writer ends when its pipe breaks, and it is this loop that breaks it.
        writers.shutdown(wait=False, cancel_futures=True)
        importers.shutdown(wait=False, cancel_futures=True)
        hashers.shutdown(wait=False, cancel_futures=True)
        fresh.cancel()
        with suppress(asyncio.CancelledError):
            await fresh
