"""The scrapers at a glance: what waits, who works, what they brought, and what is in their way."""

from starlette.responses import Response

from thresher.apps.roles.service.monitor import read_monitor
from thresher.web.pages.page import Page, Visit
from thresher.web.route import Owner


def scrapers(visit: Visit) -> Response:
    """One look at all of it."""
    return visit.show("scrapers.html", monitor=read_monitor(visit.runtime.store))


PAGES = (Page("GET", "/scrapers", scrapers, Owner.ROLES, "Scrapers"),)
