"""Budgets: what is spent and reserved under each cap, one row each, kept equal to the ledger; and cost
queries.

A budget is the sum of its ledger rows. It exists so that a call need not add them up, and so that there is
one row to lock. It may be removed when it has not been used for a while, and is rebuilt from the ledger.

Lock order on PostgreSQL: budgets by scope, then ledger rows by id. A transaction that holds money holds
nothing else of the queue: tasks are read, never locked, and gates are passed in their own transactions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.core.clock import DAY, HOUR, day_of
from thresher.core.event import EventKind
from thresher.core.task import WAITING, sql_list
from thresher.store.events import record_event
from thresher.store.session import Params, Session, one
from thresher.store.store import Store

# A budget that rested for so long is dropped: no cap looks back further, but for a run that goes on, and that
# is added up anew.
RESTED_US = 7 * DAY
# Nothing drifts that nobody touches.
LATELY_US = HOUR
AT_ONCE = 200

_SEEN = "select scope from budgets where scope in (:scopes*)"
_MAKE = """insert into budgets (scope, spent, reserved, used_at) values (:scope, :spent, :reserved, :now)
    on conflict (scope) do nothing"""
_HOLD = "select scope, spent, reserved from budgets where scope in (:scopes*) order by scope"
_CHANGE = "update budgets set spent = spent + :spent, reserved = reserved + :reserved, used_at = :now where scope = :scope"
_SET = "update budgets set spent = :spent, reserved = :reserved where scope = :scope"
_NEXT = "select scope from budgets where scope > :after and used_at >= :since order by scope limit :most"
_RESTED = "delete from budgets where used_at < :before and reserved = 0"
_SUM = "select coalesce(sum(spent), 0), coalesce(sum(case when state = 'reserved' then reserved else 0 end), 0) from spendings where "
_OF_DAY = f"{_SUM} day = :day"
_OF_APP = f"{_SUM} day = :day and app = :app"
_OF_RUN = f"{_SUM} tracking_id = :run"
# A run that still spends keeps its rows, however old: its budget is their sum.
_OLD = """select s.id from spendings s where s.at < :before and s.state <> 'reserved' and not exists (select 1 from budgets b
        where b.scope in ('run:' || s.tracking_id, 'day:' || s.day, 'app:' || s.app || ':' || s.day))
    order by s.at, s.id limit :most"""
_REMOVE = "delete from spendings where id in (:ids*)"
_REUSES = "delete from reuses where day < :day"


@dataclass(frozen=True, slots=True)
class Budget:
    """One cap's counters, in millionths of a dollar. `reserved` is what calls under way may still cost."""

    scope: str
    spent: int
    reserved: int


@dataclass(frozen=True, slots=True)
class BudgetDrift:
    """A budget that is not the sum of its ledger rows."""

    counted: Budget
    true: Budget


def day_name(at: int) -> str:
    """The day in UTC, as scopes name it."""
    return day_of(at).isoformat()


def scopes(day: str, app: str, tracking_id: int | None) -> tuple[str, ...]:
    """Every cap that one call counts against, in the order in which they are locked."""
    run = () if tracking_id is None else (f"run:{tracking_id}",)
    return tuple(sorted((f"day:{day}", f"app:{app}:{day}", *run)))


def make(store: Store, wanted: Sequence[str]) -> None:
    """Create these rows in a separate transaction: while they are missing no one can spend, so their sum
    cannot change.
    """
    with store.read(autocommit=True) as session:
        there = {row[0] for row in session.rows(_SEEN, {"scopes": wanted})}
    missing = [scope for scope in wanted if scope not in there]
    if not missing:
        return
    with store.write() as session:
        now = store.backend.now(session)
        for scope in sorted(missing):
            true = add_up(session, scope)
            session.run(_MAKE, {"scope": scope, "spent": true.spent, "reserved": true.reserved, "now": now})


def hold(store: Store, session: Session, wanted: Iterable[str]) -> dict[str, Budget]:
    """Lock these budgets until the transaction ends; those that are not there are left out."""
    rows = session.rows(_HOLD + store.backend.dialect.lock, {"scopes": sorted(set(wanted))})
    return {row[0]: Budget(*row) for row in rows}


def change(session: Session, wanted: Iterable[str], now: int, *, spent: int = 0, reserved: int = 0) -> None:
    """Add to budgets that the caller holds."""
    for scope in wanted:
        session.run(_CHANGE, {"scope": scope, "spent": spent, "reserved": reserved, "now": now})


def add_up(session: Session, scope: str) -> Budget:
    """What the ledger says about one scope."""
    kind, _, name = scope.partition(":")
    given: Params
    if kind == "run":
        sql, given = _OF_RUN, {"run": int(name)}
    elif kind == "app":
        app, _, day = name.rpartition(":")
        sql, given = _OF_APP, {"app": app, "day": day}
    else:
        sql, given = _OF_DAY, {"day": name}
    row = one(session, sql, given) or (0, 0)
    return Budget(scope, int(row[0]), int(row[1]))


def spent_by(session: Session, tracking_id: int) -> int:
    """Return what a lineage has spent on models so far, in millionths of a dollar, without what is reserved
    for calls under way.

    Calls are forgotten after `history.ledger` days: store the figure where it must last longer.
    """
    scope = f"run:{tracking_id}"
    row = one(session, _HOLD, {"scopes": [scope]})
    return int(row[1]) if row else add_up(session, scope).spent


def drifted(store: Store, since: int = 0) -> list[BudgetDrift]:
    """Every budget used since then that differs from its ledger rows: none ever should. Changes nothing."""
    found = []
    for batch in _batches(store, since):
        with store.read() as session:
            counted = {row[0]: Budget(*row) for row in session.rows(_HOLD, {"scopes": batch})}
            found += [
                BudgetDrift(each, true)
                for each in counted.values()
                if (true := add_up(session, each.scope)) != each
            ]
    return found


def repair(store: Store) -> list[str]:
    """Set right what drifted of late, with an event each. Returns a sentence for each."""
    with store.read(autocommit=True) as session:
        lately = store.backend.now(session) - LATELY_US
    found = []
    for scope in [drift.counted.scope for drift in drifted(store, lately)]:
        with store.write() as session:
            held = hold(store, session, [scope]).get(scope)
            true = add_up(
                session, scope
            )  # after the lock: whoever changes the ledger of this scope holds it first
            if held is None or held == true:
                continue  # a look between two commits, and no drift
            session.run(_SET, {"scope": scope, "spent": true.spent, "reserved": true.reserved})
            was = {
                "spent_was": held.spent,
                "spent": true.spent,
                "reserved_was": held.reserved,
                "reserved": true.reserved,
            }
            record_event(session, EventKind.LEDGER_REPAIRED, store.backend.now(session), scope=scope, **was)
        found.append(
            f"{scope} counted {held.spent} spent and {held.reserved} reserved; its calls are {true.spent} and {true.reserved}"
        )
    return found


def prune(store: Store) -> int:
    """Drop rested budgets, then ledger rows older than `history.ledger`, a batch a transaction. Returns how
    many rows.
    """
    most, removed = store.settings.count("prune.batch"), 0
    with store.write() as session:
        now = store.backend.now(session)
        session.run(_RESTED, {"before": now - RESTED_US})
        session.run(_REUSES, {"day": day_name(now - round(store.settings["history.ledger"] * DAY))})
    while True:
        with store.write() as session:
            before = store.backend.now(session) - round(store.settings["history.ledger"] * DAY)
            old = [
                row[0]
                for row in session.rows(_OLD + store.backend.dialect.skip, {"before": before, "most": most})
            ]
            session.run(_REMOVE, {"ids": old})
        removed += len(old)
        if len(old) < most:
            return removed


def _batches(store: Store, since: int) -> Iterable[list[str]]:
    after = ""
    while True:
        with store.read(autocommit=True) as session:
            batch = [row[0] for row in session.rows(_NEXT, {"after": after, "since": since, "most": AT_ONCE})]
        if not batch:
            return
        yield batch
        after = batch[-1]


# Cost queries: spending by group, what is left of each cap, and what waiting tasks may cost.

Fields = dict[str, Any]

# What each grouping is called in the ledger, and in the counts of answers used again; these do not know
# single tasks, nor what they were.
_GROUPS: Mapping[str, tuple[str, str | None]] = {
    "day": ("s.day", "r.day"),
    "app": ("s.app", "r.app"),
    "model": ("s.provider || '/' || s.model", "r.model"),
    "prompt": ("s.prompt", "r.prompt"),
    "kind": ("coalesce(s.kind, '')", None),
    "subject": ("coalesce(s.app || '/' || s.subject, '')", None),
    "run": ("coalesce(s.tracking_id, 0)", "r.run"),
    "task": ("coalesce(s.task_id, 0)", None),
}
GROUPS = tuple(_GROUPS)
WITH_REUSE = tuple(name for name, (_, reuse) in _GROUPS.items() if reuse)
NONE = "-"  # asks for calls without a kind, a subject, a run or a task
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
    "kind",
    "subject",
    "provider",
    "model",
    "prompt",
    "state",
    "reserved",
    "spent",
    "input_tokens",
    "output_tokens",
)
_CALLS = f"select {', '.join('s.' + name for name in _CALL)} from spendings s where s.at >= :since"
# The columns themselves where there is an index on them.
_WHOSE_CALLS = {"task": "s.task_id", "run": "s.tracking_id"}
_TODAY = """select scope, spent, reserved from budgets where scope = :all or (scope like 'app:%' and scope like :apps)
    order by scope"""
_WAITING = (
    f"select kind, count(*) from tasks where state in ({sql_list(WAITING)}) group by kind order by kind"
)
_ENDED = "select kind, count(*) from tasks where finished_at is not null and kind in (:kinds*) group by kind"
_PAID = """select t.kind, sum(coalesce(s.spent, 0)) from spendings s join tasks t on t.id = s.task_id
    where t.finished_at is not null and t.kind in (:kinds*) group by t.kind"""


def by_group(session: Session, by: str, *, since: int, day: str, limit: int) -> list[Fields]:
    """Return what was spent since a time and reused since a day: most expensive first, or newest
    day first.
    """
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


def calls(
    session: Session, of: Mapping[str, str | int], *, since: int, before: int | None = None, limit: int
) -> list[Fields]:
    """Single calls, the newest first: all, or those of these groups (such as a model and a day)."""
    clauses = [_one_group(name, value) for name, value in of.items()]
    where = "".join(f" and {clause}" for clause in clauses) + (" and s.id < :before" if before else "")
    given = {"since": since, "before": before, "limit": limit} if before else {"since": since, "limit": limit}
    values = {name: value for name, value in of.items() if value != NONE}
    rows = session.rows(f"{_CALLS}{where} order by s.id desc limit :limit", {**given, **values})
    return [dict(zip(_CALL, row, strict=True)) for row in rows]


def _one_group(name: str, value: str | int) -> str:
    column = _WHOSE_CALLS.get(name)
    if value == NONE:
        return f"{column} is null" if column else f"{_GROUPS[name][0]} = ''"
    return f"{column or _GROUPS[name][0]} = :{name}"


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
