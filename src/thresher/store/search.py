"""Look through a table of a million rows for a page, the newest first, and read few of them.

A search that an index narrows down to a few thousand rows is answered from those, and is complete. Any other
looks at the newest rows before a point, and says at which id it stopped: whoever wants more looks further
back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from thresher.store import groups, tasks
from thresher.store.gates import gate_named
from thresher.store.session import Params, Row, Session, keep_to_indexes

Fields = dict[str, Any]

MAX_CANDIDATES = 5_000
WINDOW = 20_000
MAX_PARTS = 500  # lanes of a gate, or groups of a run, that are asked for one by one
TOP = 2**53  # greater than every id


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What a search has found. `older` is the id to go on before; None: there is nothing further back. Where
    the page is not full and there is something further back, the search has stopped there.
    """

    rows: list[Any]
    older: int | None
    is_full: bool


@dataclass(frozen=True, slots=True)
class IndexWay:
    """A statement that reads the ids of all rows that a filter lets through off an index, in its order."""

    sql: str
    values: Params = field(default_factory=dict)


IndexWays = Sequence[IndexWay]  # whose rows together are all that a filter lets through

_LINEAGE = """select id from tasks where tracking_id = :root and tracking_id is not null
    order by tracking_id, kind, lineage_key"""
_ROOT = "select id from tasks where id = :root"
_FAILED = "select id from tasks where state = 'failed' order by error_name, finished_at"
_FAILED_BY = """select id from tasks where state = 'failed' and error_name = :error
    order by error_name, finished_at"""
_RUNNING = "select id from tasks where state = 'running' order by worker_id"
_DUE = "select id from tasks where due = 1 order by lane_id, rank, id"
_DELAYED = "select id from tasks where run_at is not null order by run_at"
_ENDED = "select id from tasks where finished_at is not null order by finished_at desc"
_IN_LANES = (
    "select id from tasks where due = 1 and lane_id in (:lanes*)",
    "select id from tasks where due = 0 and state <> 'running' and lane_id in (:lanes*)",
)
_IN_GROUPS = "select id from tasks where group_id in (:groups*) and group_id is not null"
_THROUGH = "select l.id from lanes l where {carries} limit :most"
_BELOW = """with recursive below(id) as (select id from task_groups where id = :run
    union all select g.id from task_groups g join below b on g.parent_id = b.id) select id from below limit :most"""
_OPEN = "select id from task_groups where ended_at is null order by id desc"
_OF_GATE = "select id from events where gate_id = :gate and gate_id is not null"
_BETWEEN = "select id from events where at >= :since and at <= :until order by at"

_FLOOR = "select id from {table} where id < :before order by id desc limit 1 offset {skipped}"
_CEILING = "select id from tasks where id > :after order by id limit 1 offset {skipped}"

# By the words that a person filters with: the ways to the rows.
_BY_STATE = {
    "pending": (_DUE, _DELAYED),
    "retryable": (_DUE, _DELAYED),
    "running": (_RUNNING,),
    "failed": (_FAILED,),
    "succeeded": (_ENDED,),
    "filtered": (_ENDED,),
    "skipped": (_ENDED,),
    "cancelled": (_ENDED,),
    "due": (_DUE,),
    "delayed": (_DELAYED,),
    "live": (_DUE, _DELAYED, _RUNNING),
    "ended": (_ENDED,),
}

# Without what may be long.
_LISTED = (
    "id",
    "kind",
    "stage",
    "state",
    "due",
    "run_at",
    "failures",
    "cancelling",
    "worker_id",
    "started_at",
    "parent_id",
    "depth",
    "url",
    "dedupe_key",
    "reason",
    "error_name",
    "created_at",
    "finished_at",
    "group_id",
)
_TASKS = f"select {', '.join('t.' + name for name in _LISTED)} from tasks t"
_WITH_LANES = f"{_TASKS} join lanes l on l.id = t.lane_id"
_EVENTS = "select e.id, e.at, e.kind, e.task_id, g.name, e.detail from events e left join gates g on g.id = e.gate_id"
# Which gate the lane of a waiting task is parked on.
_PARKED = """select t.id, g.name from tasks t join lanes l on l.id = t.lane_id join gates g on g.id = l.parked_on
    where t.id in (:ids*) and t.due = 1"""


def find_tasks(session: Session, *, before: int | None = None, limit: int = 50, **filters: Any) -> SearchPage:
    """Tasks that match, the newest first. The filters are those of `store.tasks`."""
    given = {name: value for name, value in filters.items() if value is not None}
    where, values = tasks.matching(**given)
    found = _look(session, "tasks t", _WITH_LANES, where, values, _ways(session, given), before, limit)
    return replace(found, rows=[_task(row) for row in found.rows])


def _ways(session: Session, given: Fields) -> list[IndexWays]:
    """The ways in, the most selective first."""
    found: list[IndexWays] = []
    if lineage := given.get("tracking_id"):
        found.append(_lineage(lineage))
    if (error := given.get("error")) and given.get("state", "failed") == "failed":
        by_error = IndexWay(_FAILED_BY, {"error": error})
        others = () if "state" in given else tuple(map(IndexWay, _BY_STATE["live"]))
        found.append((by_error, *others))
    found += [
        tuple(map(IndexWay, ways))
        for word, ways in _BY_STATE.items()
        if given.get("state") == word or word in given
    ]
    if gate := given.get("gate"):
        found += _in_lanes(session, gate)
    if run := given.get("run"):
        groups_below = session.rows(_BELOW, {"run": run, "most": MAX_PARTS + 1})
        if len(groups_below) <= MAX_PARTS:
            found.append((IndexWay(_IN_GROUPS, {"groups": [row[0] for row in groups_below]}),))
    return found


def _in_lanes(session: Session, gate: str) -> list[IndexWays]:
    """The way through the lanes of a gate, if they are few; without such a gate there is nothing to find."""
    gate_id = gate_named(session, gate)
    if gate_id is None:
        return [()]
    through = _THROUGH.format(carries=session.dialect.carries)
    lanes = [row[0] for row in session.rows(through, {"gate": gate_id, "most": MAX_PARTS + 1})]
    if len(lanes) > MAX_PARTS:
        return []
    return [[*(IndexWay(sql, {"lanes": lanes}) for sql in _IN_LANES), IndexWay(_RUNNING)]]


def _lineage(root: int) -> IndexWays:
    return IndexWay(_LINEAGE, {"root": root}), IndexWay(_ROOT, {"root": root})


def _task(row: Row) -> Fields:
    task = dict(zip(_LISTED, row, strict=True))
    return {**task, "error": task.pop("error_name")}


def tasks_with_ids(session: Session, ids: Sequence[int]) -> list[Fields]:
    """These tasks, the newest first."""
    rows = session.rows(f"{_TASKS} where t.id in (:ids*) order by t.id desc", {"ids": ids})
    return [_task(row) for row in rows]


def parked_on(session: Session, ids: Sequence[int]) -> dict[int, str]:
    """Those of these tasks that stand in a lane behind a closed gate, and the gate."""
    return dict(session.rows(_PARKED, {"ids": ids}))


def children_of(session: Session, task: Fields, limit: int) -> tuple[list[Fields], bool]:
    """The tasks that a task has spawned, and whether these are all: in a very large lineage they are looked
    for among the tasks that came next.
    """
    ids = _candidates(session, _lineage(task["tracking_id"]))
    given: Fields = {"parent": task["id"], "limit": limit}
    if ids is not None:
        among, given["ids"] = "t.id in (:ids*)", ids
    else:
        highest = session.rows(_CEILING.format(skipped=WINDOW - 1), {"after": task["id"]})
        among = "t.id > :after and t.id <= :ceiling"
        given |= {"after": task["id"], "ceiling": highest[0][0] if highest else TOP}
    rows = session.rows(f"{_TASKS} where {among} and t.parent_id = :parent order by t.id limit :limit", given)
    return [_task(row) for row in rows], ids is not None and len(rows) < limit


def family_of(session: Session, task: Fields, most: int) -> tuple[list[Fields], bool]:
    """The lineage of a task, parents before children, and whether these are all: of a larger one those above
    the task, and its children.
    """
    ids = _candidates(session, _lineage(task["tracking_id"]), most)
    if ids is not None:
        rows = session.rows(f"{_TASKS} where t.id in (:ids*) order by t.id", {"ids": ids})
        return [_task(row) for row in rows], True
    found, next_id = list[Fields](), task["id"]
    while next_id is not None and len(found) < most:
        rows = session.rows(f"{_TASKS} where t.id = :id", {"id": next_id})
        found += [_task(row) for row in rows]
        next_id = found[-1]["parent_id"] if rows else None
    children, _ = children_of(session, task, most)
    return [*reversed(found), *children], False


def find_events(
    session: Session,
    *,
    kind: str | None = None,
    gate: str | None = None,
    task: Fields | None = None,
    before: int | None = None,
    limit: int = 50,
) -> SearchPage:
    """Events that match, the newest first; with `task` those about it."""
    gate_id = gate_named(session, gate) if gate else None
    wanted = {
        "kind": ("e.kind = :kind", kind),
        "gate": ("e.gate_id = :gate", (gate_id or 0) if gate else None),
        "task": ("e.task_id = :task", task and task["id"]),
    }
    given = {name: value for name, (_, value) in wanted.items() if value is not None}
    where = f" where {' and '.join(wanted[name][0] for name in given)}" if given else ""
    ways: list[IndexWays] = []
    if gate:
        ways.append((IndexWay(_OF_GATE, {"gate": gate_id}),) if gate_id else ())
    if task:
        until = task["finished_at"] or TOP
        ways.append((IndexWay(_BETWEEN, {"since": task["created_at"], "until": until}),))
    found = _look(session, "events e", _EVENTS, where, given, ways, before, limit)
    return replace(found, rows=[_event(row) for row in found.rows])


def _event(row: Row) -> Fields:
    names = ("id", "at", "kind", "task_id", "gate")
    return {**dict(zip(names, row[:5], strict=True)), "detail": orjson.loads(row[5])}


def find_groups(
    session: Session, *, before: int | None = None, limit: int = 50, **filters: Any
) -> SearchPage:
    """Runs and groups that match, the newest first. The filters are those of `store.groups`."""
    where, values = groups.matching(**filters)
    ways = [(IndexWay(_OPEN),)] if filters.get("running") else []
    found = _look(session, "task_groups g", groups.SELECT, where, values, ways, before, limit)
    return replace(found, rows=groups.statuses(session, found.rows))


def _look(
    session: Session,
    table: str,
    select: str,
    where: str,
    values: Fields,
    ways: Sequence[IndexWays],
    before: int | None,
    limit: int,
) -> SearchPage:
    """`where` is a clause over the table by its short name, or empty."""
    name, _, short = table.partition(" ")
    asked = f"{select}{where}{' and' if where else ' where'} {short}.id < :before"
    newest = f"order by {short}.id desc limit :limit"
    given = {**values, "before": TOP if before is None else before, "limit": limit}
    for way in ways:
        ids = _candidates(session, way)
        if ids is not None:
            rows = session.rows(f"{asked} and {short}.id in (:ids*) {newest}", {**given, "ids": ids})
            return _found(rows, limit, None)
    if not where:
        return _found(session.rows(f"{asked} {newest}", given), limit, None)
    keep_to_indexes(session)
    lowest = session.rows(_FLOOR.format(table=name, skipped=WINDOW - 1), {"before": given["before"]})
    floor = int(lowest[0][0]) if lowest else None
    rows = session.rows(f"{asked} and {short}.id >= :floor {newest}", {**given, "floor": floor or 0})
    return _found(rows, limit, floor)


def _found(rows: list[Row], limit: int, floor: int | None) -> SearchPage:
    is_full = len(rows) == limit
    return SearchPage(rows, int(rows[-1][0]) if is_full else floor, is_full)


def _candidates(session: Session, ways: IndexWays, most: int = MAX_CANDIDATES) -> list[int] | None:
    """The ids of all ways together; None if there are too many."""
    keep_to_indexes(session)
    ids: set[int] = set()
    for way in ways:
        rows = session.rows(f"{way.sql} limit :most", {**way.values, "most": most + 1})
        ids.update(row[0] for row in rows)
        if len(ids) > most:
            return None
    return sorted(ids)
