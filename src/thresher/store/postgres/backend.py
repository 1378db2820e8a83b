"""PostgreSQL as a backend of the queue: lanes, turns, notifications and locks."""

import asyncio
import contextlib
import select
import socket
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import psycopg

from thresher.core.clock import Clock
from thresher.core.errors import DatabaseProblem, UsageError
from thresher.core.keys import content_hash
from thresher.core.settlement import Ending, Settlement
from thresher.core.task import TERMINAL, TaskInsert
from thresher.store.backend import GroupChange, LaneRemoved, QueueRules, Scopes, Settled, Turn, as_task
from thresher.store.migrate import migrate, version_now
from thresher.store.postgres.connection import BorrowedSession, Postgres, PostgresSession, quoted
from thresher.store.postgres.install import check_names, install, is_installed
from thresher.store.postgres.wire import Wire
from thresher.store.session import POSTGRES, Session
from thresher.store.spawn import due_lanes
from thresher.store.transaction import PAUSES, pause_after

# Lanes: created, locked, and protected from removal while their id is being written.

_LOCK = """select id from lanes where id = any (array(
    select unnest(cast(:lanes as bigint[])) union select lane_id from tasks where id = any (cast(:tasks as bigint[]))))
    order by id for no key update"""
_KEEP = "select id from lanes where id = any (cast(:ids as bigint[])) order by id for key share"
_ADD = "insert into lanes (key, scope, gates) values (:key, :scope, cast(:gates as bigint[])) on conflict do nothing"
_FIND = "select id from lanes where key = :key and scope = :scope for key share"


def lock(session: Session, lane_ids: Sequence[int], task_ids: Sequence[int] = ()) -> None:
    """Hold these lanes, and those of these tasks, in the order of their ids."""
    held = {row[0] for row in session.rows(_LOCK, {"lanes": list(lane_ids), "tasks": list(task_ids)})}
    if not held.issuperset(lane_ids):
        raise LaneRemoved


def keep(session: Session, lane_ids: Sequence[int]) -> None:
    """Share these lanes until the transaction ends: claims go on, pruning leaves them alone."""
    if lane_ids and len(session.rows(_KEEP, {"ids": list(lane_ids)})) < len(set(lane_ids)):
        raise LaneRemoved


def add(session: Session, key: str, gate_ids: Sequence[int], scope: int) -> int:
    """The lane of this key and scope, made if it is new, and shared until the transaction ends."""
    while True:
        session.run(_ADD, {"key": key, "scope": scope, "gates": list(gate_ids)})
        found = session.rows(_FIND, {"key": key, "scope": scope})
        if found:  # else it was there, and was pruned before it could be shared
            return int(found[0][0])


LANES_REMEMBERED = 100_000
QUIET_SECONDS = 30.0
MAX_CHANNEL = 50  # of the 63 bytes of a name
# One notice per process in this time, sent after the commit: a notice inside every transaction would
# serialise commits.
DEBOUNCE_SECONDS = 0.05
# The first of two numbers of an advisory lock: what it is for.
MIGRATION_LOCK, LINEAGE_LOCK = 7_236_455, 7_236_457
# How long a turn that met a conflict waits before it is tried again.

_NOW = "select now_us()"
_BORN = "select applied_at from migrations where number = 1"
# By a digest of schema and root: locks are for the whole database, and others have theirs there. Two that
# share one only wait.
_LOCK_LINEAGES = """select pg_advisory_xact_lock(:lock, root) from (
    select distinct hashtext(current_schema() || coalesce(tracking_id, id)) as root from tasks where id = any (:ids) order by root) roots"""
_INSERT = """select n, id from insert_tasks(cast(:births as json), cast(:lanes as bigint[]), cast(:priorities as int[]),
    cast(:others as bigint[]), :head_start, :now)"""
_REMOVED = -1  # stands in place of a number for a lane that has been removed
_READY = "select make_ready(cast(:lanes as bigint[]), cast(:ranks as bigint[]))"
_FENCE = (
    "select hits, cancelled from fence(cast(:ids as bigint[]), cast(:settlements as json), :head_start, :now)"
)
_TASK_PLACES = "select id, lane_id, group_id from tasks where id = any (:ids)"
_COUNT_GROUPS = """select count_groups(cast(:ids as bigint[]), cast(:whats as text[]), cast(:numbers as bigint[]), :head_start, :now)"""
# Every parameter travels as text: the driver takes longer to write out an array than the server to read one.
_TYPES = ("bigint[]", "int[]", "bigint[]", "json", "bigint", "int", "bigint", "int", "bigint", "bigint[]")
_TURN = f"select * from turn({', '.join(f'${n}::{kind}' for n, kind in enumerate(_TYPES, 1))})"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A turn as the server is asked for it."""

    settlements: list[Settlement]
    params: list[bytes | None]


def _take_time(session: Session) -> None:
    """Read tables from end to end, and wait for another database between two statements."""
    session.run("set local enable_seqscan = on")
    session.run("set local idle_in_transaction_session_timeout = 0")


class PostgresBackend:
    """One schema of one database, and any number of machines."""

    dialect = POSTGRES
    add_lane, lock_lanes, keep_lanes = (
        staticmethod(add),
        staticmethod(lock),
        staticmethod(keep),
    )

    def __init__(self, url: str, *, clock: Clock | None = None, connections: int = 8) -> None:
        self._clock = clock
        self._postgres = Postgres(url, connections)
        self._wire = Wire(self._postgres, _TURN)
        self._channel = _channel(
            self._postgres.schema
        )  # of its own: two queues in one database do not wake each other
        self._born: int | None = None
        self._gates_of: dict[int, tuple[int, ...]] = {}
        self._listener: psycopg.Connection[Any] | None = None
        self._ping_mutex = threading.Lock()
        self._pinged_at = self._heard_at = 0.0
        self._late_ping: threading.Timer | None = None
        self._bell, self._rope = socket.socketpair()

    @contextlib.contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Session]:
        with self._postgres.transaction() as session:
            if not durable:
                session.run("set local synchronous_commit = off")
            yield session

    @contextlib.contextmanager
    def aside(self) -> Iterator[Session]:
        # Not from the pool: those who hold its connections may all be here at once.
        with (
            self._postgres.advice(),
            psycopg.connect(self._postgres.url, **self._postgres.options) as connection,
            connection.transaction(),
        ):
            yield PostgresSession(connection)

    @contextlib.contextmanager
    def join(self, connection: object) -> Iterator[Session]:
        if not isinstance(connection, psycopg.Connection):
            found = f"{type(connection).__module__}.{type(connection).__qualname__}"
            raise UsageError(
                f"a transaction on PostgreSQL is shared through a psycopg.Connection, not a {found}"
            )
        session = BorrowedSession(connection, self.app_events)
        # Without autocommit this opens the caller's transaction, so that ours is a savepoint in it and
        # commits nothing.
        before = session.rows("select current_setting('search_path')")[0][0]
        with connection.transaction():
            session.run(f"set local search_path = {quoted(self._postgres.schema)}")
            self._check_same(session)
            yield session
            session.run(f"notify {self._channel}")  # delivered when the caller commits
            session.rows("select set_config('search_path', :before, true)", {"before": before})

    def _check_same(self, session: Session) -> None:
        """Refuse a connection to another database than ours: no two were migrated in the same microsecond."""
        if self._born is None:
            with self.read(autocommit=True) as own:
                self._born = own.rows(_BORN)[0][0]
        found = session.rows("select to_regclass('migrations')")[0][0] and session.rows(_BORN)
        if not found or found[0][0] != self._born:
            schema = self._postgres.schema
            raise UsageError(
                f"the connection is not to the client's database, or its role may not use the schema {schema}"
            )

    @contextlib.contextmanager
    def read(self, *, autocommit: bool = False) -> Iterator[Session]:
        if autocommit:
            with self._postgres.connection() as connection:
                yield PostgresSession(connection)
            return
        with self._postgres.transaction() as session:
            # Whoever looks at everything may read from end to end.
            session.run("set local enable_seqscan = on")
            yield session

    near = False  # over the wire

    def now(self, session: Session) -> int:
        return self._clock.now() if self._clock else int(session.rows(_NOW)[0][0])

    @contextlib.contextmanager
    def migrating(self) -> Iterator[PostgresSession]:
        with self._postgres.transaction() as session:
            session.rows(
                "select pg_advisory_xact_lock(:lock, hashtext(:schema))",
                {"lock": MIGRATION_LOCK, "schema": self._postgres.schema},
            )
            yield session

    def migrate(self, to: int | None = None) -> list[str]:
        """Tables by numbered steps; functions anew whenever their text has changed. One process at a time.

        A database that is up to date is only read: a worker's role need not have the right to make anything.
        """
        with self.migrating() as session:
            return self.migrate_within(session, to)

    def migrate_within(self, session: Session, to: int | None = None) -> list[str]:
        assert isinstance(session, PostgresSession)
        schema = self._postgres.schema
        if not session.rows("select 1 from pg_namespace where nspname = :schema", {"schema": schema}):
            session.run(f"create schema {quoted(schema)}")
        fresh = version_now(session, POSTGRES) == 0
        outdated = fresh or not is_installed(session)
        if outdated:
            check_names(session, fresh=fresh)
        now = int(session.rows("select (extract(epoch from clock_timestamp()) * 1000000)::bigint")[0][0])
        steps = [step.name for step in migrate(session, POSTGRES, now, to, also=("functions",))]
        if fresh:
            session.run("create table functions (hash text not null)")
        if outdated and to is None:  # the functions are those of the newest tables
            install(session)
        return steps

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[Session]:
        with self._postgres.transaction() as session:
            session.run("set transaction isolation level repeatable read, read only")
            _take_time(session)
            yield session

    @contextlib.contextmanager
    def bulk(self, session: Session) -> Iterator[None]:
        _take_time(session)
        yield

    def lock_lineages(self, session: Session, task_ids: Sequence[int]) -> None:
        if task_ids:
            session.rows(_LOCK_LINEAGES, {"lock": LINEAGE_LOCK, "ids": list(task_ids)})

    def gates_of(self, session: Session, lane_ids: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        missing = [lane_id for lane_id in lane_ids if lane_id not in self._gates_of]
        if missing:
            if len(self._gates_of) > LANES_REMEMBERED:
                self._gates_of = {}
                missing = list(lane_ids)
            for lane_id, gates in session.rows(
                "select id, gates from lanes where id = any (:ids)", {"ids": missing}
            ):
                self._gates_of[lane_id] = tuple(gates)
        return self._gates_of

    def insert(
        self, session: Session, inserts: Sequence[TaskInsert], rules: QueueRules, *, take_lanes: bool = True
    ) -> list[int | None]:
        due = due_lanes(inserts) if take_lanes else {}
        others = {task_insert.lane_id for task_insert in inserts} - due.keys()
        values = {
            "births": orjson.dumps([task_insert.fields for task_insert in inserts]).decode(),
            "head_start": rules.head_start_us,
            "lanes": _array(due).decode(),
            "priorities": _array(due.values()).decode(),
            "others": _array(others).decode(),
            "now": self._clock.now() if self._clock else None,
        }
        born: dict[int, int] = dict(session.rows(_INSERT, values))
        if _REMOVED in born:
            raise LaneRemoved
        if isinstance(session, PostgresSession):
            session.changed += len(born)
        return [born.get(n) for n in range(1, len(inserts) + 1)]

    def enqueue(self, inserts: Sequence[TaskInsert], rules: QueueRules) -> list[int | None]:
        with self._postgres.connection() as connection:  # one statement is a transaction by itself
            return self.insert(PostgresSession(connection), inserts, rules)

    def make_ready(self, session: Session, ranks: Mapping[int, int]) -> None:
        if ranks:
            session.rows(_READY, {"lanes": list(ranks), "ranks": list(ranks.values())})

    def fence(
        self,
        session: Session,
        settlements: Sequence[Settlement],
        lanes: Sequence[int | None],
        rules: QueueRules,
        now: int,
    ) -> list[Settled]:
        order = sorted(range(len(settlements)), key=lambda at: settlements[at].task_id)
        ordered = [settlements[at] for at in order]
        # The lane and the group of a running task change only when its own claim is settled, so this is true
        # for every hit.
        ids = [each.task_id for each in ordered]
        place_of = {
            task_id: (lane_id, group_id)
            for task_id, lane_id, group_id in session.rows(_TASK_PLACES, {"ids": ids})
        }
        rows = [_row(each, lanes[at]) for each, at in zip(ordered, order, strict=True)]
        values = {
            "ids": ids,
            "settlements": orjson.dumps(rows).decode(),
            "head_start": rules.head_start_us,
            "now": now,
        }
        hits, cancelled = session.rows(_FENCE, values)[0]
        stopped = set(cancelled or ())
        through = ((n, ordered[n - 1]) for n in hits or ())
        return [
            Settled(each, place_of[each.task_id][0], n in stopped, place_of[each.task_id][1])
            for n, each in through
        ]

    def count_groups(
        self, session: Session, changes: Mapping[GroupChange, int], rules: QueueRules, now: int
    ) -> None:
        values = {
            "ids": [group for group, _ in changes],
            "whats": [what for _, what in changes],
            "numbers": list(changes.values()),
        }
        session.rows(_COUNT_GROUPS, values | {"head_start": rules.head_start_us, "now": now})

    def turn(
        self,
        settlements: Sequence[Settlement],
        limit: int,
        worker_id: int,
        rules: QueueRules,
        scopes: Scopes = None,
    ) -> Turn:
        asked = self._asked(settlements, limit, worker_id, rules, scopes)
        for pause in PAUSES:
            try:
                return _answered(asked, self._send(asked.params))
            except DatabaseProblem as problem:
                time.sleep(pause_after(problem, pause))
        return _answered(asked, self._send(asked.params))

    async def turn_on_loop(
        self,
        settlements: Sequence[Settlement],
        limit: int,
        worker_id: int,
        rules: QueueRules,
        scopes: Scopes = None,
    ) -> Turn:
        asked = self._asked(settlements, limit, worker_id, rules, scopes)
        for pause in PAUSES:
            try:
                return _answered(asked, await self._wire.rows(asked.params))
            except DatabaseProblem as problem:
                await asyncio.sleep(pause_after(problem, pause))
        return _answered(asked, await self._wire.rows(asked.params))

    def _send(self, params: Sequence[bytes | None]) -> list[Any]:
        with self._postgres.connection() as connection:
            return send_turn(connection, params)

    def _asked(
        self, settlements: Sequence[Settlement], limit: int, worker_id: int, rules: QueueRules, scopes: Scopes
    ) -> _Asked:
        ordered = sorted(settlements, key=lambda each: each.task_id)
        ids, claims, back, told = _array([each.task_id for each in ordered]), _NONE, _NONE, b"[]"
        if all(_is_simply_done(each) for each in ordered):
            claims = _array([each.claim for each in ordered])
        else:
            back = _array([each.task_id for each in ordered if each.state not in TERMINAL])
            told = orjson.dumps([_row(each, None) for each in ordered])
        numbers = (rules.head_start_us, limit, worker_id, rules.quantum)
        now = b"%d" % self._clock.now() if self._clock else None
        known = None if scopes is None else _array(scopes)
        return _Asked(ordered, [ids, claims, back, told, *(b"%d" % number for number in numbers), now, known])

    def ping(self) -> None:
        """One notice now, or one at the end of the pause after the last: the last word is never swallowed."""
        with self._ping_mutex:
            wait = self._pinged_at + DEBOUNCE_SECONDS - time.monotonic()
            if wait > 0:
                if self._late_ping is None:
                    self._late_ping = threading.Timer(wait, self._ping_late)
                    self._late_ping.daemon = True
                    self._late_ping.start()
                return
            self._pinged_at = time.monotonic()
        self._notify()

    def _ping_late(self) -> None:
        with self._ping_mutex:
            self._late_ping = None
            self._pinged_at = time.monotonic()
        self._notify()

    def _notify(self) -> None:
        # A hint, sent after the commit: if it cannot be sent, what was committed still stands, and the poll
        # finds it.
        with contextlib.suppress(DatabaseProblem), self._postgres.connection() as connection:
            connection.execute(f"notify {self._channel}")

    @property
    def app_events(self) -> Collection[str] | None:
        return self._postgres.app_events

    @app_events.setter
    def app_events(self, kinds: Collection[str] | None) -> None:
        self._postgres.app_events = kinds

    @property
    def patience(self) -> float:
        return self._postgres.patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._postgres.patience = seconds

    def listen(self, timeout: float) -> bool:
        """A ping from anybody. True once after each connecting too: what was said before, nobody here
        heard.
        """
        if self._listener is None or self._listener.closed:
            self._listener = self._postgres.dedicated()
            with self._postgres.advice():
                self._listener.execute(f"listen {self._channel}")
            self._heard_at = time.monotonic()
            return True
        # The driver's own wait looks up ten times a second; the kernel's does not.
        ears: list[Any] = [self._listener, self._bell]
        heard = select.select(ears, [], [], timeout)[0]
        if self._bell in heard:
            return bool(self._bell.recv(64))
        if not heard:
            self._check_listener()
            return False
        self._heard_at = time.monotonic()
        with self._postgres.advice():
            return any(True for _ in self._listener.notifies(timeout=0, stop_after=1))

    def change_mark(self) -> int:
        """How far the log has been written. Other databases of the server write it too: a look too many."""
        with self.read(autocommit=True) as session:
            found: int = session.rows(
                "select cast(pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bigint)"
            )[0][0]
            return found

    def _check_listener(self) -> None:
        """Who hears nothing for long asks whether anybody is there: a dead line would be silent, too."""
        if self._listener is not None and time.monotonic() - self._heard_at > QUIET_SECONDS:
            with self._postgres.advice():
                self._listener.execute("select 1")
            self._heard_at = time.monotonic()

    def nudge(self) -> None:
        self._rope.send(b"!")

    def close(self) -> None:
        with self._ping_mutex:
            late, self._late_ping = self._late_ping, None
        if late is not None:
            late.cancel()
            self._notify()
        if self._listener is not None:
            self._listener.close()
        for end in (self._bell, self._rope):
            end.close()
        self._wire.close()
        self._postgres.close()


def _channel(schema: str) -> str:
    """A name that a channel can have: not as long as a schema's may be."""
    name = schema if len(schema.encode()) <= MAX_CHANNEL else content_hash(schema.encode())[:MAX_CHANNEL]
    return quoted(f"thresher_{name}")


def send_turn(connection: psycopg.Connection[Any], params: Sequence[bytes | None]) -> list[Any]:
    """A turn over any connection, from any thread."""
    words = [None if param is None else param.decode() for param in params]
    with psycopg.RawCursor(connection) as cursor:
        return cursor.execute(_TURN, words, prepare=True, binary=True).fetchall()


def _answered(asked: _Asked, rows: Sequence[Any]) -> Turn:
    tasks, stale, more, next_at, now, lost = [], [], False, None, 0, False
    for row in rows:
        match row[0]:
            case "t":
                tasks.append(as_task(row[1:13], row[13]))
            case "s":
                stale.append(asked.settlements[row[1] - 1])
            case "l":
                lost = True
            case _:
                next_at, more, now = row[1], bool(row[2]), row[8]
    return Turn(tasks, stale, more, next_at, now, lost)


def _array(numbers: Iterable[int]) -> bytes:
    return f"{{{','.join(map(str, numbers))}}}".encode()


_NONE = _array(())


def _is_simply_done(each: Settlement) -> bool:
    return each.ending is Ending.DONE and each.reason is None


def _row(each: Settlement, lane_id: int | None) -> dict[str, Any]:
    """A settlement as it travels. As JSON: the driver would take longer to write out arrays than the server
    to settle them.

    What is not said is null there, and most settlements have little to say.
    """
    row: dict[str, Any] = {
        "id": each.task_id,
        "claim": each.claim,
        "state": each.state.value,
        "healthy": each.healthy,
    }
    if not each.is_told:
        row |= {"at_stage": each.at_stage, "ending": each.ending.value}
    if each.state not in TERMINAL:
        row |= {
            "delay": each.delay_us,
            "stage": each.stage,
            "lane_id": lane_id,
            "checkpoint": each.checkpoint,
        }
    if each.reason or each.error:
        row |= {
            "reason": each.reason or (each.error and each.error.told),
            "error": each.error and each.error.name,
        }
    if each.spends_failure or each.crashed:
        row |= {"spent": int(each.spends_failure), "crashed": int(each.crashed)}
    return row
