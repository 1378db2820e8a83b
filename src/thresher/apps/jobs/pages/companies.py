"""Companies: which are followed, what is known of each and why it has its tier, and the forms to add more.

Those that have been read come first: companies that only wait to be read would hide them.
"""

from urllib.parse import urlencode

from starlette.responses import Response

from thresher.admin.requests import RequestResult
from thresher.admin.tasks import show_task
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.service.boards import ask_boards
from thresher.apps.jobs.service.companies import (
    STATUSES,
    TIERS,
    CompanyCounts,
    ask_companies,
    count_companies,
    list_companies,
    list_read,
    read_wish,
    show_company,
)
from thresher.apps.jobs.service.postings import ask_postings
from thresher.core.errors import ThresherError, UnknownName, UsageError
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/jobs/companies"
ROWS = 50
FILTERS = ("tier", "status", "all")
WORDS = {"analyzing": "being read", "unknown_site": "site unknown"}
KINDS = {
    "company": "a company, by its name or site",
    "board": "a board, by its address",
    "posting": "a posting, by its address",
}


def companies(page_request: PageRequest) -> Response:
    """Show companies, those read last first, or all or those of a tier or a status; and the form to add a
    company, a board or a posting.
    """
    return _companies(page_request)


def _companies(
    page_request: PageRequest, error: ThresherError | None = None, known: str | None = None
) -> Response:
    store, query, form = page_request.runtime.store, page_request.request.query_params, page_request.form
    problem = of_error(error) if error else None
    asked = {name: query[name].strip() for name in FILTERS if query.get(name, "").strip()}
    counts, before = count_companies(store), query.get("before")
    only_read = not asked and counts.read > 0
    if only_read:
        found = list_read(store, before=before, limit=ROWS + 1)
    else:
        same = {name: asked.get(name) for name in ("tier", "status")}
        found = list_companies(store, **same, before=before, limit=ROWS + 1)
    shown = found[:ROWS]
    more = {**asked, "before": shown[-1].key} if len(found) > ROWS else None
    return page_request.show(
        "jobs/companies.html",
        problem.status if problem else 200,
        companies=shown,
        asked={name: asked.get(name, "") for name in FILTERS},
        only_read=only_read,
        counts=counts,
        ways=_ways(counts),
        chosen=asked.get("tier") or asked.get("status") or ("read" if only_read else "all"),
        next=f"{PATH}?{urlencode(more)}" if more else None,
        empty=None if shown or asked else none_yet(what_was_checked(store), "companies"),
        kinds=KINDS,
        problem=problem,
        filled={name: form.one(name) for name in ("kind", "text", "company")},
        task=_queued(page_request),
        known=known,
    )


def _ways(counts: CompanyCounts) -> list[tuple[str, str, str, int]]:
    """The ways to see them: a name, what it says, where it leads, and how many are there."""
    tiers = ((each, f"Tier {each}", f"{PATH}?tier={each}", counts.tiers.get(each, 0)) for each in TIERS)
    statuses = (
        (each, WORDS.get(each, each), f"{PATH}?status={each}", counts.statuses.get(each, 0))
        for each in STATUSES
    )
    return [
        *([("read", "read", PATH, counts.read)] if counts.read else []),
        *tiers,
        *(way for way in statuses if way[3]),
        ("all", "all", f"{PATH}?all=1" if counts.read else PATH, counts.every),
    ]


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
