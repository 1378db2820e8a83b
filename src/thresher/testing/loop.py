"""An event loop on the world's clock: where it would sleep, it moves the clock instead.

It sleeps for real only while a thread is at work for it (a database call, a stage that is a plain function),
because nobody knows what that thread will bring.
"""

import asyncio
import selectors
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from thresher.core.clock import SECOND, FrozenClock
from thresher.core.errors import UsageError

T = TypeVar("T")

# Real seconds: how long the loop listens for a thread at a time, and for anybody at all before it gives up.
LISTEN_SECONDS = 0.05
GIVE_UP_SECONDS = 5.0


class ClockLoop(asyncio.SelectorEventLoop):
    """`time` is the world's clock."""

    def __init__(self, clock: FrozenClock) -> None:
        self._world_clock, self._start = clock, clock.now()
        self._at_work = 0
        self._mutex = threading.Lock()
        super().__init__(_Selector(self))
        self._clock_resolution = 1 / SECOND  # a timer that is due this very microsecond is due

    def time(self) -> float:
        return (self._world_clock.now() - self._start) / SECOND

    def skip(self, seconds: float) -> None:
        """Move the clock instead of sleeping."""
        self._world_clock.advance(int(seconds * SECOND) + 1)

    @property
    def has_threads_at_work(self) -> bool:
        return self._at_work > 0

    def enter(self) -> None:
        """Count a thread that works for this loop."""
        with self._mutex:
            self._at_work += 1

    def leave(self) -> None:
        """Stop counting it: it is done, or waits for the loop."""
        with self._mutex:
            self._at_work -= 1

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        self.enter()
        future: asyncio.Future[T] = super().run_in_executor(executor, func, *args)
        future.add_done_callback(lambda _: self.leave())
        return future

    def wait_from_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine for a thread that works for this loop, and let the clock move meanwhile."""

        async def counted() -> T:
            try:
                return await work
            finally:
                self.enter()

        future = asyncio.run_coroutine_threadsafe(counted(), self)
        self.leave()
        return future.result()


class _Selector(selectors.DefaultSelector):  # the best one of this system
    def __init__(self, loop: ClockLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = list(super().select(0))
        if found or (timeout is not None and timeout <= 0):
            return found
        if self._loop.has_threads_at_work:
            return list(super().select(LISTEN_SECONDS))
        if timeout is not None:
            self._loop.skip(timeout)
            return []
        found = list(super().select(GIVE_UP_SECONDS))
        if not found and not self._loop.has_threads_at_work:
            raise UsageError(
                "a stage waits for something that never happens: nothing is running and no timer is set"
            )
        return found
