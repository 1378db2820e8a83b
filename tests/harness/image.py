"""What a database says of gates, lanes and tasks, all at one instant, and the rules that must hold of it at
any instant."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from thresher.core.clock import FOREVER
from thresher.core.gate import Gate
from thresher.store.backend import gates_in
from thresher.store.session import Session
from thresher.store.store import Store

_COLUMNS = tuple(name for name in Gate.__dataclass_fields__)
_GATES = f"select name, {', '.join(_COLUMNS)} from gates"
_LANES = "select id, key, status, parked_on, scope from lanes"
_DUE = "select lane_id, count(*) from tasks where due = 1 group by lane_id"
_OVERDUE = "select lane_id, count(*) from tasks where run_at is not null and run_at <= :now group by lane_id"
_RUNNING = "select lane_id, count(*) from tasks where state = 'running' group by lane_id"

# A wake-up that met a lane in somebody's hand is made up for this much later.
OWED_US = 1_000


@dataclass(frozen=True)
class Lane:
    """A lane, the gates it passes, and how many tasks stand in it."""

    id: int
    status: str
    parked_on: int | None
    gates: tuple[Gate, ...]
    due: int
    overdue: int
    running: int
    scope: int = 0


@dataclass(frozen=True)
class Image:
    """One consistent look at a queue."""

    now: int
    gates: dict[str, Gate]
    lanes: tuple[Lane, ...]

    def wrongs(self) -> Iterator[str]:
        """Everything that must never be, at no instant."""
        yield from self._miscounted()
        yield from self._stranded()
        for lane in self.lanes:
            if lane.status == "idle" and lane.due:
                yield f"lane {lane.id} is idle with {lane.due} due tasks"

    def _miscounted(self) -> Iterator[str]:
        for name, gate in self.gates.items():
            running = sum(lane.running for lane in self.lanes if gate in lane.gates)
            if gate.max_in_flight is not None and gate.in_flight != running:
                yield f"{name} counts {gate.in_flight} in flight, {running} are running"

    def _stranded(self) -> Iterator[str]:
        """Whoever is parked will be woken: by a slot that comes back, by a timer in time, or by the baton of
        a ready lane of its scope."""
        for name, gate in self.gates.items():
            ready = {lane.scope for lane in self.lanes if lane.status == "ready" and gate in lane.gates}
            parked = [lane.id for lane in self.lanes if lane.parked_on == gate.id and lane.scope not in ready]
            full = gate.max_in_flight is not None and gate.in_flight >= gate.max_in_flight
            timed = (
                gate.wake_at is not None
                and gate.wake_at <= max(gate.opens_at(self.now) or 0, self.now) + OWED_US
            )
            if parked and not (full or timed):
                yield f"lanes {parked} are stranded at {name}: {gate}"

    def of(self, scopes: Collection[int] | None) -> "Image":
        """The same, as a worker sees it that knows these scopes."""
        return (
            self
            if scopes is None
            else replace(self, lanes=tuple(lane for lane in self.lanes if lane.scope in scopes))
        )

    def claimable(self) -> list[int]:
        """Lanes from which a task could start right now, found by looking at all of them."""
        return [
            lane.id
            for lane in self.lanes
            if lane.due + lane.overdue and all(gate.allowance(self.now) for gate in lane.gates)
        ]

    def next_opening(self) -> int | None:
        """When time alone will let some waiting task start, as far as slots are not in its way."""
        times = []
        for lane in self.lanes:
            full = any(
                gate.max_in_flight is not None and gate.in_flight >= gate.max_in_flight for gate in lane.gates
            )
            if lane.due and not full:
                times.append(
                    max((gate.opens_at(self.now) or self.now for gate in lane.gates), default=self.now)
                )
        return min((at for at in times if at < FOREVER), default=None)


def look(store: Store) -> Image:
    """Take an image."""
    with store.read() as session:
        return look_within(store, session)


def look_within(store: Store, session: Session) -> Image:
    gates = {row[0]: Gate(*row[1:]) for row in session.rows(_GATES)}
    due, running = dict(session.rows(_DUE)), dict(session.rows(_RUNNING))
    now = store.backend.now(session)  # after the look: no time in it can be later
    overdue = dict(session.rows(_OVERDUE, {"now": now}))
    lanes = tuple(
        Lane(
            lane_id,
            status,
            parked_on,
            tuple(gates[name] for name in gates_in(key)),
            due.get(lane_id, 0),
            overdue.get(lane_id, 0),
            running.get(lane_id, 0),
            scope,
        )
        for lane_id, key, status, parked_on, scope in session.rows(_LANES)
    )
    return Image(now, gates, lanes)
