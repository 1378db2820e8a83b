"""The same over HTTP: a route for programs, a page for people."""

from starlette.responses import Response

from thresher import DashboardPage, PageRequest, Route
from thresher.web.answer import answer
from thresher.web.route import CurrentRuntime
from thresher_tides.store import levels


async def tides(runtime: CurrentRuntime) -> Response:
    """How high the water stands in each harbour."""
    return await answer(runtime.store, levels, runtime.store)


def page(page_request: PageRequest) -> Response:
    return page_request.show("tides/tides.html", levels=levels(page_request.runtime.store))


ROUTES = (Route("GET", "/api/tides", tides, "tides"),)
PAGES = (DashboardPage("GET", "/tides", page, "Tides"),)
