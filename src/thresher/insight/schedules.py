"""Schedules as a person sees them."""

from dataclasses import dataclass

from thresher.core.clock import SECOND
from thresher.store.schedules import Plan, read_plans
from thresher.store.store import Store


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
