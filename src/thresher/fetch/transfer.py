"""One request under way, whichever transport carries it: its timestamps, its time limit, its TLS errors.

The time limit is suspended while `before_send` is awaited: that wait is our own politeness, not the server's
fault.
"""

import asyncio
import ssl
from contextvars import ContextVar

from thresher.core.errors import ConnectionFailed, Malformed, TimedOut
from thresher.fetch.egress import EgressProxy
from thresher.fetch.guard import Guard, Target, route
from thresher.fetch.request import BeforeSend, Bounds
from thresher.fetch.resolver import Endpoint, Resolver

# Certificate errors as sentences that a person can pass on to the owner of the site.

# The codes of OpenSSL's X509_verify_cert_error_string.
SENTENCES = {
    9: "is not valid yet",
    10: "has expired",
    18: "is self-signed",
    19: "was signed by an authority that is not trusted here (a self-signed one)",
    20: "was signed by an unknown authority, or the server left out an intermediate certificate",
    21: "was signed by an unknown authority, or the server left out an intermediate certificate",
    23: "was revoked",
    62: "was issued for another host",
    64: "was issued for another address",
}


def sentence(problem: BaseException, host: str) -> str:
    """Why no encrypted connection came about."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"the certificate of {host} {SENTENCES.get(problem.verify_code, f'was refused: {problem.verify_message}')}"
    reason = getattr(problem, "reason", None) or str(problem)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL"):
        return f"{host} does not speak TLS on this port; is it http rather than https?"
    return f"no encrypted connection to {host}: {str(reason).replace('_', ' ').lower()}"


class Transfer:
    """The moments are in the event loop's seconds."""

    __slots__ = (
        "_asked",
        "_before_send",
        "_loop",
        "begun",
        "bounds",
        "connected",
        "endpoints",
        "keeps",
        "limit",
        "problem",
        "resolved",
        "target",
        "waited",
    )

    def __init__(
        self, target: Target, bounds: Bounds, limit: asyncio.Timeout, before_send: BeforeSend | None
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._before_send = before_send
        self._asked = False
        self.target = target
        self.bounds = bounds
        self.limit = limit
        self.endpoints: tuple[Endpoint, ...] = ()
        self.problem: BaseException | None = None
        self.waited = 0.0
        self.keeps = True  # whether the connection may stay open afterwards
        self.begun = self.resolved = self.connected = self._loop.time()

    async def find_way(self, resolver: Resolver, guard: Guard) -> None:
        self.endpoints = await route(self.target, resolver, guard)
        self.resolved = self._loop.time()

    async def begin(self) -> None:
        """Note that the connection is made and nothing was sent yet."""
        if self._asked:
            raise self.failed("the connection broke, and the request is not sent twice")
        self._asked = True
        self.connected = self._loop.time()
        if self._before_send is not None:
            await self._take_leave(self._before_send)

    async def _take_leave(self, before_send: BeforeSend) -> None:
        until = self.limit.when()
        self.limit.reschedule(None)
        try:
            await before_send()
        except BaseException as problem:
            self.problem = problem  # the libraries in between must not turn it into something else
            raise
        finally:
            self.waited = self._loop.time() - self.connected
            self.limit.reschedule(None if until is None else until + self.waited)

    def timings(self, first_byte: float) -> dict[str, float]:
        asked = self.connected + self.waited
        return {
            "dns": self.resolved - self.begun,
            "connect": self.connected - self.resolved,
            "first_byte": first_byte - asked,
            "total": self._loop.time() - self.begun - self.waited,
        }

    def now(self) -> float:
        return self._loop.time()

    def late(self, what: str) -> TimedOut:
        return TimedOut(f"{self.target.host}: {what}", gate=self.gate)

    def failed(self, what: str) -> ConnectionFailed:
        return ConnectionFailed(f"{self.target.host}: {what}", gate=self.gate)

    def unreachable(self, why: str) -> ConnectionFailed:
        """Nobody listens where it was tried. Where the operator chose the address, say who did."""
        tried = f"{', '.join(each.ip for each in self.endpoints)} port {self.endpoints[0].port}"
        chosen = "; fetch.resolve in thresher.yaml leads there: start what should listen (the practice web: thresher practice)"
        return self.failed(f"no connection to {tried} ({why}){chosen if self.endpoints[0].vouched else ''}")

    def untrusted(self, problem: BaseException) -> ConnectionFailed:
        return ConnectionFailed(sentence(problem, self.target.host), gate=self.gate)

    def unreadable(self, what: str) -> Malformed:
        return Malformed(f"{self.target.host}: {what}", gate=self.gate)

    @property
    def proxy(self) -> EgressProxy | None:
        return self.endpoints[0].proxy if self.endpoints else None

    @property
    def gate(self) -> str:
        return f"host:{self.target.host}"


TRANSFER: ContextVar[Transfer] = ContextVar("HOP")
