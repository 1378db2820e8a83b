"""The overview of the scrapers: what waits, who works, what they brought, and what is in their way."""

from starlette.responses import Response

from thresher.apps.roles.service.monitor import read_monitor
from thresher.web.pages.page import DashboardPage, PageRequest


def scrapers(page_request: PageRequest) -> Response:
    """Show roles, sessions, platforms and late postings on one page."""
    return page_request.show("roles/scrapers.html", monitor=read_monitor(page_request.runtime.store))


PAGES = (DashboardPage("GET", "/scrapers", scrapers, "Scrapers"),)
