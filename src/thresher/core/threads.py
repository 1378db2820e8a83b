"""Threads for what Thresher computes itself. Those of the event loop belong to the stages, which may hold all
of them for minutes.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="compute")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads


async def in_thread(compute: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Run a function aside, as `asyncio.to_thread` does, on threads that no stage can hold."""
    call = partial(contextvars.copy_context().run, compute, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), call)
