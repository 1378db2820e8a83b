"""The event loop to serve on: uvloop where it is installed, because the practice web should wait for its
clients.
"""

import asyncio
from importlib.util import find_spec


def new_loop() -> asyncio.AbstractEventLoop:
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop  # noqa: PLC0415  an extra: the practice web runs without it

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
