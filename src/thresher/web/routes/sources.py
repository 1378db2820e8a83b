"""Sources over HTTP: list them, pause, resume, disable, enable one. Each change answers with how the gate
stands now.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Query
from starlette.requests import Request
from starlette.responses import Response

from thresher.admin import sources as control
from thresher.admin.gates import GateView, list_gates, show_gate
from thresher.admin.keys import READ, WRITE
from thresher.store.store import Store
from thresher.web.answer import answer
from thresher.web.auth import is_admin
from thresher.web.route import CurrentRuntime, Limit, Route
from thresher.web.schemas import Pause, ReasonBody, said


async def sources(
    runtime: CurrentRuntime,
    every: Annotated[bool, Query(alias="all", description="Include all gates, such as hosts.")] = False,
    limit: Limit = 1_000,
) -> Response:
    """List sources with their limits, their health, and the reason for every pause."""
    return await answer(runtime.store, list_gates, runtime.store, every=every, limit=limit)


async def pause(runtime: CurrentRuntime, request: Request, name: str, body: Pause) -> Response:
    """Pause a source for a length of time (`for`) or until a point in time (`until`). Its tasks wait and lose
    nothing; it reopens automatically. If an administrator pauses it, only an administrator can resume it.
    """
    change = partial(control.pause_as_asked, by_admin=is_admin(request))
    how = (body.lasts, body.until, said(body, "paused manually"))
    return await answer(runtime.store, _changed, runtime.store, name, change, *how)


async def resume(runtime: CurrentRuntime, request: Request, name: str) -> Response:
    """End a pause or a breaker's cooldown now. The pause of an administrator needs the scope admin."""
    change = partial(control.resume, by_admin=is_admin(request))
    return await answer(runtime.store, _changed, runtime.store, name, change)


async def disable(
    runtime: CurrentRuntime, request: Request, name: str, body: Annotated[ReasonBody | None, Body()] = None
) -> Response:
    """Close a source until it is enabled. If an administrator disables it, only an administrator can enable
    it. Its tasks wait and lose nothing.
    """
    change = partial(control.disable, by_admin=is_admin(request))
    return await answer(runtime.store, _changed, runtime.store, name, change, said(body, "disabled manually"))


async def enable(runtime: CurrentRuntime, request: Request, name: str) -> Response:
    """Open a source, whatever closed it, and reset its failures. A source that an administrator disabled
    needs the scope admin.
    """
    return await answer(
        runtime.store, _changed, runtime.store, name, partial(control.enable, by_admin=is_admin(request))
    )


def _changed(store: Store, name: str, change: Callable[..., None], *how: Any) -> GateView:
    change(store, name, *how)
    return show_gate(store, name)


ROUTES = (
    Route("GET", "/api/sources", sources, READ),
    Route("POST", "/api/sources/{name:path}/pause", pause, WRITE, shows=("for", "until", "reason")),
    Route("POST", "/api/sources/{name:path}/resume", resume, WRITE),
    Route("POST", "/api/sources/{name:path}/disable", disable, WRITE, shows=("reason",)),
    Route("POST", "/api/sources/{name:path}/enable", enable, WRITE),
)
