"""Schedules as rows. A firing moves `next_at` and enqueues its task in one transaction, whoever does it
first.

Any number of machines may look at the same time: the move is a compare-and-set on the old `next_at`, so of
two that saw the same firing only one finds it still there. No leader is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.core.errors import UnknownName
from thresher.core.stored import made
from thresher.core.task import Entry
from thresher.store.session import Session
from thresher.store.store import Store

_COLUMNS = ("name", "app", "entry", "cron", "every_us", "timezone", "missed", "next_at", "last_at", "paused")
_SELECT = f"select {', '.join(_COLUMNS)} from schedules"
_UPSERT = """insert into schedules (name, app, entry, cron, every_us, timezone, missed, next_at)
    values (:name, :app, :entry, :cron, :every_us, :timezone, :missed, :next_at)
    on conflict (name) do update set app = excluded.app, entry = excluded.entry, missed = excluded.missed,
        next_at = case when coalesce(schedules.cron, '') = coalesce(excluded.cron, '')
                        and coalesce(schedules.every_us, 0) = coalesce(excluded.every_us, 0)
                        and schedules.timezone = excluded.timezone then schedules.next_at else excluded.next_at end,
        cron = excluded.cron, every_us = excluded.every_us, timezone = excluded.timezone"""
_MOVE = """update schedules set next_at = :next_at, last_at = :last_at
    where name = :name and next_at = :seen and paused = 0"""
_AHEAD = (
    f"{_SELECT} where paused = 0 and next_at > :now and (last_at is null or last_at > :now_too) order by name"
)
_SHIFT = "update schedules set next_at = :next_at where name = :name and next_at = :seen and paused = 0"
_PAUSE = "update schedules set paused = :paused where name = :name"


@dataclass(frozen=True, slots=True)
class Plan:
    """One schedule as stored."""

    name: str
    app: str
    entry: Entry
    cron: str | None
    every_us: int | None
    timezone: str
    missed: str
    next_at: int | None
    last_at: int | None = None
    paused: bool = False


def save_plan(session: Session, plan: Plan) -> None:
    """Store a schedule; its next firing is kept unless the rhythm itself has changed."""
    entry = {name: getattr(plan.entry, name) for name in Entry.__dataclass_fields__}
    values = {name: getattr(plan, name) for name in _COLUMNS if name not in ("entry", "last_at", "paused")}
    session.run(_UPSERT, values | {"entry": orjson.dumps(entry).decode()})


def read_plans(session: Session, due_at: int | None = None) -> list[Plan]:
    """All schedules, or those due at a time."""
    where = " where paused = 0 and next_at is not null and next_at <= :due" if due_at is not None else ""
    rows = session.rows(f"{_SELECT}{where} order by name", {"due": due_at} if due_at is not None else {})
    return [_plan(row) for row in rows]


def plans_ahead(session: Session, now: int) -> list[Plan]:
    """Schedules that wait, and of which the last firing is not behind us: those that never fired, and all
    where the clock was set back.
    """
    return [_plan(row) for row in session.rows(_AHEAD, {"now": now, "now_too": now})]


def shift_plan(store: Store, plan: Plan, next_at: int) -> bool:
    """Set another next firing, unless another worker already has."""
    with store.write() as session:
        return session.run(_SHIFT, {"name": plan.name, "seen": plan.next_at, "next_at": next_at}) > 0


def fire(store: Store, plan: Plan, firings: list[int], next_at: int | None) -> bool:
    """Enqueue the firings and advance the schedule, unless another worker already has."""
    with store.transaction() as transaction:
        moved = transaction.execute(
            _MOVE + " returning name",
            {
                "name": plan.name,
                "seen": plan.next_at,
                "next_at": next_at,
                "last_at": firings[-1] if firings else plan.last_at,
            },
        )
        if moved:
            transaction.enqueue([_firing(plan, at) for at in firings])
    if moved:
        store.backend.ping()
    return bool(moved)


def drop_plans(session: Session, app: str, keep: Sequence[str]) -> None:
    """Forget the schedules that an app no longer declares."""
    session.run(
        "delete from schedules where app = :app and name not in (:keep*)"
        if keep
        else "delete from schedules where app = :app",
        {"app": app, "keep": keep} if keep else {"app": app},
    )


def pause_plan(session: Session, name: str, *, paused: bool) -> bool:
    """Pause or resume a schedule; False if there is no schedule of that name."""
    return session.run(_PAUSE, {"name": name, "paused": int(paused)}) > 0


def fire_now(store: Store, name: str) -> int | None:
    """Enqueue the task of a schedule beside its rhythm, which stays as it is. None if one that has its key is
    live.
    """
    with store.read() as session:
        plan = next((each for each in read_plans(session) if each.name == name), None)
        now = store.backend.now(session)
    if plan is None:
        raise UnknownName(f"there is no schedule {name!r}; thresher schedules list shows them")
    return store.enqueue([_firing(plan, now)])[0]


def last_key(plan: Plan) -> str | None:
    """The key of the task that was fired last; None if it never fired."""
    return None if plan.last_at is None else _firing(plan, plan.last_at).key


def _firing(plan: Plan, at: int) -> Entry:
    """The task of a firing. One with a key of its own is no second task while the last one is live."""
    entry = plan.entry
    return Entry(
        entry.kind,
        entry.stage,
        entry.gates,
        entry.payload,
        entry.url,
        entry.url_key,
        entry.key or f"schedule:{plan.name}:{at}",
        entry.priority,
    )


def _plan(row: Any) -> Plan:
    fields = dict(zip(_COLUMNS, row, strict=True))
    entry = orjson.loads(fields["entry"])
    entry["gates"] = tuple(entry["gates"])
    fields["entry"] = made(Entry, entry)
    fields["paused"] = bool(fields["paused"])
    return Plan(**fields)
