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
from thresher.core.errors import NotAllowed, ThresherError, UnknownName, UsageError
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


async def change_board(page_request: PageRequest) -> Response:
    """Approve, enable, reject or disable a board, or test it: read it as the next look would begin, show what
    that brought, and write nothing.
    """
    store, key = page_request.runtime.store, page_request.request.path_params["key"]
    try:
        match page_request.form.one("do"):
            case "enable":
                return await store.run(_enable, page_request, key)
            case "disable":
                return await store.run(_disable, page_request, key)
            case "test":
                tried = await _test(page_request, key)
            case other:
                raise UsageError(f"{other[:40]!r} is no change of a board")
    except UnknownName:
        raise
    except ThresherError as error:
        refused = error
        return await store.run(lambda: _board(page_request, key, error=refused))
    return await store.run(lambda: _board(page_request, key, tried=tried))


def _enable(page_request: PageRequest, key: str) -> Response:
    runtime, by_admin = page_request.runtime, is_admin(page_request.request)
    return page_request.go(_path(enable_board(runtime.store, runtime.registry, key, by_admin=by_admin).key))


def _disable(page_request: PageRequest, key: str) -> Response:
    reason, by_admin = page_request.form.one("reason").strip(), is_admin(page_request.request)
    if not reason:
        raise UsageError("say why the board is not read: the reason is shown with it")
    return page_request.go(
        _path(disable_board(page_request.runtime.store, key, reason, by_admin=by_admin).key)
    )


async def _test(page_request: PageRequest, key: str) -> TriedBoard:
    found = await page_request.runtime.store.run(find_board, page_request.runtime.store, key)
    if found.excluded:
        raise NotAllowed(f"{found.key} is excluded, so nothing of it is requested: {found.excluded}")
    async with direct_fetch(page_request.runtime) as fetch:
        return await try_board(found, fetch)


def _path(key: str) -> str:
    return f"{PATH}/{quote(key)}"


PAGES = (
    DashboardPage("GET", PATH, boards, "Boards", asks=frozenset((*FILTERS, "before"))),
    DashboardPage("GET", f"{PATH}/{{key:path}}", board),
    DashboardPage("POST", f"{PATH}/{{key:path}}", change_board),
)
