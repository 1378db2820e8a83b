"""Schedules over HTTP: see when each fires, pause it, or fire it now."""

from collections.abc import Callable
from typing import Annotated, TypedDict

from fastapi import Path

from thresher.admin.keys import READ, WRITE
from thresher.admin.schedules import (
    ScheduleView,
    fire_schedule,
    list_schedules,
    pause_schedule,
    resume_schedule,
)
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime, Route
from thresher.web.routes.examples import AT

Name = Annotated[str, Path(description="Name of the schedule.")]


class Fired(TypedDict):
    """The task that was enqueued; null where the last one of the schedule has not ended."""

    task: int | None


async def schedules(runtime: CurrentRuntime) -> Answer[list[ScheduleView]]:
    """List schedules by name: their rhythm, the next and the last firing, and what the last task brought."""
    return await answer(runtime.store, list_schedules, runtime.store)


async def pause(runtime: CurrentRuntime, name: Name) -> Answer[ScheduleView]:
    """Pause a schedule until it is resumed."""
    return await answer(runtime.store, _changed, runtime.store, name, pause_schedule)


async def resume(runtime: CurrentRuntime, name: Name) -> Answer[ScheduleView]:
    """Let a schedule fire again. Missed firings are treated as the schedule says."""
    return await answer(runtime.store, _changed, runtime.store, name, resume_schedule)


def _changed(store: Store, name: str, act: Callable[[Store, str], None]) -> ScheduleView:
    act(store, name)
    return next(each for each in list_schedules(store) if each.name == name)


async def fire(runtime: CurrentRuntime, name: Name) -> Answer[Fired]:
    """Enqueue the task of a schedule now, paused or not. Its rhythm stays as it is."""
    return await answer(runtime.store, _fired, runtime.store, name)


def _fired(store: Store, name: str) -> Fired:
    return {"task": fire_schedule(store, name)}


_SCHEDULE = {
    "name": "shop.nightly",
    "app": "shop",
    "kind": "list",
    "cron": "0 3 * * *",
    "every": None,
    "timezone": "UTC",
    "missed": "skip",
    "paused": False,
    "last_at": AT,
    "next_at": AT,
    "result": {"items": 984},
}
_ONE = "/api/schedules/{name:path}"

ROUTES = (
    Route("GET", "/api/schedules", schedules, READ, probe=True, name="list_schedules", example=[_SCHEDULE]),
    Route(
        "POST",
        f"{_ONE}/pause",
        pause,
        WRITE,
        name="pause_schedule",
        example={**_SCHEDULE, "paused": True, "next_at": None},
    ),
    Route("POST", f"{_ONE}/resume", resume, WRITE, name="resume_schedule", example=_SCHEDULE),
    Route("POST", f"{_ONE}/fire", fire, WRITE, name="fire_schedule", example={"task": 41}),
)
