"""Signals that ask a process with an event loop to stop, on every system.

Windows' loops take no signal handlers. There Python's own handler passes the signal on to the loop, which it
also wakes.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Ctrl-C, what a service manager sends, and Ctrl-Break, which Windows alone has.
SIGNALS: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
if sys.platform == "win32":
    SIGNALS += (signal.SIGBREAK,)


@contextmanager
def signals_passed_to(tell: Callable[[int], None]) -> Iterator[None]:
    """Have the running loop call `tell` with each signal that comes, for the length of a block."""
    loop = asyncio.get_running_loop()

    def note(signalled: int, frame: FrameType | None) -> None:  # noqa: ARG001  the shape of a handler
        loop.call_soon_threadsafe(tell, signalled)

    before = {}
    try:
        for each in SIGNALS:
            loop.add_signal_handler(each, tell, each)
    except NotImplementedError:
        before = {each: signal.signal(each, note) for each in SIGNALS}
    try:
        yield
    finally:
        for each in SIGNALS:
            if each in before:
                signal.signal(each, before[each])
            else:
                loop.remove_signal_handler(each)
