"""The tree of a page: the one module that knows which parser we use.

The parser is young and fast, and the only one we found that stays linear on hostile nesting *and* hostile
attributes. Everybody else sees `parse` and `Node`, so that replacing it is a change of this file; its
Markdown writer and its trigram model of languages are wrapped here too. Nodes are read, never changed: two
readers of one page must not see each other's scissors.

A selector is a program, and a hostile one runs for ever. So `css` and its siblings take only text of this
program (a house test reads every call); a selector that comes from anywhere else is a `Selector`, made by
whoever answers for it, and goes to `select_by`.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NewType, Self

import turbohtml
from turbohtml import Element, IncrementalParser, Markdown, PlainText, SelectorSyntaxError, Text
from turbohtml.detect import LanguageDetection, detect_language

from thresher.core.errors import TooLarge, UsageError
from thresher.core.page import MAX_NODES

if sys.platform != "win32":
    import resource

# The parser's own element and text, for walks over many thousand nodes where a wrapper each would double the
# time.
__all__ = ["LIMITS", "Element", "Node", "Selector", "Text", "likely_language", "parse", "to_markdown"]

Selector = NewType(
    "Selector", str
)  # a CSS selector that is not text of this program: written by a person, or learned and checked

MAX_DEPTH = 512  # the parser's own: what nests deeper becomes siblings
_MAX_MERGED = 1_000_000_000  # bytes; each further <html> or <body> copies the attributes of all before it
_NODE_BYTES, _CHARACTER_BYTES, _ATTRIBUTE_BYTES = 128, 24, 11  # what the parser takes for each, rounded up
_CHUNK = 2_048  # characters: a tag may bring MAX_DEPTH elements with it, so these are 35 MB at most
_ROOTS = re.compile(r"<(?:html|body)[\s/>]", re.IGNORECASE)
_KILOBYTE = 1 if sys.platform == "darwin" else 1024  # in what the system counts memory


@dataclass(slots=True)
class ParseLimits:
    """What this process reads at most."""

    max_nodes: int = MAX_NODES


LIMITS = ParseLimits()
_ONE_LINE = PlainText(bullet="", table_cell_separator=" ")
_MARKDOWN = Markdown(
    images=Markdown.Images(mode="ignore"),
    tables=Markdown.Tables(cell_blocks="text"),
    links=Markdown.Links(autolink=False),
)
_ILLUSTRATED = replace(_MARKDOWN, images=Markdown.Images(mode="markdown"))


class Node:
    """An element of the tree. Equal and hashed by the element it stands for."""

    __slots__ = ("raw",)

    def __init__(self, raw: Element) -> None:
        self.raw = raw

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self.raw == other.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"<Node {self.tag} {self.line[:40]!r}>"

    @property
    def tag(self) -> str:
        """The tag name in lower case; SVG keeps the spelling of its own."""
        return self.raw.tag

    @property
    def attributes(self) -> Mapping[str, str]:
        """All of them, by lower-case name. An attribute without a value is an empty string."""
        return {
            name: " ".join(value) if isinstance(value, list) else value or ""
            for name, value in self.raw.attrs.items()
        }

    def attribute(self, name: str, default: str | None = None) -> str | None:
        """One attribute, without building the mapping of all."""
        return self.raw.attr(name, default)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple((self.raw.attr("class") or "").split())

    @property
    def text(self) -> str:
        """Every character inside, white space as written; of a script element, the script."""
        return self.raw.text

    @property
    def line(self) -> str:
        """The text on one line, white space collapsed, without scripts, style sheets and templates."""
        return " ".join(self.raw.to_text(_ONE_LINE).split())

    @property
    def own_text(self) -> str:
        """The text that stands in this element itself, not in a child."""
        return "".join(child.data for child in self.raw if isinstance(child, Text))

    @property
    def pieces(self) -> "list[Node | str]":
        """Child elements and the text between them, in order. Comments are left out."""
        kept = (child for child in self.raw if isinstance(child, Element | Text))
        return [child.data if isinstance(child, Text) else Node(child) for child in kept]

    @property
    def children(self) -> list[Self]:
        """Child elements, in order."""
        return [type(self)(child) for child in self.raw if isinstance(child, Element)]

    @property
    def parent(self) -> Self | None:
        parent = self.raw.parent
        return type(self)(parent) if isinstance(parent, Element) else None

    @property
    def ancestors(self) -> Iterator[Self]:
        """From the parent up to the root."""
        return (type(self)(node) for node in self.raw.ancestors if isinstance(node, Element))

    @property
    def next(self) -> Self | None:
        """The next element among its siblings."""
        return next((type(self)(node) for node in self.raw.next_siblings if isinstance(node, Element)), None)

    @property
    def previous(self) -> Self | None:
        """The element before it among its siblings."""
        return next(
            (type(self)(node) for node in self.raw.previous_siblings if isinstance(node, Element)), None
        )

    @property
    def following(self) -> Iterator[Self]:
        """The elements after this one in the order of the page; those inside it are left out."""
        return (type(self)(node) for node in self.raw.following if isinstance(node, Element))

    def walk(self, *tags: str) -> Iterator[Self]:
        """All elements inside, in document order; only those of the given tags where some are given."""
        return (type(self)(node) for node in self.raw.iter_elements(tags or None))

    __iter__ = walk

    def css(self, selector: str) -> list[Self]:
        """Every element inside that the selector matches, in document order."""
        with _selecting(selector):
            return [type(self)(node) for node in self.raw.select(selector)]

    def css_first(self, selector: str) -> Self | None:
        """The first of `css`, or None."""
        with _selecting(selector):
            found = self.raw.select_one(selector)
        return None if found is None else type(self)(found)

    def select_by(self, selector: Selector) -> list[Self]:
        """`css` for a selector that is not text of this program."""
        return self.css(selector)

    def select_first_by(self, selector: Selector) -> Self | None:
        """The first of `select_by`, or None."""
        return self.css_first(selector)

    def matches(self, selector: str) -> bool:
        with _selecting(selector):
            return self.raw.matches(selector)

    def closest(self, selector: str) -> Self | None:
        """Itself or the nearest ancestor that the selector matches."""
        with _selecting(selector):
            found = self.raw.closest(selector)
        return None if found is None else type(self)(found)

    @property
    def html(self) -> str:
        """The element written out again, as a parser would read it."""
        return self.raw.html

    @property
    def inner_html(self) -> str:
        return self.raw.inner_html

    @property
    def path(self) -> str:
        """A CSS selector that leads to this element and no other: where on the page something stands.

        Siblings are counted for it, so ask for the few that matter, not for every element of a page.
        """
        return self.raw.css_path()


@contextmanager
def _selecting(selector: str) -> Iterator[None]:
    try:
        yield
    except SelectorSyntaxError as error:
        raise UsageError(
            f"{selector!r} is not a CSS selector: {error}; write one as in `div.price > span`"
        ) from None


def parse(html: str) -> Node:
    """The root element of a page. Anything is some page to a parser for the web; one of too many nodes raises
    `TooLarge`.

    Never a part of it: a page cut short would look like one that has nothing to say.
    """
    _check_tags(html)
    multiplied = html.count("<") * MAX_DEPTH > LIMITS.max_nodes
    document = _parse_watched(html) if multiplied else _parse(html)
    root = document.root
    assert root is not None, "a parsed page always has a root element"
    if multiplied and (nodes := sum(1 for _ in root.descendants)) > LIMITS.max_nodes:
        raise TooLarge(
            f"the page has {nodes:,} nodes; the limit is {LIMITS.max_nodes:,} (setting reading.max_nodes)"
        )
    return Node(root)


def _parse(html: str) -> turbohtml.Document:
    return turbohtml.parse(html, positions=False, allow_declarative_shadow_roots=False)


def _check_tags(html: str) -> None:
    """Refuse what can be told to be too much by counting, before anything is built."""
    if (tags := html.count("<")) > LIMITS.max_nodes:
        raise TooLarge(
            f"the page has {tags:,} tags; the limit is {LIMITS.max_nodes:,} nodes (setting reading.max_nodes)"
        )
    roots = len(_ROOTS.findall(html))
    if roots * len(html) * _ATTRIBUTE_BYTES > _MAX_MERGED:
        raise TooLarge(
            f"the page has {roots:,} <html> and <body> tags in {len(html):,} characters; a page has "
            "one of each"
        )


def _parse_watched(html: str) -> turbohtml.Document:
    """Parse piece by piece, and stop when the tree grows beyond its share of memory.

    Tags that are left open (`<p><b><i>` again and again) are opened anew in every paragraph, so a few bytes
    of a page may be hundreds of nodes. The parser does not say how many it has made; the memory of the
    process does.
    """
    parser = IncrementalParser(positions=False)
    with _memory_meter() as memory:
        limit = memory() + LIMITS.max_nodes * _NODE_BYTES + len(html) * _CHARACTER_BYTES
        for at in range(0, len(html), _CHUNK):
            parser.feed(html[at : at + _CHUNK])
            if memory() > limit:
                part = f"the first {at + _CHUNK:,} of {len(html):,} characters"
                raise TooLarge(f"{part} of the page grow into more than {LIMITS.max_nodes:,} nodes")
    # This parser cannot leave declarative shadow roots where they stand. The other can, and the page is known
    # to be harmless by now.
    return _parse(html) if "shadowrootmode" in html.lower() else parser.close()


@contextmanager
def _memory_meter() -> Iterator[Callable[[], int]]:
    """Read the data segment of this process. Its peak is no measure: it never falls, and a child inherits
    that of its parent.
    """
    if sys.platform == "win32":  # it is not told: there the limit of time is all that holds a page
        yield lambda: 0
        return
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # not Linux, where the peak is all there is
        yield lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE
        return
    try:
        yield lambda: int(os.pread(statm, 200, 0).split()[5]) * resource.getpagesize()
    finally:
        os.close(statm)


def to_markdown(node: Node, *, images: bool) -> str:
    """The Markdown of an element, as the tree stands. Nesting beyond any reader's patience is written
    flat.
    """
    return node.raw.to_markdown(_ILLUSTRATED if images else _MARKDOWN)


def likely_language(text: str, among: frozenset[str]) -> tuple[str | None, float]:
    """The likeliest of some languages (ISO 639-3) by the trigrams of a text, and how clearly it leads."""
    found = detect_language(text, LanguageDetection(allowed=among))
    return found.language, found.confidence


# What a CSS selector of a platform's file points at: `a.title@href` is an attribute, everything else a
# text.


def first_selected(node: Node, choices: Sequence[str]) -> str | None:
    """The first of several selectors that finds something."""
    return next((text for choice in choices if (text := _selected(node, choice))), None)


def written_selector(text: str) -> Selector:
    """Check a selector that was written into a file."""
    return Selector(text)


def is_selector(text: str) -> bool:
    """Whether a selector can be understood."""
    try:
        _selected(parse("<p>"), text)
    except UsageError:
        return False
    return True


def _selected(node: Node, selector: str) -> str | None:
    css, _, attribute = selector.partition("@")
    found = node.select_first_by(written_selector(css))
    if found is None:
        return None
    return (found.attribute(attribute) if attribute else found.line) or None
