"""One attempt: perform the stage, decide what it means. Whatever happens in a stage ends here as a settlement."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar, cast, get_args

from thresher.config.settings import Settings
from thresher.core.decide import settle_error, settle_outcome
from thresher.core.errors import Permanent, TimedOut, UsageError
from thresher.core.outcome import Outcome
from thresher.core.page import Page
from thresher.core.pipeline import Stage
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.engine.escort import Escort
from thresher.engine.registry import Registry
from thresher.fetch.errand import Errand
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.order import order
from thresher.store import blobs
from thresher.store.store import Store

# A task of a kind that nobody here knows waits this long for a worker that does.
STRANGER_WAIT_US = 60_000_000

T = TypeVar("T")

_OUTCOMES = get_args(Outcome)


class Hands:
    """The context given to a stage."""

    __slots__ = ("_escort", "_fetcher", "_loop", "_max_ages", "_now", "_store", "task")

    def __init__(
        self, task: Task, store: Store, now: Callable[[], int], fetcher: Fetcher | None = None, max_ages: Mapping[str, float] = {}
    ) -> None:
        self.task = task
        self._max_ages = max_ages
        self._store, self._now, self._fetcher = store, now, fetcher
        self._escort: Escort | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def now(self) -> int:
        return self._now()

    def setting(self, name: str) -> Any:
        return self._store.settings[name]

    async def save(self, body: bytes) -> str:
        return await self._store.run(blobs.put, self._store, body)

    async def load(self, content_hash: str) -> bytes:
        return await self._store.run(blobs.get, self._store, content_hash)

    async def fetch(
        self, url: str, *, method: str = "GET", headers: Mapping[str, str] = {}, body: bytes = b"",
        render: bool | None = False, max_age: float | None = None, replay: bool = False,
    ) -> Page:  # fmt: skip
        if self._fetcher is None:
            raise UsageError("this worker was made without a fetcher; build.opened_worker gives it one")
        request = order(url, method=method, headers=headers, body=body)
        self._escort = self._escort or Escort(self._store, self.task)
        sources = [gate for gate in self.task.lane if gate.startswith("source:")]
        if max_age is None:
            max_age = next((self._max_ages[gate] for gate in sources if gate in self._max_ages), None)
        errand = Errand(self._escort, self._fetcher.shelf, "\n".join(sources), max_age, render=render, replay=replay)
        return await self._fetcher.fetch(request, errand)

    def lend(self, loop: asyncio.AbstractEventLoop) -> None:
        """The stage runs on a thread of its own; what it waits for happens on this loop."""
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise UsageError("ctx.wait is for stages that are plain functions; in an async stage write: await ctx.fetch(url)")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def attempt(task: Task, hands: Hands, registry: Registry, settings: Settings, threads: Executor) -> Settlement:
    """Perform the stage a task stands at, and decide. Cancellation passes through; everything else is a settlement."""
    pipeline = registry.pipeline(task.kind)
    if pipeline is None:
        reason = f"no app of this worker knows the kind {task.kind!r}"
        return Settlement.snooze(task, delay_us=STRANGER_WAIT_US, reason=reason)
    try:
        stage = pipeline.stage(task.stage)
        if stage is None:
            raise Permanent(f"pipeline {task.kind} has no stage {task.stage!r} any more")
        outcome = await _perform(stage, hands, threads)
        return settle_outcome(task, outcome, registry)
    except Exception as problem:  # noqa: BLE001  a stage may raise anything; the policy table decides what follows
        return settle_error(task, problem, backoff=settings.backoff(), luck=random.random())


async def _perform(stage: Stage, hands: Hands, threads: Executor) -> Outcome:
    if stage.is_async:
        outcome: Any = await stage.perform(hands)  # type: ignore[misc]
    else:
        loop = asyncio.get_running_loop()
        hands.lend(loop)
        outcome = await loop.run_in_executor(threads, cast("Callable[[Hands], Any]", stage.perform), hands)
    if not isinstance(outcome, _OUTCOMES):
        raise TypeError(f"stage {stage.name!r} returned {type(outcome).__name__}; return Done, Next, Filtered, Skipped, Snooze or Failed")
    return cast("Outcome", outcome)


def overdue(task: Task, seconds: float, settings: Settings) -> Settlement:
    """The settlement of an attempt that took too long."""
    problem = TimedOut(f"stage {task.stage!r} took longer than {seconds:g} seconds")
    return settle_error(task, problem, backoff=settings.backoff(), luck=random.random())
