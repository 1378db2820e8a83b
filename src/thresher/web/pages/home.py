"""The home page: redirects to where the person belongs."""

from starlette.responses import Response

from thresher.web.pages.page import DashboardPage, Visit


def home(visit: Visit) -> Response:
    """The first page of the navigation."""
    return visit.go(visit.places[0].path)


PAGES = (DashboardPage("GET", "/", home),)
