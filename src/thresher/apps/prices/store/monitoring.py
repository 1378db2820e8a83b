"""What an operator asks about the collection of prices: recent tasks, sources, stuck tasks, tasks by worker.

Everything is read from the tables of the machine (tasks, workers, gates), the ones that a claim obeys. Two of
the words need a sentence. A worker holds its tasks by one lease, so `heartbeat_at` of a running task is when
its worker renewed the lease last; of a task that has ended, no later than its end; a waiting task has none.
`locked_by` is the name of the worker that holds the task, or performed its last attempt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from thresher.apps.prices.model import gate_name
from thresher.core.clock import FOREVER
from thresher.core.limits import MAX_INTEGER
from thresher.core.task import State
from thresher.store.session import Row, Session, keep_to_indexes

KIND = "collect_prices"
MAX_RECENT = 20
MAX_SHOWN = 1_000
MAX_LOOKED_AT = 20_000  # the last numbers of tasks, whatever their kind: no index has the tasks of a kind
_NEWEST = f"""t.id < :before
    and t.id > (select coalesce(max(n.id), 0) from tasks n where n.id < :before) - {MAX_LOOKED_AT}"""

# A lease runs out `lease_us` after it was renewed.
_BEAT = "w.lease_until - w.lease_us"
_TASK = f"select t.id, t.state, w.name, {_BEAT}, t.payload"
_RECENT = f"""{_TASK}, t.created_at, t.finished_at, t.error_name, t.reason, t.failures, t.crashes
    from tasks t left join workers w on w.id = t.worker_id where t.kind = :kind and {_NEWEST} order by t.id desc limit :limit"""
# In the order of the index of running tasks; all tasks are never read. A worker that was given up has no
# heartbeat, whenever its last one was.
_STUCK = f"""{_TASK}, t.started_at from tasks t left join workers w on w.id = t.worker_id
    where t.state = 'running' and t.kind = :kind
        and (w.id is null or w.lost_at is not null or w.stopped_at is not null or {_BEAT} < :before)
    order by t.worker_id, t.id limit :limit"""
_BY_WORKER = f"""select t.state, case when t.finished_at is null and t.state <> 'running' then null else w.name end as locked_by,
        count(*) from tasks t left join workers w on w.id = t.worker_id where t.kind = :kind and {_NEWEST} group by 1, 2 order by 1, 2"""
_SOURCES = """select p.name, g.id, g.open_after, g.tripped_until, g.failures, g.last_success, g.last_failure, g.last_error,
        g.closed_tag, g.closed_reason
    from price_sources p left join gates g on g.name = :gate || p.name where p.retired_at = 0 order by p.name limit :limit"""
_ITEMS = "select id, name from price_items where id in (:ids*)"
_SOURCE_NAMES = "select id, name from price_sources where id in (:ids*)"


@dataclass(frozen=True, slots=True)
class RecentTask:
    """A collection in any state. `error_message` is what its last attempt said, if that failed."""

    id: int
    status: State
    item: str | None
    source: str | None
    locked_by: str | None
    heartbeat_at: int | None
    created_at: int
    completed_at: int | None
    error_message: str | None
    failures: int
    crashes: int


@dataclass(frozen=True, slots=True)
class StuckTask:
    """A running collection whose worker is silent. Without a heartbeat nobody knows for how long."""

    id: int
    status: State
    item: str | None
    source: str | None
    locked_by: str | None
    heartbeat_at: int | None
    started_at: int | None
    time_since_heartbeat: int | None


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How a source stands. `paused_until` is when time opens it again; one that is not enabled waits for a
    person. `why` says what closed it; of an open one, what it said when it failed last.
    """

    name: str
    enabled: bool
    failure_streak: int
    last_success_at: int | None
    last_failure_at: int | None
    paused_until: int | None
    why: str | None


@dataclass(frozen=True, slots=True)
class TaskCount:
    """How many collections have this status and this worker. Waiting ones have none."""

    status: State
    locked_by: str | None
    count: int


def recent_tasks(session: Session, limit: int = MAX_RECENT, before: int | None = None) -> list[RecentTask]:
    """The newest collections, below an id if one is given, among the last `MAX_LOOKED_AT` numbers there."""
    keep_to_indexes(session)
    rows = session.rows(_RECENT, {"kind": KIND, "before": before or MAX_INTEGER, "limit": limit})
    names = _Names.of(session, rows)
    return [
        RecentTask(
            row[0],
            State(row[1]),
            *names.of_payload(row[4]),
            row[2],
            _heartbeat(State(row[1]), row[3], row[6]),
            row[5],
            row[6],
            _message(row[7], row[8]),
            row[9],
            row[10],
        )
        for row in rows
    ]


def stuck_tasks(session: Session, now: int, timeout: int, limit: int = MAX_SHOWN) -> list[StuckTask]:
    """Running collections without a heartbeat for `timeout` microseconds, or without any."""
    asked = {"kind": KIND, "before": now - timeout, "limit": limit}
    rows = session.rows(_STUCK, asked)
    names = _Names.of(session, rows)
    return [
        StuckTask(
            row[0],
            State(row[1]),
            *names.of_payload(row[4]),
            row[2],
            row[3],
            row[5],
            None if row[3] is None else max(0, now - row[3]),
        )
        for row in rows
    ]


def tasks_by_worker(session: Session) -> list[TaskCount]:
    """Collections by status and worker, among the last `MAX_LOOKED_AT` numbers of tasks."""
    keep_to_indexes(session)
    rows = session.rows(_BY_WORKER, {"kind": KIND, "before": MAX_INTEGER})
    return [TaskCount(State(state), name, count) for state, name, count in rows]


def source_health(session: Session, now: int, limit: int = MAX_SHOWN) -> list[SourceHealth]:
    """The sources that are in use, by name, as their gates stand."""
    rows = session.rows(_SOURCES, {"gate": f"source:{gate_name('')}", "limit": limit})
    return [_health(row, now) for row in rows]


def _health(row: Row, now: int) -> SourceHealth:
    name, gate, open_after, tripped_until, failures, success, failed_at, error, tag, reason = row
    if gate is None:
        return SourceHealth(name, False, 0, None, None, None, "it has no gate; add the source again")
    until = max(open_after, tripped_until)
    if open_after > now:
        why = f"{tag}: {reason}" if tag and reason else reason or tag
    elif tripped_until > now:
        why = f"{failures} failures in a row; the last: {error or 'unknown'}"
    else:
        why = error if failures else None
    return SourceHealth(
        name,
        open_after < FOREVER,
        failures,
        success or None,
        failed_at,
        until if now < until < FOREVER else None,
        why,
    )


def _heartbeat(state: State, beat: int | None, ended_at: int | None) -> int | None:
    if ended_at is not None and beat is not None:
        return min(beat, ended_at)
    return beat if state is State.RUNNING else None


def _message(error: str | None, reason: str | None) -> str | None:
    return None if error is None else f"{error}: {reason}" if reason else error


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of the items and sources that some tasks are about."""

    items: dict[int, str]
    sources: dict[int, str]

    @classmethod
    def of(cls, session: Session, rows: Sequence[Row]) -> "_Names":
        payloads = [orjson.loads(row[4]) for row in rows]
        items = sorted({each["item"] for each in payloads if type(each.get("item")) is int})
        sources = sorted({each["source"] for each in payloads if type(each.get("source")) is int})
        return cls(
            dict(session.rows(_ITEMS, {"ids": items})) if items else {},
            dict(session.rows(_SOURCE_NAMES, {"ids": sources})) if sources else {},
        )

    def of_payload(self, payload: str) -> tuple[str | None, str | None]:
        said = orjson.loads(payload)
        return self.items.get(said.get("item")), self.sources.get(said.get("source"))
