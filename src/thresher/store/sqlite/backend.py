"""SQLite as a backend of the queue, with the claim as a loop in Python under the single write lock."""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from thresher.core.clock import Clock, SystemClock
from thresher.core.settlement import Settlement
from thresher.core.task import TERMINAL, State, Task, TaskInsert
from thresher.store.backend import (
    GroupChange,
    LaneRemoved,
    QueueRules,
    Scopes,
    Settled,
    Turn,
    as_task,
    ended_members,
)
from thresher.store.gates import Gates
from thresher.store.migrate import migrate
from thresher.store.session import SQLITE, Session
from thresher.store.settle import release
from thresher.store.sqlite.connection import SqliteFile
from thresher.store.sqlite.groups import count_groups

# The claim: ready lanes in order, each with its gates, until there are enough tasks.
#
# The same rules as on PostgreSQL, where they are a function in the database. Here a statement costs
# microseconds and nobody else writes, so it is a loop that one can read:
#
# 1. Delayed tasks whose time has come enter their lanes; gates whose timer has come wake lanes.
# 2. Ready lanes of the scopes that the worker knows are visited in order of position. A lane with a closed
#    gate is parked on it.
# 3. A lane with open gates starts up to a quantum of tasks (a lane without gates many), the gates are
#    charged, and the lane goes to the back.
# 4. The baton: for each lane that was visited, each of its gates that is still open wakes another lane of the
#    same scope, which may have slept in front of it for want of this one. So a gate that opens wide wakes its
#    lanes in doubling steps.

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
    rules: QueueRules,
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
        rules: QueueRules,
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


LANES_REMEMBERED = 100_000

_INSERT = """insert into tasks (id, kind, stage, state, lane_id, due, run_at, rank, priority, tracking_id, parent_id, depth,
        ancestry, url, lineage_key, dedupe_key, payload, created_at)
    values (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT_MEMBER = _INSERT.replace("created_at)", "created_at, group_id)").replace("?)", "?, ?)")
# Only where there is a key: looking for a conflict nearly doubles the cost of an insert.
_ONCE = " on conflict (kind, dedupe_key) where dedupe_key is not null and finished_at is null do nothing"
_LAST_ID = "select seq from sqlite_sequence where name = 'tasks'"
_BORN = "select id from tasks where id >= ?"
_REMOVED = (
    "select 1 from json_each(?) n where not exists (select 1 from lanes l where l.id = n.value) limit 1"
)

_HELD = """select id, claim, lane_id, priority, cancelling, worker_id, started_at, group_id from tasks
    where id in (:ids*) and state = 'running'"""
_ATTEMPT = """insert into other_attempts (task_id, claim, stage, worker_id, started_at, ended_at, ending, reason, error_name)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_END = """update tasks set state = ?, finished_at = ?, reason = ?, error_name = ?, failures = failures + ?, crashes = crashes + ?
    where id = ?"""
_WAIT = """update tasks set state = ?, due = ?, run_at = ?, rank = ?, reason = ?, error_name = ?, failures = failures + ?,
        crashes = crashes + ?, stage = coalesce(?, stage), lane_id = ?, checkpoint = coalesce(?, checkpoint)
    where id = ?"""


class SqliteBackend:
    """One file. The single writer makes every lock rule of the other backend hold by itself."""

    dialect = SQLITE
    turn_on_loop = None
    patience = 0.0  # there is no connection that could be lost
    aside = None

    def __init__(self, path: str, *, durability: str = "machine", clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._file = SqliteFile(path, durability)
        self._gates_of: dict[int, tuple[int, ...]] = {}
        self._pinged = threading.Event()
        self._seen_version = -1

    @property
    def in_memory(self) -> bool:
        return self._file.in_memory

    @property
    def app_events(self) -> Collection[str] | None:
        return self._file.app_events

    @app_events.setter
    def app_events(self, kinds: Collection[str] | None) -> None:
        self._file.app_events = kinds

    def write(self, *, durable: bool = True) -> AbstractContextManager[Session]:
        return self._file.write(durable=durable)

    def join(self, connection: object) -> AbstractContextManager[Session]:
        return self._file.join(connection)

    def read(self, *, autocommit: bool = False) -> AbstractContextManager[Session]:
        return self._file.read(autocommit=autocommit)

    @property
    def near(self) -> bool:
        return not self.in_memory  # there everybody shares the writer's connection, and would wait for it

    def now(self, session: Session) -> int:  # noqa: ARG002  this machine is the database
        return self._clock.now()

    def migrate(self, to: int | None = None) -> list[str]:
        with self.write() as session:
            return self.migrate_within(session, to)

    def migrate_within(self, session: Session, to: int | None = None) -> list[str]:
        return [step.name for step in migrate(session, SQLITE, self._clock.now(), to)]

    def snapshot(self) -> AbstractContextManager[Session]:
        return self.read()

    @contextmanager
    def bulk(self, session: Session) -> Iterator[None]:
        session.run("pragma defer_foreign_keys = on")  # until the transaction ends
        yield

    def migrating(self) -> AbstractContextManager[Session]:
        return self.write()

    def lock_lanes(self, session: Session, lane_ids: Sequence[int], task_ids: Sequence[int] = ()) -> None:  # noqa: ARG002  whoever writes is alone
        self.keep_lanes(session, lane_ids)

    def keep_lanes(self, session: Any, lane_ids: Iterable[int]) -> None:
        wanted = f"[{','.join(map(str, lane_ids))}]"
        if wanted != "[]" and session.rows(_REMOVED, (wanted,)):
            raise LaneRemoved

    def lock_lineages(self, session: Session, task_ids: Sequence[int]) -> None:
        """Do nothing: there is only one writer."""

    def gates_of(self, session: Session, lane_ids: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        missing = [lane_id for lane_id in lane_ids if lane_id not in self._gates_of]
        if missing:
            if len(self._gates_of) > LANES_REMEMBERED:
                self._gates_of.clear()
                missing = list(lane_ids)
            for lane_id, gates in session.rows(
                "select id, gates from lanes where id in (:ids*)", {"ids": missing}
            ):
                self._gates_of[lane_id] = tuple(int(part) for part in gates.split())
        return self._gates_of

    def add_lane(self, session: Session, key: str, gate_ids: Sequence[int], scope: int) -> int:
        values = {"key": key, "scope": scope, "gates": " ".join(map(str, gate_ids))}
        session.run(
            "insert into lanes (key, scope, gates) values (:key, :scope, :gates) on conflict do nothing",
            values,
        )
        return int(
            session.rows(
                "select id from lanes where key = :key and scope = :scope", {"key": key, "scope": scope}
            )[0][0]
        )

    def insert(
        self,
        session: Any,
        inserts: Sequence[TaskInsert],
        rules: QueueRules,
        *,
        take_lanes: bool = True,  # noqa: ARG002
    ) -> list[int | None]:
        self.keep_lanes(session, {task_insert.lane_id for task_insert in inserts})
        now = self._clock.now()
        last = session.rows(_LAST_ID)
        first = (last[0][0] if last else 0) + 1
        rows: list[tuple[Any, ...]] = []
        keyed, grouped = False, any(task_insert.group_id is not None for task_insert in inserts)
        ranks: dict[int, int] = {}
        for task_id, task_insert in enumerate(inserts, first):
            entry, parent = task_insert.entry, task_insert.parent
            due_at = now + entry.delay_us
            rank = due_at - entry.priority * rules.head_start_us
            waits = entry.delay_us > 0
            keyed = keyed or entry.key is not None
            rows.append(
                (
                    task_id,
                    entry.kind,
                    entry.stage,
                    task_insert.lane_id,
                    0 if waits else 1,
                    due_at if waits else None,
                    rank,
                    entry.priority,
                    parent and parent.tracking_id,
                    parent and parent.task_id,
                    parent.depth + 1 if parent else 0,
                    task_insert.ancestry,
                    entry.url,
                    entry.lineage_key,
                    entry.key,
                    entry.payload,
                    now,
                    *((task_insert.group_id,) if grouped else ()),
                )
            )
            if not waits and rank < ranks.get(task_insert.lane_id, rank + 1):
                ranks[task_insert.lane_id] = rank
        session.many((_INSERT_MEMBER if grouped else _INSERT) + (_ONCE if keyed else ""), rows)
        every = range(first, first + len(rows))
        born = {row[0] for row in session.rows(_BORN, (first,))} if keyed else every
        if born:
            make_ready(session, ranks)
        return [task_id if task_id in born else None for task_id in every]

    def enqueue(self, inserts: Sequence[TaskInsert], rules: QueueRules) -> list[int | None]:
        with self._file.write() as session:
            return self.insert(session, inserts, rules)

    def make_ready(self, session: Session, ranks: Mapping[int, int]) -> None:
        make_ready(session, dict(ranks))

    def fence(
        self,
        session: Any,
        settlements: Sequence[Settlement],
        lanes: Sequence[int | None],
        rules: QueueRules,
        now: int,
    ) -> list[Settled]:
        rows = session.rows(_HELD, {"ids": [each.task_id for each in settlements]}) if settlements else []
        # Nobody can move them before our commit, so the fence is this look-up; taken out when used, a second
        # answer misses.
        held = {(row[0], row[1]): row[2:] for row in rows}
        hits: list[Settled] = []
        ends, waits, attempts = [], [], []
        ranks: dict[int, int] = {}
        for settlement, new_lane in zip(settlements, lanes, strict=True):
            key = (settlement.task_id, settlement.claim)
            if key not in held:
                continue
            lane_id, priority, cancelling, worker_id, started_at, group_id = held.pop(key)
            cancelled = bool(cancelling) and settlement.state not in TERMINAL
            hits.append(Settled(settlement, lane_id, cancelled, group_id))
            error_name = settlement.error and settlement.error.name
            reason = settlement.reason or (settlement.error and settlement.error.told)
            if not settlement.is_told:
                attempts.append(
                    (
                        *key,
                        settlement.at_stage,
                        worker_id,
                        started_at,
                        now,
                        settlement.ending.value,
                        reason,
                        error_name,
                    )
                )
            said = (reason, error_name, int(settlement.spends_failure), int(settlement.crashed))
            if cancelled or settlement.state in TERMINAL:
                state = State.CANCELLED if cancelled else settlement.state
                ends.append((state.value, now, *said, settlement.task_id))
                continue
            run_at = now + settlement.delay_us if settlement.delay_us > 0 else None
            rank = now + settlement.delay_us - priority * rules.head_start_us
            lane = new_lane or lane_id
            due = int(run_at is None)
            waits.append(
                (
                    settlement.state.value,
                    due,
                    run_at,
                    rank,
                    *said,
                    settlement.stage,
                    lane,
                    settlement.checkpoint,
                    settlement.task_id,
                )
            )
            if due:
                ranks[lane] = min(rank, ranks.get(lane, rank))
        for sql, changes in ((_END, ends), (_WAIT, waits), (_ATTEMPT, attempts)):
            if changes:
                session.many(sql, changes)
        make_ready(session, ranks)
        return hits

    def count_groups(
        self, session: Session, changes: Mapping[GroupChange, int], rules: QueueRules, now: int
    ) -> None:
        if changes:
            count_groups(session, changes, rules, now)

    def turn(
        self,
        settlements: Sequence[Settlement],
        limit: int,
        worker_id: int,
        rules: QueueRules,
        scopes: Scopes = None,
    ) -> Turn:
        with self._file.write() as session:
            gates = Gates(session, SQLITE, self._clock.now())
            hits = self.fence(session, settlements, [None] * len(settlements), rules, gates.now)
            if hits:
                self.count_groups(session, ended_members(hits), rules, gates.now)
                release(self, session, gates, hits)
            turn = (
                claim(session, gates, limit, worker_id, rules, scopes)
                if limit > 0
                else Turn([], [], now=gates.now)
            )
            gates.save()
        if len(hits) == len(settlements):
            return turn
        through = {(hit.settlement.task_id, hit.settlement.claim) for hit in hits}
        stale = [each for each in settlements if (each.task_id, each.claim) not in through]
        return replace(turn, stale=stale)

    def ping(self) -> None:
        self._pinged.set()

    def listen(self, timeout: float) -> bool:
        """A ping from this process, or a commit by another one."""
        if self._pinged.wait(timeout):
            self._pinged.clear()
            return True
        seen, self._seen_version = self._seen_version, self._file.data_version()
        return seen != self._seen_version

    def change_mark(self) -> int:
        return self._file.change_mark()

    def nudge(self) -> None:
        self._pinged.set()

    def close(self) -> None:
        self._file.close()
