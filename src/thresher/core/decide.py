"""Decide what follows from an outcome or an error of a stage: the settlement. Pure.

One table says what each class of error means for the task and for its gate.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, assert_never

from thresher.core import errors
from thresher.core.backoff import Backoff
from thresher.core.clock import MINUTE, to_us
from thresher.core.errors import InvalidOutcome, InvalidPayload, InvalidUrl, TaskError, ThresherError
from thresher.core.event import CheckedEvent, NewEvent
from thresher.core.group import Group, GroupEntry, checked_counts, checked_stop
from thresher.core.limits import MAX_SETTLEMENT_BYTES
from thresher.core.lineage import Refusal, RefusalRule
from thresher.core.outcome import (
    CheckedEffect,
    Done,
    Effect,
    Failed,
    Filtered,
    Finds,
    Next,
    Outcome,
    Skipped,
    Snooze,
)
from thresher.core.record import Filing, Record, clean
from thresher.core.redaction import redact
from thresher.core.settlement import Blame, Brought, Error, Health, Settlement
from thresher.core.task import Entry, NewTask, Task, delay_us
from thresher.core.trace import hide_secrets

# The policy table: from a class of error to its consequences.
#
# The most specific class in the table wins. A surprise (any exception that is not a `TaskError`) is our own
# fault, not the source's: it spends a failure and is tried again, but no gate hears of it. A mistake in the
# code itself is not tried again: the same code makes it again.


@dataclass(frozen=True, slots=True)
class Ruling:
    """`health` is reported to the blamed gate; `tag` is the word shown beside a disabled source."""

    health: Health | None = None
    tag: str | None = None


POLICY: Mapping[type[BaseException], Ruling] = {
    errors.Transient: Ruling(Health.FAILURE),
    errors.RateLimited: Ruling(Health.PAUSE, "rate_limited"),
    errors.BudgetExhausted: Ruling(Health.PAUSE, "budget"),
    errors.NotYet: Ruling(),  # our own limits: nobody is to blame
    errors.ClaimLost: Ruling(),
    errors.Blocked: Ruling(Health.DISABLE, "anti_bot"),
    errors.Unauthorized: Ruling(Health.DISABLE, "auth"),
    errors.Undeliverable: Ruling(Health.DISABLE, "undeliverable"),
    errors.Forbidden: Ruling(Health.FAILURE),
    errors.Permanent: Ruling(),
    errors.TaskError: Ruling(),
    Exception: Ruling(),
}


def ruling_for(problem: BaseException) -> Ruling:
    """Return the row of the table for this error."""
    return next((POLICY[cls] for cls in type(problem).__mro__ if cls in POLICY), Ruling())


# Mistakes in the code, whatever it reads. A `KeyError`, `TypeError` or `ValueError` may depend on the page.
MISTAKES = (NameError, AttributeError, ImportError, SyntaxError, NotImplementedError)


def may_go_well(problem: BaseException) -> bool:
    """Tell whether another attempt can end otherwise."""
    if isinstance(problem, ThresherError):
        return problem.retryable
    if isinstance(problem, AttributeError) and problem.obj is None:
        return True  # `None.text`: what was looked for was not on the page
    return not isinstance(problem, MISTAKES)


MAX_MESSAGE = 2_000
MAX_NAME = 200
_log = logging.getLogger(__name__)
T = TypeVar("T")
# The wait for a gate outside the task's lane. Nothing wakes the task when such a gate opens, so the wait is
# neither so short that it polls all the time nor so long that it misses an early opening.
ELSEWHERE_US, MAX_ELSEWHERE_US = MINUTE, 15 * MINUTE
# Bounds for a Retry-After, in seconds.
MIN_WAIT = 1.0
MAX_WAIT = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Step:
    """Where a task goes after `Next`: the stage, its gates, the checkpoint as JSON."""

    stage: str
    gates: tuple[str, ...]
    checkpoint: str


class TaskRules(Protocol):
    """Checks what an attempt returns, and knows where a task goes next."""

    def admit(self, new: NewTask) -> Entry: ...
    def admit_group(self, task: Task, group: Group) -> GroupEntry: ...
    def pack(self, record: Record) -> Filing: ...
    def pack_result(self, task: Task, result: Any) -> str: ...
    def check_effect(self, task: Task, effect: Effect) -> CheckedEffect: ...
    def check_event(self, task: Task, event: NewEvent) -> CheckedEvent: ...
    def step(self, task: Task, outcome: Next) -> Step: ...
    def on_failed(self, task: Task, error: Error) -> Finds: ...


def settle_outcome(task: Task, outcome: Outcome, rules: TaskRules) -> Settlement:
    """Return the settlement for a returned outcome."""
    settlement = _settled(task, outcome, rules)
    if settlement.size > MAX_SETTLEMENT_BYTES:
        raise InvalidPayload(
            f"{task.kind}.{task.stage} returned about {settlement.size:,} bytes in one outcome; the "
            f"limit is {MAX_SETTLEMENT_BYTES:,}. Return one part at a time with Next(again=True), or "
            "store large bodies with ctx.save(body)."
        )
    return settlement


def _settled(task: Task, outcome: Outcome, rules: TaskRules) -> Settlement:
    match outcome:
        case Done(note, result):
            kept = None if result is None else rules.pack_result(task, result)
            return Settlement.done(
                task,
                note=None if note is None else _told(note),
                result=kept,
                **_brought(task, outcome, rules),
            )
        case Next():
            to = rules.step(task, outcome)
            return Settlement.advance(
                task,
                stage=to.stage,
                gates=to.gates,
                checkpoint=to.checkpoint,
                **_brought(task, outcome, rules),
            )
        case Filtered(reason):
            return Settlement.filtered(task, reason=_told(reason), **_brought(task, outcome, rules))
        case Skipped(reason):
            return Settlement.skipped(task, reason=_told(reason), **_brought(task, outcome, rules))
        case Snooze(delay, reason):
            return Settlement.snooze(
                task, delay_us=delay_us(0.0 if delay < 0 else delay), reason=_told(reason)
            )
        case Failed(reason):
            return Settlement.fail(
                task, error=Error("Failed", _told(reason)), **_brought(task, outcome, rules)
            )
        case _ as unreachable:
            assert_never(unreachable)


def _brought(task: Task, finds: Finds, rules: TaskRules) -> Brought:
    if not (
        finds.records
        or finds.children
        or finds.effects
        or finds.events
        or finds.group
        or finds.counts
        or finds.stop
    ):
        return {}
    children, refused = _admitted(_each(finds.children, NewTask, "children"), rules)
    return {
        "records": tuple(map(rules.pack, _each(finds.records, Record, "records"))),
        "children": children,
        "refused": refused,
        "effects": tuple(rules.check_effect(task, each) for each in _each(finds.effects, Effect, "effects")),
        "events": tuple(rules.check_event(task, each) for each in _each(finds.events, NewEvent, "events")),
        "group": rules.admit_group(task, finds.group) if finds.group else None,
        "counts": checked_counts(finds.counts),
        "stop": checked_stop(finds.stop),
    }


def _each(found: Iterable[T], wanted: type[T], name: str) -> tuple[T, ...]:
    """Return what an outcome brings, if it is what it should be: the commonest slip is a forgotten comma."""
    got = tuple(found) if isinstance(found, Iterable) else (None,)
    if all(isinstance(each, wanted) for each in got):
        return got
    wrong = (
        next(each for each in got if not isinstance(each, wanted)) if isinstance(found, Iterable) else found
    )
    raise InvalidOutcome(
        f"{name} must be a tuple of {wanted.__name__}, got {type(wrong).__name__}; a tuple of one needs a "
        f"comma: {name}=({wanted.__name__}(...),)"
    )


def _admitted(
    children: Sequence[NewTask], rules: TaskRules
) -> tuple[tuple[Entry, ...], tuple[tuple[Entry, Refusal], ...]]:
    """Separate children that can be tasks from those that cannot: one bad URL on a page must not cost the
    other findings.
    """
    entries, refused = [], []
    for child in children:
        try:
            entries.append(rules.admit(child))
        except (InvalidPayload, InvalidUrl) as problem:
            url, key = (None if text is None else _short(str(text)) for text in (child.url, child.key))
            refused.append(
                (
                    Entry(child.kind, "", url=url, key=key, detached=child.detached),
                    Refusal(RefusalRule.INVALID, _short(str(problem))),
                )
            )
    return tuple(entries), tuple(refused)


def settle_error(
    task: Task,
    problem: BaseException,
    rules: TaskRules,
    *,
    backoff: Backoff,
    luck: float,
    where: str = "",
) -> Settlement:
    """Return the settlement for a raised error, by its class. A final failure includes what the app's
    `failed` returns. `where` says where in the app's code it was raised.
    """
    error = error_of(problem, where)
    blame = _blame(task, problem, error)
    if isinstance(problem, TaskError) and problem.retryable and not problem.spends_failure:
        return _settle_waiting(task, problem, error, blame, rules)
    if not may_go_well(problem) or backoff.exhausted(task.failures + 1):
        return Settlement.fail(task, error=error, blame=blame, **last_words(task, error, rules))
    delay_us = backoff.delay_us(task.failures + 1, luck)
    return Settlement.retry(task, delay_us=delay_us, error=error, blame=blame)


def error_of(problem: BaseException, where: str = "") -> Error:
    """Return an error as it is stored: within the limit, fit for both databases, and without secrets."""
    text = str(problem)
    said = redact(text) if isinstance(problem, ThresherError) else hide_secrets(text)
    where = clean(where)
    return Error(clean(type(problem).__name__)[:MAX_NAME], _short(said, MAX_MESSAGE - len(where)), where)


def last_words(task: Task, error: Error, rules: TaskRules) -> Brought:
    """Return what an app's `failed` writes for a task that failed for good. A mistake there must not keep the
    task from ending.
    """
    try:
        return _brought(task, rules.on_failed(task, error), rules)
    except Exception as problem:  # noqa: BLE001  an app may raise anything
        _log.exception(
            "on_failed of task %s (%s) raised; its records are lost", task.id, task.kind, exc_info=problem
        )
        return {}


def _settle_waiting(
    task: Task, problem: TaskError, error: Error, blame: Blame | None, rules: TaskRules
) -> Settlement:
    """Settle an error that asks to wait rather than to retry."""
    asked = (
        _wait_us(problem.away)
        if problem.away is not None
        else _wait_us(getattr(problem, "retry_after", None))
    )
    if blame is None and not asked:
        # No gate to close and no time to wait for: a person must look.
        return Settlement.fail(task, error=error, **last_words(task, error, rules))
    if blame is None:
        delay = asked
    elif problem.near:
        delay = 0  # the blame closes a gate of the task's own lane, so it waits there
    else:
        delay = min(max(asked, ELSEWHERE_US), MAX_ELSEWHERE_US)
    return Settlement.snooze(task, delay_us=delay, reason=error.message, error=error, blame=blame)


def _blame(task: Task, problem: BaseException, error: Error) -> Blame | None:
    ruling = ruling_for(problem)
    gate = clean(problem.gate) if isinstance(problem, TaskError) and problem.gate else None
    if ruling.health is None or not (gate or task.lane) or getattr(problem, "away", None) is not None:
        return None
    wait = _wait_us(getattr(problem, "retry_after", None)) if ruling.health is Health.PAUSE else 0
    return Blame(ruling.health, f"{error.name}: {error.message}", gate, wait, ruling.tag)


def _wait_us(asked: float | None) -> int:
    """Return how long we were asked to wait, but at least a second: "not at all" would be a hot loop that
    spends nothing.
    """
    return 0 if asked is None else to_us(min(max(MIN_WAIT, asked), MAX_WAIT))


def _told(reason: str) -> str:
    """What a stage says of its outcome, good or bad: it may quote an address or an answer."""
    return _short(redact(reason))


def _short(message: str, most: int = MAX_MESSAGE) -> str:
    text = clean(message)
    return text if len(text) <= most else text[: most - 1] + "…"
