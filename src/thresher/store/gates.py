"""The gates of one transaction: loaded once, changed by arithmetic, written back once, and the lanes woken by
it.

Lock order on PostgreSQL, the same everywhere: lanes by id, tasks by id, gates by id, and last the parked
lanes, which are only ever taken without waiting. A parked lane that somebody else holds is skipped and its
gate *owes* a wake: its timer is set to now, so that the next claim makes up for it.
"""

from collections.abc import Iterable

from thresher.core.event import EventKind
from thresher.core.gate import Gate
from thresher.store.backend import LaneRemoved
from thresher.store.events import record_event
from thresher.store.session import Dialect, Session, one

# The tag of a gate that an administrator has closed: no trouble takes its place, and nobody else opens it.
BY_ADMIN = "admin"
# A gate that opens wide wakes this many lanes at once; each of them wakes the next when it leaves.
WAKE_MOST = 64

_COLUMNS = "id, max_in_flight, interval_us, burst, trip_after, cooldown_us, in_flight, tat, failures, tripped_until, open_after, wake_at, last_success"
_LOAD = f"select {_COLUMNS} from gates where id in (:ids*) order by id"
_LOAD_ONE = f"select {_COLUMNS} from gates where id = :id"
_SAVE = """update gates set in_flight = :in_flight, tat = :tat, failures = :failures, tripped_until = :tripped_until,
    open_after = :open_after, wake_at = :wake_at, last_success = :last_success where id = :id"""

_CLOSED = f"""update gates set closed_tag = :tag, closed_reason = :reason
    where id = :id and (:was_open = 1 or closed_tag is null or closed_tag <> '{BY_ADMIN}')"""

_PARKED = """select id from lanes where status = 'parked' and parked_on = :gate and scope = :scope
    order by position, id limit :most"""
# One look by the index for each scope, however many lanes are parked in it.
_PARKED_SCOPES = """with recursive s (scope) as (
    select min(scope) from lanes where status = 'parked' and parked_on = :gate
    union all select (select min(l.scope) from lanes l where l.status = 'parked' and l.parked_on = :gate and l.scope > s.scope)
        from s where s.scope is not null)
    select scope from s where scope is not null"""
_ANY_PARKED = "select id from lanes where status = 'parked' order by parked_on, scope, position, id limit 1"
_PARKED_HERE = (
    "select id from lanes where status = 'parked' and parked_on = :gate order by scope, position, id limit 1"
)
# One look by the index for each of them, however many are parked there.
_WITH_PARKED = """select g.id from gates g where g.id in (:ids*)
    and exists (select 1 from lanes l where l.status = 'parked' and l.parked_on = g.id)"""
_UNPARK = "update lanes set status = 'ready', parked_on = null where id in (:ids*)"


class Gates:
    """An image of some gates within one transaction."""

    def __init__(self, session: Session, dialect: Dialect, now: int) -> None:
        self._session = session
        self._dialect = dialect
        self._gates: dict[int, Gate] = {}
        self._dirty: set[int] = set()
        self._any_parked: bool | None = None
        self._looked_at: set[int] = set()
        self._with_parked: set[int] = set()
        self.now = now

    def load(self, ids: Iterable[int]) -> None:
        """Lock and read gates, in the order of their ids. Waits, so nothing that others wait for may come
        after.
        """
        missing = sorted(set(ids) - self._gates.keys())
        if missing:
            for row in self._session.rows(_LOAD + self._dialect.lock, {"ids": missing}):
                self._gates[row[0]] = Gate(*row)

    def get(self, gate_id: int) -> Gate:
        """One gate of the image. Raises `LaneRemoved` where pruning was faster."""
        gate = self._gates.get(gate_id)
        if gate is None:
            row = one(self._session, _LOAD_ONE + self._dialect.lock, {"id": gate_id})
            if row is None:
                raise LaneRemoved
            gate = self._gates[gate_id] = Gate(*row)
        return gate

    def take(self, gate_id: int, starts: int) -> None:
        self.get(gate_id).take(starts, self.now)
        self._dirty.add(gate_id)

    def release(self, gate_id: int, ended: int, *, healthy: bool) -> None:
        """Give slots back; on good news let the breaker recover; wake as many lanes as that allows."""
        gate = self.get(gate_id)
        counted = gate.max_in_flight is not None
        troubled = healthy and gate.failures > 0
        if healthy and (counted or troubled or gate.is_news(self.now)):
            gate.last_success = self.now
            self._dirty.add(gate_id)
        if not counted and not troubled:
            return
        gate.release(ended)
        wanted = ended
        if troubled and gate.succeed():
            wanted = WAKE_MOST
            record_event(self._session, EventKind.GATE_RECOVERED, self.now, gate_id=gate_id)
        self._dirty.add(gate_id)
        self.open(gate_id, wanted)

    def fail(self, gate_id: int, reason: str) -> None:
        """Count a failure towards the breaker."""
        gate = self.get(gate_id)
        self._dirty.add(gate_id)
        if gate.trip_after is None:
            return
        if gate.fail(self.now):
            record_event(
                self._session,
                EventKind.GATE_TRIPPED,
                self.now,
                gate_id=gate_id,
                reason=reason,
                failures=gate.failures,
            )
        self.settle_timer(gate_id)

    def close_until(self, gate_id: int, until: int) -> None:
        """Pause. Never shortens a longer pause."""
        gate = self.get(gate_id)
        gate.open_after = max(gate.open_after, until)
        self._dirty.add(gate_id)
        self.settle_timer(gate_id)

    def open(self, gate_id: int, wanted: int, scope: int | None = None) -> None:
        """Wake up to `wanted` lanes of this scope, or of each, or set the timer if time keeps the gate
        closed.
        """
        gate = self.get(gate_id)
        most = min(wanted, gate.allowance(self.now), WAKE_MOST)
        if most > 0:
            self.wake(gate_id, most, scope)
        else:
            self.settle_timer(gate_id)

    def wake(self, gate_id: int, most: int, scope: int | None = None) -> None:
        """Move the longest-waiting parked lanes of an open gate into the ready order, in each scope as many.

        A lane that is woken may wait for a worker that knows its scope, and meanwhile wakes nobody. So each
        scope is woken by itself; whoever comes too late for what the gate allows is parked again.
        """
        if not self._may_have_parked(gate_id):
            return
        scopes = (
            [row[0] for row in self._session.rows(_PARKED_SCOPES, {"gate": gate_id})]
            if scope is None
            else [scope]
        )
        for each in scopes:
            found = self._session.rows(
                _PARKED + self._dialect.skip, {"gate": gate_id, "scope": each, "most": most}
            )
            lanes = [row[0] for row in found]
            if lanes:
                self._session.run(_UNPARK, {"ids": lanes})
            if (
                len(lanes) < most
                and self._dialect.skip
                and self._session.rows(_PARKED, {"gate": gate_id, "scope": each, "most": 1})
            ):
                self.get(
                    gate_id
                ).wake_at = self.now  # owed: somebody holds a lane that should have been woken
                self._dirty.add(gate_id)

    def _anybody_parked(self) -> bool:
        """One look for all gates: where nothing is parked at all, nobody needs to be asked gate by gate."""
        if self._any_parked is None:
            self._any_parked = bool(self._session.rows(_ANY_PARKED))
        return self._any_parked

    def _may_have_parked(self, gate_id: int) -> bool:
        """Whether it is worth asking for the lanes at this gate.

        With one writer, who is alone, one look answers for all gates of the image. Elsewhere a lane may be
        parked at any time before the gate is locked, so each gate is asked when it is its turn.
        """
        if not self._anybody_parked():
            return False
        if self._dialect.skip:
            return True
        if gate_id not in self._looked_at:
            new = sorted({gate_id, *self._gates} - self._looked_at)
            self._looked_at.update(new)
            self._with_parked.update(row[0] for row in self._session.rows(_WITH_PARKED, {"ids": new}))
        return gate_id in self._with_parked

    def parked(self, gate_id: int) -> None:
        """The caller has parked a lane on this gate."""
        self._any_parked = True
        self._looked_at.add(gate_id)
        self._with_parked.add(gate_id)

    def has_parked(self, gate_id: int) -> bool:
        return self._may_have_parked(gate_id) and bool(self._session.rows(_PARKED_HERE, {"gate": gate_id}))

    def settle_timer(self, gate_id: int) -> None:
        """Keep the invariant: if lanes are parked on a gate that time keeps closed, the gate has a timer to
        wake them.
        """
        gate = self.get(gate_id)
        opens = gate.opens_at(self.now)
        if opens is not None and gate.wake_at != opens and self.has_parked(gate_id):
            gate.wake_at = opens
            self._dirty.add(gate_id)

    def ring(self, gate_id: int) -> None:
        """Handle a timer that is due: wake what is allowed, or set it again."""
        gate = self.get(gate_id)
        gate.wake_at = None
        gate.clamp(self.now)
        self._dirty.add(gate_id)
        self.open(gate_id, WAKE_MOST)

    def mark_dirty(self, gate_id: int) -> None:
        self._dirty.add(gate_id)

    def save(self) -> None:
        """Write every changed gate back."""
        if self._dirty:
            self._session.many(_SAVE, [_state(self._gates[gate_id]) for gate_id in sorted(self._dirty)])
            self._dirty.clear()


def _state(gate: Gate) -> dict[str, int | None]:
    return {
        "in_flight": gate.in_flight,
        "tat": gate.tat,
        "failures": gate.failures,
        "tripped_until": gate.tripped_until,
        "open_after": gate.open_after,
        "wake_at": gate.wake_at,
        "last_success": gate.last_success,
        "id": gate.id,
    }


def note_closed(session: Session, gate_id: int, tag: str | None, reason: str, *, was_open: bool) -> None:
    """Write why a gate was closed. What an administrator wrote stays while the gate is closed by it."""
    session.run(_CLOSED, {"tag": tag, "reason": reason, "id": gate_id, "was_open": int(was_open)})


def read_gates(session: Session, ids: Iterable[int]) -> list[Gate]:
    """Gates as they stand, without a lock: for a look that is checked again under one."""
    return [Gate(*row) for row in session.rows(_LOAD, {"ids": list(ids)})]


def gate_named(session: Session, name: str) -> int | None:
    """The id of a gate, by its name."""
    row = one(session, "select id from gates where name = :name", {"name": name})
    return int(row[0]) if row else None
