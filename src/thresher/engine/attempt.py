"""One attempt: perform the stage, decide what it means. Whatever happens in a stage ends here as a
settlement.
"""

import asyncio
import random
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast, get_args

from thresher.config.settings import Settings
from thresher.core.decide import settle_error, settle_outcome
from thresher.core.errors import TimedOut
from thresher.core.outcome import Outcome
from thresher.core.pipeline import Stage
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.engine.hands import Hands
from thresher.engine.registry import Registry

_OUTCOMES = get_args(Outcome)

# Starts a stage that is a plain function on a thread of its own.
Submit = Callable[[Callable[[Hands], Any], Hands], "Future[Any]"]


async def attempt(
    task: Task, hands: Hands, registry: Registry, settings: Settings, submit: Submit
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
        outcome = await _perform(stage, hands, submit)
        return settle_outcome(task, outcome, registry)
    except Exception as problem:  # noqa: BLE001  a stage may raise anything; the policy table decides what follows
        return settle_error(
            task, problem, registry, backoff=registry.backoff(task.kind, settings), luck=random.random()
        )


async def _perform(stage: Stage, hands: Hands, submit: Submit) -> Outcome:
    if stage.is_async:
        outcome: Any = await stage.perform(hands)  # type: ignore[misc]
    elif stage.isolation == "process":
        outcome = await hands.perform(stage.perform)
    else:
        hands.lend(asyncio.get_running_loop())
        outcome = await asyncio.wrap_future(submit(cast("Callable[[Hands], Any]", stage.perform), hands))
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
