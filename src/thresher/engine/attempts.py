"""What a worker has in hand: attempts under way, suspects that wait to run alone, and attempts that would not
end.

A task that lost its worker before is a suspect: it may be what killed it. With others in hand at its next
crash nobody could tell which of them it was, and each would count one. So a suspect waits, claimed, until the
others have ended; meanwhile nothing new is claimed. It starts alone. When it has run for
`worker.suspect_alone` without harm, the next suspect may start beside it, so that the many innocent suspects
that a lost machine leaves behind still flow; but one that would be quarantined by another crash is alone to
its end. A worker that is lost counts only against suspects that had begun.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from thresher.config.settings import Settings
from thresher.core.clock import monotonic
from thresher.core.decide import settle_error, settle_outcome
from thresher.core.errors import TimedOut
from thresher.core.outcome import Outcome
from thresher.core.pipeline import Stage
from thresher.core.settlement import Settlement
from thresher.core.task import Task, TaskId
from thresher.engine.registry import Registry
from thresher.engine.stage_context import StageContext

# An attempt that a worker has in hand: until when it may take, and how it ends if it is cut short.


@dataclass(slots=True)
class Running:
    """One attempt. `ending` is how it ends if it is cut short; `thread` is the call of a stage that runs on
    one.
    """

    task: Task
    attempt: asyncio.Task[None]
    started: float
    seconds: float
    ending: Settlement | None = None
    cut_at: float | None = None
    thread: Future[Any] | None = None

    @property
    def deadline(self) -> float:
        return self.started + self.seconds

    def cut_short(self, ending: Settlement | None) -> None:
        self.ending, self.cut_at = ending, monotonic()
        # Not at once: one that is cancelled before its first step would end without a word.
        self.attempt.get_loop().call_soon(self.attempt.cancel)

    def is_over(self, now: float, patience: float) -> bool:
        """Whether it was cut short, and has not ended although it had time to."""
        return self.cut_at is not None and now - self.cut_at > patience

    def is_stuck(self, now: float, patience: float) -> bool:
        """The same of a stage on a thread, which nobody can stop. It keeps its slot: as long as it runs, it
        is at its source.
        """
        return self.thread is not None and self.is_over(now, patience)


def give_back(task_id: int, claim: int) -> Settlement:
    """The settlement of a claim whose answer never came: nothing but its number is known."""
    nobody = Task(TaskId(task_id), claim, "", "", {}, {}, None, TaskId(task_id), None, 0, 0, 0)
    return Settlement.hand_back(nobody, reason="the answer to its claim was lost on the way")


# A worker keeps this many suspects, and asks for no more at once while it meets some: others may have them.
MAX_SUSPECTS = 10
# More than this many stages that ignored their cancellation, and the process is started afresh.
MAX_ABANDONED = 10

Claim = tuple[int, int]


@dataclass(slots=True)
class Workload:
    """The attempts of one worker, by claim."""

    running: dict[Claim, Running] = field(default_factory=dict)
    suspects: deque[Task] = field(default_factory=deque)
    # Attempts whose claim was settled or lost while they still ran, and since when they should have ended.
    abandoned: dict[Any, float] = field(default_factory=dict)
    # The last claim brought suspects: the next one may do so again.
    met_suspects: bool = False

    @property
    def claims(self) -> set[Claim]:
        return {*self.running, *((task.id, task.claim) for task in self.suspects)}

    @property
    def has_suspects(self) -> bool:
        return bool(self.suspects) or any(running.task.crashes for running in self.running.values())

    def is_busy(self, now: float, patience: float) -> bool:
        """Whether anything is in hand that can still end by itself. What runs on a thread long after it was
        cut short cannot.
        """
        return bool(self.suspects) or any(
            not running.is_stuck(now, patience) for running in self.running.values()
        )

    def room(self, most: int, batch: int) -> int:
        """How many tasks may be asked for, if `most` may be in hand and `batch` come at once."""
        if self.has_suspects:
            return 0
        if self.met_suspects:
            batch = min(batch, MAX_SUSPECTS)
        return max(0, min(batch, most - len(self.running)))

    def sort(self, tasks: list[Task]) -> tuple[list[Task], list[Task]]:
        """Of tasks just claimed: those to start at once, and those to hand back. Suspects are kept here,
        until there are enough.
        """
        fresh = [task for task in tasks if not task.crashes]
        suspects = [task for task in tasks if task.crashes]
        if tasks:
            self.met_suspects = bool(suspects)
        free = max(0, MAX_SUSPECTS - len(self.suspects))
        self.suspects.extend(suspects[:free])
        return fresh, suspects[free:]

    def next_suspect(self, now: float, rules: "AttemptRules") -> Task | None:
        """The suspect that may start now. It is kept here until it does."""
        if not self.suspects:
            return None
        beside = [
            running for running in self.running.values() if not running.is_stuck(now, rules.cancel_grace)
        ]
        if beside and (
            rules.is_last_chance(self.suspects[0])
            or not all(rules.bears_company(running, now) for running in beside)
        ):
            return None
        return self.suspects[0]

    def drop_suspect(self, claim: Claim) -> Task | None:
        """Take out a suspect that has not started."""
        found = next((task for task in self.suspects if (task.id, task.claim) == claim), None)
        if found:
            self.suspects.remove(found)
        return found

    def abandon(self, running: Running, since: float) -> None:
        """It is settled, or no longer ours. It may run on, and nothing that it brings is written."""
        handle = running.thread or running.attempt
        self.abandoned[handle] = since
        handle.add_done_callback(lambda done: self.abandoned.pop(done, None))

    def worn_out(self, now: float, rules: "AttemptRules") -> str | None:
        """Why this process should be started afresh, if it should: too much runs on that nobody can end."""
        alive = sum(since + rules.cancel_grace < now for since in list(self.abandoned.values()))
        if alive > MAX_ABANDONED:
            return f"{alive} stages still run although they were cancelled"
        stuck = next(
            (running for running in self.running.values() if running.is_stuck(now, rules.stall)), None
        )
        if stuck:
            what = f"stage {stuck.task.stage!r} of task {stuck.task.id}"
            return f"{what} still runs on its thread {rules.stall:g} seconds after it was cancelled"
        return None


@dataclass(frozen=True, slots=True)
class AttemptRules:
    """The settings that decide here."""

    suspect_alone: float
    cancel_grace: float
    stall: float
    max_crashes: int

    @classmethod
    def of(cls, settings: Settings) -> "AttemptRules":
        alone, grace, stall = (
            float(settings[f"worker.{name}"]) for name in ("suspect_alone", "cancel_grace", "stall")
        )
        return cls(alone, grace, stall, settings.count("retry.max_crashes"))

    def is_last_chance(self, task: Task) -> bool:
        """Whether another crash would quarantine it."""
        return task.crashes + 1 >= self.max_crashes

    def bears_company(self, running: Running, now: float) -> bool:
        """Whether a suspect may start beside this attempt."""
        suspect = running.task.crashes > 0 and not self.is_last_chance(running.task)
        return suspect and now - running.started > self.suspect_alone


# One attempt: perform the stage, decide what it means. Whatever happens in a stage ends here as a
# settlement.

_OUTCOMES = get_args(Outcome)

# Starts a stage that is a plain function on a thread of its own.
Submit = Callable[[Callable[[StageContext], Any], StageContext], "Future[Any]"]


async def attempt(
    task: Task, context: StageContext, registry: Registry, settings: Settings, submit: Submit
) -> Settlement:
    """Perform the stage a task stands at, and decide. Cancellation passes through; everything else is a
    settlement.
    """
    pipeline = registry.pipeline(task.kind)
    stage = pipeline.stage(task.stage) if pipeline else None
    if stage is None:
        return Settlement.misplaced(
            task, reason=f"this worker does not know the kind {task.kind!r} with a stage {task.stage!r}"
        )
    try:
        outcome = await _perform(stage, context, submit)
        return settle_outcome(task, outcome, registry)
    except Exception as problem:  # noqa: BLE001  a stage may raise anything; the policy table decides what follows
        return settle_error(
            task, problem, registry, backoff=registry.backoff(task.kind, settings), luck=random.random()
        )


async def _perform(stage: Stage, context: StageContext, submit: Submit) -> Outcome:
    if stage.is_async:
        outcome: Any = await stage.perform(context)  # type: ignore[misc]
    elif stage.isolation == "process":
        outcome = await context.perform(stage.perform)
    else:
        context.lend(asyncio.get_running_loop())
        outcome = await asyncio.wrap_future(
            submit(cast("Callable[[StageContext], Any]", stage.perform), context)
        )
    if not isinstance(outcome, _OUTCOMES):
        raise TypeError(
            f"stage {stage.name!r} returned {type(outcome).__name__}; return Done, Next, Filtered, Skipped, Snooze or Failed"
        )
    return cast("Outcome", outcome)


def overdue(task: Task, seconds: float, registry: Registry, settings: Settings) -> Settlement:
    """The settlement of an attempt that took too long."""
    problem = TimedOut(f"stage {task.stage!r} took longer than {seconds:g} seconds")
    return settle_error(
        task, problem, registry, backoff=registry.backoff(task.kind, settings), luck=random.random()
    )
