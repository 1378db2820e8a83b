"""What a site asks of us, and what a person decides about it: Retry-After, Crawl-delay, and robots.txt
itself.

All of it stands in the gate's row, so that it holds for every worker at once and a person sees what is
obeyed.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from thresher.core.clock import DAY, SECOND
from thresher.core.errors import UsageError
from thresher.core.event import EventKind
from thresher.core.gate import RANGES
from thresher.store.backend import LaneRemoved
from thresher.store.events import record_event
from thresher.store.gates import WAKE_MOST, Gates, gate_named, note_closed
from thresher.store.permits import with_gates
from thresher.store.session import Session, one
from thresher.store.store import Lanes, Store

T = TypeVar("T")

RATE_LIMITED = "rate_limited"
# No site closes itself for longer by asking: a Retry-After of a thousand years is a mistake, or malice.
MAX_HOLD_US = 30 * DAY

_ASKED = "select interval_us, crawl_delay_us, own_interval_us, last_start from gates where id = :id"
_DELAY = "select crawl_delay_us from gates where name = :name"
_SLOW = (
    "update gates set interval_us = :interval, crawl_delay_us = :asked, own_interval_us = :own where id = :id"
)
_WAIVE = "update gates set robots_waived_at = :now, robots_waived_reason = :reason where id = :id"
_MIND = "update gates set robots_waived_at = null, robots_waived_reason = null where id = :id and robots_waived_at is not null"
_WAIVED = "select name, robots_waived_at, robots_waived_reason from gates where name in (:names*) and robots_waived_at is not null"


def hold_back(store: Store, gate: str, seconds_us: int, reason: str) -> None:
    """The site asked us to wait (Retry-After): closed for all workers from now on. Never shortens a longer
    pause.
    """

    def close(session: Session, gates: Gates, gate_id: int) -> None:
        until = gates.now + min(max(0, seconds_us), MAX_HOLD_US)
        before = gates.get(gate_id).open_after
        if until <= before:
            return
        gates.close_until(gate_id, until)
        gates.save()
        # Whoever was under way when the gate closed hears the same answer: the news is told once.
        if before <= gates.now or until - before >= SECOND:
            note_closed(session, gate_id, RATE_LIMITED, reason, was_open=before <= gates.now)
            record_event(
                session,
                EventKind.GATE_PAUSED,
                gates.now,
                gate_id=gate_id,
                until=until,
                tag=RATE_LIMITED,
                reason=reason,
            )

    _at_gate(store, gate, close)


def slow_down(store: Store, gate: str, interval_us: int) -> bool:
    """The site asked for this time between two requests (Crawl-delay; 0: no longer). True if that was news.

    Raises the interval, and never lowers it below what a person set. What was asked is remembered: a person
    who changes the limits afterwards has the last word until the site asks for something else.
    """
    asked = min(max(0, interval_us), RANGES["interval_us"][1])
    with store.read(autocommit=True) as session:
        known = one(session, _DELAY, {"name": gate})
    if (known[0] if known else 0) == asked:
        return False

    def follow(session: Session, gates: Gates, gate_id: int) -> bool:
        interval, before, own, last_start = session.rows(_ASKED, {"id": gate_id})[0]
        if before == asked:
            return False  # somebody else was told the same
        mine = own if own is not None and interval == before else interval
        slower = max(mine, asked)
        session.run(
            _SLOW, {"interval": slower, "asked": asked, "own": mine if slower > mine else None, "id": gate_id}
        )
        _change_interval(gates, gate_id, slower, last_start)
        record_event(
            session,
            EventKind.GATE_LIMITED,
            gates.now,
            gate_id=gate_id,
            interval_us=slower,
            crawl_delay_us=asked,
        )
        return True

    if not _at_gate(store, gate, follow):
        return False
    store.backend.ping()
    return True


def waive_robots(store: Store, gate: str, reason: str) -> None:
    """Ignore robots.txt at this gate, with a reason."""
    if not reason.strip():
        raise UsageError(f"give a reason for ignoring robots.txt at {gate}; it is stored and shown")

    def waive(session: Session, gates: Gates, gate_id: int) -> None:
        session.run(_WAIVE, {"now": gates.now, "reason": reason, "id": gate_id})
        record_event(session, EventKind.ROBOTS_WAIVED, gates.now, gate_id=gate_id, reason=reason)

    _at_gate(store, gate, waive)


def mind_robots(store: Store, gate: str) -> None:
    """robots.txt is asked again. Harmless where it always was."""

    def mind(session: Session, gates: Gates, gate_id: int) -> None:
        if session.run(_MIND, {"id": gate_id}):
            record_event(session, EventKind.ROBOTS_MINDED, gates.now, gate_id=gate_id)

    _at_gate(store, gate, mind)


def robots_waiver(store: Store, gates: Sequence[str]) -> tuple[int, str] | None:
    """Since when and why robots.txt is not asked, by the first of these gates that says so."""
    with store.read(autocommit=True) as session:
        found = {row[0]: (int(row[1]), str(row[2])) for row in session.rows(_WAIVED, {"names": list(gates)})}
    return next((found[name] for name in gates if name in found), None)


def _at_gate(store: Store, gate: str, act: Callable[[Session, Gates, int], T]) -> T:
    """Change one gate under its lock, creating it if it is a new host."""

    def hold(lanes: Lanes) -> T:  # noqa: ARG001  they say that the gate is there, unless pruning was faster
        with store.write() as session:
            gate_id = gate_named(session, gate)
            if gate_id is None:
                raise LaneRemoved
            gates = Gates(session, store.backend.dialect, 0)
            gates.get(gate_id)
            gates.now = store.backend.now(session)  # after the wait for the lock, never before it
            return act(session, gates, gate_id)

    return with_gates(store, [gate], hold)


def _change_interval(gates: Gates, gate_id: int, interval_us: int, last_start: int) -> None:
    """A rate that became faster may open the gate; one that became slower counts from the last start."""
    gate = gates.get(gate_id)
    if interval_us > gate.interval_us:
        gate.tat = max(gate.tat, last_start + interval_us)
    gate.interval_us = interval_us
    gate.clamp(gates.now, slack=0)
    gates.mark_dirty(gate_id)
    gates.open(gate_id, WAKE_MOST)
    gates.save()
