"""Commands and queries on tasks."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.core.task import REVIVABLE, WAITING, State, sql_list
from thresher.store.backend import OPEN, GroupChange, gates_in
from thresher.store.session import Session, keep_to_indexes, one
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_AT_ONCE = 500

_CANCEL_WAITING = f"""update tasks set state = 'cancelled', due = 0, run_at = null, finished_at = :now, reason = :reason,
        error_name = null
    where id in (:ids*) and state in ({sql_list(WAITING)}) returning id, group_id"""
_CANCEL_RUNNING = "update tasks set cancelling = 1 where id in (:ids*) and state = 'running' returning id"
# What their rows told of their last attempt is about to be overwritten.
_KEEP = f"""insert into other_attempts (task_id, claim, stage, worker_id, started_at, ended_at, ending, reason, error_name)
    select task_id, claim, stage, worker_id, started_at, ended_at, ending, reason, error_name from attempts a
    where a.task_id in (:ids*) and not exists (select 1 from other_attempts o where o.task_id = a.task_id and o.claim = a.claim)
        and exists (select 1 from tasks t where t.id = a.task_id and t.state in ({sql_list(REVIVABLE)}))"""
_REVIVE = f"""update tasks set state = 'pending', due = 1, rank = :now - priority * :head_start, failures = 0, crashes = 0,
        cancelling = 0, finished_at = null, reason = null, error_name = null
    where id in (:ids*) and state in ({sql_list(REVIVABLE)})
        and not exists (select 1 from tasks o where o.kind = tasks.kind and o.dedupe_key = tasks.dedupe_key
            and (o.finished_at is null or (o.id > tasks.id and o.id in (:rivals*) and o.state in ({sql_list(REVIVABLE)}))))
    returning id, lane_id, rank"""

# Locked: a running one may end between this look and the change. Not those that wait: a claim that holds
# their lane must not wait for us.
_MEMBERS = f"""select id, group_id, state from tasks
    where id in (:ids*) and group_id is not null and state not in ({sql_list(WAITING)}) order by id"""

_COLUMNS = (
    "id",
    "kind",
    "stage",
    "state",
    "due",
    "run_at",
    "priority",
    "claim",
    "failures",
    "crashes",
    "cancelling",
    "worker_id",
    "started_at",
    "tracking_id",
    "parent_id",
    "depth",
    "ancestry",
    "url",
    "dedupe_key",
    "payload",
    "checkpoint",
    "reason",
    "error_name",
    "created_at",
    "finished_at",
    "group_id",
    "gates",
)
# The gates of a lane are its key, one name a line, so no second table has to be asked.
_SELECT = f"select {', '.join('t.' + name for name in _COLUMNS[:-1])}, l.key from tasks t join lanes l on l.id = t.lane_id"
_JSON = ("ancestry", "payload", "checkpoint")
_FILTERS = {
    "before": "t.id < :before",
    "state": "t.state = :state",
    "kind": "t.kind = :kind",
    "error": "t.error_name = :error",
    "url": "t.url = :url",
    "text": r"(lower(t.url) like :text escape '\' or lower(t.dedupe_key) like :text escape '\')",
    # Words for several states, or for part of one.
    "due": "t.due = 1",
    "delayed": "t.run_at is not null",
    "live": "t.finished_at is null",
    "ended": "t.finished_at is not null",
    "tracking_id": "coalesce(t.tracking_id, t.id) = :tracking_id",
    "root": "t.tracking_id = :root",  # all below a root, by the index
    "parent_id": "t.parent_id = :parent_id",
    "run": """t.group_id in (with recursive below(id) as (select id from task_groups where id = :run
        union all select g.id from task_groups g join below b on g.parent_id = b.id) select id from below)""",
    "finished_before": "coalesce(t.finished_at, t.started_at) < :finished_before",
    "finished_after": "coalesce(t.finished_at, t.started_at) >= :finished_after",
    "gateless": f"l.key like '{OPEN}%'",
    # One name of the key's lines, whole: both databases know "replace", only one knows "instr".
    "gate": "replace(:newline || l.key || :newline, :gate, '') <> :newline || l.key || :newline",
}
_COUNTS = "select kind, state, count(*) from tasks group by kind, state order by kind, state"
# A task whose time has come is due, although it enters its lane only with the next claim.
_WAITING_COUNTS = f"""select count(*), count(case when run_at > :now then 1 end), min(case when run_at > :now then run_at end)
    from tasks where state in ({sql_list(WAITING)})"""
_ATTEMPTS = """select claim, stage, worker_id, started_at, ended_at, ending, reason, error_name from attempts
    where task_id = :id order by claim"""
_REFUSALS = "select at, parent_id, kind, url, lineage_key, rule, detail from refusals where tracking_id = :id order by id limit :most"
_REFUSAL = ("at", "parent_id", "kind", "url", "key", "rule", "detail")
_REFUSED_TO = """select at, parent_id, kind, url, lineage_key, rule, detail from refusals
    where parent_id = :id limit :most"""
_LIVE = f"select count(*) from tasks where state in ({sql_list(WAITING | {State.RUNNING})})"

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Tasks that were waiting are cancelled; running ones are asked to stop by their worker's next
    heartbeat.
    """

    cancelled: list[int]
    asked: list[int]


def cancel(store: Store, ids: Sequence[int], reason: str) -> Cancelled:
    """Cancel tasks, waiting or running. Those that have ended stay as they are."""

    def write(session: Session) -> Cancelled:
        # The lane first: a claim that holds it must not find its head gone.
        store.backend.lock_lanes(session, (), ids)
        now = store.backend.now(session)
        waiting = session.rows(_CANCEL_WAITING, {"ids": ids, "now": now, "reason": reason})
        running = session.rows(_CANCEL_RUNNING, {"ids": ids})
        _count_groups(
            store, session, Counter((group_id, "cancelled") for _, group_id in waiting if group_id), now
        )
        return Cancelled(sorted(row[0] for row in waiting), sorted(row[0] for row in running))

    return in_transaction(store, write)


def revive(store: Store, ids: Sequence[int]) -> list[int]:
    """Send ended tasks back to waiting with a fresh budget; those whose key is taken by a live task stay
    ended.

    Of several that share a key only the newest comes back: they would be each other's duplicates.
    """

    def write(session: Session) -> list[int]:
        store.backend.lock_lanes(session, (), ids)
        now = store.backend.now(session)
        values = {"ids": ids, "rivals": ids, "now": now, "head_start": store.rules.head_start_us}
        members = session.rows(_MEMBERS + store.backend.dialect.lock, {"ids": ids})
        ended_as = {task_id: (group_id, state) for task_id, group_id, state in members}
        session.run(_KEEP, {"ids": ids})
        rows = session.rows(_REVIVE, values)
        ranks: dict[int, int] = {}
        for _, lane_id, rank in rows:
            ranks[lane_id] = min(rank, ranks.get(lane_id, rank))
        store.backend.make_ready(session, ranks)
        back = Counter(ended_as[row[0]] for row in rows if row[0] in ended_as)
        _count_groups(store, session, {change: -number for change, number in back.items()}, now)
        return sorted(row[0] for row in rows)

    revived = in_transaction(store, write)
    store.backend.ping()
    return revived


def _count_groups(store: Store, session: Session, changes: Mapping[GroupChange, int], now: int) -> None:
    if changes:
        store.backend.count_groups(session, changes, store.rules, now)


def find(session: Session, *, limit: int = 50, before: int | None = None, **filters: Any) -> list[Fields]:
    """Tasks that match, the newest first. `before` is the id to go on from."""
    where, given = matching(before=before, **filters)
    rows = session.rows(f"{_SELECT}{where} order by t.id desc limit :limit", given | {"limit": limit})
    return [_fields(row) for row in rows]


def matching(**filters: Any) -> tuple[str, Fields]:
    """A `where` over tasks t and their lanes l, and its values. What is None does not filter."""
    given = {name: value for name, value in filters.items() if value is not None}
    clauses = [_FILTERS[name] for name in given]
    if "gate" in given:
        given |= {"newline": "\n", "gate": f"\n{given['gate']}\n"}
    if "text" in given:
        given |= {"text": f"%{_literal(given['text'].lower())}%"}
    return (f" where {' and '.join(clauses)}" if clauses else ""), given


def _literal(text: str) -> str:
    """A text as `like` takes it for itself."""
    return text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")


def get(session: Session, task_id: int) -> Fields | None:
    """One task, whole."""
    row = one(session, f"{_SELECT} where t.id = :id", {"id": task_id})
    return _fields(row) if row else None


def lineage(session: Session, tracking_id: int, limit: int = 5_000) -> list[Fields]:
    """A root and everything below it, parents before children."""
    rows = session.rows(
        f"{_SELECT} where t.id = :id or t.tracking_id = :id order by t.id limit :limit",
        {"id": tracking_id, "limit": limit},
    )
    return [_fields(row) for row in rows]


def attempts(session: Session, task_id: int) -> list[Fields]:
    """What was tried, in order."""
    names = ("claim", "stage", "worker_id", "started_at", "ended_at", "ending", "reason", "error")
    return [dict(zip(names, row, strict=True)) for row in session.rows(_ATTEMPTS, {"id": task_id})]


def refusals(session: Session, tracking_id: int, most: int = 1_000) -> list[Fields]:
    """Spawns of this lineage that did not happen."""
    rows = session.rows(_REFUSALS, {"id": tracking_id, "most": most})
    return [dict(zip(_REFUSAL, row, strict=True)) for row in rows]


def refused_to(session: Session, task_id: int, most: int = 1_000) -> list[Fields]:
    """Spawns of this task that did not happen."""
    keep_to_indexes(session)
    rows = session.rows(_REFUSED_TO, {"id": task_id, "most": most})
    return [dict(zip(_REFUSAL, row, strict=True)) for row in rows]


def counts(session: Session) -> dict[str, dict[str, int]]:
    """How many tasks of each kind are in each state."""
    found: dict[str, dict[str, int]] = {}
    for kind, state, number in session.rows(_COUNTS):
        found.setdefault(kind, {})[state] = number
    return found


def live(session: Session) -> int:
    """How many tasks have not ended."""
    return int(session.rows(_LIVE)[0][0])


def waiting(session: Session, now: int) -> Fields:
    """How many tasks are due, how many wait for a time, and the nearest of those times."""
    every, delayed, next_at = session.rows(_WAITING_COUNTS, {"now": now})[0]
    return {"due": every - delayed, "delayed": delayed, "next_at": next_at}


def _fields(row: Sequence[Any]) -> Fields:
    task = dict(zip(_COLUMNS, row, strict=True))
    for name in _JSON:
        task[name] = orjson.loads(task[name]) if task[name] else None
    task["gates"] = gates_in(task["gates"])
    task["tracking_id"] = task["tracking_id"] or task["id"]
    task["error"] = task.pop("error_name")
    return task
