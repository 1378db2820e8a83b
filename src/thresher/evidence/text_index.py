"""A text index: one text in which values are searched, cleaned, normalised and indexed once.

Structured data becomes an index too, one value per paragraph, so that there is one way of searching. A
position is an offset in a text, or the JSON path of a value.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from typing import Any

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.evidence import Place
from thresher.core.keys import MAX_URL, canonical_url
from thresher.evidence.days import FoundDay, days, order
from thresher.evidence.normalise import Folded, fold
from thresher.evidence.numbers import Number, numbers
from thresher.evidence.plain_text import PlainText, level
from thresher.evidence.sums import FoundSum, named_currencies, sums
from thresher.evidence.words import MAX_PLACES

# Addresses of a page: whether one of them leads where a value says, however either is written.

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_CONTACT = re.compile(r"mailto:|tel:", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}(?:/\S{0,2000})?", re.IGNORECASE)


def destination(written: str, near: str | None) -> str | None:
    """Where an address leads, without its scheme and last slash, or None. `near` is the page that it stands
    on.
    """
    address = written.strip()
    if not address or len(address) > MAX_URL or address.startswith("#"):
        return None
    if _CONTACT.match(address):
        return address.lower()
    if not _SCHEME.match(address):
        address = _whole(address, near)
    try:
        found = canonical_url(address)
    except InvalidUrl:
        # Without the page's own address, a path can still be compared with a path.
        return address if address.startswith("/") else None
    return found.partition("://")[2].removesuffix("/")


def _whole(address: str, near: str | None) -> str:
    if _HOST.fullmatch(address) and not address.startswith("/"):
        return f"http://{address}"
    try:
        return ada_url.join_url(near, address) if near else address
    except ValueError:
        return address


# Every value of structured data with its JSON path, in document order.

MAX_LEAVES = 50_000
MAX_DEPTH = 64
MAX_PATH = 2_000  # characters; keys as long as a book are nobody's field

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class JsonValue:
    """One value of the data. `key` is the name it is kept under, `beside` the object that it is a part of."""

    value: str | int | float | bool
    path: str
    key: str
    beside: Any


def leaves(data: Any) -> Iterator[JsonValue]:
    """Depth first, without recursion: data nests as deep as its sender likes."""
    stack: list[tuple[Any, str, str, Any, int]] = [(data, "$", "", None, 0)]
    count = 0
    while stack and count < MAX_LEAVES:
        value, path, key, beside, depth = stack.pop()
        if len(path) > MAX_PATH:
            continue
        if isinstance(value, (str, int, float)):
            count += 1
            yield JsonValue(value, path, key, beside)
        elif depth < MAX_DEPTH:
            stack.extend(
                (each, f"{path}{step}", name, around, depth + 1)
                for each, step, name, around in reversed(_inside(value, key))
            )


def _inside(value: Any, key: str) -> list[tuple[Any, str, str, Any]]:
    if isinstance(value, dict):
        return [(each, _step(str(name)), str(name), value) for name, each in list(value.items())[:MAX_LEAVES]]
    if isinstance(value, list):
        return [(each, f"[{at}]", key, None) for at, each in enumerate(value[:MAX_LEAVES])]
    return []


def _step(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return f".{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"


_PATH = re.compile(r"/[^\s/][^\s]{0,8000}")  # an address within the site: no word of it is a word of the page
MAX_QUOTE = 200  # characters of a leaf that is quoted whole

Span = tuple[int, int]


class TextIndex:
    """`text` as it is stored, and what stands in it by kind. Spans are of the level text; `place` turns one
    into a place.
    """

    def __init__(self, text: str, *, url: str | None = None, today: date | None = None) -> None:
        self.text = text
        self.url = url
        self.today = today

    @cached_property
    def level(self) -> PlainText:
        return level(self.text)

    @cached_property
    def folded(self) -> Folded:
        return fold(self.level)

    @cached_property
    def bare(self) -> Folded:
        return self.folded if self.level.text.isascii() else fold(self.level, bare=True)

    @cached_property
    def numbers(self) -> Mapping[Decimal, list[Number]]:
        found: dict[Decimal, list[Number]] = defaultdict(list)
        for number in numbers(self.level.text):
            if len(found[number.value]) < MAX_PLACES:
                found[number.value].append(number)
        return dict(found)

    @cached_property
    def sums(self) -> Mapping[Decimal, list[FoundSum]]:
        found: dict[Decimal, list[FoundSum]] = defaultdict(list)
        for each in sums(self.level.text):
            if len(found[each.value]) < MAX_PLACES:
                found[each.value].append(each)
        return dict(found)

    @cached_property
    def currencies(self) -> frozenset[str]:
        return named_currencies(self.level.text)

    @cached_property
    def day_first(self) -> bool | None:
        return order(self.level.text)

    @cached_property
    def days(self) -> Mapping[date, list[FoundDay]]:
        found: dict[date, list[FoundDay]] = defaultdict(list)
        for each in days(self.level.text, day_first=self.day_first, today=self.today):
            if len(found[each.day]) < MAX_PLACES:
                found[each.day].append(each)
        return dict(found)

    @cached_property
    def addresses(self) -> Mapping[str, list[Place]]:
        """Places by where an address leads; they are in the stored text already, as a link's target is not
        read.
        """
        found: dict[str, list[Place]] = defaultdict(list)
        for written, place in self._addresses():
            to = destination(written, self.url)
            if to is not None and len(found[to]) < MAX_PLACES:
                found[to].append(place)
        return dict(found)

    def _addresses(self) -> Iterator[tuple[str, Place]]:
        for each in self.level.addresses:
            yield each.written, Place(self.text[each.start : each.end], each.start, each.end)

    def place(self, start: int, end: int) -> Place | None:
        """The place of a span of the level text; None where that is none."""
        first, last = self.level.span(start, end)
        return Place(self.text[first:last], first, last)

    def position(self, place: Place) -> int:
        """Where a place stands among others, for telling what is near."""
        return place.start or 0


class DataSheet(TextIndex):
    """Structured data as a sheet."""

    def __init__(self, data: Any, *, url: str | None = None, today: date | None = None) -> None:
        self.leaves = tuple(leaves(data))
        written = [_written(leaf) for leaf in self.leaves]
        super().__init__("\n\n".join(written), url=url, today=today)
        self._starts: list[int] = []
        at = 0
        for each in written:
            self._starts.append(at)
            at += len(each) + 2
        self._positions = {leaf.path: at for at, leaf in enumerate(self.leaves)}

    def _addresses(self) -> Iterator[tuple[str, Place]]:
        for leaf in self.leaves:
            if (
                isinstance(leaf.value, str)
                and 0 < len(leaf.value) <= MAX_URL
                and not any(map(str.isspace, leaf.value))
            ):
                yield leaf.value, Place(leaf.value, path=leaf.path)

    def place(self, start: int, end: int) -> Place | None:
        first, last = self.level.span(start, end)
        at = bisect_right(self._starts, first) - 1
        if at + 1 < len(self._starts) and last > self._starts[at + 1]:
            return None  # it runs from one leaf into the next
        leaf = self.leaves[at]
        whole = str(leaf.value)
        return Place(whole if len(whole) <= MAX_QUOTE else self.text[first:last], path=leaf.path)

    def position(self, place: Place) -> int:
        return self._positions.get(place.path or "", 0)


def _written(leaf: JsonValue) -> str:
    """A leaf as a text. Numbers get the currency that stands beside them, and are never taken for
    thousands.
    """
    if isinstance(leaf.value, bool):
        return ""
    if isinstance(leaf.value, str):
        text = f"https://-{leaf.value}" if _PATH.fullmatch(leaf.value) else leaf.value
        number = text.replace(".", "", 1).isdigit()
    else:
        text, number = _decimal(leaf.value), True
    code = _currency_beside(leaf) if number else None
    return f"{text} {code}" if code else text


def _decimal(value: float) -> str:
    text = str(value)
    return f"{text}0" if len(text.partition(".")[2]) == 3 else text


def _currency_beside(leaf: JsonValue) -> str | None:
    if not isinstance(leaf.beside, dict):
        return None
    named = (value for key, value in leaf.beside.items() if "currency" in str(key).lower())
    return next((value for value in named if isinstance(value, str) and 0 < len(value) <= 4), None)
