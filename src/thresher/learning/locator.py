"""Locators: the ways in which a rule finds its place on a page. By name, by label, in the data, or by
position.

A locator says everything that it finds. Whether that is one answer, and whether to believe it, others decide.
"""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any

from thresher.core.errors import UsageError
from thresher.learning.outline import MAX_CLIMB, Outline
from thresher.learning.wording import one_line, squeezed
from thresher.reading.html.parser import Element, Node, Selector
from thresher.reading.platforms.paths import values
from thresher.reading.structured.embedded import Embedded

MAX_HITS = 300
MAX_LABELS = 50
MAX_BOXES = 20  # of one name: what stands more often is no place of one value
MAX_CHARACTERS = 1_000_000  # of all hits together: nested boxes each hold the text of all boxes within
MAX_SEARCHED = 500
LINKING = ("href", "src")
MAX_EMPTY = 3  # empty elements between a label and its value: line breaks, icons


class Family(StrEnum):
    """What a locator leans on. Two of different families that agree are two witnesses; of one family they may
    fall together.
    """

    DATA = "data"
    META = "meta"
    NAME = "name"
    LABEL = "label"
    PATTERN = "pattern"


class How(StrEnum):
    """Where a value stands in relation to its label."""

    CELL = "cell"  # in the next element beside it
    LEAF = "leaf"  # in the next run of text
    BLOCK = "block"  # in the next paragraph
    REST = "rest"  # in the same paragraph, right behind it
    UNDER = "under"  # in the cell below it
    INLINE = "inline"  # in the same run of text, right behind it


@dataclass(frozen=True, slots=True)
class Hit:
    """What was found: its text, and the element or the path of data in which it stands. `leaf` is its number
    in the outline.
    """

    text: str
    node: Node | None = None
    path: str | None = None
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class Css:
    """By a CSS selector: the text of what it selects, or an attribute of it."""

    selector: Selector
    attribute: str = ""

    @property
    def family(self) -> Family:
        return Family.NAME

    def find(self, outline: Outline) -> list[Hit]:
        found: list[Hit] = []
        left = MAX_CHARACTERS
        for node in outline.document.root.select_by(self.selector)[:MAX_HITS]:
            hit = self._hit(node, outline)
            if hit is not None:
                found.append(hit)
                left -= len(hit.text)
                if left < 0:
                    return []
        return found

    def _hit(self, node: Node, outline: Outline) -> Hit | None:
        text = self._said(node, outline) if self.attribute else node.line
        return Hit(text, node, path=self.attribute or None) if text else None

    def _said(self, node: Node, outline: Outline) -> str:
        said = node.attribute(self.attribute) or ""
        whole = (
            outline.document.absolute(said) if self.attribute in LINKING and outline.document.url else None
        )
        return one_line(whole or html.unescape(said))


@dataclass(frozen=True, slots=True)
class Line:
    """By the number of a run of text in an element with a name, from its first or, below zero, from its last.

    Only its order tells a line from the others: whoever learns one must know what else does.
    """

    selector: Selector
    number: int

    @property
    def family(self) -> Family:
        return Family.NAME

    def find(self, outline: Outline) -> list[Hit]:
        boxes = outline.document.root.select_by(self.selector)
        spans = (outline.span(box.raw) for box in boxes) if len(boxes) <= MAX_BOXES else ()
        return [hit for span in spans if span is not None and (hit := self._hit(outline, span)) is not None]

    def _hit(self, outline: Outline, span: tuple[int, int]) -> Hit | None:
        at = span[0] + self.number if self.number >= 0 else span[1] + 1 + self.number
        return Hit(outline.leaves[at].text, leaf=at) if span[0] <= at <= span[1] else None


@dataclass(frozen=True, slots=True)
class Label:
    """By a text that stands on every page: `key` is that text squeezed."""

    key: str
    how: How

    @property
    def family(self) -> Family:
        return Family.LABEL

    def find(self, outline: Outline) -> list[Hit]:
        if self.how is How.REST:
            return list(self._rest(outline))
        if self.how is How.INLINE:
            return list(self._inline(outline))
        places = outline.keys.get(self.key, ())[:MAX_LABELS]
        return [hit for at in places if (hit := self._beside(outline, at)) is not None]

    def _rest(self, outline: Outline) -> Iterator[Hit]:
        seen = -1
        for number, leaf in enumerate(outline.leaves):
            if leaf.block != seen:
                seen = leaf.block
                key = outline.block_keys[seen]
                if key.startswith(self.key) and len(key) > len(self.key):
                    yield Hit(one_line(outline.blocks[seen].text), leaf=number)

    def _inline(self, outline: Outline) -> Iterator[Hit]:
        for number, leaf in enumerate(outline.leaves):
            if leaf.key.startswith(self.key) and len(leaf.key) > len(self.key):
                yield Hit(leaf.text, leaf=number)

    def _beside(self, outline: Outline, at: int) -> Hit | None:
        match self.how:
            case How.LEAF:
                return Hit(outline.leaves[at + 1].text, leaf=at + 1) if at + 1 < len(outline.leaves) else None
            case How.BLOCK:
                return _block(outline, outline.leaves[at].block + 1)
            case How.UNDER:
                return _below(outline, at)
            case _:
                return _next_element(outline, at)


def _block(outline: Outline, number: int) -> Hit | None:
    if not 0 <= number < len(outline.blocks):
        return None
    first = next(
        (at for node in outline.blocks[number].nodes if (at := outline.number(node)) is not None), None
    )
    return Hit(one_line(outline.blocks[number].text), leaf=first)


def _next_element(outline: Outline, at: int) -> Hit | None:
    """The element beside the label. First up, for as long as the label is all there is: wrapping it changes
    nothing.
    """
    node = outline.leaves[at].node.parent
    for _ in range(MAX_CLIMB):
        parent = node.parent if isinstance(node, Element) else None
        if not isinstance(parent, Element) or not outline.alone(parent, at):
            break
        node = parent
    if not isinstance(node, Element) or not outline.alone(node, at):
        return None
    beside = (each for each in node.next_siblings if isinstance(each, Element))
    for element in islice(beside, MAX_EMPTY):
        span = outline.span(element)
        if span is not None:
            # Text between the two would be the value, and the element something else.
            return Hit(Node(element).line, Node(element), leaf=span[0]) if span[0] == at + 1 else None
    return None


def _below(outline: Outline, at: int) -> Hit | None:
    cell = (
        Node(parent).closest("td, th")
        if isinstance(parent := outline.leaves[at].node.parent, Element)
        else None
    )
    row = cell.parent if cell else None
    below = row.next if row else None
    if (
        cell is None
        or row is None
        or below is None
        or row.tag != "tr"
        or below.tag != "tr"
        or not is_header(cell, row)
    ):
        return None
    column = row.children.index(cell)
    cells = below.children
    return Hit(line, cells[column]) if column < len(cells) and (line := cells[column].line) else None


def is_header(cell: Node, row: Node) -> bool:
    """Whether a cell heads its column."""
    return cell.tag == "th" or row.previous is None


@dataclass(frozen=True, slots=True)
class Data:
    """In what the page says to machines: `source` names the data, `path` the way through it."""

    source: str
    path: str

    @property
    def family(self) -> Family:
        return Family.META if self.source.startswith(("meta:", "title:")) else Family.DATA

    def find(self, outline: Outline) -> list[Hit]:
        return [hit for path, value in self._values(outline) for hit in _said(value, path)][:MAX_HITS]

    def _values(self, outline: Outline) -> Iterator[tuple[str, Any]]:
        kind, _, name = self.source.partition(":")
        if kind == "title":
            yield "head > title", outline.document.title
        elif kind == "meta":
            yield f'meta[name="{name}"]', outline.facts.meta.get(name)
        else:
            for path, root in self._roots(outline, kind, name):
                yield from ((f"{path}.{self.path}", value) for value in values(self.path, root))

    def _roots(self, outline: Outline, kind: str, name: str) -> Iterator[tuple[str, Any]]:
        if kind == "embedded":
            found: Sequence[Embedded] = [each for each in outline.facts.embedded if each.name == name]
            yield from ((f"{each.path} $", each.value) for each in found[:MAX_HITS])
        else:
            things = [
                each for each in outline.facts.structured.things if each.type == name and each.syntax == kind
            ]
            yield from ((each.path, each.properties) for each in things[:MAX_HITS])


def _said(value: Any, path: str) -> list[Hit]:
    if isinstance(value, str):
        text = one_line(html.unescape(value))
        return [Hit(text, path=path)] if text else []
    if isinstance(value, bool | int | float):
        return [Hit(str(value).lower() if isinstance(value, bool) else str(value), path=path)]
    return []


@dataclass(frozen=True, slots=True)
class Pattern:
    """By how the value is written, among the texts between two landmarks. Without one, from the beginning or
    to the end.
    """

    expression: str
    after: str = ""
    before: str = ""

    @property
    def family(self) -> Family:
        return Family.PATTERN

    def find(self, outline: Outline) -> list[Hit]:
        first, last = _only(outline, self.after, -1), _only(outline, self.before, len(outline.leaves))
        if first is None or last is None:
            return []
        compiled = expression(self.expression)
        found = (
            (at, compiled.search(outline.leaves[at].text[:MAX_SEARCHED])) for at in range(first + 1, last)
        )
        return [
            Hit(match[0], leaf=at)
            for at, match in islice(((at, match) for at, match in found if match), MAX_HITS)
        ]


def _only(outline: Outline, mark: str, otherwise: int) -> int | None:
    """Where a landmark stands; None where it is gone, or stands twice."""
    if not mark:
        return otherwise
    places = outline.keys.get(mark, ())
    return places[0] if len(places) == 1 else None


@lru_cache(maxsize=1_000)
def expression(text: str) -> re.Pattern[str]:
    return re.compile(text)


Locator = Css | Line | Label | Data | Pattern


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """The first hit of each wording."""
    found: dict[str, Hit] = {}
    for hit in hits:
        found.setdefault(squeezed(hit.text), hit)
    return list(found.values())


# Selectors: the CSS ways to an element by the names that people gave it.

MAX_ANCESTORS = 12
MAX_TOKENS = 5
MAX_SELECTORS = 150
MAX_NAME = 60
_NAMING = (
    "itemprop",
    "property",
    "id",
    "data-testid",
    "data-test",
    "data-automation",
    "data-qa",
    "data-cy",
    "data-field",
    "name",
    "role",
    "rel",
    "headers",
    "for",
    "aria-label",
)
# Tags that say what they hold; `div` and `span` do not.
_SPEAKING = frozenset({"h1", "address", "time", "title", "main", "article", "figcaption"})
_TAG = r"[a-z][a-z0-9-]{0,40}"
_PLAIN = re.compile(_TAG)  # `fb:like` is a tag to a parser and a pseudo-class to a selector
_ONE = rf'{_TAG}(?:\[(?:class~|(?:{"|".join(_NAMING)}))="[^"\\]{{1,{MAX_NAME}}}"\])?'
_LEARNED = re.compile(rf"{_ONE}(?: (?:> )?{_ONE})?")


def learned_selector(text: str) -> Selector:
    """A selector as this module writes them: one or two elements by tag and at most one quoted name each.
    Anything else is refused.

    What it was put together from stood on a page, and what is stored may be older than the rules of today.
    """
    if not _LEARNED.fullmatch(text) or not text.isprintable():
        raise UsageError(
            f"{text[:200]!r} is not a selector that can be learned from pages: learn the site again"
        )
    return Selector(text)


def selectors(node: Node) -> Iterator[Selector]:
    """Selectors that may lead to the element, the most telling first. Whether they lead to it alone is for
    the page to say.
    """
    if not is_plain(node):
        return
    yield from map(learned_selector, islice(_named(node), MAX_SELECTORS))


def _named(node: Node) -> Iterator[str]:
    own = list(tokens(node))
    yield from own
    if node.tag in _SPEAKING:
        yield node.tag
    below = [*own, node.tag]
    above = list(islice(node.ancestors, MAX_ANCESTORS))
    for depth, ancestor in enumerate(above):
        for name in tokens(ancestor):
            for token in below:
                yield f"{name} {token}"
                if depth == 0:
                    yield f"{name} > {token}"


def is_plain(node: Node) -> bool:
    """Whether the tag of an element means the same to a selector: a page may use any text as the name of a
    tag.
    """
    return _PLAIN.fullmatch(node.tag) is not None


def tokens(node: Node) -> Iterator[str]:
    """What the element is called, as simple selectors. Quoted, so that any name will do."""
    if not is_plain(node):
        return
    for attribute in _NAMING:
        value = node.attribute(attribute)
        if value and _quotable(value):
            yield f'{node.tag}[{attribute}="{value}"]'
    for name in islice((each for each in node.classes if _quotable(each)), MAX_TOKENS):
        yield f'{node.tag}[class~="{name}"]'


def _quotable(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME and name.isprintable() and not any(char in name for char in '"\\')
