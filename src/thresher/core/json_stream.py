"""A large JSON object with one long list in it, read a piece at a time: first what stands beside the list,
then the list, one element after the other. However large the body is, only a few of its elements are in
memory.

The bytes come from a stranger. Each is looked at a bounded number of times, whatever they are; an element
that is too long, or nested too deeply, is passed over and told as such, and what is no JSON at all is refused
with the place where it stops being it.
"""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import orjson

from thresher.core.errors import UsageError

MAX_LENGTH = 262_144  # characters of one element, or of one member beside the list
MAX_MEMBERS = 100
# brackets and texts that are passed over; a list of nothing but brackets would keep us busy for minutes
MAX_MARKS = 1_000_000
AT_ONCE = 65_536  # characters of the list that are read in one go
_DIGITS = 20  # of a whole number that 64 bits hold; a larger one is a float, or no number that anybody means
_TRIES = 16  # places where one element may end and the next begin
_BEGINS = frozenset('{["-0123456789tfn')  # what a value begins with
_SPACE = re.compile(r"[ \t\n\r]*")
# What matters to where a value ends: brackets, and the beginning of a text.
_MARK = re.compile(r'[^"\[\]{}]*')
_TEXT_END = re.compile(r'(?:[^"\\]++|\\[\s\S])*+')
# Between two objects of a list; between two members it cannot stand.
_SEAM = re.compile(r"[ \t\n\r]*+,[ \t\n\r]*+\{")
_PLAIN_END = re.compile(r"[^,\]} \t\n\r]*")


class NotJson(UsageError):
    """A body that is not JSON, or not an object."""


@dataclass(frozen=True, slots=True)
class Passed:
    """An element that was skipped, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class StreamOutline:
    """The members beside the list, by name, and the length of the list; None if there is no list."""

    members: dict[str, Any] = field(default_factory=dict)
    length: int | None = None


def outline(pieces: Iterable[bytes], listed: str) -> StreamOutline:
    """Read the members of the object beside the list. Read the list only to check it and count it."""
    text, members, length = _Text(pieces), dict[str, Any](), None
    for name in _names(text):
        if name in members or (length is not None and name == listed):
            raise NotJson(f"the member {name[:80]!r} appears twice; send it once")
        if len(members) >= MAX_MEMBERS:
            raise NotJson(f"the body has more than {MAX_MEMBERS} members")
        if name == listed:
            length = sum(1 for _ in _listed(text, listed))
        else:
            members[name] = text.value()
            if isinstance(members[name], Passed):
                raise NotJson(f"the member {name[:80]!r} is {members[name].why}")
    return StreamOutline(members, length)


def elements(pieces: Iterable[bytes], listed: str) -> Iterator[Any]:
    """Yield the elements of the list, in order, each as soon as it has arrived: a value, or `Passed`."""
    text = _Text(pieces)
    for name in _names(text):
        if name == listed:
            yield from _listed(text, listed)
        else:
            text.value()


def _listed(text: "_Text", listed: str) -> Iterator[Any]:
    text.take("[", f"{listed} must be a list")
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        yield from text.several() or (text.value(),)
        if text.take(",]") == "]":
            return


def _names(text: "_Text") -> Iterator[str]:
    """Yield the names of the members, each when the text is positioned before its value. The caller must read
    the value before the next name.
    """
    text.take("{", "the body must be an object")
    if text.peek() != "}":
        while True:
            if text.peek() != '"':
                text.refuse("expected the name of a member")
            name = text.value()
            if isinstance(name, Passed):
                raise NotJson(f"the name of a member is {name.why}")
            text.take(":")
            yield name
            if text.take(",}") == "}":
                break
    else:
        text.take("}")
    if text.peek():
        text.refuse("there is more after the end of the object")


def _whole(digits: str) -> int | float:
    number = int(digits) if len(digits) <= _DIGITS else None
    return float(digits) if number is None or not -(2**63) <= number < 2**64 else number


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


_DECODER = json.JSONDecoder(parse_int=_whole, parse_constant=_constant, strict=False)


def _seam(text: str, begins: int, ends: int) -> int:
    """Return the last position in this range where an object seems to end with another one after it; 0 if
    there is none.
    """
    at = ends
    for _ in range(_TRIES):
        at = text.rfind("}", begins, at)
        if at < 0:
            return 0
        if _SEAM.match(text, at + 1):
            return at + 1
    return 0


class _Text:
    """The body as text, buffering only as much as the longest element needs."""

    __slots__ = ("_ahead", "_at", "_decode", "_ended", "_gone", "_marks", "_pieces", "_singly")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._ahead, self._at, self._gone, self._ended = "", 0, 0, False
        self._marks = self._singly = 0

    def _fill(self, wanted: int) -> None:
        """Buffer this many characters, or all that are left, and drop what was read."""
        if self._ended or len(self._ahead) - self._at >= wanted:
            return
        parts, missing = [self._ahead[self._at :]], wanted - len(self._ahead) + self._at
        while missing > 0 and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            try:
                more = self._decode.decode(piece or b"", final=self._ended)
            except UnicodeDecodeError:
                raise NotJson("the body is not UTF-8") from None
            parts.append(more)
            missing -= len(more)
        self._gone += self._at
        self._ahead, self._at = "".join(parts), 0

    def peek(self) -> str:
        """Return the next character that is not white space; empty at the end."""
        while True:
            self._at = _SPACE.match(self._ahead, self._at).end()  # type: ignore[union-attr]  # matches anything
            if self._at < len(self._ahead) or self._ended:
                return self._ahead[self._at : self._at + 1]
            self._fill(1)

    def take(self, wanted: str, says: str = "") -> str:
        """Take the next character, which must be one of these."""
        found = self.peek()
        if not found or found not in wanted:
            if says and found in _BEGINS:  # it is JSON, and not what was wanted
                raise NotJson(f"{says} (character {self._gone + self._at:,})")
            self.refuse(says or f"expected {' or '.join(wanted)}")
        self._at += 1
        return found

    def several(self) -> list[Any]:
        """The next values of a list, if they can be read in one go; none if they have to be read one by one.

        A guess where an element ends is enough: what stands before it is a whole list when it is closed
        there, or no JSON. Then it stands in a text, or within an element, or something is wrong; nothing
        before it is guessed at again.
        """
        if self._gone + self._at < self._singly:
            return []
        self._fill(AT_ONCE + 1)
        begins = self._at
        ends = _seam(self._ahead, begins, begins + AT_ONCE)
        if ends <= begins:
            return []
        try:
            values: list[Any] = orjson.loads(f"[{self._ahead[begins:ends]}]")
        except orjson.JSONDecodeError:
            self._singly = self._gone + ends
            return []
        self._at = ends
        return values

    def value(self) -> Any:
        """Read the next value."""
        if not self.peek():
            self.refuse("it ends too early")
        self._fill(MAX_LENGTH + 1)
        begins = self._at
        try:
            value, end = _DECODER.raw_decode(self._ahead, begins)
        except RecursionError:
            self.skip()
            return Passed("nested too deeply")
        except ValueError as problem:
            return self._passed(problem)
        if end - begins > MAX_LENGTH:
            self.skip()
            return Passed(f"longer than {MAX_LENGTH:,} characters")
        self._at = end
        return value

    def _passed(self, problem: ValueError) -> Passed:
        """Handle a value that cannot be read: skip it if it is too long, otherwise raise."""
        before = self._gone + self._at
        if self._ended:
            self._blame(problem)
        stood = self._ahead, self._at, self._gone
        self.skip()
        if self._gone + self._at - before <= MAX_LENGTH:
            self._ahead, self._at, self._gone = stood
            self._blame(problem)
        return Passed(f"longer than {MAX_LENGTH:,} characters")

    def _blame(self, problem: ValueError) -> NoReturn:
        place = self._gone + (problem.pos if isinstance(problem, json.JSONDecodeError) else self._at)
        says = problem.msg if isinstance(problem, json.JSONDecodeError) else str(problem)
        raise NotJson(f"the body is not JSON: {says} (character {place:,})") from None

    def skip(self) -> None:
        """Skip the next value, whatever its length, by its brackets and strings alone."""
        depth, opening = 0, self.peek()
        if opening not in '"[{':
            self._run(_PLAIN_END)
            return
        while True:
            mark = self._run(_MARK)
            self._at += 1
            self._marks += 1
            if self._marks > MAX_MARKS:
                raise NotJson(
                    f"values longer than {MAX_LENGTH:,} characters have too many brackets; send the "
                    "body in parts"
                )
            if mark == '"':
                self._skip_text()
            else:
                depth += 1 if mark in "[{" else -1
            if depth == 0:
                return

    def _skip_text(self) -> None:
        while self._run(_TEXT_END) == "\\":
            # The last character of a piece: what it stands before is in the next one.
            self._fill(2)
            if len(self._ahead) - self._at < 2:
                self.refuse("it ends too early")
        self._at += 1

    def _run(self, pattern: re.Pattern[str]) -> str:
        """Advance to the end of the pattern, over as many chunks as necessary; return the next character."""
        while True:
            found = pattern.match(self._ahead, self._at)
            assert found is not None  # they match nothing, too
            self._at = found.end()
            if self._at < len(self._ahead):
                return self._ahead[self._at]
            if self._ended and pattern is not _PLAIN_END:
                self.refuse("it ends too early")
            if self._ended:
                return ""
            self._fill(1)

    def refuse(self, says: str) -> NoReturn:
        raise NotJson(f"the body is not JSON: {says} (character {self._gone + self._at:,})")
