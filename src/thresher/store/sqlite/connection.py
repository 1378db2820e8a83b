"""Open SQLite safely (write lock, one library per file, known versions), and turn its errors into advice."""

import contextlib
import logging
import os
import queue
import stat
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shutil import disk_usage
from typing import Any
from urllib.parse import unquote, urlsplit

import apsw

from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem, InvalidPayload, UsageError
from thresher.core.limits import check_integers, without_controls
from thresher.store.session import JSON_LIST, SQLITE, Params, Row, spread

log = logging.getLogger("thresher.store")
# Nobody waits in silence: after so many seconds it is said for whom.
WORD_SECONDS = 2.0

# The lock file with which processes take turns to write, with a limit on the wait.
#
# SQLite's own writers poll and starve each other: one of eight did 3 % of another's work. `flock` queues
# them, but waits without a limit, and a process that was stopped in the middle of its turn would hold up
# everybody for ever. So a free lock is taken at once; for a busy one a thread of its own stands in the
# queue, and the caller waits for that thread only as long as the limit allows.

try:
    import fcntl
except ImportError:  # Windows: SQLite's own lock still keeps writers apart, it is only less fair
    fcntl = None  # type: ignore[assignment]

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


class TurnLock:
    """The turn of one open database. Its owner asks for it one caller at a time."""

    def __init__(self, database: str) -> None:
        self._database = database
        self._file: int | None = None if fcntl is None else _open(f"{database}-turn", database)
        self._asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._mutex = threading.Lock()
        self._granted = threading.Semaphore(0)
        self._queue: threading.Thread | None = None
        self._queueing = self._wanted = False

    @contextlib.contextmanager
    def held(self, seconds: float) -> Iterator[None]:
        """Have the turn for the length of a block."""
        if self._file is None:
            yield
            return
        self._take(self._file, seconds)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _take(self, file: int, seconds: float) -> None:
        with self._mutex:
            if not self._queueing:
                if self._try(file):
                    return
                self._stand_in_line(file)
            self._wanted = True
        try:
            if self._granted.acquire(timeout=min(seconds, WORD_SECONDS)):
                return
            if seconds > WORD_SECONDS:
                holder = without_controls(_holder(file))
                log.warning("waiting for %s, which holds the write lock of %s", holder, self._database)
                if self._granted.acquire(timeout=seconds - WORD_SECONDS):
                    return
        except BaseException:  # a person pressed Ctrl-C
            if not self._leave():
                fcntl.flock(file, fcntl.LOCK_UN)
            raise
        if self._leave():
            raise DatabaseProblem(
                f"{self._database} cannot be written: {_holder(file)} has held its write lock for {seconds:g} seconds"
            )

    def _leave(self) -> bool:
        """Stop waiting. The thread stays in line: the next caller waits with it, or it lets the turn pass.
        False if the turn is ours.
        """
        with self._mutex:
            if self._granted.acquire(blocking=False):
                return False
            self._wanted = False
            return True

    def _try(self, file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as problem:
            raise DatabaseProblem(
                f"cannot lock {self._database}-turn: {problem.strerror}. Put the database on a local disk."
            ) from problem
        return True

    def _stand_in_line(self, file: int) -> None:
        if self._queue is None:
            # A daemon: a process must be able to end while another one holds the turn.
            self._queue = threading.Thread(target=self._wait_in_line, args=(file,), name="turn", daemon=True)
            self._queue.start()
        self._queueing = True
        self._asked.put(True)

    def _wait_in_line(self, file: int) -> None:
        while self._asked.get():
            with contextlib.suppress(OSError):  # closed meanwhile
                fcntl.flock(file, fcntl.LOCK_EX)
            with self._mutex:
                self._queueing = False
                if self._wanted:
                    self._wanted = False
                    self._granted.release()
                elif self._file is not None:
                    fcntl.flock(file, fcntl.LOCK_UN)

    def close(self) -> None:
        with self._mutex:
            file, self._file = self._file, None
            self._asked.put(False)
        if file is not None:
            os.close(file)


def _open(path: str, database: str) -> int:
    """Open the lock file, or make it, for those who may write the database and nobody else: who can open it
    can hold it.
    """
    try:
        file = os.open(path, _FLAGS, 0o600)
    except OSError as problem:
        raise DatabaseProblem(
            f"cannot open {path}: {problem.strerror}. Run this as the user it belongs to, or choose another place with --database."
        ) from None
    try:
        _check_owner(path, os.fstat(file), os.stat(database))  # noqa: PTH116  beside fstat
        _narrow(file, os.stat(database).st_mode)  # noqa: PTH116
    except BaseException:
        os.close(file)
        raise
    return file


def _check_owner(path: str, lock: os.stat_result, database: os.stat_result) -> None:
    if not stat.S_ISREG(lock.st_mode):
        raise DatabaseProblem(f"{path} is not a regular file: remove it, and Thresher creates it again")
    shared = database.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not shared and lock.st_uid not in (os.geteuid(), database.st_uid, 0):
        raise DatabaseProblem(
            f"{path} belongs to another user (id {lock.st_uid}), who could keep this database "
            "locked: remove it, and Thresher creates it again"
        )


def _narrow(file: int, database_mode: int) -> None:
    writers = stat.S_IRUSR | stat.S_IWUSR
    for may_write, both in (
        (stat.S_IWGRP, stat.S_IRGRP | stat.S_IWGRP),
        (stat.S_IWOTH, stat.S_IROTH | stat.S_IWOTH),
    ):
        writers |= both if database_mode & may_write else 0
    found = os.fstat(file)
    if stat.S_IMODE(found.st_mode) != writers and found.st_uid == os.geteuid():
        os.fchmod(file, writers)


def _holder(file: int) -> str:
    """Who holds the lock, as well as this system can tell."""
    found = os.fstat(file)
    name = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    try:
        # "1: FLOCK  ADVISORY  WRITE 4711 fe:00:2146340 0 EOF"; who waits for it has an arrow after the
        # number.
        rows = [line.split() for line in Path("/proc/locks").read_text("ascii").splitlines()]
        pid = next(int(row[4]) for row in rows if row[1] == "FLOCK" and row[5] == name)
        return f"process {pid} ({_condition(pid)})"
    except (OSError, StopIteration, ValueError, IndexError):
        return "another process"


def _condition(pid: int) -> str:
    words = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    command, state = words[words.index("(") + 1 : words.rindex(")")], words[words.rindex(")") + 2]
    stopped = state in "tT"
    return f"{command}, stopped: continue it with kill -CONT {pid}, or end it" if stopped else command


# Keep a process to one SQLite library per database file.
#
# SQLite locks a file with POSIX locks, and those belong to the process, not to the library that took them.
# When a second library (Python's own `sqlite3` beside ours) opens the file and closes it, the kernel drops
# every lock that this process holds on it, and another process can write in the middle of our transaction.
# So we refuse to open a file that something else in this process has open, and refuse Python's own module a
# file that we have open. Windows ties locks to handles and has no such hazard.

FileId = tuple[int, int]

DESCRIPTORS = "/dev/fd"
ADVICE = (
    "Two SQLite libraries in one process release each other's locks on a file. Use the store's or the client's own connection, "
    "use apsw (the library that Thresher uses), or open the file in another process."
)

_mutex = threading.Lock()
_ours: dict[FileId, int] = {}
_hooked = False


def register(path: str) -> FileId:
    """Note that we open an existing file. Refuse it if something else in this process has it open."""
    global _hooked  # noqa: PLW0603  a hook can be added to a process once and never removed
    found = _file_id(path)
    with _mutex:
        if found not in _ours and _open_elsewhere(found):
            raise DatabaseProblem(f"{path} is already open in this process, and not by Thresher. {ADVICE}")
        _ours[found] = _ours.get(found, 0) + 1
        if not _hooked and os.name == "posix":
            sys.addaudithook(_refuse_other_library)
            _hooked = True
    return found


def unregister(file: FileId) -> None:
    """Note that one of our connections to a file is closed."""
    with _mutex:
        left = _ours.pop(file, 1) - 1
        if left > 0:
            _ours[file] = left


def _refuse_other_library(event: str, args: tuple[Any, ...]) -> None:
    """Stop Python's own module before it opens a file of ours. Called for every audited event, so it must be
    quick.
    """
    if event != "sqlite3.connect" or not _ours:
        return
    path = _path_of(args[0])
    try:
        known = _file_id(path) in _ours
    except (OSError, TypeError, ValueError):
        return  # no such file, or not a file name
    if known:
        raise DatabaseProblem(
            f"{path} is open in this process through Thresher, and cannot be opened with sqlite3 as well. {ADVICE}"
        )


def _path_of(database: Any) -> Any:
    name = os.fsdecode(database) if isinstance(database, bytes) else database
    return unquote(urlsplit(name).path) if isinstance(name, str) and name.startswith("file:") else name


def _file_id(path: str | os.PathLike[str]) -> FileId:
    found = os.stat(path)  # noqa: PTH116  whatever names a file
    return found.st_dev, found.st_ino


def _open_elsewhere(file: FileId) -> bool:
    """Whether this process has the file open, other than through our library."""
    if os.name != "posix" or not any(_is_same(os.fstat, int(name), file) for name in _descriptors()):
        return False
    return not any(_is_same(os.stat, connection.filename, file) for connection in apsw.connections())


def _descriptors() -> list[str]:
    try:
        return os.listdir(DESCRIPTORS)  # noqa: PTH208  numbers, not paths
    except OSError:
        return []


def _is_same(look: Any, at: int | str, file: FileId) -> bool:
    try:
        found = look(at)
    except OSError:
        return False  # closed meanwhile, or a database in memory
    return (found.st_dev, found.st_ino) == file


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
SPARE = 1 << 20  # bytes; with less a disk counts as full
UNMIGRATED = (
    "no such table",
    "no such column",
    "has no column named",
)  # SQLite has no code of its own for these


class _BusyWait:
    """Waits for a lock that a program holds which takes no turns. Says so after a moment, and gives up at
    last.
    """

    def __init__(self, path: str) -> None:
        self._path, self._since, self._told = path, 0.0, False

    def __call__(self, calls: int) -> bool:
        now = monotonic()
        if calls == 0:
            self._since, self._told = now, False
        if now - self._since >= BUSY_SECONDS:
            return False
        if now - self._since >= WORD_SECONDS and not self._told:
            self._told = True
            log.warning("waiting for another program that has locked %s (a backup? a shell?)", self._path)
        time.sleep(min(0.05, 0.001 * 2 ** min(calls, 6)))
        return True


class SqliteSession:
    """A transaction on one connection."""

    dialect = SQLITE
    __slots__ = ("_before", "_connection", "_cursor", "app_events", "warnings")

    def __init__(self, connection: apsw.Connection, app_events: Collection[str] | None = None) -> None:
        self._connection, self.app_events = connection, app_events
        self._cursor = connection.cursor()
        self._before = connection.total_changes()
        self.warnings: list[str] = []

    @property
    def changed(self) -> int:
        return self._connection.total_changes() - self._before

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

    def batches(self, sql: str, at_once: int) -> Iterator[list[Row]]:
        cursor = self._connection.cursor().execute(sql)
        while batch := list(islice(cursor, at_once)):
            yield batch


class SqliteFile:
    """A database file: one connection that writes, one that reads, one for single looks, and the lock by
    which writers take turns.
    """

    def __init__(self, path: str, durability: str) -> None:
        self.path = path
        self.in_memory = path == ":memory:"
        self._durability = DURABILITY[durability]
        self.app_events: Collection[str] | None = None
        self._process = os.getpid()
        self._write_mutex = threading.Lock()
        self._read_mutex = threading.Lock()
        self._autocommit_mutex = threading.Lock()
        with contextlib.ExitStack() as opened:
            self._turn_lock = None if self.in_memory else self._open_files(opened)
            self._writer = self._connect(opened)
            # A database in memory exists once; reads then share the writer's connection and its mutex.
            self._reader = self._writer if self.in_memory else self._connect(opened)
            # Whoever reads a whole table must not hold up who looks at a row.
            self._autocommit_reader = self._writer if self.in_memory else self._connect(opened)
            self._opened = opened.pop_all()
        if self.in_memory:
            self._read_mutex = self._autocommit_mutex = self._write_mutex

    def _open_files(self, opened: contextlib.ExitStack) -> TurnLock:
        _create(self.path)
        opened.callback(unregister, register(self.path))
        lock = TurnLock(self.path)
        opened.callback(lock.close)
        return lock

    def _connect(self, opened: contextlib.ExitStack) -> apsw.Connection:
        if VERSION < SAFE_VERSION:
            warnings.warn(
                f"SQLite {apsw.sqlite_lib_version()} can corrupt a database after a crash (fixed in "
                "3.51.3); to upgrade: pip install --upgrade apsw",
                stacklevel=2,
            )
        with advice(self.path):
            connection = apsw.Connection(self.path, statementcachesize=CACHED_STATEMENTS)
            opened.callback(connection.close)
            connection.set_busy_handler(_BusyWait(self.path))
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
    def write(self, *, durable: bool = True) -> Iterator[SqliteSession]:
        """Take turns with other processes, then own the one write lock. Never upgrade a read.

        A commit that is not `durable` does not wait for the disk; the next one that does takes it along.
        """
        self._check_process()
        with self._write_mutex, self._turn(), advice(self.path):
            if not durable:
                self._writer.execute("pragma synchronous = normal")
            try:
                with self._transaction():
                    yield SqliteSession(self._writer, self.app_events)
            finally:
                if not durable:
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
                yield SqliteSession(connection, self.app_events)
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
                f"a transaction on SQLite is shared through an apsw.Connection, not a {found}. {ADVICE}"
            )
        if self.in_memory or not connection.filename or not Path(connection.filename).samefile(self.path):
            raise UsageError(
                f"the connection is to {connection.filename or 'a database in memory'}, but the "
                f"tasks are in {self.path}"
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
                f"{self.path} was opened before this process was forked: open it again in each process"
            )

    @contextlib.contextmanager
    def read(self, *, autocommit: bool = False) -> Iterator[SqliteSession]:
        """One consistent snapshot. Keep it short: a long reader stops the checkpoint.

        With `autocommit`, single looks by key, each at the newest.
        """
        self._check_process()
        if autocommit:
            with self._autocommit_mutex, advice(self.path):
                yield SqliteSession(self._autocommit_reader)
            return
        with self._read_mutex, advice(self.path):
            self._reader.execute("begin")
            try:
                yield SqliteSession(self._reader)
            finally:
                if self._reader.in_transaction:
                    self._reader.execute("rollback")

    def data_version(self) -> int:
        """A number that changes when another connection than that of the readers has committed."""
        with self._read_mutex, advice(self.path):
            found: int = SqliteSession(self._reader).rows("pragma data_version")[0][0]
            return found

    def change_mark(self) -> int:
        """A number that changes when anybody has committed, we too. In memory there is one connection, and
        nobody else.
        """
        if not self.in_memory:
            return self.data_version()
        with self._write_mutex:
            return self._writer.total_changes()

    def close(self) -> None:
        with self._write_mutex:
            if self.in_memory:
                self._opened.close()
                return
            with self._read_mutex, self._autocommit_mutex:
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
            return _full(path)
        case apsw.IOError():
            # Where there is no room for a file beside the database, SQLite calls it so.
            if disk_usage(Path(path).resolve().parent).free < SPARE:
                return _full(path)
            return f"the disk of {path} does not read or write ({problem}): check the disk, and that the folder is there"
        case apsw.BusyError() | apsw.LockedError():
            return (
                f"{path} was locked for {BUSY_SECONDS:g} seconds by another program (a backup? a "
                "shell?); close it and try again"
            )
        case apsw.NotADBError():
            return f"{path} is not a Thresher database: choose another file with --database"
        case apsw.CorruptError():
            return f"{path} is damaged ({problem}): stop all workers and restore a backup, or try: sqlite3 {path} .recover"
        case apsw.CantOpenError():
            return f"cannot open {path}: does the folder {Path(path).resolve().parent} exist, and may you write there?"
        case _:
            return f"{path}: {problem}"


def _full(path: str) -> str:
    return (
        f"the disk of {path} is full: nothing was written and no task is lost; free some space and try again"
    )
