"""Boards over HTTP: list them, open one, have an address looked at, confirm or refuse one."""

from typing import Annotated

from fastapi import Body, Path, Query
from starlette.requests import Request

from thresher.admin.keys import READ, WRITE
from thresher.apps.jobs.http.companies import ASKED, BOARD, Asked, asked_for
from thresher.apps.jobs.service.boards import (
    BoardDetail,
    BoardView,
    TriedBoard,
    ask_boards,
    board_view,
    disable_board,
    enable_board,
    find_board,
    list_boards,
    show_board,
    try_board,
)
from thresher.core.errors import NotAllowed
from thresher.runtime import Runtime, direct_fetch
from thresher.store.store import Store
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.auth import is_admin
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, like, said


class BoardAsked(RequestBody):
    """The URL of a board and, if known, its company."""

    model_config = like(url="https://boards.greenhouse.io/acme", company="acme.com")

    url: Text
    company: Text | None = None
    name: Text | None = None


Key = Annotated[str, Path(description="Key or URL of the board.")]


async def boards(
    runtime: CurrentRuntime,
    status: Annotated[
        str | None, Query(description="Status: pending (waits for a person), active, disabled.")
    ] = None,
    platform: Annotated[
        str | None,
        Query(description="Platform: greenhouse, lever, …; site for a company's own pages, rss for a feed."),
    ] = None,
    company: Annotated[str | None, Query(description="Only rows of the company with this key.")] = None,
    limit: Limit = 50,
    before: BeforeKey = None,
) -> Answer[list[BoardView]]:
    """List the job boards of companies, newest first, with the result of the last look and any alarms."""
    wanted = {"status": status, "platform": platform, "company": company, "before": before}
    return await answer(runtime.store, list_boards, runtime.store, limit=limit, **wanted)


async def board(runtime: CurrentRuntime, key: Key) -> Answer[BoardDetail]:
    """Show one board, by key or URL: its company and the proof, its last look, its coverage and its
    alarms.
    """
    return await answer(runtime.store, _shown, runtime.store, key)


def _shown(store: Store, key: str) -> BoardDetail:
    return show_board(store, find_board(store, key).key)


async def add_board(runtime: CurrentRuntime, body: BoardAsked) -> Answer[Asked]:
    """Check a URL as a board. A known board stays as it is."""
    return await asked_for(
        runtime, ask_boards, runtime.store, runtime.registry, [body.url], company=body.company, name=body.name
    )


async def test(runtime: CurrentRuntime, key: Key) -> Answer[TriedBoard]:
    """Read a board now, as the next look would begin, and show what that brought. Nothing is written."""
    found = await runtime.store.run(find_board, runtime.store, key)
    if found.excluded:
        raise NotAllowed(f"{found.key} is excluded, so nothing of it is requested: {found.excluded}")
    async with direct_fetch(runtime) as fetch:
        return Answer(written(await try_board(found, fetch)), media_type=JSON)


async def enable(runtime: CurrentRuntime, request: Request, key: Key) -> Answer[BoardView]:
    """Read a board from now on: one that waits for your decision, or a disabled one. Its failures
    are reset. A board that an administrator disabled needs the scope admin.
    """
    return await answer(runtime.store, _enabled, runtime, key, is_admin(request))


def _enabled(runtime: Runtime, key: str, by_admin: bool) -> BoardView:
    asked = enable_board(runtime.store, runtime.registry, key, by_admin=by_admin)
    return board_view(find_board(runtime.store, asked.key))


async def disable(
    runtime: CurrentRuntime, request: Request, key: Key, body: Annotated[ReasonBody | None, Body()] = None
) -> Answer[BoardView]:
    """Stop reading a board until it is enabled. Its postings stay as they are. If an administrator disables
    it, only an administrator can enable it.
    """
    reason, by_admin = said(body, "disabled manually"), is_admin(request)
    return await answer(runtime.store, _disabled, runtime.store, key, reason, by_admin)


def _disabled(store: Store, key: str, reason: str, by_admin: bool) -> BoardView:
    return board_view(disable_board(store, key, reason, by_admin=by_admin))


_DETAIL = {
    "board": BOARD,
    "data": {"platform": "greenhouse", "status": "active"},
    "postings": {"open": 12, "closed": 3},
    "tasks": [41],
}

_TRIED = {
    "board": "greenhouse:acme",
    "url": "https://boards-api.greenhouse.io/v1/boards/acme/jobs",
    "status": 200,
    "verdict": "found",
    "reason": "",
    "count": 12,
    "total": 12,
    "sample": ["Senior Python Engineer"],
}

ROUTES = (
    Route("GET", "/api/boards", boards, READ, page_by="key", example=[BOARD], name="list_boards"),
    Route("POST", "/api/boards", add_board, WRITE, status=(200, 201), example=ASKED, name="add_board"),
    Route("POST", "/api/boards/{key:path}/enable", enable, WRITE, example=BOARD, name="enable_board"),
    Route(
        "POST",
        "/api/boards/{key:path}/disable",
        disable,
        WRITE,
        example={**BOARD, "status": "disabled"},
        name="disable_board",
    ),
    Route("POST", "/api/boards/{key:path}/test", test, WRITE, name="test_board", example=_TRIED),
    Route("GET", "/api/boards/{key:path}", board, READ, example=_DETAIL, name="get_board"),
)
