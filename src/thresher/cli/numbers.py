"""Short numbers: `thresher jobs match 3 --applied` is about the third match of the list that was shown last.

Keys that a site or the machine has made are long, and nobody types them. A list of such keys has a column of
numbers, and every command that takes the key takes the number too. What the numbers mean is kept in the
person's own folder, for one database and one terminal: a list in another window changes nothing here.

Numbers are for people. Without a terminal a list has none, and a number that a script gives is a key like any
other. They stand only for keys that are never numbers themselves.
"""

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import typer

from thresher.cli.call import CommandCall
from thresher.cli.format import plain, span
from thresher.config.project import hide_password
from thresher.core.errors import ThresherError, UnknownName
from thresher.runtime import database_file

MAX_ROWS = 1_000  # that get a number; the rest of a longer list has keys only
MAX_AGE = 12 * 3_600.0  # seconds; nobody remembers for longer what a number meant
MAX_LISTS = 200  # kept at a time, over all databases and terminals
MAX_BYTES = 4_000_000  # of the file of one list
MAX_DIGITS = 9
STREAMS = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Numbered:
    """What is numbered: the plural of it, and the command that lists it."""

    plural: str
    listed_by: str

    def rows(self, keys: Sequence[str]) -> "NumberedRows":
        return NumberedRows(self, tuple(keys))


@dataclass(frozen=True, slots=True)
class NumberedRows:
    """The rows of one list by their keys, in the order in which they are shown."""

    of: Numbered
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeptList:
    """A list that was shown: when, and the keys of its rows."""

    at: float
    keys: tuple[str, ...]


def is_number(word: str) -> bool:
    """Tell whether a word may be a short number."""
    return word.isascii() and word.isdecimal()


def meant(of: Numbered, word: str, kept: KeptList | None, now: float) -> str:
    """Return the key that a number stands for, or refuse it with the reason."""
    if kept is None:
        raise UnknownName(
            f"there is no number {word[:MAX_DIGITS]}: this terminal has not shown {of.plural} of this database. "
            f"List them first: {of.listed_by}"
        )
    age = now - kept.at
    if not 0 <= age <= MAX_AGE:
        raise UnknownName(
            f"the last list of {of.plural} in this terminal is {span(abs(age))} old, too old for its numbers. "
            f"List them again: {of.listed_by}"
        )
    number = int(word) if len(word) <= MAX_DIGITS else 0
    if not 1 <= number <= len(kept.keys):
        raise UnknownName(
            f"there is no number {word[:MAX_DIGITS]}: the last list of {of.plural} in this terminal has 1 to "
            f"{len(kept.keys)}. List them again: {of.listed_by}"
        )
    return kept.keys[number - 1]


class ShortNumbers:
    """The lists that one terminal has shown of one database, each kind in a file of its own."""

    def __init__(self, folder: Path, database: str, terminal: str) -> None:
        self._folder, self._database, self._terminal = folder, database, terminal

    def keep(self, rows: NumberedRows) -> bool:
        """Keep what the numbers of a list mean. False if nothing can be kept: then it is shown without."""
        text = json.dumps({"at": time.time(), "keys": rows.keys[:MAX_ROWS]})
        if len(text) > MAX_BYTES:
            return False
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder)
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(text)
            Path(name).replace(self._file(rows.of))
        except OSError:
            return False
        with contextlib.suppress(OSError):  # another command has removed one meanwhile
            self._forget()
        return True

    def last(self, of: Numbered) -> KeptList | None:
        """Return the last list of a kind; None if there is none that can be read."""
        try:
            with self._file(of).open("rb") as file:
                found = json.loads(file.read(MAX_BYTES))
            return KeptList(float(found["at"]), tuple(map(str, found["keys"])))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _file(self, of: Numbered) -> Path:
        name = "\0".join((self._database, self._terminal, of.plural))
        return self._folder / f"{sha256(name.encode()).hexdigest()[:32]}.json"

    def _forget(self) -> None:
        """Remove the oldest lists where there are too many."""
        found = sorted(self._folder.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
        for file in found[MAX_LISTS:]:
            file.unlink(missing_ok=True)


def state_folder(environ: Mapping[str, str], system: str, home: Path) -> Path:
    """Return the folder where a program keeps what is no setting and no data of its user, by the custom of
    the system.
    """
    places = {
        "win32": Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local"),
        "darwin": home / "Library" / "Application Support",
    }
    custom = environ.get("XDG_STATE_HOME", "")
    linux = Path(custom) if Path(custom).is_absolute() else home / ".local" / "state"
    return places.get(system, linux) / "thresher" / "lists"


def terminal() -> str | None:
    """Return the name of the terminal that this process talks to; None if nobody sits at it."""
    stream = next((each for each in STREAMS if _is_terminal(each)), None)
    if stream is None:
        return None
    return os.ttyname(stream) if hasattr(os, "ttyname") else "console"


def _is_terminal(stream: int) -> bool:
    with contextlib.suppress(OSError):
        return os.isatty(stream)
    return False


def short_numbers(call: CommandCall) -> ShortNumbers | None:
    """Return the lists of this terminal and of the database of a call. None without a terminal, for a user
    without a home, and where the project cannot be read: the command itself says that, if it matters.
    """
    try:
        name, home = terminal(), Path.home()
        url = call.url(call.project()) if name else ""
        file = database_file(url) if name else None
        database = hide_password(url) if file is None else str(file.resolve())
    except (ThresherError, RuntimeError, OSError):
        return None
    return ShortNumbers(state_folder(os.environ, sys.platform, home), database, name) if name else None


def numbered(of: Numbered) -> Any:
    """Return the callback of an argument or option that takes a key or its short number."""

    def with_keys(ctx: typer.Context, value: Any) -> Any:
        if ctx.resilient_parsing or value is None:
            return value
        call = ctx.find_root().obj
        if isinstance(value, list | tuple):
            return [_key(call, of, each) for each in value]
        return _key(call, of, value)

    return with_keys


def _key(call: CommandCall, of: Numbered, word: str) -> str:
    numbers = short_numbers(call) if is_number(word) else None
    if numbers is None:
        return word
    key = meant(of, word, numbers.last(of), time.time())
    if not call.json:
        typer.echo(plain(f"{word} is {key}"), err=True)
    return key
