"""Connections: how many an address may hold, and how long one may take to send its first line. A connection
needs no key, so whoever opens many must not keep everybody else out.

An address may hold so many; then those of its connections that ask nothing are closed, the oldest first, and
if all of them are at work the new one is refused. Where the server is full, the address that holds the most
gives one up. A request that has come in whole is never dropped for the sake of another.
"""

import asyncio
import ipaddress
import logging
from collections.abc import Sequence
from typing import ClassVar, Protocol

from uvicorn.protocols.http.h11_impl import H11Protocol

from thresher.admin.logins import address_group

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

log = logging.getLogger("thresher.web")


class Connection(Protocol):
    """What matters here about a connection."""

    client: tuple[str, int] | None

    @property
    def waits(self) -> bool:
        """Tell whether it is idle: it has sent no request yet, or no further one."""

    def drop(self) -> None:
        """Close it at once."""


class Connections:
    """The connections of one server. Trusted proxies speak for many people and may hold as many as
    they need.
    """

    def __init__(self, most: int, per_address: int, proxies: Sequence[str] = ()) -> None:
        self._most, self._per_address = most, per_address
        self._proxies = [ipaddress.ip_network(each) for each in proxies]
        self._held: dict[str, dict[Connection, None]] = {}  # the oldest first
        self._told: set[str] = set()

    def admit(self, one: Connection) -> bool:
        """Accept a new connection, closing an idle one if necessary; return False if there is no room."""
        place = self._place(one)
        if len(self._held.get(place, ())) >= self._per_address and not self._is_proxy(one):
            self._tell(place)
            if not self._give_up(place):
                return False
        elif sum(map(len, self._held.values())) >= self._most:
            any(map(self._give_up, sorted(self._held, key=lambda each: len(self._held[each]), reverse=True)))
        self._held.setdefault(place, {})[one] = None
        return True

    def leave(self, one: Connection) -> None:
        """Forget a closed connection."""
        place = self._place(one)
        held = self._held.get(place, {})
        held.pop(one, None)
        if len(held) < self._per_address // 2:
            self._told.discard(place)
        if not held:
            self._held.pop(place, None)

    def _give_up(self, place: str) -> bool:
        """Close the oldest idle connection of an address; return whether there was one."""
        oldest = next((each for each in self._held.get(place, ()) if each.waits), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.drop()
        return True

    def _tell(self, place: str) -> None:
        if place not in self._told:
            self._told.add(place)
            log.warning(
                "%s holds %d connections (web.address_connections); its idle ones are closed",
                place,
                self._per_address,
            )

    @staticmethod
    def _place(one: Connection) -> str:
        return address_group(one.client[0] if one.client else "")

    def _is_proxy(self, one: Connection) -> bool:
        return one.client is not None and is_among(one.client[0], self._proxies)


def is_among(address: str, networks: Sequence[Network]) -> bool:
    """Tell whether an address is in one of these networks."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(found in network for network in networks)


# One connection, and how long it may take to say what it wants: the server we use waits for ever for the
# rest of a first line.

TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    b"your address holds too many connections; close some, or reuse them\n"
)


class TimedConnection(H11Protocol):
    """A connection that is closed when no whole request arrives within `patience` seconds, or when there are
    too `many`.
    """

    patience: ClassVar[float]
    many: ClassVar[Connections]
    _late: asyncio.TimerHandle | None = None
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self.many.admit(self):
            self._watch()
            return
        self._refused = True
        transport.write(TOO_MANY)
        transport.close()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        self.many.leave(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close it at once. It no longer counts, although the loop has yet to notice."""
        self._rest()
        self.connections.discard(self)
        self.transport.abort()

    @property
    def waits(self) -> bool:
        """Tell whether it is the client's turn."""
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        if not self.waits:
            self._rest()
        elif self._late is None:
            self._late = self.loop.call_later(self.patience, self._hang_up)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _hang_up(self) -> None:
        self._late = None
        if self.waits:
            self.transport.close()


def line_with(patience: float, many: Connections) -> type[TimedConnection]:
    """Build the connection class with this patience and this limit."""
    return type("PatientLine", (TimedConnection,), {"patience": patience, "many": many})
