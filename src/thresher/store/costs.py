"""What a person sees of the money: what was spent and on what, what caps have left, and what waiting work may
cost.
"""

from collections.abc import Mapping
from typing import Any

from thresher.core.state import WAITING, sql_list
from thresher.store.session import Session

Fields = dict[str, Any]

# What each grouping is called in the ledger, and in the counts of answers used again; these do not know
# single tasks.
_GROUPS: Mapping[str, tuple[str, str | None]] = {
    "day": ("s.day", "r.day"),
    "app": ("s.app", "r.app"),
    "model": ("s.provider || '/' || s.model", "r.model"),
    "prompt": ("s.prompt", "r.prompt"),
    "run": ("coalesce(s.tracking_id, 0)", "r.run"),
    "task": ("coalesce(s.task_id, 0)", None),
}
GROUPS = tuple(_GROUPS)
_SPENT = """count(*), coalesce(sum(s.input_tokens), 0), coalesce(sum(s.output_tokens), 0), coalesce(sum(s.spent), 0),
    coalesce(sum(case when s.state = 'reserved' then s.reserved else 0 end), 0),
    coalesce(sum(case when s.state = 'assumed' then s.spent else 0 end), 0) from spendings s where s.at >= :since"""
_REUSED = "coalesce(sum(r.number), 0), coalesce(sum(r.saved), 0) from reuses r where r.day >= :day"
_NAMES = ("calls", "input_tokens", "output_tokens", "spent", "reserved", "assumed")
_CALL = (
    "id",
    "at",
    "task_id",
    "tracking_id",
    "app",
    "provider",
    "model",
    "prompt",
    "state",
    "reserved",
    "spent",
    "input_tokens",
    "output_tokens",
)
_CALLS = f"""select {", ".join(_CALL)} from spendings where at >= :since and (:task = 0 or task_id = :task_too)
    and (:run = 0 or tracking_id = :run_too) order by id desc limit :limit"""
_TODAY = """select scope, spent, reserved from budgets where scope = :all or (scope like 'app:%' and scope like :apps)
    order by scope"""
_WAITING = (
    f"select kind, count(*) from tasks where state in ({sql_list(WAITING)}) group by kind order by kind"
)
_ENDED = "select kind, count(*) from tasks where finished_at is not null and kind in (:kinds*) group by kind"
_PAID = """select t.kind, sum(coalesce(s.spent, 0)) from spendings s join tasks t on t.id = s.task_id
    where t.finished_at is not null and t.kind in (:kinds*) group by t.kind"""


def by_group(session: Session, by: str, *, since: int, day: str, limit: int) -> list[Fields]:
    """What was spent from a time and used again from a day on: the dearest first, or the newest day."""
    group, reuse = _GROUPS[by]
    given = {"since": since, "day": day, "limit": limit}
    rows = session.rows(f"select {group}, {_SPENT} group by 1 order by 5 desc, 1 desc limit :limit", given)
    found = {row[0]: {by: row[0], **_named(row[1:]), "reused": 0, "saved": 0} for row in rows}
    again = (
        session.rows(f"select {reuse}, {_REUSED} group by 1 order by 3 desc, 1 desc limit :limit", given)
        if reuse
        else []
    )
    for name, number, saved in again:
        line = found.setdefault(name, {by: name, **_named((0,) * len(_NAMES))})
        line |= {"reused": int(number), "saved": int(saved)}
    lines = list(found.values())
    return sorted(lines, key=lambda line: str(line["day"]), reverse=True) if by == "day" else lines


def total(session: Session, *, since: int, day: str) -> Fields:
    """All of it in one line."""
    (row,), (reused,) = (
        session.rows(f"select {_SPENT}", {"since": since}),
        session.rows(f"select {_REUSED}", {"day": day}),
    )
    return _named(row) | {"reused": int(reused[0]), "saved": int(reused[1])}


def calls(session: Session, *, task: int | None, run: int | None, since: int, limit: int) -> list[Fields]:
    """Single calls, the newest first: of a task, of a run, or all."""
    given = {
        "task": task or 0,
        "task_too": task,
        "run": run or 0,
        "run_too": run,
        "since": since,
        "limit": limit,
    }
    return [dict(zip(_CALL, row, strict=True)) for row in session.rows(_CALLS, given)]


def today(session: Session, day: str) -> list[tuple[str, int, int]]:
    """The budgets of a day: scope, spent, reserved."""
    rows = session.rows(_TODAY, {"all": f"day:{day}", "apps": f"%:{day}"})
    return [(scope, int(spent), int(reserved)) for scope, spent, reserved in rows]


def per_kind(session: Session) -> list[tuple[str, int, int, int]]:
    """For every kind with waiting tasks: how many wait, how many have ended, and what those cost."""
    waiting: dict[str, int] = dict(session.rows(_WAITING))
    if not waiting:
        return []
    kinds = {"kinds": list(waiting)}
    ended: dict[str, int] = dict(session.rows(_ENDED, kinds))
    paid: dict[str, int] = dict(session.rows(_PAID, kinds))
    return [(kind, number, ended.get(kind, 0), int(paid.get(kind, 0))) for kind, number in waiting.items()]


def _named(row: tuple[Any, ...]) -> Fields:
    return {name: int(value) for name, value in zip(_NAMES, row, strict=True)}
