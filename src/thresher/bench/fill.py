"""Fill a database for a benchmark: gates, lanes, a backlog and blocked lanes. Inserted by SQL, not timed."""

import time
from dataclasses import dataclass

from thresher.core.clock import FOREVER
from thresher.store.session import Session
from thresher.store.store import Store

WIDE = 1_000_000
SOURCES = 100
PROVIDERS = 10
CHUNK = 200_000

_SERIES = {
    "sqlite": "with recursive s(i) as (select :low union all select i + 1 from s where i < :high)",
    "postgres": "with s as (select i from generate_series(cast(:low as bigint), cast(:high as bigint)) i)",
}
_GATES = "{series} insert into gates (name, max_in_flight) select :prefix || i, :most from s"
_SHUT = "{series} insert into gates (name, max_in_flight, open_after, wake_at) select 'host:shut-' || i, 1, :ever, :ever from s"
_SHUT_LANES = """{series} insert into lanes (key, gates, status, parked_on)
    select g.name, {gate}, 'parked', g.id from s join gates g on g.name = 'host:shut-' || s.i"""
_TASKS = """{series} insert into tasks (kind, stage, state, lane_id, due, rank, priority, payload, created_at)
    select 'noop', 'noop', 'pending', l.id, 1, :now + s.i, 0, '{{}}', :now from s join lanes l on l.id = :first + (s.i % :lanes)"""
_READY = "update lanes set status = 'ready', position = :now, floor = 0 where id >= :first and id < :first + :lanes"
_RAW_COLUMNS = (
    "kind",
    "stage",
    "state",
    "lane_id",
    "due",
    "run_at",
    "rank",
    "priority",
    "tracking_id",
    "parent_id",
    "depth",
    "ancestry",
    "url",
    "lineage_key",
    "dedupe_key",
    "payload",
    "created_at",
)
_RAW = f"insert into raw_tasks ({', '.join(_RAW_COLUMNS)}) values ({', '.join(':' + name for name in _RAW_COLUMNS)})"
_ROW = dict.fromkeys(_RAW_COLUMNS) | {
    "kind": "noop",
    "stage": "noop",
    "state": "pending",
    "due": 1,
    "priority": 0,
    "depth": 0,
    "ancestry": "[]",
    "payload": "{}",
    "created_at": 1,
}


@dataclass(frozen=True, slots=True)
class BenchField:
    """`gates` is how many gates each of the open lanes has: 0, or 3 (its host, one of 100 sources, one of 10
    providers).
    """

    lanes: int
    gates: int
    backlog: int
    blocked: int

    def names(self, at: int) -> tuple[str, ...]:
        lane = at % self.lanes
        return (f"host:{lane}", f"source:{lane % SOURCES}", f"provider:{lane % PROVIDERS}")[: self.gates]


def fill(store: Store, field: BenchField) -> None:
    """Lay out gates, lanes and what already waits."""
    for prefix, number in (("host:", field.lanes), ("source:", SOURCES), ("provider:", PROVIDERS))[
        : field.gates
    ]:
        _insert(store, _GATES, 0, number - 1, prefix=prefix, most=WIDE)
    store.meet_lanes(("noop", "noop", field.names(at)) for at in range(field.lanes))
    first = store.lanes["noop", "noop", field.names(0)]
    if field.blocked:
        _block(store, field.blocked)
    if field.backlog:
        lanes = field.lanes if field.gates else 1
        _insert(store, _TASKS, 0, field.backlog - 1, first=first, lanes=lanes, now=_now(store))
        with store.write() as session:
            session.run(_READY, {"first": first, "lanes": lanes, "now": _now(store)})
    _analyze(store)


def _block(store: Store, number: int) -> None:
    """Lanes parked on gates that are shut, ten tasks each."""
    _insert(store, _SHUT, 1, number, ever=FOREVER)
    gate = "cast(g.id as text)" if store.backend.dialect.name == "sqlite" else "array[g.id]"
    _insert(store, _SHUT_LANES.replace("{gate}", gate), 1, number)
    with store.read() as session:
        first = session.rows("select min(id) from lanes where status = 'parked'")[0][0]
    _insert(store, _TASKS, 0, 10 * number - 1, first=first, lanes=number, now=_now(store))


def _insert(store: Store, sql: str, low: int, high: int, **values: object) -> None:
    text = sql.replace("{series}", _SERIES[store.backend.dialect.name]).replace("{{}}", "{}")
    for start in range(low, high + 1, CHUNK):
        with store.write() as session:
            session.run(text, {"low": start, "high": min(high, start + CHUNK - 1), **values})


def _now(store: Store) -> int:
    with store.read() as session:
        return store.backend.now(session)


def _analyze(store: Store) -> None:
    if store.backend.dialect.name == "postgres":
        with store.write() as session:
            for table in ("tasks", "lanes", "gates"):
                session.run(f"analyze {table}")


def baseline_per_s(store: Store, number: int) -> int:
    """The physical limit beside us: the driver's own bulk insert of the same rows, into a table of the same
    shape and indexes.
    """
    with store.write() as session:
        for sql in _same_shape(session, store.backend.dialect.name):
            session.run(sql)
    rows = [_ROW | {"lane_id": at % 1_000, "rank": at} for at in range(number)]
    started = time.perf_counter()
    for at in range(0, number, 1_000):
        with store.write() as session:
            session.many(_RAW, rows[at : at + 1_000])
    taken = time.perf_counter() - started
    with store.write() as session:
        session.run("drop table raw_tasks")
    return round(number / taken)


def _same_shape(session: Session, dialect: str) -> list[str]:
    if dialect == "sqlite":
        texts = [
            row[0]
            for row in session.rows(
                "select sql from sqlite_master where tbl_name = 'tasks' and sql is not null"
            )
        ]
        return [
            text.replace(" tasks", " raw_tasks").replace("index raw_tasks_", "index raw_") for text in texts
        ]
    return ["create table raw_tasks (like tasks including all)"]
