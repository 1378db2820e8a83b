"""Playing races step by step on PostgreSQL: each hand is a machine whose transaction stays open until it is
told to commit."""

import copy
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import psycopg

from tests.harness.databases import Database
from thresher.store.postgres.backend import send_turn
from thresher.store.postgres.connection import SETTINGS, PostgresSession, split_schema
from thresher.store.store import Store

PATIENCE_SECONDS = 20


class Hand:
    """One machine in the middle of its work. Its `store` does all in one transaction that ends with
    `commit`."""

    def __init__(self, database: Database, origin: Store) -> None:
        address, schema = split_schema(database.url)
        options = f"-c search_path={schema} {SETTINGS}"
        self._connection = psycopg.connect(address, options=options)
        self._watcher = psycopg.connect(address, autocommit=True, options=options)
        self._thread: threading.Thread | None = None
        self._answer: list[Any] = []
        self._problem: list[BaseException] = []
        self.others: list[int] = []
        self.store = self._store(origin)

    def _store(self, origin: Store) -> Store:
        backend = copy.copy(origin.backend)
        session = PostgresSession(self._connection)
        backend.write = backend.read = lambda **_: nullcontext(session)
        backend.enqueue = lambda inserts, rules: backend.insert(session, inserts, rules)
        backend._send = lambda params: send_turn(self._connection, params)
        backend.ping = lambda: None
        backend.close = lambda: None
        store = Store(backend, settings=origin.settings)
        store.lanes = origin.lanes  # a machine that has met these lanes before
        return store

    @property
    def pid(self) -> int:
        return self._connection.info.backend_pid

    def hold(self, table: str, row_id: int) -> None:
        """Lock one row, as somebody who works on it does."""
        self._connection.execute(f"select 1 from {table} where id = %s for no key update", (row_id,))

    def begin(self, act: Callable[[Store], Any]) -> None:
        """Start something that will have to wait for another hand."""

        def run() -> None:
            try:
                self._answer.append(act(self.store))
            except BaseException as problem:
                self._problem.append(problem)

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def waits(self) -> bool:
        """Whether it has come to wait for another hand; False once it is done without waiting.

        Other tests share the server, and for a moment it may wait for one of them: advisory locks and the
        catalogue belong to the whole database. That is not the wait that a schedule is about.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._thread is None or not self._thread.is_alive():
                return False
            blocked = self._watcher.execute(
                "select pg_blocking_pids(%s) && %s::int[]", (self.pid, self.others)
            )
            if blocked.fetchone()[0]:
                return True
        raise AssertionError("neither done nor waiting")

    def finish(self) -> Any:
        """Wait for what was begun, commit it, and return what it returned."""
        assert self._thread is not None
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "still waiting for a lock"
        if self._problem:
            raise self._problem[0]
        self.commit()
        return self._answer[0]

    def commit(self) -> None:
        self._connection.commit()

    def close(self) -> None:
        for connection in (self._connection, self._watcher):
            connection.close()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)


@contextmanager
def hands(database: Database, origin: Store, number: int) -> Iterator[list[Hand]]:
    """So many machines, let go of at the end whatever happened."""
    found = [Hand(database, origin) for _ in range(number)]
    for hand in found:
        hand.others = [other.pid for other in found if other is not hand]
    try:
        yield found
    finally:
        for hand in found:
            hand.close()
