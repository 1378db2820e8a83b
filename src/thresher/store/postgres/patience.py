"""Connections that do not wait for ever: a server that is silent for too long, and is not at work for us, is
given up.

The kernel notices a machine that is gone (keepalives). It does not notice a process that was stopped, or
something in between that takes every packet and passes none on. So whoever has waited for long enough asks
over a new connection whether the old one is being worked for. A long statement is waited for; a dead
connection is closed, and the next one is new.
"""

from collections.abc import Generator
from typing import Any, Protocol

import psycopg

from thresher.core.clock import monotonic

PATIENCE = 15.0
# After nobody was found at work: an answer that was on its way meanwhile is here by then.
LAST_LOOK = 0.2
# A server that waits for its client, or for room to write to it, is not at work.
_AT_WORK = """select 1 from pg_stat_activity where pid = %s and state = 'active' and coalesce(wait_event_type, '') <> 'Client'"""


def silent(seconds: float) -> psycopg.OperationalError:
    """The error for a connection that is given up."""
    return psycopg.OperationalError(
        f"no answer for {seconds:g} seconds, and the server is not at work on it: the connection is given up"
    )


class Owner(Protocol):
    """Whose connections they are: how long each waits, and who hears of one that was given up."""

    patience: float

    def at_work(self, pid: int) -> bool:
        """Whether the server is busy with that connection."""
        ...

    def doubt(self) -> None:
        """A connection was found dead."""
        ...


class PatientConnection(psycopg.Connection[Any]):
    """A connection of a thread. Without an owner its patience is `alone`, and silence is enough to give it
    up.
    """

    owner: Owner | None = None
    alone = PATIENCE

    @property
    def patience(self) -> float:
        return self.owner.patience if self.owner else self.alone

    def wait(self, gen: Generator[Any, Any, Any], interval: float = 0.1, timeout: float | None = None) -> Any:
        return super().wait(self._patiently(gen), interval, timeout)

    def _patiently(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """The same exchange, ended when nothing has come or gone for too long."""
        try:
            wanted = next(gen)
            until, doubted = monotonic() + self.patience, False
            while True:
                ready = yield wanted
                if ready:
                    until, doubted = monotonic() + self.patience, False
                elif monotonic() > until:
                    if doubted:
                        self._give_up()
                    doubted = self.owner is None or not self.owner.at_work(self.pgconn.backend_pid)
                    until = monotonic() + (LAST_LOOK if doubted else self.patience)
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _give_up(self) -> None:
        self.close()
        if self.owner:
            self.owner.doubt()
        raise silent(self.patience)


def is_at_work(url: str, pid: int, patience: float) -> bool:
    """Ask over a new connection whether the server is busy with an old one. One that cannot be asked is
    not.
    """
    try:
        with PatientConnection.connect(
            url, autocommit=True, connect_timeout=max(2, round(patience))
        ) as connection:
            connection.alone = patience
            return connection.execute(_AT_WORK, [pid]).fetchone() is not None
    except psycopg.Error:
        return False
