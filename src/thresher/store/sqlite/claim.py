"""The claim on SQLite: ready lanes in order, each with its gates, until enough tasks are in hand.

The same rules as on PostgreSQL, where they are a function in the database. Here a statement costs
microseconds and nobody else writes, so it is a loop that one can read:

1. Delayed tasks whose time has come enter their lanes; gates whose timer has come wake lanes.
2. Ready lanes of the scopes that the worker knows are visited in order of position. A lane with a closed gate
   is parked on it.
3. A lane with open gates starts up to a quantum of tasks (a lane without gates many), the gates are charged,
   and the lane goes to the back.
4. The baton: for each lane that was visited, each of its gates that is still open wakes another lane of the
   same scope, which may have slept in front of it for want of this one. So a gate that opens wide wakes its
   lanes in doubling steps.
"""

from collections.abc import Collection, Sequence
from typing import Any

from thresher.core.task import Task
from thresher.store.backend import Rules, Turn, as_task
from thresher.store.gates import Gates
from thresher.store.session import Session

STAGE_MOST = 200
# Lanes without gates are one queue, dealt out so that claims do not wait for each other: each takes this many
# turns at once.
OPEN_TURNS = 32
RING_MOST = 64

_LOST = "select 1 from workers where id = ? and lost_at is not null"
_NEXT_RUN = "select run_at from tasks where run_at is not null order by run_at limit 1"
_NEXT_WAKE = "select wake_at from gates where wake_at is not null order by wake_at limit 1"
_STAGE = """update tasks set due = 1, run_at = null where id in
    (select id from tasks where run_at is not null and run_at <= ? order by run_at limit ?) returning lane_id, rank"""
_RING = "select id from gates where wake_at is not null and wake_at <= ? order by wake_at limit ?"
# One look by the index for each scope that has a ready lane, however many lanes are ready in it.
_READY_SCOPES = """with recursive s (scope) as (
    select min(scope) from lanes where status = 'ready'
    union all select (select min(l.scope) from lanes l where l.status = 'ready' and l.scope > s.scope) from s where s.scope is not null)
    select scope from s where scope is not null"""
_READY = """select id, gates, position, key, scope from lanes where status = 'ready' and scope = ?
    order by position, id limit ?"""
# Read, then write: nobody else can move them in between, and an update that returns rows costs half as much
# again.
_HEADS = """select id, claim + 1, kind, stage, payload, checkpoint, url, tracking_id, parent_id, depth, failures, crashes, rank
    from tasks where lane_id = ? and due = 1 order by rank, id limit ?"""
_TAKE = "update tasks set state = 'running', due = 0, claim = claim + 1, worker_id = ?, started_at = ? where id = ?"
_IDLE = "update lanes set status = 'idle', parked_on = null, served_at = ? where id = ?"
_PARK = "update lanes set status = 'parked', parked_on = ?, position = ?, served_at = max(served_at, ?) where id = ?"
_BACK = "update lanes set position = ?, served_at = ? where id = ?"
_ACTIVATE = """update lanes set
    position = case status when 'idle' then max(?1, served_at) else min(position, max(?1, served_at)) end,
    status = case status when 'idle' then 'ready' else status end
    where id = ?2"""


def make_ready(session: Any, ranks: dict[int, int]) -> None:
    """Put lanes into the ready order at the rank of their best task, but never before others that wait for a
    turn.
    """
    if ranks:
        session.many(_ACTIVATE, [(rank, lane_id) for lane_id, rank in ranks.items()])


def claim(
    session: Any,
    gates: Gates,
    limit: int,
    worker_id: int,
    rules: Rules,
    scopes: Collection[int] | None = None,
) -> Turn:
    """Up to `limit` tasks for this worker, in the caller's transaction; of these scopes, if any are named."""
    now = gates.now
    if session.rows(_LOST, (worker_id,)):
        return Turn([], [], now=now, lost=True)
    _stage_due(session, now)
    _ring_timers(session, gates, now)
    hand = _Hand(session, gates, limit, worker_id, rules, scopes)
    while hand.left > 0 and hand.visits_left > 0 and hand.round():
        pass
    more = hand.left <= 0 or bool(hand.ready_scopes())
    return Turn(hand.tasks, [], more, _next_at(session, gates), now)


def _stage_due(session: Any, now: int) -> None:
    first = session.rows(_NEXT_RUN)
    if first and first[0][0] <= now:
        ranks: dict[int, int] = {}
        for lane_id, rank in session.rows(_STAGE, (now, STAGE_MOST)):
            ranks[lane_id] = min(rank, ranks.get(lane_id, rank))
        make_ready(session, ranks)


def _ring_timers(session: Any, gates: Gates, now: int) -> None:
    first = session.rows(_NEXT_WAKE)
    if first and first[0][0] <= now:
        for (gate_id,) in session.rows(_RING, (now, RING_MOST)):
            gates.ring(gate_id)


def _next_at(session: Session, gates: Gates) -> int | None:
    gates.save()
    times = [row[0] for sql in (_NEXT_RUN, _NEXT_WAKE) for row in session.rows(sql)]
    return min(times, default=None)


class _Hand:
    """The tasks taken so far, and what is left to take."""

    def __init__(
        self,
        session: Any,
        gates: Gates,
        limit: int,
        worker_id: int,
        rules: Rules,
        scopes: Collection[int] | None,
    ) -> None:
        self.session, self.gates, self.worker_id, self.scopes = session, gates, worker_id, scopes
        self.quantum = rules.quantum
        self.left = limit
        self.visits_left = 4 * limit + 64
        self.tasks: list[Task] = []
        self._seen: set[int] = set()
        self._stayed = 0
        self._carried: dict[tuple[int, int], int] = {}
        self._taken: list[tuple[int, int, int]] = []
        self._idle: list[tuple[int, int]] = []
        self._back: list[tuple[int, int, int]] = []

    def round(self) -> bool:
        """Visit one batch of ready lanes; False when there was none to visit."""
        wanted = -(-self.left // self.quantum)
        rows = self._ready(wanted + self._stayed)
        lanes = [row for row in rows if row[0] not in self._seen][: self.visits_left]
        if not lanes:
            return False
        # Fewer lanes than turns: let each take more, or one busy lane would get a quantum a visit.
        quantum = (
            max(self.quantum, -(-self.left // len(lanes)))
            if len(rows) < wanted + self._stayed
            else self.quantum
        )
        visits = [
            (lane_id, _gate_ids(gate_list), position, key, scope)
            for lane_id, gate_list, position, key, scope in lanes
        ]
        self.gates.load({gate_id for _, gate_ids, _, _, _ in visits for gate_id in gate_ids})
        for lane_id, gate_ids, position, key, scope in visits:
            if self.left <= 0:
                break
            for gate_id in gate_ids:
                self._carried[gate_id, scope] = self._carried.get((gate_id, scope), 0) + 1
            self._visit(lane_id, gate_ids, position, key, quantum)
        self._write()
        self._pass_baton()
        return True

    def ready_scopes(self) -> list[int]:
        """The scopes that have a ready lane and that the worker knows."""
        found = [row[0] for row in self.session.rows(_READY_SCOPES)]
        return found if self.scopes is None else [scope for scope in found if scope in self.scopes]

    def _ready(self, most: int) -> list[Any]:
        """The ready lanes whose turn comes first, of all scopes together."""
        scopes = self.ready_scopes()
        rows = [row for scope in scopes for row in self.session.rows(_READY, (scope, most))]
        return sorted(rows, key=_turn)[:most] if len(scopes) > 1 else rows

    def _write(self) -> None:
        """The round in three statements: one for each kind of change, whatever the number of lanes."""
        for sql, rows in ((_TAKE, self._taken), (_IDLE, self._idle), (_BACK, self._back)):
            if rows:
                self.session.many(sql, rows)
                rows.clear()

    def _visit(self, lane_id: int, gate_ids: Sequence[int], position: int, key: str, quantum: int) -> None:
        self.visits_left -= 1
        self._seen.add(lane_id)
        now = self.gates.now
        allowed = min(quantum if gate_ids else quantum * OPEN_TURNS, self.left)
        for gate_id in gate_ids:
            allowed = min(allowed, self.gates.get(gate_id).allowance(now))
        if allowed <= 0:
            self._park(lane_id, gate_ids, position)
            return
        heads = self.session.rows(
            _HEADS, (lane_id, allowed + 1)
        )  # one more than needed: it tells where the lane goes next
        taken = heads[:allowed]
        self._keep(taken, gate_ids, key)
        if len(heads) <= allowed:
            self._idle.append((now, lane_id))
        elif any(self.gates.get(gate_id).allowance(now) <= 0 for gate_id in gate_ids):
            self._park(lane_id, gate_ids, now, served=now)
        else:
            self._back.append((max(heads[allowed][12], now), now, lane_id))
            self._stayed += 1

    def _keep(self, taken: list[Any], gate_ids: Sequence[int], key: str) -> None:
        if not taken:
            return
        self.left -= len(taken)
        for gate_id in gate_ids:
            self.gates.take(gate_id, len(taken))
        self.tasks.extend(as_task(row[:12], key) for row in taken)
        self._taken.extend((self.worker_id, self.gates.now, row[0]) for row in taken)

    def _park(self, lane_id: int, gate_ids: Sequence[int], position: int, served: int = 0) -> None:
        """Park on the gate that stays closed longest; slots count as soonest, a settlement may free them any
        moment.
        """
        now = self.gates.now
        closed = [self.gates.get(gate_id) for gate_id in gate_ids]
        closed = [gate for gate in closed if gate.allowance(now) <= 0]
        gate = max(closed, key=lambda gate: gate.opens_at(now) or 0)
        self.session.run(_PARK, (gate.id, position, served, lane_id))
        self.gates.parked(gate.id)
        self.gates.settle_timer(gate.id)

    def _pass_baton(self) -> None:
        carried, self._carried = self._carried, {}
        for (gate_id, scope), lanes in carried.items():
            self.gates.open(gate_id, lanes, scope)


def _turn(row: Any) -> tuple[int, int]:
    return row[2], row[0]


def _gate_ids(text: str) -> list[int]:
    return [int(part) for part in text.split()]
