"""The blocks of a page: its text cut where a browser would break the line, in document order.

Text, main content and Markdown all stand on this one cut, so a block has the same number for each of them,
and the same page always gives the same blocks. The walk is a loop, not a recursion: pages nest deeper than
Python does. Each section knows the range of sections inside it, and the nearest column above it, so that
nobody climbs ancestors later.
"""

import re
from dataclasses import dataclass, field

from thresher.reading.html.parser import Element, Node, Text


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Nothing a reader sees, whatever is written inside.
UNSEEN = _names(
    "script style template noscript svg iframe object embed applet canvas audio video map head title textarea datalist noframes"
)
INLINE = _names(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark math nobr picture q rp rt ruby s samp small span "
    "strike strong sub sup time tt u var wbr"
)
# What merely wraps paragraphs: the column that they stand in is further up.
_LISTY = _names("li ul ol blockquote dd dl")
_HIDING = re.compile(r"display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden", re.IGNORECASE)
_MAY_HIDE = '[hidden], [style*="display" i], [style*="visibility" i], dialog:not([open])'
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")  # soft hyphen, zero-width space and joiner, stray mark
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_BREAK = "\0"  # stands for <br> until the block is closed; no parsed text holds it


@dataclass(slots=True, eq=False)
class Section:
    """An element that breaks lines. Sections `index` to `end` are itself and what is inside it."""

    tag: str
    element: Element
    index: int
    parent: "Section | None" = None
    column: "Section" = field(init=False)
    end: int = 0
    images: int = 0

    def __post_init__(self) -> None:
        self.column = self.parent.column if self.parent is not None and self.tag in _LISTY else self


@dataclass(slots=True, eq=False)
class Block:
    """A run of text within one section. `linked` is the share of it that is links; `item` opens a list item.

    `size` is how much there is to read: characters, those of Chinese, Japanese and Korean counted twice, as
    they say more. `column` holds this block and its neighbours: the parent of its section, past lists and
    quotes.
    """

    text: str
    section: Section
    linked: float
    item: bool
    nodes: list[Text]
    tag: str = field(init=False)
    column: Section = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.tag = self.section.tag
        self.column = (self.section.parent or self.section).column
        self.size = len(self.text) if self.text.isascii() else len(self.text) + len(_DENSE.findall(self.text))


@dataclass(frozen=True, slots=True)
class BlockFlow:
    """All blocks and sections of a page, in document order."""

    blocks: list[Block]
    sections: list[Section]


def read(root: Node) -> BlockFlow:
    """Cut a page, or a part of one, into blocks."""
    return _Walk(root.raw).run()


class _Walk:
    """One pass over the tree. On the stack: elements and texts yet to be read, and the marks that close what
    was opened.
    """

    def __init__(self, root: Element) -> None:
        top = Section(root.tag, root, 0)
        self._sections = [top]
        self._blocks: list[Block] = []
        self._at = top
        self._nodes: list[Text] = []
        self._pieces: list[str] = []
        self._linked = 0
        self._links = 0  # how many <a> we stand in
        self._item = False
        self._hidden = hidden(root)
        self._stack: list[object] = [*root.children[::-1]]

    def run(self) -> BlockFlow:
        stack = self._stack
        while stack:
            node = stack.pop()
            if type(node) is Text:
                self._text(node)
            elif type(node) is Element:
                self._element(node)
            elif node is _LINK_ENDS:
                self._links -= 1
            elif node is _SECTION_ENDS:
                self._close()
        self._flush()
        self._sections[0].end = len(self._sections)
        return BlockFlow(self._blocks, self._sections)

    def _text(self, node: Text) -> None:
        data = node.data
        if self._pieces or not data.isspace():  # else it is the indentation between two tags
            self._pieces.append(data)
            self._nodes.append(node)
            if self._links:
                self._linked += len(data.strip())

    def _element(self, element: Element) -> None:
        tag = element.tag
        if tag == "br":
            self._pieces.append(_BREAK)
        elif tag == "img":
            self._at.images += 1
        elif tag not in UNSEEN and not (self._hidden and element in self._hidden):
            if tag == "a":
                self._links += 1
                self._stack.append(_LINK_ENDS)
            elif tag not in INLINE:
                self._open(element, tag)
            self._stack.extend(element.children[::-1])

    def _open(self, element: Element, tag: str) -> None:
        if self._pieces:
            self._flush()
        self._at = section = Section(tag, element, len(self._sections), self._at)
        self._sections.append(section)
        if tag == "li":
            self._item = True
        self._stack.append(_SECTION_ENDS)

    def _close(self) -> None:
        if self._pieces:
            self._flush()
        closed = self._at
        closed.end = len(self._sections)
        if closed.tag == "li":
            self._item = False
        assert closed.parent is not None, "the root is never closed"
        self._at = closed.parent

    def _flush(self) -> None:
        text = _joined("".join(self._pieces), preformatted=self._at.tag == "pre")
        if text:
            self._blocks.append(
                Block(text, self._at, min(1.0, self._linked / len(text)), self._item, self._nodes)
            )
            self._item = False
        self._pieces = []
        self._nodes = []
        self._linked = 0


_LINK_ENDS = object()
_SECTION_ENDS = object()


def hidden(root: Element) -> set[Element]:
    """The elements of which the page itself says that they are not shown."""
    return {element for element in root.select(_MAY_HIDE) if not _shown(element)}


def _shown(element: Element) -> bool:
    if element.attr("hidden") is not None or element.tag == "dialog":
        return False
    return _HIDING.search(element.attr("style") or "") is None


def _joined(text: str, *, preformatted: bool) -> str:
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if preformatted:
        return text.replace(_BREAK, "\n").strip("\n").rstrip()
    if _BREAK not in text:
        return " ".join(text.split())
    return "\n".join(line for line in (" ".join(part.split()) for part in text.split(_BREAK)) if line)
