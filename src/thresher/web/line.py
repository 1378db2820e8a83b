"""One connection, and how long it may take to say what it wants: the server we use waits for ever for the rest of a first line.

Whoever asks nothing needs no key. A few hundred such connections would otherwise keep everybody else out.
"""

import asyncio
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol


class Line(H11Protocol):
    """A connection that is hung up on when no whole request comes within `patience` seconds."""

    patience: ClassVar[float]
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    @property
    def _waits(self) -> bool:
        """Whether it is the other side's turn to ask."""
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        if not self._waits:
            self._rest()
        elif self._late is None:
            self._late = self.loop.call_later(self.patience, self._hang_up)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _hang_up(self) -> None:
        self._late = None
        if self._waits:
            self.transport.close()


def line_with(patience: float) -> type[Line]:
    """Connections with this much patience."""
    return type("PatientLine", (Line,), {"patience": patience})
