"""A list read as a table: its rows by its slots, so that what a slot holds is decided by all rows together.

One row alone says little about which of its texts is the title. Twenty rows do: the title is there in each,
differs from row to row, and leads to an address that no other row leads to.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from thresher.reading.html.document import Document
from thresher.reading.lists.pieces import Piece, pieces_of, slots
from thresher.reading.lists.repeated import Candidate
from thresher.reading.lists.roles import (
    is_button,
    is_company,
    is_date,
    is_employment_type,
    is_price,
    role_of,
)
from thresher.reading.lists.shapes import CHORES, same_thing, shape
from thresher.reading.lists.tree import Tree
from thresher.reading.text.vocabulary import plain
from thresher.reading.values.places import is_place

MAX_TITLE = 220
MAX_CELLS = 30  # of a row of a table
MAX_ANCHORS = 40  # links of one row that are looked at
COMPANY_PAGE = re.compile(
    r"/(?:compan|cmp|employer|firma|unternehmen|entreprise|empresa|azienda|bedrijf|organi[sz]ation)[\w-]*/",
    re.IGNORECASE,
)
_NEW_WINDOW = re.compile(r"\s*\(?opens in (?:a )?new (?:window|tab)(?: or tab)?\)?\s*$", re.IGNORECASE)
_WORD = re.compile(r"\w{3,}")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Column:
    """What the texts of one slot have in common. Shares are of the rows that have the slot."""

    slot: str
    texts: tuple[str, ...]
    coverage: float  # share of all rows
    distinct: float
    length: float
    heading: float
    linked: float  # share that leads where the row leads
    names: tuple[str, ...]
    place: float
    date: float
    price: float
    type: float
    company: float
    company_link: float
    machine: float
    button: float
    worded: float
    order: float  # how far behind in the row: 0 is the first


class RowTable:
    """The rows of one candidate. What costs is computed when it is first asked for."""

    def __init__(self, tree: Tree, candidate: Candidate, document: Document) -> None:
        self.tree, self.candidate, self.document = tree, candidate, document

    @cached_property
    def pieces(self) -> list[list[Piece]]:
        elements = self.tree.elements
        return [
            pieces_of(tuple(elements[number] for number in row), self.document) for row in self.candidate.rows
        ]

    @cached_property
    def anchors(self) -> list[list[tuple[int, str]]]:
        """The links of each row that may lead to its thing."""
        here = same_thing(self.document.url) if self.document.url else ""
        return [
            [
                (number, url)
                for part in row
                for number, url in list(self.tree.links(part))[:MAX_ANCHORS]
                if not CHORES.search(url) and same_thing(url) != here
            ]
            for row in self.candidate.rows
        ]

    @cached_property
    def shared(self) -> Counter[str]:
        """In how many rows an address stands."""
        return Counter(url for row in self.anchors for url in {same_thing(url) for _, url in row})

    @cached_property
    def shapes(self) -> dict[str, float]:
        """The share of rows that have an address of a shape which no other row has."""
        own = Counter(
            kind
            for row in self.anchors
            for kind in {shape(url) for _, url in row if self.shared[same_thing(url)] == 1}
        )
        return {kind: count / len(self.anchors) for kind, count in own.items()}

    @cached_property
    def links(self) -> list[str | None]:
        """Where each row leads."""
        return [self._main(row, pieces) for row, pieces in zip(self.anchors, self.pieces, strict=True)]

    def _main(self, row: Sequence[tuple[int, str]], pieces: Sequence[Piece]) -> str | None:
        said: dict[str, float] = {}
        for piece in pieces:
            if piece.link is not None and proper(piece.text):
                said[piece.link] = max(said.get(piece.link, 0.0), _called(piece))
        return max(
            (url for _, url in row),
            key=lambda url: self._weight(url) + said.get(url, 0.0),
            default=None,
        )

    def _weight(self, url: str) -> float:
        own = 1.0 if self.shared[same_thing(url)] == 1 else 0.0
        company = -1.0 if COMPANY_PAGE.search(url) else 0.0
        return 2.0 * self.shapes.get(shape(url), 0.0) + own + company

    @cached_property
    def columns(self) -> list[Column]:
        found = []
        for slot, pieces in slots(self.pieces).items():
            if len(pieces) * 10 >= len(self.pieces) or len(pieces) > 2:
                found.append(self._column(slot, pieces))
        return found

    def _column(self, slot: str, pieces: list[tuple[int, Piece]]) -> Column:
        texts = tuple(piece.text for _, piece in pieces)
        sample = texts[:: max(1, len(texts) // 30)][:30]
        heads = [piece for _, piece in pieces]
        return Column(
            slot,
            texts,
            len(pieces) / len(self.pieces),
            len(set(texts)) / len(texts),
            _share(texts, len),
            _share(heads, lambda piece: piece.heading),
            _share(pieces, lambda pair: pair[1].link is not None and pair[1].link == self.links[pair[0]]),
            heads[0].names,
            _share(sample, is_place),
            _share(sample, is_date),
            _share(sample, is_price),
            _share(sample, is_employment_type),
            _share(sample, is_company),
            _share(heads, lambda piece: piece.link is not None and bool(COMPANY_PAGE.search(piece.link))),
            _share(heads, lambda piece: piece.machine is not None and piece.tags.startswith("time ")),
            _share(sample, is_button),
            _share(sample, lambda text: sum(char.isalpha() for char in text) * 2 > len(text)),
            _share(pieces, lambda pair: self.pieces[pair[0]].index(pair[1]) / len(self.pieces[pair[0]])),
        )

    @cached_property
    def titles(self) -> list[str | None]:
        """What each row is called: its text in the slot that is most like a title."""
        weights = {column.slot: self._titled(column) for column in self.columns}
        near = _by_end(weights)
        return [self._title(number, pieces, weights, near) for number, pieces in enumerate(self.pieces)]

    @cached_property
    def title_slots(self) -> frozenset[str]:
        """The slots that titles were taken from."""
        pairs = zip(self.pieces, self.titles, strict=True)
        return frozenset(piece.slot for row, title in pairs for piece in row if proper(piece.text) == title)

    def _title(
        self, number: int, pieces: Sequence[Piece], weights: dict[str, float], near: dict[str, float]
    ) -> str | None:
        usable = [
            (weights.get(piece.slot, near.get(_end(piece.slot), 0.0)), -at, title)
            for at, piece in enumerate(pieces)
            if (title := proper(piece.text)) and not is_date(title) and not is_price(title)
        ]
        if usable:
            return max(usable)[2]
        return next((title for text in self._other(number) if (title := proper(text))), None)

    @cached_property
    def cells(self) -> list[list[str]]:
        """The cells of each row of a table; empty where the rows are none."""
        tree = self.tree
        return [
            [tree.node(each).line for each in self._children(row[0])[:MAX_CELLS]]
            if tree.elements[row[0]].tag == "tr"
            else []
            for row in self.candidate.rows
        ]

    @cached_property
    def head(self) -> list[str]:
        """What the first row of the table says over its columns; empty where it is a row like the others."""
        first = self.candidate.rows[0][0]
        if self.tree.elements[first].tag != "tr":
            return []
        above = next(
            (each for each in self.tree.above(first) if self.tree.elements[each].tag == "table"), None
        )
        head = self.tree.node(above).css_first("tr") if above is not None else None
        if head is None or head.raw == self.tree.elements[first]:
            return []
        return [cell.line for cell in head.children[:MAX_CELLS]]

    def _children(self, number: int) -> list[int]:
        found, at = [], number + 1
        while at < self.tree.end[number]:
            found.append(at)
            at = self.tree.end[at]
        return found

    def _other(self, number: int) -> Iterable[str]:
        """What a row without a text of its own is called: by its links, then by its pictures."""
        for part in self.candidate.rows[number]:
            node = self.tree.node(part)
            for link in node.css("a")[:MAX_ANCHORS]:
                yield link.attribute("title") or ""
                yield link.attribute("aria-label") or ""
            for image in node.css("img[alt]")[:3]:
                yield image.attribute("alt") or ""

    def _titled(self, column: Column) -> float:
        role = role_of(column.names)
        length = 0.6 if 8 <= column.length <= 120 else -0.8 if column.length > 160 else 0.0
        return (
            1.2 * column.heading
            + (1.0 if role == "title" else -1.0 if role else 0.0)
            + 1.2 * column.linked
            + 1.5 * column.coverage
            + 1.2 * column.distinct
            + length
            + 1.5 * self.repeated(column)
            - 2.0 * max(column.date, column.price)
            - 1.2 * column.place
            - 2.0 * column.button
            - 0.5 * column.order
        )

    def repeated(self, column: Column) -> float:
        """How much of a column the addresses of its rows repeat: `/jobs/senior-cook` is a senior cook."""
        pairs = [
            (piece.text, link)
            for pieces, link in zip(self.pieces[:30], self.links[:30], strict=True)
            for piece in pieces
            if piece.slot == column.slot and link
        ]
        return _share(pairs, lambda pair: _overlap(*pair))


def _end(slot: str) -> str:
    """The last step to a text: rows that are marked are built a little differently, but end alike."""
    return slot.rpartition("/")[2]


def _by_end(weights: dict[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for slot, weight in weights.items():
        found[_end(slot)] = max(weight, found.get(_end(slot), weight))
    return found


def _called(piece: Piece) -> float:
    """How much a linked text looks like the name of a thing."""
    role = role_of(piece.names)
    return (
        (0.8 if piece.heading else 0.0)
        + (0.6 if role == "title" else -0.8 if role in ("company", "location") else 0.0)
        + (0.4 if len(piece.text) >= 8 else 0.0)
    )


def _overlap(text: str, url: str) -> float:
    found = set(_WORD.findall(plain(text)))
    path = plain(url.partition("?")[0].rpartition("//")[2].partition("/")[2])
    return sum(len(word) for word in found if word in path) / (sum(map(len, found)) or 1)


def proper(text: str) -> str | None:
    """The text as a title; None where it is a button, a number or a paragraph."""
    text = _NEW_WINDOW.sub("", text)
    if not 2 <= len(text) <= MAX_TITLE or not any(char.isalpha() for char in text):
        return None
    return None if is_button(text) else text


def _share(values: Sequence[_Value], measure: Callable[[_Value], float]) -> float:
    return sum(measure(value) for value in values) / len(values) if values else 0.0
