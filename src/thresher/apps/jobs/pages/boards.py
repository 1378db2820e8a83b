"""Boards: those that wait for a person with the evidence whose they are, and how the others do."""

from urllib.parse import quote, urlencode

from starlette.responses import Response

from thresher.apps.hiring.checks import none_yet, what_was_checked
from thresher.apps.jobs.service.boards import (
    STATUSES,
    TriedBoard,
    disable_board,
    enable_board,
    find_board,
    list_board_records,
    show_board,
    try_board,
)
from thresher.core.errors import NotAllowed, ThresherError, UsageError
from thresher.runtime import direct_fetch
from thresher.web.auth import is_admin
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.problem import of_error

PATH = "/jobs/boards"
ROWS = 50
FILTERS = ("status", "platform", "company")


def boards(page_request: PageRequest) -> Response:
    """Show boards, the newest first: those that wait for your decision with their evidence, the others with
    how their looks ended.
    """
    store, query = page_request.runtime.store, page_request.request.query_params
    asked = {name: query[name].strip() for name in FILTERS if query.get(name, "").strip()}
    found = list_board_records(store, **asked, before=query.get("before"), limit=ROWS + 1)
    shown = found[:ROWS]
    more = {**asked, "before": shown[-1].key} if len(found) > ROWS else None
    return page_request.show(
        "jobs/boards.html",
        boards=shown,
        asked={name: asked.get(name, "") for name in FILTERS},
        statuses=STATUSES,
        links={each: f"{PATH}?{urlencode({**asked, 'status': each})}" for each in STATUSES},
        all_link=f"{PATH}?{urlencode({name: value for name, value in asked.items() if name != 'status'})}",
        next=f"{PATH}?{urlencode(more)}" if more else None,
        empty=None if shown or asked else none_yet(what_was_checked(store), "boards"),
    )


def board(page_request: PageRequest) -> Response:
    """Show one board: whose it is and by what proof, its looks, its alarms, and the ways to change it."""
    return _board(page_request, page_request.request.path_params["key"])


def _board(
    page_request: PageRequest,
    key: str,
    *,
    tried: TriedBoard | None = None,
    error: ThresherError | None = None,
) -> Response:
    store, problem = page_request.runtime.store, of_error(error) if error else None
    return page_request.show(
        "jobs/board.html",
        problem.status if problem else 200,
        detail=show_board(store, find_board(store, key).key),
        tried=tried,
        problem=problem,
        reason=page_request.form.one("reason"),
    )


def enable(page_request: PageRequest) -> Response:
    """Have a board read from now on: approve one that waits, or enable a disabled one."""
    runtime, key = page_request.runtime, page_request.form.one("key")
    try:
        by_admin = is_admin(page_request.request)
        found = enable_board(runtime.store, runtime.registry, key, by_admin=by_admin).key
    except NotAllowed as error:
        return _board(page_request, key, error=error)
    return page_request.go(_path(found))


def disable(page_request: PageRequest) -> Response:
    """Reject a board that waits, or stop reading one, for a reason."""
    store, form = page_request.runtime.store, page_request.form
    key, reason = form.one("key"), form.one("reason").strip()
    try:
        if not reason:
            raise UsageError("say why the board is not read: the reason is shown with it")
        found = disable_board(store, key, reason, by_admin=is_admin(page_request.request)).key
    except (NotAllowed, UsageError) as error:
        return _board(page_request, key, error=error)
    return page_request.go(_path(found))


async def test(page_request: PageRequest) -> Response:
    """Read a board as the next look would begin, show what that brought, and write nothing."""
    store, key = page_request.runtime.store, page_request.form.one("key")
    found = await store.run(find_board, store, key)
    try:
        if found.excluded:
            raise NotAllowed(f"{found.key} is excluded, so nothing of it is requested: {found.excluded}")
        async with direct_fetch(page_request.runtime) as fetch:
            tried = await try_board(found, fetch)
    except ThresherError as error:
        problem = error
        return await store.run(lambda: _board(page_request, found.key, error=problem))
    return await store.run(lambda: _board(page_request, found.key, tried=tried))


def _path(key: str) -> str:
    return f"{PATH}/{quote(key)}"


PAGES = (
    DashboardPage("GET", PATH, boards, "Boards", asks=frozenset((*FILTERS, "before"))),
    DashboardPage("POST", f"{PATH}/enable", enable),
    DashboardPage("POST", f"{PATH}/disable", disable),
    DashboardPage("POST", f"{PATH}/test", test),
    DashboardPage("GET", f"{PATH}/{{key:path}}", board),
)
