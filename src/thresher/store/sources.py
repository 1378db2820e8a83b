"""Sources and their gates: what a person names, limits, pauses and opens again.

Whether a source is paused or disabled is read from its gate, the one row that the claim obeys; there is no
second place that could say something else.
"""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from thresher.core.clock import FOREVER, as_text
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.event import EventKind
from thresher.core.gate import Gate, GateLimits
from thresher.core.keys import PREFIX
from thresher.store.events import record_event
from thresher.store.gates import BY_ADMIN, WAKE_MOST, Gates, gate_named
from thresher.store.lanes import add_gate
from thresher.store.repair import running_per_gate
from thresher.store.session import Session
from thresher.store.store import Store

_COLUMNS = (
    "id",
    "name",
    "max_in_flight",
    "interval_us",
    "burst",
    "trip_after",
    "cooldown_us",
    "in_flight",
    "tat",
    "failures",
    "tripped_until",
    "open_after",
    "wake_at",
    "last_success",
    "closed_tag",
    "closed_reason",
    "last_failure",
    "last_error",
    "robots_waived_at",
    "robots_waived_reason",
)
_GATE_FIELDS = tuple(name for name in _COLUMNS if name in Gate.__dataclass_fields__)
_SELECT = f"select {', '.join('g.' + name for name in _COLUMNS)}, s.name, s.app from gates g left join sources s on s.gate_id = g.id"
_MAYBE_CLOSED = """ where g.open_after > :now or g.tripped_until > :now_too
    or g.id in (select parked_on from lanes where status = 'parked') order by g.name limit :limit"""
_ADD = "insert into sources (name, gate_id, app, created_at) values (:name, :gate, :app, :now) on conflict (name) do nothing"
_LIMIT = """update gates set max_in_flight = :max_in_flight, interval_us = :interval_us, burst = :burst,
    trip_after = :trip_after, cooldown_us = :cooldown_us, pinned = 1 where id = :id"""
_WAIVED = """select name, robots_waived_at, robots_waived_reason from gates where robots_waived_at is not null
    order by robots_waived_at desc, name limit :limit"""
_LATELY = """select name from gates where name like 'host:%' and open_after <= :now
    order by last_success desc, name limit :limit"""
_CLOSED_BY = "select closed_tag, closed_reason from gates where id = :id"
_WHY = "update gates set closed_tag = :tag, closed_reason = :reason where id = :id"

MAX_CLOSED = 1_000

Fields = dict[str, Any]


def gate_called(name: str) -> str:
    """Return the gate of that name: a source by its bare name, any other gate by its full name."""
    return name if ":" in name else f"source:{name}"


# How a person asks for tasks that pass through no gate.
NO_GATE = "none"


def through_gate(name: str | None) -> Fields:
    """A filter of `store.tasks` for tasks that pass through a gate or source of that name, or none."""
    if name == NO_GATE:
        return {"gateless": True}
    return {"gate": gate_called(name) if name else None}


def add_source(store: Store, name: str, limits: GateLimits, app: str | None = None) -> bool:
    """Make a source and its gate; False if it was there, and then nothing of it is changed."""
    with store.write() as session:
        return add_source_within(session, name, limits, app, store.backend.now(session))


def add_source_within(session: Session, name: str, limits: GateLimits, app: str | None, now: int) -> bool:
    """The same inside an open transaction."""
    add_gate(session, f"source:{name}", limits)
    gate_id = gate_named(session, f"source:{name}")
    return session.run(_ADD, {"name": name, "gate": gate_id, "app": app, "now": now}) > 0


def find_gates(
    session: Session,
    *,
    name: str | None = None,
    only_sources: bool = False,
    after: str | None = None,
    limit: int = 1_000,
) -> list[Fields]:
    """Gates with their limits, state and trouble, by name; those behind the one that is called `after`."""
    wanted = {"g.name = :name": name, "g.name > :after": after}
    given = {clause.rpartition(":")[2]: value for clause, value in wanted.items() if value}
    clauses = [clause for clause, value in wanted.items() if value]
    clauses += ["s.name is not null"] if only_sources and not name else []
    where = f" where {' and '.join(clauses)}" if clauses else ""
    rows = session.rows(f"{_SELECT}{where} order by g.name limit :limit", {"limit": limit, **given})
    return [dict(zip((*_COLUMNS, "source", "app"), row, strict=True)) for row in rows]


def find_closed(session: Session, now: int, limit: int = MAX_CLOSED) -> list[Fields]:
    """Gates that may be closed: by time, or because lanes are parked on them. The arithmetic has the last
    word.
    """
    rows = session.rows(_SELECT + _MAYBE_CLOSED, {"now": now, "now_too": now, "limit": limit})
    return [dict(zip((*_COLUMNS, "source", "app"), row, strict=True)) for row in rows]


def find_waived(session: Session, limit: int = 1_000) -> list[tuple[str, int, str]]:
    """Return the gates where robots.txt is ignored, since when and why, newest first."""
    return [(str(name), int(at), str(reason)) for name, at, reason in session.rows(_WAIVED, {"limit": limit})]


def longest_interval(session: Session) -> int:
    """The longest time that any gate keeps between two starts."""
    return int(session.rows("select coalesce(max(interval_us), 0) from gates")[0][0])


def as_gate(fields: Fields) -> Gate:
    """The row as the arithmetic knows it."""
    return Gate(**{name: fields[name] for name in _GATE_FIELDS})


def is_open(store: Store, gate: str) -> bool:
    """Whether nothing but its rate and its slots keeps anybody waiting here."""
    with store.read(autocommit=True) as session:
        found = find_gates(session, name=gate)
        return bool(found) and max(found[0]["open_after"], found[0]["tripped_until"]) <= store.backend.now(
            session
        )


def pause(store: Store, gate: str, delay_us: int, reason: str, tag: str = "paused") -> None:
    """Close a gate for a time. Tasks wait in front of it and lose nothing. A gate that an administrator
    closed is left to an administrator.
    """
    with store.write() as session:
        pause_within(session, gate, delay_us, reason, tag, now=store.backend.now)


def pause_until(store: Store, gate: str, until: int, reason: str, tag: str = "paused") -> None:
    """The same until a point in time. Refuse one that is over by the database's clock."""
    with store.write() as session:
        gates, gate_id = _gates(session, gate, store.backend.now)
        if until <= gates.now:
            raise UsageError(
                f"{as_text(until)} is over: it is {as_text(gates.now)} by the clock of the database. Nothing was paused"
            )
        _pause(session, gates, gate_id, gate, until, reason, tag)


def disable(store: Store, gate: str, tag: str, reason: str) -> None:
    """Close a gate until someone enables it. A gate that an administrator closed stays closed by an
    administrator.
    """
    with store.write() as session:
        disable_within(session, gate, tag, reason, now=store.backend.now)


def resume(store: Store, gate: str, *, by_admin: bool = True) -> None:
    """Open a gate, whatever closed it, and forget its failures. What an administrator has closed needs one to
    open it.
    """
    with store.write() as session:
        resume_within(session, gate, by_admin=by_admin, now=store.backend.now)
    store.backend.ping()


# The same inside a transaction that somebody else has opened, such as the settlement of a task. `now` is
# asked for after the wait for the gate's lock, never before it.

ReadClock = Callable[[Session], int]


def pause_within(
    session: Session, gate: str, delay_us: int, reason: str, tag: str = "paused", *, now: ReadClock
) -> None:
    """Close a gate for a time."""
    gates, gate_id = _gates(session, gate, now)
    _pause(session, gates, gate_id, gate, gates.now + delay_us, reason, tag)


def _pause(
    session: Session, gates: Gates, gate_id: int, gate: str, until: int, reason: str, tag: str
) -> None:
    if tag != BY_ADMIN:
        _refuse_admins(session, gates, gate_id, gate)
    gates.get(gate_id).open_after = until
    _close(session, gates, gate_id, EventKind.GATE_PAUSED, until, tag, reason)


def disable_within(session: Session, gate: str, tag: str, reason: str, *, now: ReadClock) -> None:
    """Close a gate until someone enables it."""
    gates, gate_id = _gates(session, gate, now)
    if tag != BY_ADMIN:
        _refuse_admins(session, gates, gate_id, gate)
    gates.get(gate_id).open_after = FOREVER
    _close(session, gates, gate_id, EventKind.GATE_DISABLED, FOREVER, tag, reason)


def set_rate_within(session: Session, gate: str, interval_us: int, *, now: ReadClock) -> None:
    """Change the time between two starts at a gate; its other limits stay."""
    gates, gate_id = _gates(session, gate, now)
    known = gates.get(gate_id)
    if known.interval_us != interval_us:
        limits = {name: getattr(known, name) for name in GateLimits.__dataclass_fields__}
        _limit(session, gates, gate_id, GateLimits(**{**limits, "interval_us": interval_us}))


def resume_within(session: Session, gate: str, *, by_admin: bool = False, now: ReadClock) -> None:
    """Open a gate and forget its failures."""
    gates, gate_id = _gates(session, gate, now)
    if not by_admin:
        _refuse_admins(session, gates, gate_id, gate)
    opened = gates.get(gate_id)
    opened.open_after = 0
    opened.succeed()
    gates.mark_dirty(gate_id)
    session.run(_WHY, {"tag": None, "reason": None, "id": gate_id})
    gates.open(gate_id, WAKE_MOST)
    gates.save()
    record_event(session, EventKind.GATE_RESUMED, gates.now, gate_id=gate_id)


def set_limits(store: Store, gate: str, limits: GateLimits) -> None:
    """Change limits. What already runs above a lowered limit may finish; nothing new starts until there is
    room.
    """
    with store.write() as session:
        gates, gate_id = _gates(session, gate, store.backend.now)
        image = gates.get(gate_id)
        if image.max_in_flight is None and limits.max_in_flight is not None:
            image.in_flight = running_per_gate(store, session).get(gate_id, 0)
        _limit(session, gates, gate_id, limits)
    store.backend.ping()


def _limit(session: Session, gates: Gates, gate_id: int, limits: GateLimits) -> None:
    image = gates.get(gate_id)
    for name, value in asdict(limits).items():
        setattr(image, name, value)
    image.clamp(gates.now, slack=0)
    if not image.on_trial:
        image.tripped_until = 0  # fewer failures than it takes now: nobody waits for the old breaker
    session.run(_LIMIT, asdict(limits) | {"id": gate_id})
    gates.mark_dirty(gate_id)
    gates.open(gate_id, WAKE_MOST)
    gates.save()
    record_event(session, EventKind.GATE_LIMITED, gates.now, gate_id=gate_id, **asdict(limits))


def judge_source(store: Store, gate: str, problem: str | None) -> None:
    """Tell a gate how a test by hand went: good news lets the breaker recover, bad news counts."""
    with store.write() as session:
        gates, gate_id = _gates(session, gate, store.backend.now)
        if problem is None:
            gates.release(gate_id, 0, healthy=True)
        else:
            gates.fail(gate_id, problem)
        gates.save()


def _gates(session: Session, gate: str, now: ReadClock) -> tuple[Gates, int]:
    gate_id = gate_named(session, gate)
    if gate_id is None:
        raise UnknownName(f"there is no gate {gate!r}; thresher sources list --all shows them")
    gates = Gates(session, session.dialect, 0)
    gates.load([gate_id])
    gates.now = now(session)
    return gates, gate_id


def _refuse_admins(session: Session, gates: Gates, gate_id: int, gate: str) -> None:
    """Leave a gate that an administrator keeps closed to an administrator. A pause that is over keeps nothing
    closed.
    """
    tag, reason = session.rows(_CLOSED_BY, {"id": gate_id})[0]
    until = gates.get(gate_id).open_after
    if tag == BY_ADMIN and until > gates.now:
        done, way = ("disabled", "enable") if until >= FOREVER else ("paused", "resume")
        raise NotAllowed(
            f"an administrator has {done} {gate} ({reason}); to open it, log in as an "
            f"administrator, use a key with the scope admin, or run: thresher sources {way} {gate}"
        )


def _close(
    session: Session, gates: Gates, gate_id: int, kind: EventKind, until: int, tag: str, reason: str
) -> None:
    gates.mark_dirty(gate_id)
    gates.open(gate_id, WAKE_MOST)  # a pause may also be shorter than the one before
    gates.save()
    session.run(_WHY, {"tag": tag, "reason": reason, "id": gate_id})
    record_event(session, kind, gates.now, gate_id=gate_id, until=until, tag=tag, reason=reason)


def hosts_lately(session: Session, now: int, limit: int) -> tuple[str, ...]:
    """The hosts that answered last, without those that are paused or disabled; after them those that never
    did.
    """
    rows = session.rows(_LATELY, {"now": now, "limit": limit})
    return tuple(name.removeprefix(PREFIX) for (name,) in rows)
