"""Who lets requests out: a seam. What stands behind it are the gates that all workers share.

`passage` is held for as long as one request is under way. It yields the hook that the transport awaits when
the connection stands: the last look, and the moment from which the next interval is counted.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from thresher.fetch.cache import PageCache
from thresher.fetch.request import Starting


class Governor(Protocol):
    """Raises `NotYet` where waiting would take too long. `gate` is `host:NAME`."""

    def passage(self, gate: str, *, preparing: bool = False) -> AbstractAsyncContextManager[Starting]:
        """The right to send one request. `preparing`: what it brings is kept, so nothing is lost by coming
        back later.
        """
        ...

    async def hold_back(self, gate: str, seconds: float, reason: str) -> float | None:
        """The host asked for a pause: all workers obey, at once. Returns for how long this errand should stay
        away.

        None: nobody could be told, so whoever raises the error must.
        """
        ...

    async def slow_down(self, gate: str, seconds: float) -> None:
        """The host asked for this much time between two requests."""
        ...

    async def waiver(self, gate: str) -> str | None:
        """Why a person has switched robots.txt off here; None where nobody has."""
        ...


class Ungoverned:
    """For a single look by hand, where there is no database: no gates, and nobody to tell."""

    @asynccontextmanager
    async def passage(self, gate: str, *, preparing: bool = False) -> AsyncIterator[Starting]:  # noqa: ARG002
        yield _at_once

    async def hold_back(self, gate: str, seconds: float, reason: str) -> float | None:  # noqa: ARG002
        return seconds

    async def slow_down(self, gate: str, seconds: float) -> None: ...

    async def waiver(self, gate: str) -> str | None:  # noqa: ARG002
        return None


async def _at_once() -> None:
    pass


# For whom a request goes out, and on what terms.


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """`source` is part of every cache key: what was asked for one source is never handed to another.

    `max_age` is how many seconds old a kept copy may be; None leaves that to the server's word, 0 asks again
    always. `replay` takes kept copies only, however old, and never touches the network. `render` None: a
    browser comes in where the page turns out to be a shell that a script is to fill.
    """

    governor: Governor
    page_cache: PageCache | None = None
    source: str = ""
    max_age: float | None = None
    render: bool | None = False
    replay: bool = False
