"""The governor: the interface through which requests pass the gates, and the options of a request.

A request takes its permit first (`reserve`). When its connection stands and nothing was sent yet, the
transport awaits the last check (`start`): the moment from which the next interval is counted. When it is
over, the permit is released (`release`). Behind a `Governor` are the gates that all workers share; `fetch`
knows only these three calls.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from thresher.core.rendering import Rendering
from thresher.fetch.cache import PageCache
from thresher.fetch.request import BeforeSend


@dataclass(slots=True)
class Passage:
    """One request on its way through one gate, as its governor notes it.

    `preparing`: what it brings is kept, so nothing is lost by coming back later. `paid`: with the token of
    the claim, which comes back if nothing was sent. `permit` is the number under which its slot is held;
    `started_at` when it was let go, and `paced` whether an interval is kept between two of them.
    """

    gate: str
    preparing: bool = False
    paid: bool = False
    permit: int | None = None
    started_at: float | None = None
    paced: bool = False


class Governor(Protocol):
    """Raises `NotYet` where waiting would take too long. `gate` is `host:NAME`."""

    async def reserve(self, gate: str, *, preparing: bool = False) -> Passage:
        """Take what one request needs of a gate, and wait for it where that is short."""
        ...

    async def start(self, passage: Passage) -> None:
        """Check for the last time before the first byte: the claim is still valid and the gate still open. If
        it raises, the request is not sent.
        """
        ...

    async def release(self, passage: Passage, problem: BaseException | None) -> None:
        """The request is over, well or with this problem: give back what it held."""
        ...

    async def hold_back(self, gate: str, seconds: float, reason: str) -> float | None:
        """Pause the host for all workers, as it asked. Return how long this request should stay away.

        None: the pause could not be recorded, so the error must carry it.
        """
        ...

    async def slow_down(self, gate: str, seconds: float) -> None:
        """The host asked for this much time between two requests."""
        ...

    async def waiver(self, gate: str) -> str | None:
        """Return why robots.txt is ignored here; None if it is obeyed."""
        ...


@asynccontextmanager
async def passing(governor: Governor, gate: str, *, preparing: bool = False) -> AsyncIterator[BeforeSend]:
    """Hold the permit of one request for as long as the block lasts. Yield the last look, for the transport
    to await.
    """
    passage = await governor.reserve(gate, preparing=preparing)
    problem: BaseException | None = None
    try:
        yield lambda: governor.start(passage)
    except BaseException as found:
        problem = found
        raise
    finally:
        await governor.release(passage, problem)


class Ungoverned:
    """For a single manual fetch without a database: no gates."""

    async def reserve(self, gate: str, *, preparing: bool = False) -> Passage:
        return Passage(gate, preparing)

    async def start(self, passage: Passage) -> None: ...

    async def release(self, passage: Passage, problem: BaseException | None) -> None: ...

    async def hold_back(self, gate: str, seconds: float, reason: str) -> float | None:  # noqa: ARG002
        return seconds

    async def slow_down(self, gate: str, seconds: float) -> None: ...

    async def waiver(self, gate: str) -> str | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """For whom a request goes out, and on what terms.

    `source` is part of every cache key: what was asked for one source is never handed to another.

    `max_age` is how many seconds old a kept copy may be; None leaves that to the server's word, 0 asks again
    always. `replay` takes kept copies only, however old, and never touches the network. `render` None: a
    browser comes in where the page turns out to be a shell that a script is to fill. `rendering` says what
    the browser does there.
    """

    governor: Governor
    page_cache: PageCache | None = None
    source: str = ""
    max_age: float | None = None
    render: bool | None = False
    replay: bool = False
    rendering: Rendering | None = None
