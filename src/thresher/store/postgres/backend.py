"""PostgreSQL as a backend of the queue."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.resources import files
from typing import Any

import psycopg

from thresher.core.clock import Clock
from thresher.core.keys import content_hash
from thresher.core.settlement import Settlement
from thresher.store.backend import Hit, Rules, Turn, as_task
from thresher.store.dialect import POSTGRES
from thresher.store.migrate import migrate
from thresher.store.postgres.connection import Postgres, PostgresSession
from thresher.store.session import Session
from thresher.store.spawn import Birth

LANES_REMEMBERED = 100_000
CHANNEL = "thresher"
# One notice per process in this time, sent after the commit: a notice inside every transaction would serialise commits.
DEBOUNCE_SECONDS = 0.05
MIGRATION_LOCK = 7_236_455
RETRIES = 5

_NOW = "select now_us()"
_LOCK_LANES = """select id from lanes where id = any (array(
    select unnest(cast(:lanes as bigint[])) union select lane_id from tasks where id = any (cast(:tasks as bigint[]))))
    order by id for no key update"""
_LOCK_LINEAGES = """select pg_advisory_xact_lock(root) from (
    select distinct coalesce(tracking_id, id) as root from tasks where id = any (:ids) order by root) roots"""
_IDS = "select nextval(pg_get_serial_sequence('tasks', 'id')) from generate_series(1, :n)"
_INSERT = """insert into tasks (id, kind, stage, state, lane_id, due, run_at, rank, priority, tracking_id, parent_id, depth,
        ancestry, url, lineage_key, dedupe_key, payload, created_at)
    select i.id, i.kind, i.stage, 'pending', i.lane_id, (i.delay = 0)::int, case when i.delay > 0 then :now + i.delay end,
        :now + i.delay - i.priority * cast(:head_start as bigint), i.priority, i.tracking_id, i.parent_id, i.depth, i.ancestry,
        i.url, i.lineage_key, i.dedupe_key, i.payload, :now
    from unnest(cast(:ids as bigint[]), cast(:kinds as text[]), cast(:stages as text[]), cast(:lanes as bigint[]),
        cast(:delays as bigint[]), cast(:priorities as int[]), cast(:trackings as bigint[]), cast(:parents as bigint[]),
        cast(:depths as int[]), cast(:ancestries as text[]), cast(:urls as text[]), cast(:lineage_keys as text[]),
        cast(:keys as text[]), cast(:payloads as text[]))
        as i(id, kind, stage, lane_id, delay, priority, tracking_id, parent_id, depth, ancestry, url, lineage_key, dedupe_key, payload)
    on conflict (kind, dedupe_key) where dedupe_key is not null and finished_at is null do nothing
    returning id, lane_id, rank, due"""
_READY = "select make_ready(cast(:lanes as bigint[]), cast(:ranks as bigint[]))"
_FENCE = """select hits, cancelled from fence(cast(:ids as bigint[]), cast(:claims as int[]), cast(:stages_at as text[]),
    cast(:endings as text[]), cast(:states as text[]), cast(:delays as bigint[]), cast(:stages as text[]),
    cast(:lanes as bigint[]), cast(:checkpoints as text[]), cast(:reasons as text[]), cast(:errors as text[]),
    cast(:spends as int[]), cast(:crashed as int[]), :head_start, :now)"""
_TASK_LANES = "select id, lane_id from tasks where id = any (:ids)"
_TURN = """select * from turn(%s::bigint[], %s::int[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[],
    %s::int[], %s::boolean[], %s::bigint, %s::int, %s::bigint, %s::int, %s::bigint)"""

_RETRYABLE = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)


class PostgresBackend:
    """One schema of one database, and any number of machines."""

    dialect = POSTGRES

    def __init__(self, url: str, *, clock: Clock | None = None, connections: int = 8) -> None:
        self._clock = clock
        self._postgres = Postgres(url, connections)
        self._gates_of: dict[int, tuple[int, ...]] = {}
        self._listener: psycopg.Connection[Any] | None = None
        self._ping_mutex = threading.Lock()
        self._pinged_at = 0.0

    def write(self) -> AbstractContextManager[Session]:
        return self._postgres.transaction()

    def read(self) -> AbstractContextManager[Session]:
        return self._postgres.transaction()

    def now(self, session: Session) -> int:
        return self._clock.now() if self._clock else int(session.rows(_NOW)[0][0])

    def migrate(self, to: int | None = None) -> list[str]:
        """Tables by numbered steps; functions anew whenever their text has changed. One process at a time."""
        schema = self._postgres.schema
        functions = files("thresher.store.postgres").joinpath("functions.sql").read_text(encoding="utf-8")
        with self._postgres.transaction() as session:
            session.run(f"select pg_advisory_xact_lock({MIGRATION_LOCK})")
            session.run(f"create schema if not exists {schema}")
            now = int(session.rows("select (extract(epoch from clock_timestamp()) * 1000000)::bigint")[0][0])
            steps = [step.name for step in migrate(session, POSTGRES.words, now, to)]
            session.run("create table if not exists functions (hash text not null)")
            if session.rows("select hash from functions") != [(content_hash(functions.encode()),)]:
                self._install(session, functions)
        return steps

    def _install(self, session: PostgresSession, functions: str) -> None:
        for (name,) in session.rows(
            "select p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = :schema",
            {"schema": self._postgres.schema},
        ):
            session.run(f"drop function {name} cascade")
        session.run(functions)
        for table, options in STORAGE.items():
            session.run(f"alter table {table} set ({options})")
        session.run("delete from functions")
        session.run("insert into functions (hash) values (:hash)", {"hash": content_hash(functions.encode())})

    def lock_lanes(self, session: Session, lane_ids: Sequence[int], task_ids: Sequence[int] = ()) -> None:
        session.rows(_LOCK_LANES, {"lanes": list(lane_ids), "tasks": list(task_ids)})

    def lock_lineages(self, session: Session, task_ids: Sequence[int]) -> None:
        if task_ids:
            session.rows(_LOCK_LINEAGES, {"ids": list(task_ids)})

    def gates_of(self, session: Session, lane_ids: Sequence[int]) -> Mapping[int, tuple[int, ...]]:
        missing = [lane_id for lane_id in lane_ids if lane_id not in self._gates_of]
        if missing:
            if len(self._gates_of) > LANES_REMEMBERED:
                self._gates_of = {}
                missing = list(lane_ids)
            for lane_id, gates in session.rows("select id, gates from lanes where id = any (:ids)", {"ids": missing}):
                self._gates_of[lane_id] = tuple(gates)
        return self._gates_of

    def add_lane(self, session: Session, key: str, gate_ids: Sequence[int]) -> int:
        values = {"key": key, "gates": list(gate_ids)}
        session.run("insert into lanes (key, gates) values (:key, cast(:gates as bigint[])) on conflict do nothing", values)
        return int(session.rows("select id from lanes where key = :key", {"key": key})[0][0])

    def insert(self, session: Session, births: Sequence[Birth], rules: Rules, now: int) -> list[int | None]:
        ids = [row[0] for row in session.rows(_IDS, {"n": len(births)})]
        entries, parents = [birth.entry for birth in births], [birth.parent for birth in births]
        born = session.rows(_INSERT, {
            "ids": ids, "kinds": [e.kind for e in entries], "stages": [e.stage for e in entries],
            "lanes": [birth.lane_id for birth in births], "delays": [e.delay_us for e in entries],
            "priorities": [e.priority for e in entries], "trackings": [p and p.tracking_id for p in parents],
            "parents": [p and p.task_id for p in parents], "depths": [p.depth + 1 if p else 0 for p in parents],
            "ancestries": [birth.ancestry for birth in births], "urls": [e.url for e in entries],
            "lineage_keys": [birth.key for birth in births], "keys": [e.key for e in entries],
            "payloads": [e.payload for e in entries], "now": now, "head_start": rules.head_start_us,
        })  # fmt: skip
        due = [(row[1], row[2]) for row in born if row[3]]
        if due:
            session.rows(_READY, {"lanes": [lane for lane, _ in due], "ranks": [rank for _, rank in due]})
        alive = {row[0] for row in born}
        return [task_id if task_id in alive else None for task_id in ids]

    def make_ready(self, session: Session, ranks: Mapping[int, int]) -> None:
        if ranks:
            session.rows(_READY, {"lanes": list(ranks), "ranks": list(ranks.values())})

    def fence(
        self, session: Session, settlements: Sequence[Settlement], lanes: Sequence[int | None], rules: Rules, now: int
    ) -> list[Hit]:
        order = sorted(range(len(settlements)), key=lambda at: settlements[at].task_id)
        ordered = [settlements[at] for at in order]
        # The lane of a running task changes only when its own claim is settled, so this is true for every hit.
        lane_of = dict(session.rows(_TASK_LANES, {"ids": [each.task_id for each in ordered]}))
        hits, cancelled = session.rows(_FENCE, {
            **_columns(ordered), "stages": [each.stage for each in ordered], "lanes": [lanes[at] for at in order],
            "checkpoints": [each.checkpoint for each in ordered], "crashed": [int(each.crashed) for each in ordered],
            "head_start": rules.head_start_us, "now": now,
        })[0]  # fmt: skip
        stopped = set(cancelled or ())
        return [Hit(ordered[n - 1], lane_of[ordered[n - 1].task_id], n in stopped) for n in hits or ()]

    def turn(self, settlements: Sequence[Settlement], limit: int, worker_id: int, rules: Rules) -> Turn:
        ordered = sorted(settlements, key=lambda each: each.task_id)
        columns = _columns(ordered)
        params = (*(columns[name] for name in _TURN_COLUMNS), [each.healthy for each in ordered], rules.head_start_us,
                  limit, worker_id, rules.quantum, self._clock.now() if self._clock else None)  # fmt: skip
        rows = self._retrying(params)
        tasks, stale, more, next_at, now = [], [], False, None, 0
        for row in rows:
            if row[0] == "t":
                tasks.append(as_task(row[1:13], row[13]))
            elif row[0] == "s":
                stale.append(ordered[row[1] - 1])
            else:
                next_at, more, now = row[1], bool(row[2]), row[8]
        return Turn(tasks, stale, more, next_at, now)

    def _retrying(self, params: Sequence[Any]) -> list[Any]:
        """One call is one transaction, so a conflict can simply be tried again."""
        for attempt in range(RETRIES):
            try:
                with self._postgres.connection() as connection:
                    return connection.execute(_TURN, params, prepare=True, binary=True).fetchall()
            except _RETRYABLE:
                if attempt == RETRIES - 1:
                    raise
                time.sleep(0.005 * 2**attempt)
        return []

    def ping(self) -> None:
        with self._ping_mutex:
            now = time.monotonic()
            if now - self._pinged_at < DEBOUNCE_SECONDS:
                return
            self._pinged_at = now
        with self._postgres.connection() as connection:
            connection.execute(f"notify {CHANNEL}")

    def listen(self, timeout: float) -> bool:
        if self._listener is None or self._listener.closed:
            self._listener = self._postgres.dedicated()
            self._listener.execute(f"listen {CHANNEL}")
        with self._postgres.advice():
            return any(True for _ in self._listener.notifies(timeout=timeout, stop_after=1))

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self._postgres.close()


# Absolute thresholds: a share of a table of millions would let the hot part of it rot for hours.
_VACUUM = "autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_threshold"
STORAGE = {
    "gates": f"fillfactor = 50, {_VACUUM} = 1000",
    "lanes": f"fillfactor = 50, {_VACUUM} = 2000",
    "tasks": f"fillfactor = 85, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000, {_VACUUM} = 20000",
}

_TURN_COLUMNS = ("ids", "claims", "stages_at", "endings", "states", "delays", "reasons", "errors", "spends")


def _columns(settlements: Sequence[Settlement]) -> dict[str, list[Any]]:
    """Settlements as columns, the form in which they travel."""
    return {
        "ids": [each.task_id for each in settlements],
        "claims": [each.claim for each in settlements],
        "stages_at": [each.at_stage for each in settlements],
        "endings": [each.ending.value for each in settlements],
        "states": [each.state.value for each in settlements],
        "delays": [each.delay_us for each in settlements],
        "reasons": [each.reason or (each.error and each.error.message) for each in settlements],
        "errors": [each.error and each.error.name for each in settlements],
        "spends": [int(each.spends_failure) for each in settlements],
    }
