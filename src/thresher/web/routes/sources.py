"""Sources over HTTP: list them, pause, resume, disable, enable one. Each change answers with how the gate
stands now.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Body, Path, Query
from starlette.requests import Request

from thresher.admin import sources as control
from thresher.admin.gates import GateView, list_gates, show_gate
from thresher.admin.keys import READ, WRITE
from thresher.core.errors import UsageError
from thresher.store.store import Store
from thresher.web.answer import JSON, Answer, answer, written
from thresher.web.auth import is_admin
from thresher.web.route import AfterName, CurrentRuntime, Limit, Route
from thresher.web.routes.examples import GATE
from thresher.web.schemas import Pause, ReasonBody, RequestBody, Text, like, said

Name = Annotated[str, Path(description="Name of a source, or of a gate such as host:example.com.")]


async def sources(
    runtime: CurrentRuntime,
    every: Annotated[bool, Query(alias="all", description="Include all gates, such as hosts.")] = False,
    limit: Limit = 1_000,
    after: AfterName = None,
) -> Answer[list[GateView]]:
    """List sources by name with their limits, their health, and the reason for every pause."""
    return await answer(runtime.store, list_gates, runtime.store, every=every, after=after, limit=limit)


async def pause(runtime: CurrentRuntime, request: Request, name: Name, body: Pause) -> Answer[GateView]:
    """Pause a source for a length of time (`for`) or until a point in time (`until`). Its tasks wait and lose
    nothing; it reopens automatically. If an administrator pauses it, only an administrator can resume it.
    """
    change = partial(control.pause_as_asked, by_admin=is_admin(request))
    how = (body.lasts, body.until, said(body, "paused manually"))
    return await answer(runtime.store, _changed, runtime.store, name, change, *how)


async def resume(runtime: CurrentRuntime, request: Request, name: Name) -> Answer[GateView]:
    """End a pause or a breaker's cooldown now. The pause of an administrator needs the scope admin."""
    change = partial(control.resume, by_admin=is_admin(request))
    return await answer(runtime.store, _changed, runtime.store, name, change)


async def disable(
    runtime: CurrentRuntime, request: Request, name: Name, body: Annotated[ReasonBody | None, Body()] = None
) -> Answer[GateView]:
    """Close a source until it is enabled. If an administrator disables it, only an administrator can enable
    it. Its tasks wait and lose nothing.
    """
    change = partial(control.disable, by_admin=is_admin(request))
    return await answer(runtime.store, _changed, runtime.store, name, change, said(body, "disabled manually"))


async def enable(runtime: CurrentRuntime, request: Request, name: Name) -> Answer[GateView]:
    """Open a source, whatever closed it, and reset its failures. A source that an administrator disabled
    needs the scope admin.
    """
    return await answer(
        runtime.store, _changed, runtime.store, name, partial(control.enable, by_admin=is_admin(request))
    )


class LimitsAsked(RequestBody):
    """The limits of a source that change; what is not named stays. Each as on the command line: a rate such
    as 2/s or 30/m, a duration such as 5m, a number, or none for no limit.
    """

    model_config = like(rate="30/m", in_flight="3")

    rate: Text | None = None
    burst: Text | None = None
    in_flight: Text | None = None
    trip_after: Text | None = None
    cooldown: Text | None = None


async def limit(runtime: CurrentRuntime, name: Name, body: LimitsAsked) -> Answer[GateView]:
    """Change some limits of a source; the others stay."""
    wanted = body.model_dump()
    if not any(wanted.values()):
        raise UsageError(f"name the limit to change: {', '.join(wanted)}; none takes a limit away")
    return await answer(runtime.store, _changed, runtime.store, name, control.limit, wanted)


async def test(runtime: CurrentRuntime, name: Name) -> Answer[control.Probe]:
    """Run the probe that an app declares for a source now. What it finds counts: a source that works is open
    again, one that does not is paused.
    """
    found = await control.test_here(runtime.store, runtime.registry, name)
    return Answer(written(found), media_type=JSON)


def _changed(store: Store, name: str, change: Callable[..., None], *how: Any) -> GateView:
    change(store, name, *how)
    return show_gate(store, name)


ROUTES = (
    Route("GET", "/api/sources", sources, READ, page_by="name", example=[GATE], name="list_sources"),
    Route(
        "POST",
        "/api/sources/{name:path}/pause",
        pause,
        WRITE,
        shows=("for", "until", "reason"),
        example=GATE,
        name="pause_source",
    ),
    Route("POST", "/api/sources/{name:path}/resume", resume, WRITE, example=GATE, name="resume_source"),
    Route(
        "POST",
        "/api/sources/{name:path}/disable",
        disable,
        WRITE,
        shows=("reason",),
        example=GATE,
        name="disable_source",
    ),
    Route("POST", "/api/sources/{name:path}/enable", enable, WRITE, example=GATE, name="enable_source"),
    Route(
        "PATCH",
        "/api/sources/{name:path}/limits",
        limit,
        WRITE,
        shows=("rate", "burst", "in_flight", "trip_after", "cooldown"),
        name="change_source_limits",
        example=GATE,
    ),
    Route(
        "POST",
        "/api/sources/{name:path}/test",
        test,
        WRITE,
        name="test_source",
        example={"ran": True, "ok": False, "says": "401 Unauthorized"},
    ),
)
