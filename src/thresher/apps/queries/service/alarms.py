"""Alarms for people: those that are open, and those whose cause is gone."""

from dataclasses import dataclass

from thresher.apps.queries.alarms import Alarm
from thresher.apps.queries.store import alarms
from thresher.store.store import Store


@dataclass(frozen=True, slots=True)
class AlarmView:
    """An alarm as people see it. `told_at` is when a message last named it, `cleared_at` when its cause was
    gone.
    """

    id: int
    name: str
    subject: str
    message: str
    raised_at: int
    last_at: int
    times: int
    told_at: int | None
    cleared_at: int | None
    is_open: bool


def list_alarms(store: Store, *, cleared: bool = False, limit: int = 100) -> list[AlarmView]:
    """Open alarms, the oldest first; with `cleared` those that are over too, behind them."""
    with store.read() as session:
        found = alarms.list_alarms(session, only_open=not cleared, limit=limit)
    return [_view(each) for each in found]


def alarms_by_id(store: Store, *, cleared: bool, after: int, limit: int) -> list[AlarmView]:
    """Open alarms, the oldest first, from the one behind an id on; with `cleared` those that are over too."""
    with store.read() as session:
        return [
            _view(each) for each in alarms.alarms_after(session, after, only_open=not cleared, limit=limit)
        ]


def _view(alarm: Alarm) -> AlarmView:
    return AlarmView(
        alarm.id,
        alarm.name,
        alarm.subject,
        alarm.message,
        alarm.raised_at,
        alarm.last_at,
        alarm.times,
        alarm.told_at or None,
        alarm.cleared_at or None,
        alarm.is_open,
    )
