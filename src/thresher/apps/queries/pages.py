"""The pages of the queries app: queries with their days and runs, companies as signals, and alarms."""

from collections.abc import Callable
from datetime import date
from urllib.parse import quote

from starlette.responses import Response

from thresher.apps.queries.service import queries
from thresher.apps.queries.service.alarms import list_alarms
from thresher.apps.queries.service.queries import list_clients, list_views, recent_runs, show_query
from thresher.apps.queries.service.signals import (
    FEEDBACK_MEANS,
    decide,
    list_companies,
    read_purpose,
    resolutions,
    show_company,
)
from thresher.core.errors import ThresherError, UsageError
from thresher.store.store import Store
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

RUNS = 50
COMPANIES = 200


def listed(page_request: PageRequest) -> Response:
    """Show all queries, their latest runs, and the form to add one."""
    return _listed(page_request)


def _listed(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store = page_request.runtime.store
    problem = of_error(error) if error else None
    retired = page_request.request.query_params.get("retired") == "1"
    names = ("name", "client", "text", "parameters", "start")
    return page_request.show(
        "queries/list.html",
        problem.status if problem else 200,
        queries=list_views(store, retired=retired),
        retired=retired,
        runs=recent_runs(store, limit=RUNS),
        names={each.query_key: each.name for each in list_views(store, retired=True)},
        clients=list_clients(store),
        problem=problem,
        filled={name: page_request.form.one(name) for name in names},
    )


def add(page_request: PageRequest) -> Response:
    """Add a query. If the input is wrong, show the form again as it was filled in."""
    form = page_request.form
    try:
        found = queries.add_query(
            page_request.runtime.store,
            form.one("name"),
            {
                "client": form.one("client"),
                "text": form.one("text"),
                "parameters": dict(map(_pair, form.one("parameters").splitlines())),
                "start": form.one("start").strip() or None,
            },
        )
    except UsageError as error:
        return _listed(page_request, error)
    return page_request.go(_path(found.query_key))


def _pair(line: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"parameters: {line[:80]!r} has no value; write one NAME=VALUE a line")
    return name.strip(), value.strip()


def _path(key: str) -> str:
    return f"/queries/{quote(key, safe='')}"


def shown(page_request: PageRequest) -> Response:
    """Show one query: its state, its days, its runs."""
    return _shown(page_request)


def _shown(
    page_request: PageRequest,
    *,
    planned: queries.Rewound | None = None,
    rewind: str = "",
    error: ThresherError | None = None,
) -> Response:
    """One query, with what a change of its days would do, or why it cannot be done."""
    problem = of_error(error) if error else None
    return page_request.show(
        "queries/show.html",
        problem.status if problem else 200,
        detail=show_query(page_request.runtime.store, page_request.request.path_params["key"]),
        planned=planned,
        rewind=rewind,
        problem=problem,
        filled={name: page_request.form.one(name) for name in ("from", "to")},
    )


def backfill(page_request: PageRequest) -> Response:
    """Look at some days again."""

    def work(store: Store, key: str, dry_run: bool) -> queries.Rewound:
        first, last = (_date(page_request.form.one(name), name) for name in ("from", "to"))
        return queries.backfill(store, key, first, last, dry_run=dry_run)

    return _rewound(page_request, "backfill", work)


def reset(page_request: PageRequest) -> Response:
    """Look at the whole history again."""
    return _rewound(
        page_request, "reset", lambda store, key, dry_run: queries.reset(store, key, dry_run=dry_run)
    )


def _rewound(
    page_request: PageRequest, rewind: str, work: Callable[[Store, str, bool], queries.Rewound]
) -> Response:
    """Say first which days it is about, and do it once somebody is sure."""
    is_sure = page_request.form.one("sure") == "yes"
    try:
        found = work(page_request.runtime.store, page_request.request.path_params["key"], not is_sure)
    except UsageError as error:
        return _shown(page_request, error=error)
    if is_sure:
        return page_request.go(_path(found.query_key))
    return _shown(page_request, planned=found, rewind=rewind)


def _date(text: str, name: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"{name}: must be a day such as 2026-10-01, got {text[:40]!r}") from None


def change(page_request: PageRequest) -> Response:
    """Run, pause or resume a query."""
    store, key = page_request.runtime.store, page_request.request.path_params["key"]
    match page_request.request.path_params["change"]:
        case "run":
            queries.run_now(store, page_request.runtime.registry, [key])
        case "pause":
            queries.pause(store, key, "paused on the dashboard")
        case "resume":
            queries.resume(store, key)
        case other:
            raise UsageError(f"{other[:40]!r} is no change of a query")
    return page_request.go(_path(show_query(store, key).query.query_key))


def signals(page_request: PageRequest) -> Response:
    """Show the companies whose offers are signals, the strongest first."""
    wanted = page_request.request.query_params.get("resolution") or None
    store = page_request.runtime.store
    return page_request.show(
        "queries/signals.html",
        companies=list_companies(store, resolution=wanted, limit=COMPANIES),
        purpose=read_purpose(store),
        resolution=wanted,
        most=COMPANIES,
    )


def company(page_request: PageRequest) -> Response:
    """Show one company: its figures, the form to decide about it, its weeks, and its offers."""
    return _company(page_request)


def _company(page_request: PageRequest, error: ThresherError | None = None) -> Response:
    store, problem = page_request.runtime.store, of_error(error) if error else None
    detail = show_company(store, page_request.request.path_params["key"])
    view, form = detail.company, page_request.form
    said = {"resolution": view.resolution, "feedback": view.feedback or "", "notes": view.notes or ""}
    known = resolutions(store)
    return page_request.show(
        "queries/company.html",
        problem.status if problem else 200,
        detail=detail,
        problem=problem,
        filled={name: form.one(name) for name in said} if error else said,
        resolutions=known if view.resolution in known else (*known, view.resolution),
        feedback_means=FEEDBACK_MEANS,
    )


def decide_about(page_request: PageRequest) -> Response:
    """Write down what an administrator says about a company. If the input is wrong, show the form again."""
    form, key, who = page_request.form, page_request.request.path_params["key"], page_request.who
    store, by = page_request.runtime.store, who.who if who else "the dashboard"
    resolution: str | None = form.one("resolution")
    if resolution == show_company(store, key).company.resolution:
        resolution = None  # as it is: one that the rules no longer have may stay
    notes = form.one("notes").replace("\r\n", "\n")  # as browsers end the lines of a form
    try:
        found = decide(store, key, by, resolution=resolution, feedback=form.one("feedback"), notes=notes)
    except UsageError as error:
        return _company(page_request, error)
    return page_request.go(f"/signals/{quote(found.company.company, safe='')}")


def alarms(page_request: PageRequest) -> Response:
    """Show open alarms, or all of them."""
    cleared = page_request.request.query_params.get("all") == "1"
    found = list_alarms(page_request.runtime.store, cleared=cleared)
    return page_request.show("queries/alarms.html", alarms=found, cleared=cleared)


PAGES = (
    DashboardPage("GET", "/queries", listed, "Queries", asks=frozenset(("retired",))),
    DashboardPage("POST", "/queries", add),
    DashboardPage("GET", "/queries/{key}", shown),
    DashboardPage("POST", "/queries/{key}/backfill", backfill),
    DashboardPage("POST", "/queries/{key}/reset", reset),
    DashboardPage("POST", "/queries/{key}/{change}", change),
    DashboardPage("GET", "/signals", signals, "Signals", asks=frozenset(("resolution",))),
    DashboardPage("GET", "/signals/{key:path}", company),
    DashboardPage("POST", "/signals/{key:path}", decide_about),
    DashboardPage("GET", "/alarms", alarms, "Alarms", asks=frozenset(("all",))),
)
