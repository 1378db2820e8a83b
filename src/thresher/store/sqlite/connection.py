"""Opening SQLite the safe way, and turning its complaints into advice."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from thresher.core.errors import DatabaseProblem, InvalidPayload
from thresher.store.session import Params, Row, spread

try:
    from pysqlite3 import dbapi2 as sqlite3
except ImportError:
    import sqlite3

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock still keeps writers apart, it is only less fair
    fcntl = None  # type: ignore[assignment]

BUSY_SECONDS = 30
# Versions whose WAL can lose data when a reset meets a crash at the wrong moment; mended in 3.51.3.
SAFE_VERSION = (3, 51, 3)
VERSION: tuple[int, ...] = sqlite3.sqlite_version_info
DURABILITY = {"machine": "full", "process": "normal"}
# Primary result codes that say something about the file and nothing about what was to be stored: PERM, BUSY, LOCKED, NOMEM, READONLY,
# INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, SCHEMA, AUTH, NOTADB.
AWAY = frozenset({3, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 17, 23, 26})
UNMIGRATED = ("no such table", "no such column")
UNSTORABLE = frozenset({18})  # TOOBIG: no second try can store it


class SqliteSession:
    """A transaction on one connection."""

    __slots__ = ("_connection",)

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def rows(self, sql: str, params: Params | Sequence[Any] = ()) -> list[Row]:
        if isinstance(params, dict):
            sql, params = spread(sql, params)
        return self._connection.execute(sql, params).fetchall()  # type: ignore[no-any-return]

    def run(self, sql: str, params: Params | Sequence[Any] = ()) -> int:
        if isinstance(params, dict):
            sql, params = spread(sql, params)
        return self._connection.execute(sql, params).rowcount  # type: ignore[no-any-return]

    def many(self, sql: str, rows: Sequence[Any]) -> None:
        self._connection.executemany(sql, rows)


class SqliteFile:
    """A database file: one connection that writes, one that reads, one for glances, and the lock that makes writers take turns."""

    def __init__(self, path: str, durability: str) -> None:
        self.path = path
        self.in_memory = path == ":memory:"
        self._durability = DURABILITY[durability]
        self._write_mutex = threading.Lock()
        self._read_mutex = threading.Lock()
        self._glance_mutex = threading.Lock()
        self._turnstile = self._open_turnstile()
        self._writer = self._connect()
        # A database in memory exists once; reads then share the writer's connection and its mutex.
        self._reader = self._writer if self.in_memory else self._connect()
        # Whoever reads a whole table must not hold up who looks at a row.
        self._glancer = self._writer if self.in_memory else self._connect()
        if self.in_memory:
            self._read_mutex = self._glance_mutex = self._write_mutex

    def _open_turnstile(self) -> int | None:
        if self.in_memory or fcntl is None:
            return None
        try:
            return os.open(f"{self.path}-turn", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise DatabaseProblem(
                f"cannot write in the folder of {self.path}: {problem.strerror}. Choose another place with --database."
            ) from None

    def _connect(self) -> Any:
        if sqlite3.sqlite_version_info < SAFE_VERSION:
            warnings.warn(
                f"SQLite {sqlite3.sqlite_version} can corrupt a database after a crash (mended in 3.51.3); "
                "pip install pysqlite3 brings a newer one",
                stacklevel=2,
            )
        with advice(self.path):
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {self._durability}")
            connection.execute("pragma foreign_keys = on")
            connection.execute("pragma temp_store = memory")
            connection.execute("pragma cache_size = -65536")
            # Large steps between checkpoints: each one copies every changed page once, however often it changed.
            connection.execute("pragma wal_autocheckpoint = 4000")
        return connection

    @contextlib.contextmanager
    def write(self) -> Iterator[SqliteSession]:
        """Take turns with other processes, then own the one write lock. Never upgrades a read."""
        with self._write_mutex, self._turn(), advice(self.path), self._transaction():
            yield SqliteSession(self._writer)

    @contextlib.contextmanager
    def jot(self) -> Iterator[SqliteSession]:
        """The same, and the commit does not wait for the disk; the next one that does takes it along."""
        with self._write_mutex, self._turn(), advice(self.path):
            self._writer.execute("pragma synchronous = normal")
            try:
                with self._transaction():
                    yield SqliteSession(self._writer)
            finally:
                self._writer.execute(f"pragma synchronous = {self._durability}")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._writer.execute("begin immediate")
        try:
            yield
            self._writer.execute("commit")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("rollback")
            raise

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        # Without it SQLite's writers poll and starve each other: one of eight did 3 % of another's work.
        if self._turnstile is None:
            yield
            return
        fcntl.flock(self._turnstile, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._turnstile, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def read(self) -> Iterator[SqliteSession]:
        """One consistent snapshot. Keep it short: a long reader stops the checkpoint."""
        with self._read_mutex, advice(self.path):
            self._reader.execute("begin")
            try:
                yield SqliteSession(self._reader)
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("rollback")

    @contextlib.contextmanager
    def glance(self) -> Iterator[SqliteSession]:
        """Single looks by key, each at the newest."""
        with self._glance_mutex, advice(self.path):
            yield SqliteSession(self._glancer)

    def data_version(self) -> int:
        """A number that changes when another process has committed."""
        with self._read_mutex, advice(self.path):
            return int(self._reader.execute("pragma data_version").fetchone()[0])

    def close(self) -> None:
        with self._write_mutex:
            self._writer.close()
        if not self.in_memory:
            with self._read_mutex:
                self._reader.close()
            with self._glance_mutex:
                self._glancer.close()
        if self._turnstile is not None:
            os.close(self._turnstile)
            self._turnstile = None


@contextlib.contextmanager
def advice(path: str) -> Iterator[None]:
    """Say what to do about what SQLite complains of."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF  # the primary code; the rest of the bits say more about it
        if code in UNSTORABLE:
            raise InvalidPayload(f"the database cannot store a value: {problem}") from problem
        if code in AWAY or str(problem).startswith(UNMIGRATED):
            raise DatabaseProblem(_advise(path, str(problem))) from problem
        raise


def _advise(path: str, says: str) -> str:
    if "readonly" in says:
        return f"{path} is read-only: change its permissions or choose another file with --database"
    if "disk is full" in says:
        return f"the disk of {path} is full: nothing was written; free some space and go on, no task is lost"
    if "locked" in says or "busy" in says:
        return f"{path} was locked for {BUSY_SECONDS} seconds by another program (a backup? a shell?); close it and go on"
    if "not a database" in says:
        return f"{path} is not a Thresher database: choose another file with --database"
    if "unable to open" in says:
        folder = Path(path).resolve().parent
        return f"cannot open {path}: does the folder {folder} exist, and may you write there?"
    if says.startswith(UNMIGRATED):
        return f"{path}: {says}; bring it up to date with: thresher migrate"
    return f"{path}: {says}"
