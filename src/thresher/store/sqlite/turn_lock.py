"""The lock file that lets processes write to a database in turn, with a limit on the wait.

SQLite's own writers poll and starve each other: one of eight did 3 % of another's work. `flock` queues them,
but waits without a limit, and a process that was stopped in the middle of its turn would hold up everybody
for ever. So a free lock is taken at once; for a busy one a thread of its own stands in the queue, and the
caller waits for that thread only as long as the limit allows.
"""

import contextlib
import os
import queue
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

from thresher.core.errors import DatabaseProblem

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
            if self._granted.acquire(timeout=seconds):
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
            f"cannot open {path}: {problem.strerror}. Remove it, or choose another place with --database."
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
        raise DatabaseProblem(f"{path} is not a regular file: remove it, Thresher makes it anew")
    shared = database.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not shared and lock.st_uid not in (os.geteuid(), database.st_uid, 0):
        raise DatabaseProblem(
            f"{path} belongs to another user (id {lock.st_uid}), who could keep this database locked: remove it, Thresher makes it anew"
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
