"""Budgets: what is spent and promised of every cap, in one row each, and how those rows are held to the
ledger.

A budget is the sum of its ledger rows. It exists so that a call need not add them up, and so that there is
one row to lock. It may be removed when nobody has used it for a while, and comes back from the ledger when
somebody does.

Lock order on PostgreSQL: budgets by scope, then ledger rows by id. A transaction that holds money holds
nothing else of the queue: tasks are read, never locked, and gates are passed in transactions of their own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thresher.core.clock import DAY, HOUR, as_text
from thresher.core.event import EventKind
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
class Drift:
    """A budget that is not the sum of its ledger rows."""

    counted: Budget
    true: Budget


def day_of(at: int) -> str:
    """The day in UTC, as scopes name it."""
    return (as_text(at) or "")[:10]


def scopes(day: str, app: str, tracking_id: int | None) -> tuple[str, ...]:
    """Every cap that one call counts against, in the order in which they are locked."""
    run = () if tracking_id is None else (f"run:{tracking_id}",)
    return tuple(sorted((f"day:{day}", f"app:{app}:{day}", *run)))


def make(store: Store, wanted: Sequence[str]) -> None:
    """Have these rows there. In a transaction of its own: while they are missing nobody can spend, so their
    sum stands still.
    """
    with store.glance() as session:
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


def drifted(store: Store, since: int = 0) -> list[Drift]:
    """Every budget used since then that differs from its ledger rows: none ever should. Changes nothing."""
    found = []
    for batch in _batches(store, since):
        with store.read() as session:
            counted = {row[0]: Budget(*row) for row in session.rows(_HOLD, {"scopes": batch})}
            found += [
                Drift(each, true)
                for each in counted.values()
                if (true := add_up(session, each.scope)) != each
            ]
    return found


def repair(store: Store) -> list[str]:
    """Set right what drifted of late, with an event each. Returns a sentence for each."""
    with store.glance() as session:
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
        session.run(_REUSES, {"day": day_of(now - round(store.settings["history.ledger"] * DAY))})
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
        with store.glance() as session:
            batch = [row[0] for row in session.rows(_NEXT, {"after": after, "since": since, "most": AT_ONCE})]
        if not batch:
            return
        yield batch
        after = batch[-1]
