"""Connections that are used on the event loop itself.

A worker's turn is one statement. Sent from a database thread it costs two hops between threads, and each of them waits
for the interpreter's lock: on a busy worker that is longer than the statement takes. So the turn, and only the turn,
goes over a connection that the loop waits for as it waits for any other socket.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg

from thresher.store.postgres.connection import RETRYABLE, Postgres


class Wire:
    """Idle connections of one loop; as many as there are statements under way at the same time."""

    def __init__(self, postgres: Postgres) -> None:
        self._postgres = postgres
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: list[psycopg.AsyncConnection[Any]] = []

    async def rows(self, sql: str, params: Sequence[Any]) -> list[Any]:
        """One statement, one transaction. A connection that saw trouble is not used again."""
        self._belong(asyncio.get_running_loop())
        with self._postgres.advice():
            connection = self._idle.pop() if self._idle else await self._connect()
            try:
                cursor = await connection.execute(sql, params, prepare=True, binary=True)
                found = await cursor.fetchall()
            except RETRYABLE:
                self._idle.append(connection)
                raise
            except BaseException:
                connection.pgconn.finish()
                raise
            self._idle.append(connection)
            return found

    def _belong(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop is not self._loop:
            self.close()  # a loop that has ended waits for nothing any more
            self._loop = loop

    async def _connect(self) -> psycopg.AsyncConnection[Any]:
        return await psycopg.AsyncConnection.connect(self._postgres.url, **self._postgres.options)

    def close(self) -> None:
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.pgconn.finish()
