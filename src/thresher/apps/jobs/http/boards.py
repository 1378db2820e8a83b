"""Boards over HTTP: list them, open one, have an address looked at, confirm or refuse one."""

from typing import Annotated

from fastapi import Body, Query
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.keys import READ, WRITE
from thresher.apps.jobs.http.companies import asked_for
from thresher.apps.jobs.service.boards import (
    BoardDetail,
    BoardView,
    ask_boards,
    board_view,
    disable_board,
    enable_board,
    find_board,
    list_boards,
    show_board,
)
from thresher.runtime import Runtime
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.auth import is_admin
from thresher.web.route import BeforeKey, CurrentRuntime, Limit, Route
from thresher.web.schemas import ReasonBody, RequestBody, Text, said


class BoardAsked(RequestBody):
    """The URL of a board and, if known, its company."""

    url: Text
    company: Text | None = None
    name: Text | None = None


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
) -> Response:
    """List boards, newest first, with the result of the last look and any alarms."""
    wanted = {"status": status, "platform": platform, "company": company, "before": before}
    return await answer(runtime.store, list_boards, runtime.store, limit=limit, **wanted)


async def board(runtime: CurrentRuntime, key: str) -> Response:
    """Show one board, by key or URL: its company and the proof, its last look, its coverage and its
    alarms.
    """
    return await answer(runtime.store, _shown, runtime.store, key)


def _shown(store: Store, key: str) -> BoardDetail:
    return show_board(store, find_board(store, key).key)


async def add_board(runtime: CurrentRuntime, body: BoardAsked) -> Response:
    """Check a URL as a board. A known board stays as it is."""
    return await asked_for(
        runtime, ask_boards, runtime.store, runtime.registry, [body.url], company=body.company, name=body.name
    )


async def enable(runtime: CurrentRuntime, request: Request, key: str) -> Response:
    """Read a board from now on: one that waits for your decision, or a disabled one. Its failures
    are reset. A board that an administrator disabled needs the scope admin.
    """
    return await answer(runtime.store, _enabled, runtime, key, is_admin(request))


def _enabled(runtime: Runtime, key: str, by_admin: bool) -> BoardView:
    asked = enable_board(runtime.store, runtime.registry, key, by_admin=by_admin)
    return board_view(find_board(runtime.store, asked.key))


async def disable(
    runtime: CurrentRuntime, request: Request, key: str, body: Annotated[ReasonBody | None, Body()] = None
) -> Response:
    """Stop reading a board until it is enabled. Its postings stay as they are. If an administrator disables
    it, only an administrator can enable it.
    """
    reason, by_admin = said(body, "disabled manually"), is_admin(request)
    return await answer(runtime.store, _disabled, runtime.store, key, reason, by_admin)


def _disabled(store: Store, key: str, reason: str, by_admin: bool) -> BoardView:
    return board_view(disable_board(store, key, reason, by_admin=by_admin))


ROUTES = (
    Route("GET", "/api/boards", boards, READ, page_by="key"),
    Route("POST", "/api/boards", add_board, WRITE, status=(200, 201)),
    Route("POST", "/api/boards/{key:path}/enable", enable, WRITE),
    Route("POST", "/api/boards/{key:path}/disable", disable, WRITE),
    Route("GET", "/api/boards/{key:path}", board, READ),
)
