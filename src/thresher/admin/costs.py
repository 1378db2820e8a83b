"""Model costs: spending by model, app, kind, subject, task or day, and what is left of today's budgets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from thresher.admin.rows import CostFields, CostTotal, Fields
from thresher.core.answer import DOLLAR
from thresher.core.errors import UsageError
from thresher.core.extension import Check, CheckLevel
from thresher.store import budgets
from thresher.store.ledger import Caps
from thresher.store.migrate import newest, version_now
from thresher.store.store import Store

GROUPS, WITH_REUSE, NO_GROUP = budgets.GROUPS, budgets.WITH_REUSE, budgets.NONE
IDS = ("task", "run")
MAX_DIGITS = 19
MAX_LINES = 1_000


@dataclass(frozen=True, slots=True)
class Left:
    """One cap of today, in millionths of a dollar. `reserved` is held back for calls under way."""

    scope: str
    cap: int
    spent: int
    reserved: int
    left: int


@dataclass(frozen=True, slots=True)
class Costs:
    """`lines` are grouped as requested, most expensive first; `total` is the sum. Amounts are in millionths
    of a dollar.
    """

    at: int
    by: str
    lines: list[CostFields]
    total: Annotated[Fields, CostTotal]
    today: list[Left]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the waiting tasks of one kind may cost, based on finished tasks of that kind; None if none has
    ended yet.

    The tasks they spawn are not included.
    """

    kind: str
    waiting: int
    ended: int
    each: int | None
    total: int | None


def read_costs(
    store: Store, *, by: str = "day", since_us: int | None = None, limit: int = MAX_LINES
) -> Costs:
    """What was spent, of the last `since_us` or of all that is remembered."""
    if by not in GROUPS:
        raise UsageError(f"costs can be grouped by {', '.join(GROUPS)}, got {by!r}")
    with store.read() as session:
        now = store.backend.now(session)
        since = 0 if since_us is None else max(0, now - since_us)
        day = budgets.day_name(since)
        lines = budgets.by_group(session, by, since=since, day=day, limit=limit)
        total, today = (
            budgets.total(session, since=since, day=day),
            budgets.today(session, budgets.day_name(now)),
        )
    return Costs(now, by, lines, total, _left(store, today, now))


def read_left(store: Store) -> Left:
    """What today may still cost in all."""
    with store.read() as session:
        now = store.backend.now(session)
        today = budgets.today(session, budgets.day_name(now))
    return next(left for left in _left(store, today, now) if left.scope == f"day:{budgets.day_name(now)}")


def list_calls(
    store: Store,
    *,
    task: int | None = None,
    run: int | None = None,
    of: Mapping[str, str] = {},
    since_us: int | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Single calls of models, the newest first, as the ledger has them: all, or those of these groups, such
    as `{"model": "openai/mini", "kind": "item"}`. The group `NO_GROUP` has the calls of none.
    """
    unknown = sorted(set(of) - set(GROUPS))
    if unknown:
        raise UsageError(f"calls can be narrowed by {', '.join(GROUPS)}, got {', '.join(unknown)}")
    asked: dict[str, str | int] = {name: _group(name, value) for name, value in of.items()}
    asked |= {name: number for name, number in (("task", task), ("run", run)) if number}
    with store.read() as session:
        since = 0 if since_us is None else max(0, store.backend.now(session) - since_us)
        return budgets.calls(session, asked, since=since, before=before, limit=limit)


def _group(name: str, value: str) -> str | int:
    if name not in IDS or value == NO_GROUP:
        return value
    if not (value.isascii() and value.isdecimal() and len(value) < MAX_DIGITS):
        raise UsageError(f"{name} must be the id of a task, got {value[:40]!r}")
    return int(value)


def estimate(store: Store) -> list[Estimate]:
    """What all that waits may cost, kind by kind. Kinds that have never cost anything are there too: with
    0.
    """
    with store.read() as session:
        found = budgets.per_kind(session)
    return [_estimate(*each) for each in found]


def expectation(found: list[Estimate]) -> str | None:
    """The estimate in one sentence, to be said before a run starts. None where no model was ever paid for any
    of it.
    """
    if not any(each.each for each in found):
        return None
    said = (
        f"The waiting tasks may cost about {dollars(sum(each.total or 0 for each in found))}, judging by "
        "finished tasks of the same kind"
    )
    unknown = [each.kind for each in found if each.each is None]
    return f"{said}; unknown for {', '.join(unknown)}." if unknown else f"{said}."


def check_ledger(store: Store) -> list[Check]:
    """Whether every budget is the sum of its calls, for the doctor. Looks twice: a busy ledger moves between
    two statements.
    """
    with store.read() as session:
        if version_now(session, store.backend.dialect) < newest(store.backend.dialect.words):
            return []  # the check of the schema has said so
    first = budgets.drifted(store)
    drifts = [drift for drift in budgets.drifted(store) if drift in first] if first else []
    if not drifts:
        return [Check("ledger", CheckLevel.OK, "every budget is the sum of its calls")]
    counts = (
        (drift.counted.scope, dollars(drift.counted.spent), dollars(drift.true.spent)) for drift in drifts[:5]
    )
    says = "; ".join(
        f"{scope} counts {counted} spent, but its calls cost {true}" for scope, counted, true in counts
    )
    return [
        Check(
            "ledger",
            CheckLevel.WARN,
            says,
            "running workers repair this within repair.every; please report it as a bug",
        )
    ]


def dollars(amount: int) -> str:
    """An amount as people write it: cents, and more digits only where there is less than a cent."""
    if amount % (DOLLAR // 100) == 0 or amount >= 100 * DOLLAR:
        return f"${amount / DOLLAR:,.2f}"
    return f"${amount / DOLLAR:,.6f}".rstrip("0")


def _left(store: Store, rows: list[tuple[str, int, int]], now: int) -> list[Left]:
    caps, all_of_it = Caps.in_force(store.settings), f"day:{budgets.day_name(now)}"
    rows = rows if any(scope == all_of_it for scope, _, _ in rows) else [*rows, (all_of_it, 0, 0)]
    return [
        Left(scope, cap := caps.of(scope), spent, reserved, max(0, cap - spent - reserved))
        for scope, spent, reserved in rows
    ]


def _estimate(kind: str, waiting: int, ended: int, paid: int) -> Estimate:
    if not ended:
        return Estimate(kind, waiting, ended, None, None)
    return Estimate(kind, waiting, ended, round(paid / ended), round(paid * waiting / ended))
