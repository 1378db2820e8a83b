"""Events: what happened to gates, workers, the queue and what apps keep."""

from starlette.responses import Response

from thresher.admin.browse import browse_events
from thresher.admin.events import about_event, event_kinds
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, number_asked, text_asked

PATH = "/events"
FILTERS = ("kind", "source")


def events(page_request: PageRequest) -> Response:
    """Show what happened, the newest first, of one kind or at one gate if asked for."""
    store = page_request.runtime.store
    asked = {name: text_asked(page_request, name) for name in FILTERS}
    before = number_asked(page_request, "before")
    found = browse_events(store, kind=asked["kind"], source=asked["source"], before=before)
    return page_request.show(
        "events.html",
        found=found,
        asked=asked,
        older=address(PATH, asked, before=found.older) if found.older else None,
        kinds=event_kinds(store),
        about=about_event,
        address=address,
    )


PAGES = (DashboardPage("GET", PATH, events, "Events", "Overview", frozenset({*FILTERS, "before"})),)
