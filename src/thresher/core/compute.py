"""Computing something away from the event loop. Who is given a `Compute` need not know whether that is a
thread or a process.
"""

from collections.abc import Callable
from typing import Protocol, TypeVar

from thresher.core.threads import in_thread

T = TypeVar("T")


class Compute(Protocol):
    """Call a function of a module with arguments that can be pickled, and return what it returns, or raise
    what it raises.
    """

    async def __call__(
        self, function: Callable[..., T], /, *args: object, seconds: float | None = None
    ) -> T: ...


async def compute_in_thread(function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
    """Compute on a thread. It cannot be stopped, so it is for texts of one's own."""
    del seconds
    return await in_thread(function, *args)
