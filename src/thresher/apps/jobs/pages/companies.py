"""Companies: which are followed, what is known of each and why it has its tier, and the forms to add more."""

from urllib.parse import urlencode

from starlette.responses import Response

from thresher.admin.requests import RequestResult
from thresher.admin.tasks import show_task
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.service.boards import ask_boards
from thresher.apps.jobs.service.companies import (
    STATUSES,
    TIERS,
    ask_companies,
    list_companies,
    read_wish,
    show_company,
)
from thresher.apps.jobs.service.postings import ask_postings
from thresher.core.errors import ThresherError, UnknownName, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/jobs/companies"
ROWS = 50
FILTERS = ("tier", "status")
KINDS = {
    "company": "a company, by its name or site",
    "board": "a board, by its address",
    "posting": "a posting, by its address",
}


def companies(page_request: PageRequest) -> Response:
    """Show companies, the newest first, and the form to add a company, a board or a posting."""
    return _companies(page_request)


def _companies(
    page_request: PageRequest, error: ThresherError | None = None, known: str | None = None
) -> Response:
    store, query, form = page_request.runtime.store, page_request.request.query_params, page_request.form
    problem = of_error(error) if error else None
    asked = {name: query[name].strip() for name in FILTERS if query.get(name, "").strip()}
    found = list_companies(
        store,
        tier=asked.get("tier"),
        status=asked.get("status"),
        before=query.get("before"),
        limit=ROWS + 1,
    )
    shown = found[:ROWS]
    more = {**asked, "before": shown[-1].key} if len(found) > ROWS else None
    return page_request.show(
        "jobs/companies.html",
        problem.status if problem else 200,
        companies=shown,
        asked={name: asked.get(name, "") for name in FILTERS},
        tiers=TIERS,
        statuses=STATUSES,
        tier_links={
            "all": PATH,
            **{each: f"{PATH}?{urlencode({**asked, 'tier': each})}" for each in TIERS},
        },
        next=f"{PATH}?{urlencode(more)}" if more else None,
        empty=None if shown or asked else none_yet(what_was_checked(store), "companies"),
        kinds=KINDS,
        problem=problem,
        filled={name: form.one(name) for name in ("kind", "text", "company")},
        task=_queued(page_request),
        known=known,
    )


def _queued(page_request: PageRequest) -> dict[str, object] | None:
    """The task that a form has just asked for, if the address names one."""
    text = page_request.request.query_params.get("queued", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 17):
        return None
    try:
        return show_task(page_request.runtime.store, int(text)).task
    except UnknownName:
        return None


def add(page_request: PageRequest) -> Response:
    """Follow a company, a board or a posting. If the input is wrong, show the form again as filled in."""
    try:
        asked = _ask(page_request)
    except UsageError as error:
        return _companies(page_request, error)
    if asked.task is None:
        return _companies(page_request, known=asked.says)
    return page_request.go(f"{PATH}?queued={asked.task}#new")


def _ask(page_request: PageRequest) -> RequestResult:
    runtime, form = page_request.runtime, page_request.form
    store, registry, text = runtime.store, runtime.registry, form.one("text").strip()
    if not text:
        raise UsageError("name a company, or give the address of a board or a posting")
    match form.one("kind"):
        case "company":
            found = ask_companies(store, registry, [read_wish(text)])
        case "board":
            found = ask_boards(store, registry, [text], company=form.one("company").strip() or None)
        case "posting":
            found = ask_postings(store, registry, [text])
        case other:
            raise UsageError(f"{other[:40]!r} cannot be added; it is one of {', '.join(KINDS)}")
    return found[0]


def company(page_request: PageRequest) -> Response:
    """Show one company: what was read of it and where, why it has its tier, its boards and its postings."""
    store = page_request.runtime.store
    return page_request.show(
        "jobs/company.html", detail=show_company(store, page_request.request.path_params["key"])
    )


PAGES = (
    DashboardPage("GET", PATH, companies, "Companies", asks=frozenset((*FILTERS, "before", "queued"))),
    DashboardPage("POST", PATH, add),
    DashboardPage("GET", f"{PATH}/{{key:path}}", company),
)
