"""The page about health: the lines of `thresher doctor` that a server can answer at once."""

from importlib.metadata import version

from starlette.responses import Response

from thresher.admin.health import quick_checks, worst
from thresher.admin.status import list_workers
from thresher.web.pages.page import DashboardPage, PageRequest


def health(page_request: PageRequest) -> Response:
    """Show what is OK and what is not: database, workers, counters, apps. Nobody else is asked."""
    runtime = page_request.runtime
    checks = quick_checks(runtime.store, runtime.registry, runtime.models, runtime.outward)
    with runtime.store.read() as session:
        workers = list_workers(session, runtime.store.backend.now(session))
    # What does not work comes first; else the order is the doctor's.
    order = {"fail": 0, "warn": 1, "ok": 2}
    return page_request.show(
        "health.html",
        checks=sorted(checks, key=lambda each: order[each.verdict]),
        verdict=worst(checks),
        workers=workers,
        release=version("thresher"),
        database=runtime.store.backend.dialect.name,
    )


PAGES = (DashboardPage("GET", "/health", health, "Health", "Overview"),)
