"""Connections that are used on the event loop itself, for the one statement that a busy worker sends hundreds
of times a second.

Sent from a database thread a turn costs two hops between threads, and each of them waits for the
interpreter's lock: on a busy worker that is longer than the statement takes. So the turn, and only the turn,
goes over a connection that the loop waits for as it waits for any other socket; and since it is always the
same statement, it is prepared once and then sent and read with the few calls of the driver that this takes.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import adapt, errors, pq

from thresher.core.clock import monotonic
from thresher.store.postgres.connection import LAST_LOOK, RETRYABLE, Postgres, silent

_NAME = b"turn"
_BINARY = pq.Format.BINARY


class Wire:
    """Idle lines of one loop, all good for one statement; as many as there are turns under way at the same
    time.

    `sql` names its parameters $1, $2, and says what each is: they travel as text.
    """

    def __init__(self, postgres: Postgres, sql: str) -> None:
        self._postgres, self._sql = postgres, sql
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: list[WireConnection] = []

    async def rows(self, params: Sequence[bytes | None]) -> list[Any]:
        """One statement, one transaction. A connection that saw trouble is not used again."""
        self._belong(asyncio.get_running_loop())
        with self._postgres.advice():
            line = self._fresh() or await self._connect()
            try:
                found = await line.ask(params)
            except RETRYABLE:
                self._idle.append(line)
                raise
            except BaseException:
                line.cut()
                raise
            self._idle.append(line)
            return found

    def _fresh(self) -> "WireConnection | None":
        """Return an idle connection that is known to be good."""
        while self._idle:
            line = self._idle.pop()
            if line.since >= self._postgres.doubted_at:
                return line
            line.cut()
        return None

    def _belong(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            self.close()  # a loop that has ended waits for nothing any more
            self._loop = loop

    async def _connect(self) -> "WireConnection":
        connection = await psycopg.AsyncConnection.connect(self._postgres.url, **self._postgres.options)
        line = WireConnection(connection, asyncio.get_running_loop(), self._postgres)
        try:
            await line.prepare(self._sql)
        except BaseException:
            line.cut()
            raise
        return line

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for line in idle:
            line.cut()


class WireConnection:
    """One connection, with one statement prepared."""

    def __init__(
        self, connection: psycopg.AsyncConnection[Any], loop: asyncio.AbstractEventLoop, postgres: Postgres
    ) -> None:
        self._connection, self._loop, self._postgres = connection, loop, postgres
        self.since = monotonic()
        self._looking: asyncio.Task[None] | None = None
        self._wire = connection.pgconn
        self._reader = adapt.Transformer(connection)

    async def prepare(self, sql: str) -> None:
        self._wire.send_prepare(_NAME, sql.encode())
        await self._answer()

    async def ask(self, params: Sequence[bytes | None]) -> list[Any]:
        self._wire.send_query_prepared(_NAME, params, result_format=_BINARY)
        result = await self._answer()
        self._reader.set_pgresult(result, format=_BINARY)
        return self._reader.load_rows(0, result.ntuples, tuple)

    async def _answer(self) -> pq.abc.PGresult:
        """Send what is still to be sent, and wait for the one result."""
        socket = self._wire.socket
        answered: asyncio.Future[list[pq.abc.PGresult]] = self._loop.create_future()
        self._loop.add_reader(socket, self._read, answered, [])
        timer = self._loop.call_later(self._postgres.patience, self._wonder, answered)
        try:
            while self._wire.flush():
                await self._writable(socket, answered)
            (result,) = await answered
        finally:
            timer.cancel()
            if self._looking is not None:
                self._looking.cancel()
            self._loop.remove_reader(socket)
        if result.status in (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK):
            return result
        raise errors.error_from_result(result)

    def _read(
        self, answered: "asyncio.Future[list[pq.abc.PGresult]]", results: list[pq.abc.PGresult]
    ) -> None:
        if answered.done():
            return
        try:
            self._wire.consume_input()
            while not self._wire.is_busy():
                result = self._wire.get_result()
                if result is None:
                    answered.set_result(results)
                    return
                results.append(result)
        except psycopg.Error as problem:
            answered.set_exception(problem)

    async def _writable(self, socket: int, answered: "asyncio.Future[list[pq.abc.PGresult]]") -> None:
        ready = asyncio.Event()
        self._loop.add_writer(socket, ready.set)
        answered.add_done_callback(lambda _: ready.set())  # given up
        try:
            await ready.wait()
        finally:
            self._loop.remove_writer(socket)
        if answered.done():
            answered.result()

    def _wonder(self, answered: "asyncio.Future[list[pq.abc.PGresult]]") -> None:
        self._looking = self._loop.create_task(self._look(answered))

    async def _look(self, answered: "asyncio.Future[list[pq.abc.PGresult]]") -> None:
        """No answer for long enough: wait on while the server is at work, and give it up when it is not."""
        while await self._loop.run_in_executor(None, self._postgres.at_work, self.pid):
            await asyncio.wait((answered,), timeout=self._postgres.patience)
        await asyncio.sleep(LAST_LOOK)
        if not answered.done():
            self._postgres.doubt()
            answered.set_exception(silent(self._postgres.patience))

    @property
    def pid(self) -> int:
        """The server's process at the other end."""
        return self._wire.backend_pid

    def cut(self) -> None:
        self._wire.finish()
