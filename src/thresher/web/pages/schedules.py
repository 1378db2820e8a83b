"""The page about schedules: when each fires and fired, what came of it; to pause it, or to fire it now."""

from collections.abc import Callable
from urllib.parse import quote

from starlette.responses import Response

from thresher.admin.schedules import fire_schedule, list_firings, pause_schedule, resume_schedule
from thresher.store.store import Store
from thresher.web.pages.page import DashboardPage, PageRequest

PATH = "/schedules"


def schedules(page_request: PageRequest) -> Response:
    """Show all schedules: their rhythm, the next and the last firing, and what came of it."""
    return page_request.show("schedules.html", firings=list_firings(page_request.runtime.store), quote=quote)


def pause(page_request: PageRequest) -> Response:
    """Pause a schedule until it is resumed."""
    return _change(page_request, pause_schedule)


def resume(page_request: PageRequest) -> Response:
    """Let a schedule fire again."""
    return _change(page_request, resume_schedule)


def fire(page_request: PageRequest) -> Response:
    """Enqueue the task of a schedule now, and go to it; its rhythm stays as it is."""
    task = fire_schedule(page_request.runtime.store, page_request.request.path_params["name"])
    return page_request.go(PATH if task is None else f"/tasks/{task}")


def _change(page_request: PageRequest, act: Callable[[Store, str], None]) -> Response:
    act(page_request.runtime.store, page_request.request.path_params["name"])
    return page_request.go(PATH)


PAGES = (
    DashboardPage("GET", PATH, schedules, "Schedules", "Overview"),
    DashboardPage("POST", f"{PATH}/{{name:path}}/pause", pause, section="Overview"),
    DashboardPage("POST", f"{PATH}/{{name:path}}/resume", resume, section="Overview"),
    DashboardPage("POST", f"{PATH}/{{name:path}}/fire", fire, section="Overview"),
)
