"""The texts of a row, each with its place in the row: what the rows of a list are compared by.

A piece is a run of text that stands in one element; bold and highlighted words are part of the text around
them. Its slot is the way from the row to it, by tags and class names, so that the companies of all rows stand
in one slot and the dates in another.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Text
from thresher.reading.lists.tree import UNSEEN, address_of, tokens_of

MAX_PIECES = 80  # of one row
MAX_NODES = 600  # nodes of one row that are walked
MAX_TEXT = 1_000  # characters of one piece
MAX_NAMES = 200
MAX_LEVELS = 4  # elements around a text whose names are kept
# Attributes in which people tell machines what an element is.
NAMING = (
    "class",
    "id",
    "data-testid",
    "data-test",
    "data-automation",
    "data-automation-id",
    "data-qa",
    "data-cy",
    "data-at",
    "itemprop",
    "aria-label",
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset(
    {"b", "strong", "em", "i", "mark", "u", "font", "wbr", "sup", "sub", "abbr", "bdi", "nobr", "small"}
)
_BADGE = re.compile(
    r"badge|label|(?:^|[-_\s])(?:new|tag|count|chip|pill|flag|sr|hidden|visually)(?:$|[-_\s])", re.IGNORECASE
)
_UNSEEN_STYLE = re.compile(r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden", re.IGNORECASE)
_SEPARATORS = " \t\n\r\u00a0·•|,;–—-/›»→"


@dataclass(frozen=True, slots=True)
class Piece:
    """`names` are class names and the like of the elements around it, the nearest first. `link` is where the
    text leads, `machine` what its element says to machines (`<time datetime>`, `<data value>`).
    """

    slot: str
    text: str
    names: tuple[str, ...] = ()
    tags: str = ""
    link: str | None = None
    heading: bool = False
    machine: str | None = None


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where in a row the walk stands."""

    owner: int
    slot: str
    names: tuple[str, ...] = ()
    tags: str = ""
    link: str | None = None
    heading: bool = False
    machine: str | None = None


def pieces_of(parts: tuple[Element, ...], document: Document) -> list[Piece]:
    """The texts of a row in order, within limits."""
    found: list[Piece] = []
    seen: dict[str, int] = {}
    for spot, text in _runs(parts, document):
        if len(found) >= MAX_PIECES:
            break
        at = seen[spot.slot] = seen.get(spot.slot, -1) + 1
        found.append(
            Piece(f"{spot.slot}#{at}", text, spot.names, spot.tags, spot.link, spot.heading, spot.machine)
        )
    return found


def _runs(parts: tuple[Element, ...], document: Document) -> Iterator[tuple[_Spot, str]]:
    """Texts of one owner that follow each other, joined."""
    current: _Spot | None = None
    texts: list[str] = []
    for spot, text in _texts(parts, document):
        if spot is None or current is None or spot.owner != current.owner:
            if current is not None and (said := _said(texts)):
                yield current, said
            current, texts = spot, []
        texts.append(text)
    if current is not None and (said := _said(texts)):
        yield current, said


def _said(texts: list[str]) -> str:
    return " ".join("".join(texts)[:MAX_TEXT].split()).strip(_SEPARATORS)


def _texts(parts: tuple[Element, ...], document: Document) -> Iterator[tuple[_Spot | None, str]]:
    """Every text of a row with its place; None is a break between two."""
    stack: list[tuple[Element | Text | None, _Spot]] = [
        (part, _Spot(-number, f"{number}:")) for number, part in reversed(list(enumerate(parts, 1)))
    ]
    walked = 0
    while stack and walked < MAX_NODES:
        node, spot = stack.pop()
        walked += 1
        if node is None:
            yield None, ""
        elif isinstance(node, Text):
            yield spot, node.data
        elif node.tag == "br":
            yield None, ""
        elif not _is_unseen(node):
            joins = _joins(node, spot)
            inner = spot if joins else _entered(node, spot, document, walked)
            if not joins:
                yield None, ""
                stack.append((None, spot))
            told = _about(node) if not joins else ""
            if told and not len(node):
                yield inner, told
            stack += [(each, inner) for each in reversed(list(node)) if isinstance(each, Element | Text)]


def _is_unseen(element: Element) -> bool:
    return (
        element.tag in UNSEEN
        or element.attr("hidden") is not None
        or bool(_UNSEEN_STYLE.search((element.attr("style") or "")[:300]))
    )


def _joins(element: Element, spot: _Spot) -> bool:
    """Whether an element is part of the text around it: bold words in a sentence, found words in a title."""
    parent = element.parent
    if not isinstance(parent, Element) or element.tag not in _INLINE | {"span"}:
        return False
    if not any(isinstance(each, Text) and len(each.data.strip()) > 1 for each in parent):
        return False
    if element.tag in _INLINE:
        return True
    return (parent.tag == "a" or spot.heading) and not _BADGE.search(_names(element))


def _entered(element: Element, spot: _Spot, document: Document, number: int) -> _Spot:
    is_inline = element.tag in _INLINE
    own = ".".join((element.tag, *sorted(tokens_of(element))))
    return _Spot(
        number,
        spot.slot if is_inline else f"{spot.slot}/{own}"[-300:],
        (names, *spot.names)[:MAX_LEVELS] if (names := _names(element)) else spot.names,
        f"{element.tag} {spot.tags}"[:40],
        (address_of(element, document) if element.tag == "a" else None) or spot.link,
        spot.heading or element.tag in HEADINGS or element.attr("role") == "heading",
        element.attr("datetime") or (element.attr("content") if element.attr("itemprop") else None),
    )


def _about(element: Element) -> str:
    """What an element without text says to machines: `<meta itemprop=name content=...>`."""
    text = (element.attr("content") or "")[:MAX_TEXT] if element.attr("itemprop") else ""
    return text if "://" not in text and any(char.isalpha() for char in text) else ""


def _names(element: Element) -> str:
    return " ".join(value for name in NAMING if (value := (element.attr(name) or "")[:MAX_NAMES]))


def slots(rows: list[list[Piece]]) -> Mapping[str, list[tuple[int, Piece]]]:
    """The pieces of all rows by their slot, each with the number of its row."""
    found: dict[str, list[tuple[int, Piece]]] = {}
    for number, pieces in enumerate(rows):
        for piece in pieces:
            found.setdefault(piece.slot, []).append((number, piece))
    return found
