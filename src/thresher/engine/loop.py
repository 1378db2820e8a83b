"""The event loop a worker runs on: uvloop where it is installed (`pip install 'thresher[speed]'`), else the
standard one.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    try:
        import uvloop  # noqa: PLC0415  an extra
    except ImportError:
        return asyncio.run(work)
    found: T = uvloop.run(work)
    return found
