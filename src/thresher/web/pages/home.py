"""The front page: what happens now, and what needs a person."""

from starlette.responses import Response

from thresher.admin.overview import read_overview
from thresher.web.pages.page import DashboardPage, PageRequest


def home(page_request: PageRequest) -> Response:
    """Show what needs a person, how much waits and runs, what ended within the hour, and today's cost."""
    runtime = page_request.runtime
    return page_request.show("home.html", overview=read_overview(runtime.store, runtime.registry.apps))


PAGES = (DashboardPage("GET", "/", home, "Overview", "Overview"),)
