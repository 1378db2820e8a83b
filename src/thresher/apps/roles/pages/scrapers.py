"""The overview of the scrapers: what waits, who works, what they brought, and what is in their way; with what
a person does about it.
"""

from starlette.responses import Response

from thresher.admin.times import seconds
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.arrivals import drop_late, import_late
from thresher.apps.roles.service.monitor import read_monitor
from thresher.apps.roles.service.scrapes import end_session
from thresher.core.errors import ThresherError, UnknownName, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/scrapers"
PAUSE = 6 * 3_600  # seconds, where nobody says how long


def scrapers(page_request: PageRequest) -> Response:
    """Show roles, sessions, platforms and late postings on one page."""
    return _scrapers(page_request)


def _scrapers(page_request: PageRequest, error: ThresherError | None = None, dropping: int = 0) -> Response:
    problem = of_error(error) if error else None
    return page_request.show(
        "roles/scrapers.html",
        problem.status if problem else 200,
        monitor=read_monitor(page_request.runtime.store),
        problem=problem,
        dropping=dropping,
    )


def change(page_request: PageRequest) -> Response:
    """Import or drop late postings, pause or resume a platform, or end a session. Dropping is asked for
    twice, because it cannot be undone.
    """
    runtime, form = page_request.runtime, page_request.form
    store, name = runtime.store, form.one("name")
    try:
        match form.one("do"):
            case "import":
                import_late(store, runtime.registry, _number(name))
            case "drop" if form.one("sure") != "yes":
                return _scrapers(page_request, dropping=_number(name))
            case "drop":
                drop_late(store, _number(name))
            case "pause":
                lasts = form.one("lasts").strip()
                reason = form.one("reason").strip() or "paused on the dashboard"
                platforms.pause(store, name, seconds(lasts) if lasts else PAUSE, reason)
            case "resume":
                platforms.resume(store, name)
            case "end":
                end_session(store, name, form.one("reason").strip() or "ended on the dashboard")
            case other:
                raise UsageError(f"{other[:40]!r} is nothing that is done here")
    except ThresherError as error:
        return _scrapers(page_request, error)
    return page_request.go(PATH)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 17):
        raise UnknownName(f"{text[:40]!r} is not the number of late postings")
    return int(text)


PAGES = (
    DashboardPage("GET", PATH, scrapers, "Scrapers"),
    DashboardPage("POST", PATH, change),
)
