"""Opening SQLite the safe way, and turning its complaints into advice."""

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from thresher.core.errors import DatabaseProblem, InvalidPayload, UsageError
from thresher.core.limits import check_integers
from thresher.store.dialect import SQLITE
from thresher.store.session import JSON_LIST, Params, Row, spread
from thresher.store.sqlite import one_library
from thresher.store.sqlite.turn_lock import TurnLock

BUSY_SECONDS = 30.0
CACHED_STATEMENTS = 512
# Versions whose WAL can lose data when a reset meets a crash at the wrong moment; mended in 3.51.3.
SAFE_VERSION = (3, 51, 3)
VERSION: tuple[int, ...] = tuple(map(int, apsw.sqlite_lib_version().split(".")))
DURABILITY = {"machine": "full", "process": "normal"}
# What says something about the file and nothing about what was to be stored.
AWAY = (
    apsw.AuthError,
    apsw.BusyError,
    apsw.CantOpenError,
    apsw.ConnectionClosedError,
    apsw.CorruptError,
    apsw.FullError,
    apsw.InterruptError,
    apsw.IOError,
    apsw.LockedError,
    apsw.NoLFSError,
    apsw.NoMemError,
    apsw.NotADBError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.ReadOnlyError,
    apsw.SchemaChangeError,
)
UNMIGRATED = (
    "no such table",
    "no such column",
    "has no column named",
)  # SQLite has no code of its own for these


class SqliteSession:
    """A transaction on one connection."""

    dialect = SQLITE
    __slots__ = ("_connection", "_cursor")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._cursor = connection.cursor()

    def rows(self, sql: str, params: Params | Sequence[Any] = ()) -> list[Row]:
        try:
            if isinstance(params, dict):
                sql, params = spread(sql, params, JSON_LIST)
            return self._cursor.execute(sql, params).fetchall()
        except (OverflowError, TypeError):
            check_integers(params)
            raise

    def run(self, sql: str, params: Params | Sequence[Any] = ()) -> int:
        self.rows(sql, params)  # to its end: a statement half done would keep its snapshot
        return self._connection.changes()

    def many(self, sql: str, rows: Sequence[Any]) -> None:
        try:
            self._cursor.executemany(sql, rows)
        except OverflowError:
            for row in rows:
                check_integers(row)
            raise


class SqliteFile:
    """A database file: one connection that writes, one that reads, one for glances, and the lock that makes
    writers take turns.
    """

    def __init__(self, path: str, durability: str) -> None:
        self.path = path
        self.in_memory = path == ":memory:"
        self._durability = DURABILITY[durability]
        self._process = os.getpid()
        self._write_mutex = threading.Lock()
        self._read_mutex = threading.Lock()
        self._glance_mutex = threading.Lock()
        with contextlib.ExitStack() as opened:
            self._turn_lock = None if self.in_memory else self._open_files(opened)
            self._writer = self._connect(opened)
            # A database in memory exists once; reads then share the writer's connection and its mutex.
            self._reader = self._writer if self.in_memory else self._connect(opened)
            # Whoever reads a whole table must not hold up who looks at a row.
            self._glancer = self._writer if self.in_memory else self._connect(opened)
            self._opened = opened.pop_all()
        if self.in_memory:
            self._read_mutex = self._glance_mutex = self._write_mutex

    def _open_files(self, opened: contextlib.ExitStack) -> TurnLock:
        _create(self.path)
        opened.callback(one_library.unregister, one_library.register(self.path))
        lock = TurnLock(self.path)
        opened.callback(lock.close)
        return lock

    def _connect(self, opened: contextlib.ExitStack) -> apsw.Connection:
        if VERSION < SAFE_VERSION:
            warnings.warn(
                f"SQLite {apsw.sqlite_lib_version()} can corrupt a database after a crash (mended in 3.51.3); "
                "pip install --upgrade apsw brings a newer one",
                stacklevel=2,
            )
        with advice(self.path):
            connection = apsw.Connection(self.path, statementcachesize=CACHED_STATEMENTS)
            opened.callback(connection.close)
            connection.set_busy_timeout(round(BUSY_SECONDS * 1_000))
            connection.execute("pragma journal_mode = wal")
            connection.execute(f"pragma synchronous = {self._durability}")
            connection.execute("pragma foreign_keys = on")
            connection.execute("pragma temp_store = memory")
            connection.execute("pragma cache_size = -65536")
            # Large steps between checkpoints: each one copies every changed page once, however often it
            # changed.
            connection.execute("pragma wal_autocheckpoint = 4000")
        return connection

    @contextlib.contextmanager
    def write(self) -> Iterator[SqliteSession]:
        """Take turns with other processes, then own the one write lock. Never upgrades a read."""
        self._check_process()
        with self._write_mutex, self._turn(), advice(self.path), self._transaction():
            yield SqliteSession(self._writer)

    @contextlib.contextmanager
    def jot(self) -> Iterator[SqliteSession]:
        """The same, and the commit does not wait for the disk; the next one that does takes it along."""
        self._check_process()
        with self._write_mutex, self._turn(), advice(self.path):
            self._writer.execute("pragma synchronous = normal")
            try:
                with self._transaction():
                    yield SqliteSession(self._writer)
            finally:
                self._writer.execute(f"pragma synchronous = {self._durability}")

    @contextlib.contextmanager
    def join(self, connection: object) -> Iterator[SqliteSession]:
        """Work within the open transaction of another connection of our library; without one, in a
        transaction of our own.
        """
        self._check_joinable(connection)
        assert isinstance(connection, apsw.Connection)
        if not connection.in_transaction:
            with self.write() as session:
                yield session
            return
        try:
            with (
                advice(self.path),
                connection,
            ):  # a savepoint: if we fail, the caller's transaction is as it was
                yield SqliteSession(connection)
        except DatabaseProblem as problem:
            if isinstance(problem.__cause__, apsw.BusyError):
                raise DatabaseProblem(
                    f"your transaction cannot write to {self.path}: begin it with BEGIN IMMEDIATE"
                ) from problem.__cause__
            raise

    def _check_joinable(self, connection: object) -> None:
        if not isinstance(connection, apsw.Connection):
            found = f"{type(connection).__module__}.{type(connection).__qualname__}"
            raise UsageError(
                f"a transaction on SQLite is shared through an apsw.Connection, not a {found}. {one_library.ADVICE}"
            )
        if self.in_memory or not connection.filename or not Path(connection.filename).samefile(self.path):
            raise UsageError(
                f"the connection is to {connection.filename or 'a database in memory'}, the tasks are in {self.path}"
            )

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

    def _turn(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if self._turn_lock is None else self._turn_lock.held(BUSY_SECONDS)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise DatabaseProblem(
                f"{self.path} was opened by the process that this one was forked from: open it again in each process"
            )

    @contextlib.contextmanager
    def read(self) -> Iterator[SqliteSession]:
        """One consistent snapshot. Keep it short: a long reader stops the checkpoint."""
        self._check_process()
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
        self._check_process()
        with self._glance_mutex, advice(self.path):
            yield SqliteSession(self._glancer)

    def data_version(self) -> int:
        """A number that changes when another process has committed."""
        with self._read_mutex, advice(self.path):
            found: int = SqliteSession(self._reader).rows("pragma data_version")[0][0]
            return found

    def close(self) -> None:
        with self._write_mutex:
            if self.in_memory:
                self._opened.close()
                return
            with self._read_mutex, self._glance_mutex:
                self._opened.close()


def _create(path: str) -> None:
    """Make a new file for its owner alone, before SQLite would make it for everybody. The log beside it gets
    the same mode.
    """
    try:
        os.close(os.open(os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        pass
    except OSError as problem:
        raise DatabaseProblem(
            f"cannot write in the folder of {path}: {problem.strerror}. Choose another place with --database."
        ) from None


@contextlib.contextmanager
def advice(path: str) -> Iterator[None]:
    """Say what to do about what SQLite complains of."""
    try:
        yield
    except AWAY as problem:
        raise DatabaseProblem(_advise(path, problem)) from problem
    except apsw.TooBigError as problem:  # no second try can store it
        raise InvalidPayload(f"the database cannot store a value: {problem}") from problem
    except apsw.SQLError as problem:
        if not any(words in str(problem) for words in UNMIGRATED):
            raise
        raise DatabaseProblem(f"{path}: {problem}; bring it up to date with: thresher migrate") from problem


def _advise(path: str, problem: apsw.Error) -> str:
    match problem:
        case apsw.ReadOnlyError():
            return f"{path} is read-only: change its permissions or choose another file with --database"
        case apsw.FullError():
            return (
                f"the disk of {path} is full: nothing was written; free some space and go on, no task is lost"
            )
        case apsw.BusyError() | apsw.LockedError():
            return f"{path} was locked for {BUSY_SECONDS:g} seconds by another program (a backup? a shell?); close it and go on"
        case apsw.NotADBError():
            return f"{path} is not a Thresher database: choose another file with --database"
        case apsw.CorruptError():
            return f"{path} is damaged ({problem}): stop all workers and restore a backup, or try: sqlite3 {path} .recover"
        case apsw.CantOpenError():
            return f"cannot open {path}: does the folder {Path(path).resolve().parent} exist, and may you write there?"
        case _:
            return f"{path}: {problem}"
