"""The ledger: money is held back before a model is called, and settled afterwards, under caps that all
workers share.

`reserve` asks for the worst that one call may cost, of every cap at once: all or nothing. Spent plus held
back never exceeds a cap, at no instant. `settle` says what it cost. A call about which nobody will ever say
anything (its worker was killed, its claim lost, its time is up) is assumed to have cost the worst: money may
be gone, and the cap must hold all the same. Should its caller turn up after all, the truth replaces the
assumption.

Nobody pays for a question that somebody else is asking, or that has an answer. The locks are those of the
budgets.
"""

from dataclasses import dataclass
from typing import Any

from thresher.config.settings import Settings
from thresher.core.answer import DOLLAR, Usage
from thresher.core.clock import next_midnight
from thresher.core.errors import ClaimLost, UsageError
from thresher.core.event import EventKind
from thresher.core.gate import CLOCK_SLACK_US
from thresher.core.record import clean
from thresher.store import budgets
from thresher.store.budgets import Budget
from thresher.store.events import record_event
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

Claim = tuple[int, int]

# Nothing we know of costs a billion dollars; and a number that no column holds must not stop the books.
MAX_BUDGET = 1_000_000_000
MAX_AMOUNT = MAX_BUDGET * DOLLAR
MAX_SUBJECT = 200  # characters

_TASK = "select coalesce(tracking_id, id), state from tasks where id = :task and claim = :claim"
_RUNS = "exists (select 1 from tasks t where t.id = s.task_id and t.claim = s.claim and t.state || '' = 'running')"
# Whoever has a claim lives as long as it does. A start in the future: the clock was set back, and would never
# bring the end.
_DEAD = f"(s.expires_at <= :now or (s.task_id is null and s.at > :ahead) or (s.task_id is not null and not {_RUNS}))"
_ANSWERED = "select 1 from answers where question = :question"
# Who asks this now, or has paid and not yet said what the answer was. The asker itself may call again: to
# have an answer mended.
_RIVAL = f"""select s.id, s.expires_at, case when {_DEAD} then 1 else 0 end from spendings s where s.question = :question
        and (s.state = 'reserved' or (s.state = 'settled' and s.task_id is not null and s.expires_at > :now and {_RUNS}
            and not (s.task_id = :task and s.claim = :claim)))
    order by s.state, s.id desc limit 1"""
_INSERT = """insert into spendings (at, day, task_id, claim, tracking_id, app, provider, model, prompt, question, reserved, state,
        expires_at, kind, subject)
    values (:at, :day, :task, :claim, :tracking, :app, :provider, :model, :prompt, :question, :most, 'reserved', :expires,
        :kind, :subject)
    on conflict (question) where state = 'reserved' do nothing returning id"""
_WHOSE = "select day, app, tracking_id from spendings where id = :id"
_OPEN = "select state, reserved, coalesce(spent, 0), task_id from spendings where id = :id"
_SETTLE = """update spendings set state = 'settled', spent = :spent, input_tokens = :input, output_tokens = :output, ended_at = :now
    where id = :id"""
_LOST = f"select s.id from spendings s where s.state = 'reserved' and {_DEAD} order by s.expires_at, s.id limit :most"
_STILL_LOST = f"""select s.id, s.day, s.app, s.tracking_id, s.reserved, s.task_id, s.model from spendings s
    where s.id in (:ids*) and s.state = 'reserved' and {_DEAD} order by s.id"""
_ASSUME = "update spendings set state = 'assumed', spent = reserved, ended_at = :now where id = :id"


@dataclass(frozen=True, slots=True)
class Caps:
    """What may be spent at most, in millionths of a dollar: by one lineage, by one app in a day, by all in a
    day. `own`: the cap of the lineage is the one that the stage named.
    """

    run: int
    app: int
    day: int
    own: bool = False

    @classmethod
    def in_force(cls, settings: Settings, budget: float | None = None) -> "Caps":
        """As the settings have them, in dollars; for the lineage the smaller of the setting and `budget`."""
        run, app, day = (round(settings[f"budget.{scope}"] * DOLLAR) for scope in ("run", "app", "day"))
        own = run if budget is None else checked_budget(budget)
        return cls(min(run, own), app, day, own=budget is not None and own <= run)

    def of(self, scope: str) -> int:
        """The cap of a scope."""
        return {"run": self.run, "app": self.app, "day": self.day}[scope.partition(":")[0]]


def checked_budget(budget: object) -> int:
    """Return a budget of so many dollars in millionths. Refuse what is none."""
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 0 <= budget <= MAX_BUDGET:
        raise UsageError(f"budget must be 0 to {MAX_BUDGET:,} dollars, got {budget!r}")
    return round(budget * DOLLAR)


@dataclass(frozen=True, slots=True)
class Hold:
    """Money held back for one call. Until `expires_at` it is the caller's to settle."""

    id: int
    most: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Short:
    """Too little is left under one budget. `resets_at` is when the budget starts again; None: it never
    resets.
    """

    scope: str
    cap: int
    spent: int
    reserved: int
    most: int
    resets_at: int | None
    own: bool = False

    @property
    def passing(self) -> bool:
        """Whether it may fit as soon as calls under way have cost less than the worst."""
        return self.spent + self.most <= self.cap


@dataclass(frozen=True, slots=True)
class QuestionTaken:
    """Another worker is asking the same question, or its answer exists already: look for the answer, at
    `until` at the latest.
    """

    until: int


@dataclass(frozen=True, slots=True)
class _Orphan:
    id: int


def reserve(
    store: Store,
    *,
    claim: Claim | None,
    app: str,
    provider: str,
    model: str,
    prompt: str,
    question: str,
    most: int,
    caps: Caps,
    expires_us: int,
    kind: str | None = None,
    subject: str | None = None,
) -> Hold | Short | QuestionTaken:
    """Hold back what one call may cost at worst, under every cap or none. Raises `ClaimLost`.

    `expires_us` must be longer than the call may take: after that all of it counts as spent. `kind` is that
    of the task, and `subject` what it is about.
    """
    if not 0 <= most <= MAX_AMOUNT:
        raise UsageError(
            f"the maximum cost of a call must be 0 to {MAX_AMOUNT:,} millionths of a dollar, got {most:,}"
        )
    app = clean(app)
    names = {"app": app, "provider": provider, "model": model, "prompt": prompt, "question": question}
    values = {"most": most, **{name: clean(text) for name, text in names.items()}}
    values |= {"kind": kind and clean(kind), "subject": subject and clean(subject)[:MAX_SUBJECT]}
    while True:
        with store.read(autocommit=True) as session:
            at = store.backend.now(session)
            tracking = _tracking(session, claim)
        day = budgets.day_name(at)
        scopes = budgets.scopes(day, app, tracking)
        budgets.make(store, scopes)
        place = values | {"at": at, "day": day, "tracking": tracking}
        with store.write() as session:
            held = budgets.hold(store, session, scopes)
            found = (
                _reserve(store, session, held, claim, place, caps, expires_us)
                if len(held) == len(scopes)
                else None
            )
        if isinstance(found, _Orphan):
            _assume(
                store, [found.id]
            )  # whoever asked this is dead: nobody need wait for the next round of the sweepers
        elif found is not None:
            return found


def _tracking(session: Session, claim: Claim | None) -> int | None:
    if claim is None:
        return None
    row = one(session, _TASK, {"task": claim[0], "claim": claim[1]})
    if row is None or row[1] != "running":
        raise ClaimLost(
            f"task {claim[0]} is no longer held under claim {claim[1]}, so no model is called for it"
        )
    return int(row[0])


def _reserve(
    store: Store,
    session: Session,
    held: dict[str, Budget],
    claim: Claim | None,
    values: dict[str, Any],
    caps: Caps,
    expires_us: int,
) -> Hold | Short | QuestionTaken | _Orphan:
    """Under the locks of all its budgets: look once more, then write. The time and the claim are looked at
    after the wait for them.
    """
    now = store.backend.now(session)
    _tracking(session, claim)
    task, number = claim or (None, None)
    values = values | {"task": task, "claim": number, "expires": now + expires_us}
    if rival := _rival(session, values, now):
        return rival
    short = [
        each
        for each in (_short(budget, caps, values["most"], values["at"]) for budget in held.values())
        if each
    ]
    if short:
        return max(short, key=lambda each: (not each.passing, each.resets_at is None, each.scope))
    made = session.rows(_INSERT, values)
    if not made:  # of another app or day, so its locks were not ours; it has committed by now
        return _rival(session, values, now) or QuestionTaken(now)
    budgets.change(session, held, now, reserved=values["most"])
    return Hold(int(made[0][0]), values["most"], values["expires"])


def _rival(session: Session, values: dict[str, Any], now: int) -> QuestionTaken | _Orphan | None:
    if one(session, _ANSWERED, {"question": values["question"]}):
        return QuestionTaken(now)
    given = {"question": values["question"], "task": values["task"] or 0, "claim": values["claim"] or 0}
    row = one(session, _RIVAL, given | _around(now))
    if row is None:
        return None
    return _Orphan(row[0]) if row[2] else QuestionTaken(row[1])


def _short(budget: Budget, caps: Caps, most: int, at: int) -> Short | None:
    cap = caps.of(budget.scope)
    if budget.spent + budget.reserved + most <= cap:
        return None
    is_run = budget.scope.startswith("run:")
    resets_at = None if is_run else next_midnight(at)
    return Short(budget.scope, cap, budget.spent, budget.reserved, most, resets_at, own=is_run and caps.own)


def settle(store: Store, hold: Hold, spent: int, usage: Usage) -> None:
    """Record what a call cost. Repeating it is harmless: the first amount counts, unless it was
    only assumed.
    """
    if not 0 <= spent <= MAX_AMOUNT:
        raise UsageError(
            f"the cost of a call must be 0 to {MAX_AMOUNT:,} millionths of a dollar, got {spent:,}"
        )
    with store.write() as session:
        whose = one(session, _WHOSE, {"id": hold.id})
        if whose is None:
            return  # settled so long ago that it was removed
        held = budgets.hold(store, session, budgets.scopes(*whose))
        row = one(session, _OPEN + store.backend.dialect.lock, {"id": hold.id})
        if row is None or row[0] == "settled":
            return
        state, reserved, assumed, task_id = row
        now = store.backend.now(session)
        session.run(
            _SETTLE,
            {
                "id": hold.id,
                "spent": spent,
                "input": usage.input_tokens,
                "output": usage.output_tokens,
                "now": now,
            },
        )
        budgets.change(
            session, held, now, spent=spent - assumed, reserved=-reserved if state == "reserved" else 0
        )
        if spent > reserved:
            record_event(
                session,
                EventKind.MONEY_OVERSPENT,
                now,
                task_id=task_id,
                spending=hold.id,
                reserved=reserved,
                spent=spent,
            )


def assume(store: Store, limit: int) -> int:
    """Count as spent what will never be settled: reservations of lost claims, and expired ones. Return how
    many calls.
    """
    with store.read(autocommit=True) as session:
        lost = session.rows(_LOST, _around(store.backend.now(session)) | {"most": limit})
    return _assume(store, [row[0] for row in lost]) if lost else 0


def _assume(store: Store, ids: list[int]) -> int:
    with store.write() as session:
        scopes = {scope for each in ids for scope in _scopes(one(session, _WHOSE, {"id": each}))}
        held = budgets.hold(store, session, scopes)
        now = store.backend.now(session)
        lost = session.rows(_STILL_LOST + store.backend.dialect.lock, _around(now) | {"ids": ids})
        for each, day, app, tracking, reserved, task_id, model in lost:
            session.run(_ASSUME, {"id": each, "now": now})
            mine = [scope for scope in budgets.scopes(day, app, tracking) if scope in held]
            budgets.change(session, mine, now, spent=reserved, reserved=-reserved)
            record_event(
                session,
                EventKind.MONEY_ASSUMED,
                now,
                task_id=task_id,
                spending=each,
                amount=reserved,
                model=model,
            )
    return len(lost)


def _scopes(whose: Row | None) -> tuple[str, ...]:
    return budgets.scopes(*whose) if whose else ()


def _around(now: int) -> dict[str, int]:
    return {"now": now, "ahead": now + CLOCK_SLACK_US}
