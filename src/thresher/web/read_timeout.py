"""One connection, and how long it may take to say what it wants: the server we use waits for ever for the
rest of a first line.

Whoever asks nothing needs no key. A few hundred such connections would otherwise keep everybody else out; how
many there may be is decided in `connections`.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from thresher.web.connections import Connections

TOO_MANY = (
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    b"your address holds too many connections; close some, or reuse them\n"
)


class TimedConnection(H11Protocol):
    """A connection that is hung up on when no whole request comes within `patience` seconds, or where there
    are too `many`.
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
        """Hang up at once. It counts no more, though the loop has yet to notice."""
        self._rest()
        self.connections.discard(self)
        self.transport.abort()

    @property
    def waits(self) -> bool:
        """Whether it is the other side's turn to ask."""
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
    """Connections with this much patience, as many as that."""
    return type("PatientLine", (TimedConnection,), {"patience": patience, "many": many})
