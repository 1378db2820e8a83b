"""What is asked for, and what one hop answers. Redirects are followed above, where every hop can be
checked.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from thresher.core.credentials import Credentials


@dataclass(frozen=True, slots=True)
class Request:
    """One request, of one hop. Header names in lower case. `credentials` are added when it is sent, and only
    for their origin.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    credentials: Credentials | None = None

    @property
    def allowed_credentials(self) -> Credentials | None:
        """The credentials that this very URL may see."""
        return self.credentials if self.credentials and self.credentials.belong_to(self.url) else None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how large an answer may be. Seconds and bytes; `size` is of the unpacked body."""

    connect: float = 10.0
    read: float = 20.0
    total: float = 60.0
    size: int = 10 * 1024 * 1024
    ratio: float = 200.0  # how many times larger than what came over the wire an unpacked body may become


@dataclass(frozen=True, slots=True)
class Answer:
    """One hop's answer, unpacked. `location` of a redirect is left to the caller.

    Header names are in lower case; a repeated header is joined by commas, and cookies are dropped: there is
    no jar. `wire` is how many bytes of body came over the wire. `timings` are seconds: dns, connect,
    first_byte, total, without the time that `starting` took, which was ours.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    timings: Mapping[str, float] = field(default_factory=dict)
    wire: int = 0


Starting = Callable[[], Awaitable[None]]


class Transport(Protocol):
    """Whatever can carry one request. Raises the typed errors of `core.errors`; never follows a redirect.

    `starting` is awaited when the connection stands and before the first byte of the request goes out: the
    moment that a server would call the start, which is the one that politeness is measured by. It is awaited
    at most once, for a request is never sent twice: another try is another request, and needs leave of its
    own. What it raises comes out of `send` as it is, and nothing was sent.
    """

    async def send(self, request: Request, bounds: Bounds, starting: Starting | None = None) -> Answer: ...

    async def close(self) -> None: ...
