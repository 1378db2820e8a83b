"""Keep a process to one SQLite library per database file.

SQLite locks a file with POSIX locks, and those belong to the process, not to the library that took them. When
a second library (Python's own `sqlite3` beside ours) opens the file and closes it, the kernel drops every
lock that this process holds on it, and another process can write in the middle of our transaction. So we
refuse to open a file that something else in this process has open, and refuse Python's own module a file that
we have open. Windows ties locks to handles and has no such hazard.
"""

import os
import sys
import threading
from typing import Any
from urllib.parse import unquote, urlsplit

import apsw

from thresher.core.errors import DatabaseProblem

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
