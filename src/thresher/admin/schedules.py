"""Schedules: list, pause and resume them."""

from dataclasses import dataclass
from typing import Any

from thresher.core.clock import SECOND
from thresher.core.errors import UnknownName
from thresher.core.task import State
from thresher.store import overview, tasks
from thresher.store.schedules import Plan, fire_now, last_key, pause_plan, read_plans
from thresher.store.session import Session
from thresher.store.settle import read_result
from thresher.store.store import Store


def pause_schedule(store: Store, name: str) -> None:
    """No firing until it is resumed."""
    _pause(store, name, paused=True)


def resume_schedule(store: Store, name: str) -> None:
    """Fire again. Missed firings are treated as the schedule says."""
    _pause(store, name, paused=False)


def _pause(store: Store, name: str, *, paused: bool) -> None:
    with store.write() as session:
        if not pause_plan(session, name, paused=paused):
            raise UnknownName(f"there is no schedule {name!r}; thresher schedules list shows them")


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """One schedule: its rhythm, when it fired last, when it fires next, and the result of the last task of
    its kind that was done.
    """

    name: str
    app: str
    kind: str
    cron: str | None
    every: float | None
    timezone: str
    missed: str
    paused: bool
    last_at: int | None
    next_at: int | None
    result: Any = None


@dataclass(frozen=True, slots=True)
class Firing:
    """A schedule with the task that it fired last, as far as that is among the newest tasks."""

    schedule: ScheduleView
    task: int | None
    state: str | None
    reason: str | None


def list_firings(store: Store) -> list[Firing]:
    """All schedules by name, each with its last task. A few bounded looks, whatever waits."""
    with store.read() as session:
        plans = read_plans(session)
        keys = {plan.name: key for plan in plans if (key := last_key(plan))}
        newest = overview.newest_with_key(session, sorted(set(keys.values())))
        last = {
            plan.name: newest.get((plan.entry.kind, keys[plan.name])) for plan in plans if plan.name in keys
        }
        ids = [each for each in last.values() if each is not None]
        states = overview.states(session, ids) if ids else {}
        reasons = overview.reasons(session, ids) if ids else {}
    return [
        Firing(
            _view(plan, None), (task := last.get(plan.name)), states.get(task or 0), reasons.get(task or 0)
        )
        for plan in plans
    ]


def fire_schedule(store: Store, name: str) -> int | None:
    """Enqueue its task now, paused or not. Its rhythm stays as it is. None if its last task has not ended."""
    return fire_now(store, name)


def list_schedules(store: Store) -> list[ScheduleView]:
    """All schedules by name."""
    with store.read() as session:
        return [_view(plan, _last_result(session, plan)) for plan in read_plans(session)]


def _last_result(session: Session, plan: Plan) -> Any:
    if plan.last_at is None:
        return None
    done = tasks.find(session, limit=1, kind=plan.entry.kind, state=State.SUCCEEDED)
    return read_result(session, done[0]["id"]) if done else None


def _view(plan: Plan, result: Any) -> ScheduleView:
    every = None if plan.every_us is None else plan.every_us / SECOND
    return ScheduleView(
        plan.name,
        plan.app,
        plan.entry.kind,
        plan.cron,
        every,
        plan.timezone,
        plan.missed,
        plan.paused,
        plan.last_at,
        plan.next_at,
        result,
    )
