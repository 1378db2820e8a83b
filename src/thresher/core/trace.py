"""Where in the code of an app an error was raised: the last frames of its traceback, in short lines.

Frames of Thresher, of Python's library and of installed packages are left out: the author of the app cannot
mend them. An error that was raised in another process brings the frames it had there.
"""

import linecache
import os
import re
import sysconfig
from collections.abc import Callable
from functools import cache
from traceback import walk_tb
from types import CodeType
from typing import Any

from thresher.core.redaction import redact

MAX_FRAMES = 5
MAX_CODE = 120
MAX_TRACE = 1_200  # of the 2,000 characters of a stored message
_CARRIED = "_thresher_frames"
_FIRST, _NEXT = "\n  at ", "\n  from "
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120  paths of frames are texts
_SECRET = re.compile(
    r"""(?ix)
    ((?: password | passwd | secret | token | api_?key | authorization | bearer ) ["']? (?: \s*[:=,]\s* | \s+ ) )
    (?: [a-z]?["'] [^"']* ["'] | [^\s"',;)}\]]+ )
    """
)


def trace(problem: BaseException, function: Callable[..., Any] | None = None) -> str:
    """The frames of the app's own code, the one that raised first. If there are none, because the error is
    about what `function` returned, say where the function is.
    """
    frames = own_frames(problem, function)
    if not frames and (code := _code(function)):
        frames = [f"{_place(code.co_filename, code.co_firstlineno)} in {code.co_name}"]
    lines = [*(f"{_FIRST}{frame}" for frame in frames[:1]), *(f"{_NEXT}{frame}" for frame in frames[1:])]
    return "".join(lines)[:MAX_TRACE]


def has_trace(message: str | None) -> bool:
    """Whether a stored message says where in the code of an app its error was raised."""
    return _FIRST in (message or "")


def split_trace(message: str | None) -> tuple[str, list[str]]:
    """A stored message, and the frames that it ends with, the one that raised first."""
    said, found, frames = (message or "").partition(_FIRST)
    return said, frames.split(_NEXT) if found else []


def with_place(message: str | None) -> str:
    """A stored message with the frame that raised, for a line of a table."""
    said, frames = split_trace(message)
    return f"{said} (at {frames[0]})" if frames else said


def own_frames(problem: BaseException, function: Callable[..., Any] | None = None) -> list[str]:
    """The frames of the app's own code, the one that raised first. Files beside the function count as its
    own, wherever they are installed.
    """
    code = _code(function)
    found = list(getattr(problem, _CARRIED, ()))
    for frame, line in reversed(list(walk_tb(problem.__traceback__))):
        if _is_own(frame.f_code.co_filename, code.co_filename if code else None):
            found.append(_frame(frame.f_code, line))
            if len(found) >= MAX_FRAMES:
                break
    return found[:MAX_FRAMES]


def carry_frames(problem: BaseException, function: Callable[..., Any] | None) -> None:
    """Write the frames into the error: its traceback does not travel to another process."""
    setattr(problem, _CARRIED, own_frames(problem, function))


def hide_secrets(text: str) -> str:
    """Return a message or a line of code without what looks like a password or a key. Code names one in
    more ways than text does.
    """
    return _SECRET.sub(r"\1***", redact(text))


def alone(problem: BaseException) -> BaseException:
    """The error in a group of one: `asyncio.TaskGroup` wraps whatever its only failing task raised."""
    while isinstance(problem, BaseExceptionGroup) and len(problem.exceptions) == 1:
        problem = problem.exceptions[0]
    return problem


def _code(function: Callable[..., Any] | None) -> CodeType | None:
    found: Any = function
    for name in ("func", "__wrapped__"):  # of a partial, of a decorated function
        while hasattr(found, name):
            found = getattr(found, name)
    code = getattr(found, "__code__", None)
    return code if isinstance(code, CodeType) else None


def _is_own(file: str, home: str | None) -> bool:
    if file.startswith("<"):
        return False
    if home is None:
        return not any(file.startswith(root) for root in _libraries())
    folder = os.path.dirname(home) + os.sep  # noqa: PTH120
    if folder in _libraries():
        return file == home
    roots = [root for root in (*_libraries(), folder) if file.startswith(root)]
    return max(roots, key=len, default=folder) == folder


@cache
def _libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    roots = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")} | {_PACKAGE}
    return tuple(root + os.sep for root in roots)


def _frame(code: CodeType, line: int) -> str:
    said = " ".join(hide_secrets(linecache.getline(code.co_filename, line)).split())
    short = said if len(said) <= MAX_CODE else f"{said[: MAX_CODE - 1]}…"
    return f"{_place(code.co_filename, line)} in {code.co_name}" + (f": {short}" if short else "")


def _place(file: str, line: int) -> str:
    """Relative to the current folder where the file is below it."""
    here = os.getcwd() + os.sep  # noqa: PTH109
    return f"{file.removeprefix(here)}:{line}"
