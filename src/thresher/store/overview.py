"""Queries across tables for people: workers, failures by group, events, and what waits where."""

from collections.abc import Sequence
from typing import Any

import orjson

from thresher.core.event import SPAWN_REFUSED
from thresher.core.task import WAITING, State, sql_list
from thresher.store.session import Row, Session, keep_to_indexes, one
from thresher.store.tasks import matching

Fields = dict[str, Any]

# Who waits before one task or one gate is counted for the page of a task: nobody needs to know it better.
MAX_AHEAD = 10_000

_WORKERS = """select w.id, w.name, w.host, w.pid, w.started_at, w.lease_until, w.lost_at,
        (select count(*) from tasks t where t.worker_id = w.id and t.state = 'running')
    from workers w where w.stopped_at is null order by w.id"""
# A lease ends its own length after it was renewed.
_LAST_SEEN = """select name, coalesce(stopped_at, lease_until - lease_us) as seen from workers
    order by seen desc, id desc limit 1"""
_NAMES = "select id, name from workers where id in (:ids*)"
_HELD = "select id, kind, stage, started_at from tasks where worker_id = :worker and state = 'running' order by started_at, id limit :most"
_OLDEST = f"select id, kind, created_at from tasks where state in ({sql_list(WAITING)}) order by id limit 1"
# Counts for pages that are looked at while a million tasks wait: each reads one index, and so many of its
# entries at most.
MAX_COUNTED = 10_000
_SOME = f"limit {MAX_COUNTED}"
_BEHIND = """select g.name, count(*) from lanes l join gates g on g.id = l.parked_on join tasks t on t.lane_id = l.id and t.due = 1
    where l.status = 'parked' group by g.name"""
_SOME_BEHIND = f"""select g.name, sum(l.waiting) from (select parked_on,
        (select count(*) from (select 1 from tasks t where t.lane_id = p.id and t.due = 1 {_SOME}) counted) as waiting
        from (select id, parked_on from lanes where status = 'parked' and parked_on in (:gates*) {_SOME}) p) l
    join gates g on g.id = l.parked_on group by g.name"""
_KINDS = "select distinct kind from tasks where kind in (:kinds*)"
_APPS = "select app from sources where app is not null union select app from schedules"
_KEYED = "select id from tasks where kind = :kind and dedupe_key = :key and finished_at is null"
_STATES = "select id, state from tasks where id in (:ids*)"
# How many due tasks stand before this one in its lane, and how many due tasks stand parked before a gate.
_PLACE = "select lane_id, rank from tasks where id = :id"
_AHEAD = """select count(*) from (select 1 from tasks where due = 1 and lane_id = :lane
    and rank <= :rank and (rank < :rank_too or id < :id) limit :most) found"""
_AT_GATE = """select count(*) from (select 1 from lanes l cross join tasks t where l.status = 'parked'
    and l.parked_on = :gate and t.lane_id = l.id and t.due = 1 limit :most) found"""

# One that is tried again has not ended: what counts is when its last attempt began.
_GROUPS = """select t.error_name, t.kind, l.key, count(*), max(t.id), min(coalesce(t.finished_at, t.started_at)),
        max(coalesce(t.finished_at, t.started_at)), min(t.run_at)
    from {tasks} t join lanes l on l.id = t.lane_id"""
# The newest of each error, so that a page reads few of a million. The names of the errors are read off the
# index one by one.
_ERRORS = """with recursive named(name) as (select min(error_name) from tasks where state = 'failed'
    union all select (select min(t.error_name) from tasks t where t.state = 'failed' and t.error_name > n.name)
        from named n where n.name is not null)
    select name from named where name is not null limit 1000"""
_NEWEST_FAILED = """(select * from tasks where state = 'failed' and error_name = :name
    order by error_name desc, finished_at desc limit :most)"""
_NEXT_RETRIED = "(select * from tasks where run_at is not null order by run_at limit :most)"
_DUE_RETRIED = "(select * from tasks where due = 1 order by lane_id, rank, id limit :most)"
_DELAYED = "select id, kind, error_name, reason, run_at, started_at from tasks where run_at > :now order by run_at, id limit :most"
_DUE = "select kind, stage, count(*) from tasks where due = 1 group by kind, stage order by kind, stage"
_REASONS = "select id, reason from tasks where id in (:ids*)"
_IDS = "select t.id from tasks t join lanes l on l.id = t.lane_id"
_PERMITS = """select p.id, g.name, p.task_id, p.claim, p.holder, p.taken_at, p.expires_at from permits p join gates g on g.id = p.gate_id
    order by p.taken_at, p.id limit :limit"""
_EVENTS = """select e.id, e.at, e.kind, e.task_id, g.name, e.detail from events e left join gates g on g.id = e.gate_id"""


def workers(session: Session) -> list[Fields]:
    """Workers that have not signed off, with how many tasks each holds."""
    names = ("id", "name", "host", "pid", "started_at", "lease_until", "lost_at", "holds")
    return _named(names, session.rows(_WORKERS))


def last_seen(session: Session) -> tuple[str, int] | None:
    """The worker that was heard of last, and when."""
    row = one(session, _LAST_SEEN)
    return (str(row[0]), int(row[1])) if row else None


def worker_names(session: Session, ids: Sequence[int]) -> dict[int, str]:
    """The names of these workers; those that are gone are left out."""
    return dict(session.rows(_NAMES, {"ids": ids}))


def held_by(session: Session, worker_id: int, most: int) -> list[Fields]:
    """The tasks a worker holds, the longest-running first."""
    return _named(
        ("id", "kind", "stage", "started_at"), session.rows(_HELD, {"worker": worker_id, "most": most})
    )


def oldest_waiting(session: Session) -> Fields | None:
    """The waiting task that was accepted first."""
    row = one(session, _OLDEST)
    return dict(zip(("id", "kind", "created_at"), row, strict=True)) if row else None


def waiting_behind(session: Session) -> dict[str, int]:
    """How many due tasks stand parked before each gate that stops them."""
    return dict(session.rows(_BEHIND))


def some_waiting_behind(session: Session, gates: Sequence[int]) -> dict[str, int]:
    """The same for these gates alone, up to `MAX_COUNTED` tasks of a lane, and of so many lanes."""
    rows = session.rows(_SOME_BEHIND, {"gates": gates}) if gates else []
    return {name: int(number) for name, number in rows}


def known_kinds(session: Session, kinds: Sequence[str]) -> set[str]:
    """Those of these kinds that ever had a task here."""
    return {row[0] for row in session.rows(_KINDS, {"kinds": kinds})}


def apps_seen(session: Session) -> set[str]:
    """The apps that declared a source or a schedule here, enabled or not."""
    return {row[0] for row in session.rows(_APPS)}


def live_with_key(session: Session, kind: str, key: str) -> int | None:
    """The live task that holds this key."""
    row = one(session, _KEYED, {"kind": kind, "key": key})
    return int(row[0]) if row else None


def states(session: Session, ids: Sequence[int]) -> dict[int, str]:
    """The state of each of these tasks; those that do not exist are left out."""
    return dict(session.rows(_STATES, {"ids": ids}))


def ahead_of(session: Session, task_id: int) -> int:
    """How many due tasks stand before this one in its lane, up to `MAX_AHEAD`."""
    keep_to_indexes(session)
    ((lane, rank),) = session.rows(_PLACE, {"id": task_id})
    given = {"lane": lane, "rank": rank, "rank_too": rank, "id": task_id, "most": MAX_AHEAD}
    return int(session.rows(_AHEAD, given)[0][0])


def waiting_at(session: Session, gate_id: int) -> int:
    """How many due tasks stand parked before this gate, up to `MAX_AHEAD`."""
    keep_to_indexes(session)
    return int(session.rows(_AT_GATE, {"gate": gate_id, "most": MAX_AHEAD})[0][0])


def failure_groups(session: Session, *, state: str, **filters: Any) -> list[Fields]:
    """Tasks that failed, or are tried again, counted by error, kind and lane, with the newest of each as an
    example.
    """
    return _grouped(session, "tasks", state=state, **filters)


def count_errors(session: Session) -> int:
    """How many errors there are that tasks have failed with."""
    return len(session.rows(_ERRORS))


def newest_failure_groups(session: Session, *, state: str, most: int, **filters: Any) -> list[Fields]:
    """The same over the newest tasks only: so many of each error that failed; so many that wait for a time,
    and so many that are due, of those that are tried again.
    """
    keep_to_indexes(session)
    if state != State.FAILED:
        return [
            group
            for source in (_NEXT_RETRIED, _DUE_RETRIED)
            for group in _grouped(session, source, {"most": most}, state=state, **filters)
        ]
    only = filters.get("error")
    names = [row[0] for row in session.rows(_ERRORS)] if only is None else [only]
    return [
        group
        for name in names
        for group in _grouped(session, _NEWEST_FAILED, {"name": name, "most": most}, state=state, **filters)
    ]


def _grouped(session: Session, source: str, values: Fields | None = None, **filters: Any) -> list[Fields]:
    where, given = matching(**filters)
    sql = f"{_GROUPS.format(tasks=source)}{where} group by t.error_name, t.kind, l.key"
    rows = session.rows(sql, given | (values or {}))
    return _named(("error", "kind", "lane", "count", "example", "first_at", "last_at", "next_at"), rows)


def delayed(session: Session, now: int, most: int) -> list[Fields]:
    """Tasks that wait for a time, the next first."""
    return _named(
        ("id", "kind", "error", "reason", "run_at", "started_at"),
        session.rows(_DELAYED, {"now": now, "most": most}),
    )


def due_by_scope(session: Session) -> dict[tuple[str, str], int]:
    """How many tasks of each kind and stage could start, if their gates were open."""
    return {(kind, stage): count for kind, stage, count in session.rows(_DUE)}


def reasons(session: Session, ids: Sequence[int]) -> dict[int, str | None]:
    """Why each of these tasks ended or waits."""
    return dict(session.rows(_REASONS, {"ids": ids}))


def matching_ids(session: Session, **filters: Any) -> list[int]:
    """The ids of all tasks that match."""
    where, given = matching(**filters)
    return [row[0] for row in session.rows(f"{_IDS}{where} order by t.id", given)]


def permits(session: Session, limit: int = 100) -> list[Fields]:
    """Requests under way outside the lane of their task, the longest first: each holds a slot of its gate."""
    names = ("id", "gate", "task_id", "claim", "holder", "taken_at", "expires_at")
    return _named(names, session.rows(_PERMITS, {"limit": limit}))


def events(
    session: Session,
    *,
    kind: str | None = None,
    gate: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Fields]:
    """What happened, the newest first."""
    wanted = {
        "kind": ("e.kind = :kind", kind),
        "gate": ("g.name = :gate", gate),
        "before": ("e.id < :before", before),
    }
    given: Fields = {name: value for name, (_, value) in wanted.items() if value is not None}
    where = f" where {' and '.join(wanted[name][0] for name in given)}" if given else ""
    rows = session.rows(f"{_EVENTS}{where} order by e.id desc limit :limit", given | {"limit": limit})
    found = _named(("id", "at", "kind", "task_id", "gate", "detail"), rows)
    return [event | {"detail": orjson.loads(event["detail"])} for event in found]


# Refusals of a day are looked for among the newest; nobody reads more of them one by one.
MAX_REFUSALS = 10_000
_REFUSED = f"""select rule, count(*) from (select rule, at from refusals order by id desc limit {MAX_REFUSALS}) r
    where at >= :since group by rule order by count(*) desc, rule"""
_REFUSALS = "select id, at, parent_id, kind, url, lineage_key, rule, detail from refusals"


def refused_since(session: Session, since: int) -> dict[str, int]:
    """How many spawns were refused since then, by rule."""
    return {str(rule): int(number) for rule, number in session.rows(_REFUSED, {"since": since})}


_DEEP = "select count(*) from events where kind = 'lineage_deep' and at >= :since"


def deep_since(session: Session, since: int) -> int:
    """How many lineages have grown deep since then."""
    return int(session.rows(_DEEP, {"since": since})[0][0])


def refusal_events(session: Session, *, before: int | None = None, limit: int = 50) -> list[Fields]:
    """Refused spawns, the newest first, in the form of events."""
    where = " where id < :before" if before is not None else ""
    given: Fields = {"limit": limit} | ({"before": before} if before is not None else {})
    rows = session.rows(f"{_REFUSALS}{where} order by id desc limit :limit", given)
    names = ("kind", "url", "key", "rule", "detail")
    return [
        {
            "id": row[0],
            "at": row[1],
            "kind": SPAWN_REFUSED,
            "task_id": row[2],
            "gate": None,
            "detail": dict(zip(names, row[3:], strict=True)),
        }
        for row in rows
    ]


# Of the tasks that ended last, how many ended in which way.
_ENDED_AS = """select state, count(*) from (select state from tasks where finished_at is not null
    order by finished_at desc limit :most) newest group by state"""
_DEPTHS = {
    "due": "due = 1",
    "delayed": "run_at > :now",
    "running": "state = 'running'",
    "failed": "state = 'failed'",
    "ended": "finished_at is not null",
}
_NEWEST_ENDED = f"(select finished_at, state, lane_id from tasks where finished_at >= :since order by finished_at desc {_SOME}) newest"
_BY_MINUTE = f"""select finished_at - finished_at % 60000000, count(*), count(case when state = 'failed' then 1 end)
    from {_NEWEST_ENDED} group by 1"""
_BY_GATES = f"""select l.key, newest.finished_at - newest.finished_at % 3600000000, newest.state, count(*)
    from {_NEWEST_ENDED} join lanes l on l.id = newest.lane_id{{through}} group by 1, 2, 3"""
# A find: a record that nobody had written before, counted where the task that wrote it first stands.
_FOUND_BY_GATES = f"""select l.key, newest.created_at - newest.created_at % 3600000000, count(*)
    from (select first_task, created_at from records order by id desc {_SOME}) newest
    join tasks t on t.id = newest.first_task join lanes l on l.id = t.lane_id
    where newest.created_at >= :since{{through}} group by 1, 2"""
_BY_KEY = f"""select id, kind, dedupe_key from (select id, kind, dedupe_key from tasks order by id desc {_SOME}) newest
    where dedupe_key in (:keys*) order by id"""


def depths(session: Session, now: int, most: int = MAX_COUNTED) -> dict[str, int]:
    """How many tasks are due, delayed, running, failed and ended, up to so many each."""
    keep_to_indexes(session)
    return {
        name: int(
            session.rows(
                f"select count(*) from (select 1 from tasks where {where} limit :most) counted",
                {"now": now, "most": most} if ":now" in where else {"most": most},
            )[0][0]
        )
        for name, where in _DEPTHS.items()
    }


def ended_as(session: Session, most: int) -> dict[str, int]:
    """How the tasks that ended last have ended, so many of them."""
    keep_to_indexes(session)
    return {str(state): int(number) for state, number in session.rows(_ENDED_AS, {"most": most})}


def ended_by_minute(session: Session, since: int) -> dict[int, tuple[int, int]]:
    """How many tasks ended in each minute since then, and how many of them failed; the newest `MAX_COUNTED`
    count.
    """
    return {
        int(minute): (int(number), int(failed))
        for minute, number, failed in session.rows(_BY_MINUTE, {"since": since})
    }


def ended_by_gates(
    session: Session, since: int, gate: int | None = None
) -> list[tuple[list[str], int, str, int]]:
    """How many tasks ended by their gates, hour and state since then, or of one gate alone; the newest
    `MAX_COUNTED` count.
    """
    return [
        (key.split("\n"), int(hour), str(state), int(number))
        for key, hour, state, number in _through(session, _BY_GATES, since, gate)
    ]


def found_by_gates(session: Session, since: int, gate: int | None = None) -> list[tuple[list[str], int, int]]:
    """How many records were found by their gates and hour since then, or of one gate alone; the newest
    `MAX_COUNTED` count.
    """
    return [
        (key.split("\n"), int(hour), int(number))
        for key, hour, number in _through(session, _FOUND_BY_GATES, since, gate)
    ]


def _through(session: Session, sql: str, since: int, gate: int | None) -> list[Row]:
    keep_to_indexes(session)
    through = "" if gate is None else f" and {session.dialect.carries}"
    given = {"since": since} if gate is None else {"since": since, "gate": gate}
    return session.rows(sql.format(through=through), given)


def newest_with_key(session: Session, keys: Sequence[str]) -> dict[tuple[str, str], int]:
    """The newest task of each kind and key among the newest `MAX_COUNTED` tasks."""
    if not keys:
        return {}
    return {(kind, key): int(task_id) for task_id, kind, key in session.rows(_BY_KEY, {"keys": keys})}


def _named(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[Fields]:
    return [dict(zip(names, row, strict=True)) for row in rows]
