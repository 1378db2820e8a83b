"""Schedules: list, pause and resume them."""

from dataclasses import dataclass

from thresher.core.clock import SECOND
from thresher.core.errors import UnknownName
from thresher.store.schedules import Plan, pause_plan, read_plans
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
    """One schedule: its rhythm, when it fired last, and when it fires next."""

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


def list_schedules(store: Store) -> list[ScheduleView]:
    """All schedules by name."""
    with store.read() as session:
        return [_view(plan) for plan in read_plans(session)]


def _view(plan: Plan) -> ScheduleView:
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
    )
