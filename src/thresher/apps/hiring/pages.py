"""The pages about postings: what boards say, what was read from it and where, and what was decided."""

from urllib.parse import quote, urlencode

from starlette.responses import Response

from thresher.admin.explain import explain
from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.hiring.groups import ungroup
from thresher.apps.hiring.postings import OUTCOMES, STATES, list_postings, show_posting
from thresher.core.errors import NotAllowed, UnknownName
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/hiring/postings"
ROWS = 50
FILTERS = ("outcome", "state", "company", "board", "query")
MAX_TEXT = 20_000


def postings(page_request: PageRequest) -> Response:
    """Show postings, the newest first, all or those that the filters name."""
    store, query = page_request.runtime.store, page_request.request.query_params
    asked = {name: query[name].strip() for name in FILTERS if query.get(name, "").strip()}
    found = list_postings(
        store,
        state=asked.get("state"),
        board=asked.get("board"),
        company=asked.get("company"),
        query=asked.get("query"),
        outcome=asked.get("outcome"),
        before=query.get("before"),
        limit=ROWS + 1,
    )
    shown = found[:ROWS]
    more = {**asked, "before": shown[-1].key} if len(found) > ROWS else None
    rest = {name: value for name, value in asked.items() if name != "outcome"}
    return page_request.show(
        "hiring/postings.html",
        postings=shown,
        asked={name: asked.get(name, "") for name in FILTERS},
        outcomes={
            "all": f"{PATH}?{urlencode(rest)}",
            **{each: f"{PATH}?{urlencode({**rest, 'outcome': each})}" for each in OUTCOMES},
        },
        states=STATES,
        next=f"{PATH}?{urlencode(more)}" if more else None,
        empty=None if shown or asked else none_yet(what_was_checked(store), "postings"),
    )


def posting(page_request: PageRequest) -> Response:
    """Show one posting: what it says, the facts read from it with their words, and what was decided."""
    return _posting(page_request, page_request.request.path_params["key"])


def _posting(page_request: PageRequest, key: str, error: NotAllowed | None = None) -> Response:
    runtime = page_request.runtime
    detail, problem = show_posting(runtime.store, key), of_error(error) if error else None
    try:
        explained = explain(runtime.store, runtime.registry.apps, detail.posting.key)
    except UnknownName:  # no app of this project judges postings
        explained = None
    return page_request.show(
        "hiring/posting.html",
        problem.status if problem else 200,
        detail=detail,
        places=(detail.evidence or {}).get("places") or {},
        text=(detail.record.description or "")[:MAX_TEXT],
        explained=explained,
        problem=problem,
    )


def leave_group(page_request: PageRequest) -> Response:
    """Say that a posting is not the same opening as the others of its group. It is judged for itself."""
    runtime, key = page_request.runtime, page_request.request.path_params["key"]
    try:
        ungroup(runtime.store, runtime.registry, key)
    except NotAllowed as error:
        return _posting(page_request, key, error)
    return page_request.go(f"{PATH}/{quote(key)}")


PAGES = (
    DashboardPage("GET", PATH, postings, "Postings", asks=frozenset((*FILTERS, "before"))),
    DashboardPage("GET", f"{PATH}/{{key:path}}", posting),
    DashboardPage("POST", f"{PATH}/{{key:path}}", leave_group),
)
