"""Plain text for searching: Markdown, entities, escapes and invisible characters removed, digits and spaces
unified.

Every character remembers its original position, so that whatever is found can be quoted. Structure stays, as
one character each: a line break, a list item, a table cell, the end of a block. URLs and mail addresses
become private-use characters: still comparable, but no word or number is found inside one.
"""

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from urllib.parse import quote

MAX_CHARACTERS = 8_000_000  # characters that are read; what stands behind them is not found

BREAK, ITEM, CELL, BLOCK = "\n", "\v", "\t", "\f"
BREAKS = BREAK + ITEM + CELL + BLOCK
PRIVATE = 0xE000

_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_SPECIAL = re.compile(rf"[\[\]\\&<*_~`|]|[{_UNSEEN}]|[^\S ]|  ")
_HIDDEN = re.compile(f"[{_UNSEEN}]+")
_SPACE = re.compile(r"\s+")
_EMPHASIS = re.compile(r"[*_~`]+")
_TARGET = re.compile(
    r"\]\(<?([^()\s<>]{0,8200}(?:\([^()\s<>]{0,500}\)[^()\s<>]{0,2000}){0,3})>?(?: (?:\"[^\"\n]{0,500}\"|'[^'\n]{0,500}'))?\)"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]{0,20})(?:[\s/][^<>\n]{0,300})?>")
_BREAKING = re.compile(r"br|p|div|[uod]l|li|t[rdh]|d[td]|h[1-6]|section|article|blockquote|pre")
_MARKER = re.compile(r"(?:>[ \t]?){0,20}(?:(#{1,6})[ \t]|([-*+•▪◦‣·–—])[ \t]|(?=\d{1,3}([.)])[ \t])|(\|))?")
_ADDRESS = re.compile(
    r"(?:https?://|ftp://|(?<![\w./@-])www\.)[^\s<>()\[\]\"'|*`]{1,8200}"
    r"|(?<![\w.+%-])[A-Za-z0-9][\w.+%-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
)
# Minus signs and decimal marks of other scripts, as the readers of numbers know them.
_ALIKE = {"−": "-", "﹣": "-", "－": "-", "٫": ".", "٬": ",", "，": ",", "．": ".", "\u2044": "/"}


@dataclass(frozen=True, slots=True)
class FoundAddress:
    """An address in the text, as written, and where it stands."""

    written: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlainText:
    """`text`, and for each of its characters where the original one starts and ends."""

    text: str
    starts: "array[int]"
    ends: "array[int]"
    addresses: tuple[FoundAddress, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of characters `start` to `end` of this text."""
        return self.starts[start], self.ends[end - 1]


def level(text: str) -> PlainText:
    """Never raises; takes time in proportion to the text."""
    return _Walk(text[:MAX_CHARACTERS]).run()


class _Digits(dict[int, str | int]):
    """Any script's digits are the ten we know; filled as characters are met."""

    def __missing__(self, code: int) -> str | int:
        char = chr(code)
        found: str | int = str(unicodedata.decimal(char)) if char.isdecimal() else _ALIKE.get(char, code)
        self[code] = found
        return found


_DIGITS = _Digits()


class _Walk:
    """One pass over the text, from one special character to the next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        self._starts = array("l")
        self._ends = array("l")
        self._addresses: list[FoundAddress] = []
        self._at = 0
        self._last = BLOCK
        self._alone = False  # this line is a heading or a row: nothing runs on into the next
        self._row = False

    def run(self) -> PlainText:
        text = self._text
        self._begin_line()
        for start, written in _events(text):
            if start < self._at:
                continue
            self._copy(start)
            if written:
                self._address(written, start)
            else:
                self._special(text[start], start)
        self._copy(len(text))
        joined = "".join(self._pieces)
        plain = joined if joined.isascii() else joined.translate(_DIGITS)
        return PlainText(plain, self._starts, self._ends, tuple(self._addresses))

    def _copy(self, end: int) -> None:
        if end > self._at:
            self._pieces.append(self._text[self._at : end])
            self._starts.extend(range(self._at, end))
            self._ends.extend(range(self._at + 1, end + 1))
            self._last = self._text[end - 1]
            self._at = end

    def _put(self, shown: str, start: int, end: int) -> None:
        """Write `shown` for what stands from `start` to `end`. A second space in a row is none."""
        if shown and not (shown == " " and self._last in f" {BREAKS}"):
            self._pieces.append(shown)
            self._starts.extend([start] * len(shown))
            self._ends.extend([end] * len(shown))
            self._last = shown[-1]
        self._at = end

    def _special(self, char: str, at: int) -> None:
        if char.isspace():
            self._blank(at)
        elif char in "[]":
            self._bracket(at)
        elif char in "*_~`":
            self._emphasis(at)
        elif char == "|":
            self._put(CELL if self._row else "|", at, at + 1)
        elif char in "\\&<":
            self._markup(char, at)
        else:
            hidden = _HIDDEN.match(self._text, at)
            assert hidden is not None, "every other special character is invisible"
            self._put("", at, hidden.end())

    def _markup(self, char: str, at: int) -> None:
        if char == "\\" and (escaped := _ESCAPE.match(self._text, at)) is not None:
            self._put(escaped[1], at, escaped.end())
        elif char == "&" and (entity := _ENTITY.match(self._text, at)) is not None:
            shown = _HIDDEN.sub("", unescape(entity[0]))
            self._put(" " if shown.isspace() else shown, at, entity.end())
        elif char == "<" and (tag := _TAG.match(self._text, at)) is not None:
            name = tag[1].lower()
            self._put(
                BREAK if _BREAKING.fullmatch(name) else " " if name in ("sup", "sub") else "", at, tag.end()
            )
        else:
            self._put(char, at, at + 1)

    def _bracket(self, at: int) -> None:
        target = _TARGET.match(self._text, at)
        if target is None:
            self._put(" ", at, at + 1)  # a space, as "5[1]" is a five with a note
            return
        self._addresses.append(FoundAddress(target[1], target.start(1), target.end(1)))
        self._put(" ", at, target.end())

    def _emphasis(self, at: int) -> None:
        """Gone where it stands at the edge of a word or amid letters; amid digits it may be arithmetic, amid
        a name it is a letter.
        """
        run = _EMPHASIS.match(self._text, at)
        assert run is not None, "called on one of them"
        before, after = self._text[at - 1 : at], self._text[run.end() : run.end() + 1]
        inside = before.isalnum() and after.isalnum()
        kept = inside and ("_" in run[0] or not (before.isalpha() and after.isalpha()))
        self._put(run[0] if kept else "", at, run.end())

    def _address(self, written: str, at: int) -> None:
        if not (written.startswith("www.") or "://" not in written):
            self._addresses.append(FoundAddress(written, at, at + len(written)))
        elif written.startswith("www."):
            self._addresses.append(FoundAddress(f"http://{written}", at, at + len(written)))
        safe = (
            quote(written.lower(), safe="/:?#[]@!$&'()*+,;=%~") if not written.isascii() else written.lower()
        )
        self._put("".join(chr(PRIVATE + ord(char)) for char in safe), at, at + len(written))

    def _blank(self, at: int) -> None:
        run = _SPACE.match(self._text, at)
        assert run is not None, "called on white space"
        lines = run[0].count("\n")
        if not lines:
            self._put(CELL if "\t" in run[0] and self._last not in BREAKS else " ", at, run.end())
            return
        self._at = run.end()
        apart = BLOCK if lines > 1 or self._alone or self._last == BLOCK else BREAK
        kind = self._begin_line()
        self._break(BLOCK if apart == BLOCK or self._alone else kind, at, self._at)

    def _break(self, kind: str, start: int, end: int) -> None:
        if self._last in BREAKS and self._pieces:  # a line with nothing on it but marks
            self._pieces[-1] = self._pieces[-1][:-1] + BLOCK
            self._last = BLOCK
        else:
            self._put(kind, start, end)

    def _begin_line(self) -> str:
        """Step over what marks a line, and say how it hangs together with the line before."""
        marker = _MARKER.match(self._text, self._at)
        assert marker is not None, "it matches nothing as well"
        self._row = marker[4] is not None
        self._alone = self._row or marker[1] is not None
        self._at = marker.end()
        return ITEM if marker[2] or marker[3] else BREAK


def _events(text: str) -> Iterator[tuple[int, str]]:
    """Where something special stands, in order; with an address, the address."""
    addresses = _addresses(text)
    ahead = next(addresses, None)
    for special in _SPECIAL.finditer(text):
        while ahead is not None and ahead[0] <= special.start():
            yield ahead
            ahead = next(addresses, None)
        yield special.start(), ""
    while ahead is not None:
        yield ahead
        ahead = next(addresses, None)


def _addresses(text: str) -> Iterator[tuple[int, str]]:
    if "://" in text or "@" in text or "www." in text:
        for found in _ADDRESS.finditer(text):
            yield found.start(), found[0].rstrip(".,;:!?")
