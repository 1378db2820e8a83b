"""The headline: the element that names the one thing a page is about."""

from collections.abc import Iterator
from itertools import islice

from thresher.reading.document import Document
from thresher.reading.html import Node
from thresher.reading.words import plain, words

MAX_LENGTH = 150
MIN_LENGTH = 4
MAX_HEADINGS = 300
MAX_NODES = 5_000
_HEADINGS = "h1, h2, h3, h4, [class*=title], [class*=Title], [id*=title], [id*=Title], [itemprop=title], [itemprop=name], b, strong"


def headline_of(document: Document) -> Node | None:
    """The element that names the thing a page is about: one that the page's title repeats, else its first
    h1.
    """
    title = plain(document.title)
    first = next((node for node in document.root.css("h1") if 2 < len(node.line) <= MAX_LENGTH), None)
    if first is not None and plain(first.line) in title:
        return first
    return min(_agreeing(document, title), key=_rank, default=None) or first or _repeating(document)


def agrees(text: str, document: Document) -> bool:
    """Whether the page's title repeats a text."""
    return len(text) >= MIN_LENGTH and plain(text) in plain(document.title)


def _agreeing(document: Document, title: str) -> Iterator[Node]:
    """Headings that the title repeats, in order. The name of the site is repeated, too, but by links."""
    for node in document.root.css(_HEADINGS)[:MAX_HEADINGS]:
        text = plain(node.line)
        if (
            MIN_LENGTH <= len(text) <= MAX_LENGTH
            and text in title
            and text != title
            and not words("button").is_one(text)
        ):
            yield node


def _rank(node: Node) -> int:
    return int(node.tag[1]) if node.tag[0] == "h" and node.tag[1:].isdecimal() else 7


def _repeating(document: Document) -> Node | None:
    """On a page without headings, the first element that is nothing but the beginning of the title."""
    title = plain(document.title)
    body = document.root.css_first("body") or document.root
    for node in islice(body.walk("td", "div", "span", "font", "p", "dd", "b", "strong"), MAX_NODES):
        own = plain(node.own_text)
        if MIN_LENGTH <= len(own) <= MAX_LENGTH and title.startswith(own):
            return node
    return None
