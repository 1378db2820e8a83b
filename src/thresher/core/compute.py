"""Compute away from the event loop. The holder of a `Compute` need not know whether it is a thread or a
process.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, Protocol, TypeVar

# Thresher's own threads: those of the event loop belong to the stages, which may occupy all of them for
# minutes.

P = ParamSpec("P")
Result = TypeVar("Result")


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="compute")


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads


async def in_thread(compute: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Run a function on a thread, like `asyncio.to_thread`, but on threads that no stage can occupy."""
    call = partial(contextvars.copy_context().run, compute, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)


T = TypeVar("T")


class Compute(Protocol):
    """Call a module-level function with picklable arguments; return what it returns, or raise what
    it raises.
    """

    async def __call__(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


async def compute_in_thread(function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
    """Compute on a thread. It cannot be stopped, so use it only for trusted input."""
    del seconds
    return await in_thread(function, *args)
