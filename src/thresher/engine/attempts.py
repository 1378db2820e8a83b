"""The attempts of a worker: those under way, suspects that wait to run alone, and attempts that did not end.

`attempt` performs one stage and decides what its outcome means. `Attempts` starts attempts, ends those that
take too long, and hands over the settlement of each. `Workload` says which may start: pure, and by claim.

A task that lost its worker before is a suspect: it may be what killed it. If others ran beside it at the next
crash, nobody could tell which of them it was, and each would count a crash. So a suspect waits, claimed,
until the others have ended; meanwhile nothing new is claimed. It starts alone. When it has run for
`worker.suspect_alone` without harm, the next suspect may start beside it, so that the many innocent suspects
of a lost machine still make progress; but one that another crash would quarantine runs alone to its end. A
lost worker counts only against suspects that had started.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast, get_args

from thresher.config.settings import MACHINE, Settings
from thresher.core.clock import monotonic
from thresher.core.decide import settle_error, settle_outcome
from thresher.core.errors import InvalidOutcome, ThresherError, TimedOut, UsageError
from thresher.core.log_context import set_log_context
from thresher.core.outcome import Outcome
from thresher.core.pipeline import Stage
from thresher.core.settlement import Ending, Settlement
from thresher.core.spans import Spans
from thresher.core.task import Task
from thresher.core.trace import alone, trace
from thresher.engine.registry import Registry
from thresher.engine.spans import attempt_span
from thresher.engine.stage_context import Services, StageContext
from thresher.store.store import Store

log = logging.getLogger("thresher.worker")

# A worker keeps this many suspects, and claims one at a time while it meets some: other workers may take
# them.
MAX_SUSPECTS = 10
# With more abandoned stages than this, the process is restarted.
MAX_ABANDONED = 10

Claim = tuple[int, int]
# Starts a stage that is a plain function on a thread of its own.
Submit = Callable[[Callable[[StageContext], Any], StageContext], "Future[Any]"]

_OUTCOMES = get_args(Outcome)


# --- one attempt


def _about(task: Task, registry: Registry) -> Mapping[str, Any]:
    """What each log line of an attempt says."""
    gates = dict(gate.partition(":")[::2] for gate in reversed(task.lane))
    return {
        "task_id": task.id,
        "tracking_id": task.tracking_id,
        "kind": task.kind,
        "stage": task.stage,
        "claim": task.claim,
        "attempt": task.failures + 1,
        "app": registry.app_of(task.kind),
        "source": gates.get("source"),
        "host": gates.get("host"),
    }


async def attempt(
    task: Task, context: StageContext, registry: Registry, settings: Settings, submit: Submit
) -> Settlement:
    """Perform the current stage of a task, and decide. Cancellation passes through; everything else is a
    settlement.
    """
    pipeline = registry.pipeline(task.kind)
    stage = pipeline.stage(task.stage) if pipeline else None
    if stage is None:
        return Settlement.misplaced(
            task, reason=f"this worker does not know stage {task.stage!r} of kind {task.kind!r}"
        )
    try:
        outcome = await _perform(stage, context, submit)
        return settle_outcome(task, outcome, registry)
    except Exception as raised:  # noqa: BLE001  a stage may raise anything; the policy table decides what follows
        problem = alone(raised)
        return _failure(task, problem, registry, settings, _where(problem, stage))


def _where(problem: BaseException, stage: Stage) -> str:
    """Where in the app's code an error was raised that its author may have to mend. One raised on purpose
    says all there is to say.
    """
    is_mistake = isinstance(problem, UsageError) or not isinstance(problem, ThresherError)
    return trace(problem, stage.perform) if is_mistake else ""


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
        found = "None" if outcome is None else getattr(outcome, "__name__", type(outcome).__name__)
        raise InvalidOutcome(
            f"stage {stage.name!r} returned {found}; return Done(), Next(...), Filtered(...), Skipped(...), "
            "Snooze(...) or Failed(...)"
        )
    return cast("Outcome", outcome)


def _failure(
    task: Task, problem: BaseException, registry: Registry, settings: Settings, where: str = ""
) -> Settlement:
    backoff = registry.backoff(task.kind, settings)
    return settle_error(task, problem, registry, backoff=backoff, luck=random.random(), where=where)


# --- all attempts of a worker


@dataclass(slots=True)
class Running:
    """One attempt. `ending` is how it ends if it is cut short; `thread` is the call of a stage that runs on
    one.
    """

    task: Task
    attempt: asyncio.Task[Settlement]
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
        """Say why this process should be restarted, if it should: too many stages still run that cannot be
        ended.
        """
        alive = sum(since + rules.cancel_grace < now for since in list(self.abandoned.values()))
        if alive > MAX_ABANDONED:
            return f"{alive} cancelled stages are still running"
        stuck = next(
            (running for running in self.running.values() if running.is_stuck(now, rules.stall)), None
        )
        if stuck:
            what = f"stage {stuck.task.stage!r} of task {stuck.task.id}"
            return f"{what} is still running on its thread {rules.stall:g} seconds after it was cancelled"
        return None


def _log_failure(settlement: Settlement) -> None:
    """A line for each attempt that failed. Its fields say whose it is; the task keeps the traceback. It is no
    warning, even where the task failed for good: pages that are gone are everyday work, and whoever runs
    tasks by hand is told at the end.
    """
    if settlement.error is None or settlement.ending not in (Ending.FAILED, Ending.RETRY):
        return
    log.info(
        "%s: %s: %s",
        "failed for good" if settlement.ending is Ending.FAILED else "failed and is tried again",
        settlement.error.name,
        settlement.error.message,
        extra={"event": "attempt_failed", "error": settlement.error.name},
    )


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


class Attempts:
    """Starts attempts and ends them. `settle` is given each task with its settlement; `post` calls a function
    on the event loop, from any thread.
    """

    def __init__(
        self,
        store: Store,
        registry: Registry,
        services: Services,
        now: Callable[[], int],
        *,
        settle: Callable[[Task, Settlement], None],
        post: Callable[..., None],
    ) -> None:
        self._store, self._registry, self._services, self._now = store, registry, services, now
        self._settle, self._post = settle, post
        self.load = Workload()
        # As many threads as there may ever be tasks in hand, made when they are needed: whatever is claimed
        # can start.
        self._threads = ThreadPoolExecutor(int(MACHINE["worker.concurrency"].high), "stage")

    def start(self, task: Task) -> None:
        """Begin an attempt."""
        spans = self._services.spans
        performing = asyncio.create_task(self._run(task) if spans is None else self._run_in_span(spans, task))
        self.load.running[task.id, task.claim] = Running(
            task, performing, monotonic(), self._seconds_for(task)
        )

    def _seconds_for(self, task: Task) -> float:
        pipeline = self._registry.pipeline(task.kind)
        stage = pipeline.stage(task.stage) if pipeline else None
        return (stage and stage.timeout) or float(self._store.settings["worker.timeout"])

    async def _run_in_span(self, spans: Spans, task: Task) -> Settlement:
        with attempt_span(spans, task, self._registry.app_of(task.kind)) as decided:
            settlement = await self._run(task)
            decided(settlement)
            return settlement

    async def _run(self, task: Task) -> Settlement:
        claim = (task.id, task.claim)
        set_log_context(partial(_about, task, self._registry))
        context = StageContext(task, self._store, self._now, self._registry, self._services)
        settlement: Settlement
        try:
            settlement = await attempt(
                task, context, self._registry, self._store.settings, partial(self._submit, claim)
            )
        except asyncio.CancelledError as problem:
            # Without an ending nobody here asked for it: the stage cancelled itself, and that is its failure.
            running = self.load.running.get(claim)
            settlement = (running and running.ending) or self._surprise(task, problem)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # noqa: BLE001  what no table foresaw must still end the attempt
            settlement = self._surprise(task, problem)
        running = self.load.running.get(claim)
        if running:
            _log_failure(settlement)
        if running and running.thread and not running.thread.done():
            # A thread cannot be stopped. As long as it runs, it is at its source, and its slot is taken.
            running.thread.add_done_callback(lambda _: self._post(self._end, claim, settlement))
        else:
            self._end(claim, settlement)
        return settlement

    def _submit(
        self, claim: Claim, perform: Callable[[StageContext], Any], context: StageContext
    ) -> "Future[Any]":
        thread = self._threads.submit(copy_context().run, perform, context)
        if claim in self.load.running:
            self.load.running[claim].thread = thread
        return thread

    def _surprise(self, task: Task, problem: BaseException) -> Settlement:
        surprise = RuntimeError(f"the stage ended with {type(problem).__name__}")
        return _failure(task, surprise, self._registry, self._store.settings)

    def _end(self, claim: Claim, settlement: Settlement) -> None:
        running = self.load.running.pop(claim, None)
        # Else it was settled without it, or the lease was lost: nothing of this attempt may be written,
        # whatever it brought.
        if running:
            self._settle(running.task, settlement)

    # --- ended by others

    def end_overdue(self, now: float, rules: AttemptRules) -> None:
        """Cut short what takes too long, and settle without it what does not end even so."""
        for claim, running in list(self.load.running.items()):
            if running.cut_at is None and running.deadline < now:
                running.cut_short(self._timed_out(running))
            elif running.thread is None and running.is_over(now, rules.cancel_grace):
                self._settle_without(claim, running)

    def _timed_out(self, running: Running) -> Settlement:
        task = running.task
        problem = TimedOut(f"stage {task.stage!r} took longer than {running.seconds:g} seconds")
        return _failure(task, problem, self._registry, self._store.settings)

    def _settle_without(self, claim: Claim, running: Running) -> None:
        """It was cut short and does not end. Its settlement cannot wait for it; the fence refuses whatever it
        may still bring.
        """
        del self.load.running[claim]
        self.load.abandon(running, running.cut_at or monotonic())
        log.error(
            "stage %s of task %s ignores cancellation; the task is settled without it",
            running.task.stage,
            running.task.id,
        )
        if running.ending:
            self._settle(running.task, running.ending)

    def cancel(self, claims: Iterable[Claim]) -> None:
        """Cancel these tasks, as requested."""
        for claim in claims:
            running, waiting = self.load.running.get(claim), self.load.drop_suspect(claim)
            if running and running.ending is None:
                running.cut_short(Settlement.cancelled(running.task, reason="cancelled manually"))
            elif waiting:
                self._settle(waiting, Settlement.cancelled(waiting, reason="cancelled manually"))

    def return_unopened(self, tasks: Iterable[Task], reason: str) -> None:
        """Send tasks back to waiting that have not begun."""
        for task in tasks:
            self._settle(task, Settlement.hand_back(task, reason=reason))

    def return_suspects(self, reason: str) -> None:
        """Send the suspects back that have not begun."""
        waiting = list(self.load.suspects)
        self.load.suspects.clear()
        self.return_unopened(waiting, reason)

    def hand_back(self, reason: str) -> None:
        """Cut short everything that runs, and send it back to waiting."""
        for running in self.load.running.values():
            if running.ending is None:
                running.cut_short(Settlement.hand_back(running.task, reason=reason))

    def settle_unfinished(self) -> None:
        """Settle whatever has not ended although it was cut short, without it."""
        for claim, running in list(self.load.running.items()):
            self._settle_without(claim, running)

    def drop(self) -> None:
        """The lease is lost: nothing of what is in hand may be written."""
        self.load.suspects.clear()
        for running in self.load.running.values():
            running.cut_short(None)
            self.load.abandon(running, monotonic())
        self.load.running.clear()

    def close(self) -> None:
        """Wait for nobody: a thread may never end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
