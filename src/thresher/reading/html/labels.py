"""Labels ("Location: Leeds") and the headline of a page about one thing.

Labels are read from definition lists, two-column rows, and short texts with a colon. A label belongs to a
known vocabulary, so that a sentence with a colon is not taken for one.
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.text.vocabulary import plain, vocabulary, words

MAX_LABEL = 40
LEVELS = 3
MAX_VALUE = 200
MAX_NODES = 20_000
MAX_LABELS = 300  # a page about one thing has a dozen; each costs reading what follows it
_LABELS = frozenset({"dt", "th", "td", "label", "b", "strong", "h4", "h5"})
_WHOLE = frozenset({"tr", "dl", "ul", "ol", "table", "body"})  # what stands beside these is another matter
_HOLDERS = (
    "dt",
    "th",
    "td",
    "b",
    "strong",
    "span",
    "label",
    "div",
    "p",
    "li",
    "h2",
    "h3",
    "h4",
    "h5",
    "font",
    "em",
)


def labelled(document: Document) -> dict[str, str]:
    """The first value of each known label, by the name of the field."""
    body = document.root.css_first("body") or document.root
    found: dict[str, str] = {}
    pairs = (pair for node in islice(body.walk(*_HOLDERS), MAX_NODES) for pair in _pairs(node))
    for field, value in islice(pairs, MAX_LABELS):
        found.setdefault(field, value)
    return found


def _pairs(node: Node) -> Iterator[tuple[str, str]]:
    own = " ".join(node.own_text.split())
    if not own:
        return
    label, colon, rest = own.partition(":")
    field = field_of(label) if len(label) <= MAX_LABEL else None
    if field is None:
        return
    value = rest if rest.strip() else _after(node)
    if colon or node.tag in _LABELS or any(char.isdigit() for char in value):
        yield from _usable(field, value)


def _after(node: Node) -> str:
    """What follows the label: the rest of its element, the text after it, else what stands next to it or to
    what it stands in.
    """
    inside = " ".join(child.line for child in node.children)
    if inside.strip():
        return inside
    for each in (node, *islice(node.ancestors, LEVELS)):
        if text := _between(each) or _beside(each):
            return text
        if each.tag in _WHOLE:
            break
    return ""


def _beside(node: Node) -> str:
    """The text of the next element that has one; a line break between the two does not part them."""
    following = node.next
    for _ in range(3):
        if following is None:
            return ""
        if line := following.line:
            return line if len(line) <= MAX_VALUE else ""
        following = following.next
    return ""


def _between(node: Node) -> str:
    """The bare text right after an element, up to the next one."""
    parent = node.parent
    if parent is None:
        return ""
    pieces = iter(parent.pieces)
    for piece in pieces:
        if isinstance(piece, Node) and piece == node:
            following = next(pieces, "")
            return " ".join(following.split()) if isinstance(following, str) else ""
    return ""


def _usable(field: str, value: str) -> Iterator[tuple[str, str]]:
    value = " ".join(value.split()).strip(" :-–|")
    if value and len(value) <= MAX_VALUE and field_of(value) is None:
        yield field, value


def field_of(label: str) -> str | None:
    """The field that a label names; None where it is no label we know."""
    return _known().get(plain(label).strip(" :*-–"))


@cache
def _known() -> dict[str, str]:
    return {plain(name): field for field, names in vocabulary("labels").items() for name in names}


# The headline: the element that names the subject of the page.

MAX_LENGTH = 150
MIN_LENGTH = 4
MAX_HEADINGS = 300
MAX_HEADLINE_NODES = 5_000
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
    for node in islice(body.walk("td", "div", "span", "font", "p", "dd", "b", "strong"), MAX_HEADLINE_NODES):
        own = plain(node.own_text)
        if MIN_LENGTH <= len(own) <= MAX_LENGTH and title.startswith(own):
            return node
    return None
