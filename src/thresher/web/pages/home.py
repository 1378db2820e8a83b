"""The home page: redirects to where the person belongs."""

from starlette.responses import Response

from thresher.web.pages.page import DashboardPage, PageRequest


def home(page_request: PageRequest) -> Response:
    """Redirect to the first page of the navigation."""
    return page_request.go(page_request.places[0].path)


PAGES = (DashboardPage("GET", "/", home),)
