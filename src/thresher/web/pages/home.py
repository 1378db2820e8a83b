"""The beginning: where one belongs. Who is not logged in has been sent to the way in before."""

from starlette.responses import Response

from thresher.web.pages.page import DashboardPage, Visit


def home(visit: Visit) -> Response:
    """The first page of the navigation."""
    return visit.go(visit.places[0].path)


PAGES = (DashboardPage("GET", "/", home),)
