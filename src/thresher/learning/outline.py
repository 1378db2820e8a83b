"""An outline: the visible texts of a page in reading order, each with its number, so that "after" and
"between" are arithmetic.

Rules that lean on words ("what follows `ISBN:`") and guards that ask between which words a value stands both
count in it. It is made from the blocks that the text of the page is made from, so a place in it is a place in
that text.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from urllib.parse import unquote, urlsplit

from thresher.core.keys import MAX_URL
from thresher.learning.wording import one_line, squeezed, words_of
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, Text
from thresher.reading.structured.facts import Facts
from thresher.reading.text.plain import full_text
from thresher.reading.text.vocabulary import words

MAX_LEAVES = 20_000
MAX_INSIDE = 2_000  # nodes looked at to find the texts of one element
MAX_CLIMB = 12
MAX_TITLES = 10
MAX_HEADING = 80
MAX_HEADINGS = 300
_HEADINGS = "h1, h2, h3, h4, h5, h6, legend, caption"


@dataclass(frozen=True, slots=True)
class TextRun:
    """One run of text between two tags. `block` is the number of the paragraph it stands in."""

    text: str
    key: str
    node: Text
    block: int


class Outline:
    """Leaves in order, where each text stands, and the structured data of the page."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.facts = Facts(document)
        self.blocks = document.flow.blocks
        self.leaves: list[TextRun] = []
        self._numbers: dict[Text, int] = {}
        for number, block in enumerate(self.blocks):
            for node in block.nodes:
                if text := one_line(node.data):
                    self._numbers[node] = len(self.leaves)
                    self.leaves.append(TextRun(text, squeezed(text), node, number))
            if len(self.leaves) > MAX_LEAVES:
                break

    @cached_property
    def keys(self) -> dict[str, list[int]]:
        """The numbers of the leaves that say a text."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, leaf in enumerate(self.leaves):
            found[leaf.key].append(at)
        return found

    @cached_property
    def block_keys(self) -> list[str]:
        return [squeezed(block.text[:400]) for block in self.blocks]

    @cached_property
    def text(self) -> str:
        return full_text(self.document)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each block begins in the text of the page. Blocks follow each other there, so one pass finds
        them all.
        """
        starts, at = [], 0
        for block in self.blocks:
            found = self.text.find(block.text, at)
            starts.append(found)
            at = found + len(block.text) if found >= 0 else at
        return starts

    @cached_property
    def head(self) -> frozenset[str]:
        """The words of the page's titles and of the path of its address."""
        titles = islice(
            (content for name, content in self.facts.meta.items() if name.endswith("title")), MAX_TITLES
        )
        path = unquote(urlsplit(self.document.url).path) if len(self.document.url) <= MAX_URL else ""
        return frozenset(words_of(" ".join((self.document.title, path, *titles))))

    @cached_property
    def asides(self) -> list[int]:
        """The headings under which pages recommend other things."""
        named = words("recommended")
        headings = self.document.root.css(_HEADINGS)[:MAX_HEADINGS]
        found = [node for node in headings if len(line := node.line) <= MAX_HEADING and named.names(line)]
        return [span[0] for node in found if (span := self.span(node.raw)) is not None]

    def stands(self, block: int, text: str, *, from_leaf: int | None = None) -> tuple[int, int] | None:
        """Where a text stands within a block, counted in the text of the page."""
        if not 0 <= block < len(self.blocks) or self._starts[block] < 0:
            return None
        within = self.blocks[block].text
        at = within.find(text, self._offset(block, from_leaf))
        if at < 0:
            at = within.find(text)
        return (self._starts[block] + at, self._starts[block] + at + len(text)) if at >= 0 else None

    def _offset(self, block: int, leaf: int | None) -> int:
        """About where in its block a leaf begins: a value may stand in the same paragraph twice."""
        if leaf is None:
            return 0
        at = 0
        for number in range(max(0, leaf - 50), leaf):
            if self.leaves[number].block == block:
                found = self.blocks[block].text.find(self.leaves[number].text, at)
                at = found + len(self.leaves[number].text) if found >= 0 else at
        return at

    def span(self, element: Element) -> tuple[int, int] | None:
        """The first and the last leaf inside an element; None where it shows nothing."""
        inside = [
            number
            for node in islice(element.descendants, MAX_INSIDE)
            if (number := self.number(node)) is not None
        ]
        return (inside[0], inside[-1]) if inside else None

    def alone(self, element: Element, leaf: int) -> bool:
        """Tell whether an element shows only this leaf. False for an element that is too large to check."""
        inside = enumerate(element.descendants)
        return all(seen < MAX_INSIDE and self.number(node) in (None, leaf) for seen, node in inside)

    def number(self, node: object) -> int | None:
        return self._numbers.get(node) if type(node) is Text else None

    def holder(self, first: int, last: int) -> Node | None:
        """Return the smallest element that holds only these leaves; None if there is none."""
        node = self.leaves[first].node.parent
        for _ in range(MAX_CLIMB):
            if not isinstance(node, Element):
                return None
            span = self.span(node)
            if span == (first, last):
                return Node(node)
            if span is None or span[0] < first or span[1] > last:
                return None
            node = node.parent
        return None
