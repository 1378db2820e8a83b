"""Runs: how far each one is, how it ended, and cancel one."""

from starlette.responses import Response

from thresher.admin.browse import browse_runs
from thresher.admin.keys import WRITE
from thresher.admin.runs import ENDINGS, run_ending, show_run
from thresher.admin.tasks import cancel_run
from thresher.core.errors import NotAllowed
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, id_in_path, number_asked, text_asked

PATH = "/runs"
TEXTS = ("app", "name")
SWITCHES = ("running", "groups")


def runs(page_request: PageRequest) -> Response:
    """Show the runs, the newest first, with their progress, counters and endings."""
    texts = {name: text_asked(page_request, name) for name in TEXTS}
    switches = {name: text_asked(page_request, name) == "1" for name in SWITCHES}
    found = browse_runs(
        page_request.runtime.store,
        app=texts["app"],
        name=texts["name"],
        running=switches["running"],
        groups_too=switches["groups"],
        before=number_asked(page_request, "before"),
    )
    asked = {**texts, **{name: "1" if is_on else None for name, is_on in switches.items()}}
    return page_request.show(
        "runs.html",
        found=found,
        asked=asked,
        older=address(PATH, asked, before=found.older) if found.older else None,
        apps=sorted(app.name for app in page_request.runtime.registry.apps),
        ending=run_ending,
        address=address,
    )


def run(page_request: PageRequest) -> Response:
    """Show one run or group: its tasks by state, counters, cost, verdict, and the groups below it."""
    detail = show_run(page_request.runtime.store, _id(page_request))
    return page_request.show(
        "run.html", detail=detail, run=detail.run, endings=ENDINGS, ending=run_ending, address=address
    )


def ask_cancel(page_request: PageRequest) -> Response:
    """Ask for confirmation before the tasks of a run are cancelled."""
    found = show_run(page_request.runtime.store, _id(page_request)).run
    _insist(found["live"], found["id"])
    return page_request.show("run_cancel.html", run=found)


def cancel(page_request: PageRequest) -> Response:
    """Cancel all tasks of a run that have not ended, and those of the groups below it."""
    run_id = _id(page_request)
    _insist(show_run(page_request.runtime.store, run_id).run["live"], run_id)
    who = page_request.who.who if page_request.who else "somebody"
    cancel_run(page_request.runtime.store, run_id, f"cancelled with its run by {who}")
    return page_request.go(f"{PATH}/{run_id}")


def _insist(live: int, run_id: int) -> None:
    if not live:
        raise NotAllowed(
            f"all tasks of run {run_id} have ended; there is nothing to cancel. Nothing was changed."
        )


def _id(page_request: PageRequest) -> int:
    return id_in_path(page_request, "run", "run", "the list of runs")


PAGES = (
    DashboardPage("GET", PATH, runs, "Runs", "Overview", frozenset({*TEXTS, *SWITCHES, "before"})),
    DashboardPage("GET", f"{PATH}/{{run}}", run, section="Overview"),
    DashboardPage("GET", f"{PATH}/{{run}}/cancel", ask_cancel, section="Overview", scope=WRITE),
    DashboardPage("POST", f"{PATH}/{{run}}/cancel", cancel, section="Overview"),
)
