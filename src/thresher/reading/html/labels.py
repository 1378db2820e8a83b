"""Labels ("Location: Leeds") and the headline of a page about one thing.

Labels are read from definition lists, two-column rows, and short texts with a colon. A label belongs to a
known vocabulary, so that a sentence with a colon is not taken for one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, Text
from thresher.reading.text.vocabulary import plain, vocabulary, words

MAX_LABEL = 40
LEVELS = 3
MAX_VALUE = 200
MAX_NODES = 20_000
MAX_LABELS = 300  # a page about one thing has a dozen; each costs reading what follows it
MAX_BLOCKS = 5_000
MAX_CELLS = 30  # of a row
MAX_TEXT = 2_000  # characters of a block
_PARTS = re.compile(r"\n|\t|\s[|·•]\s")
_CONTROLS = frozenset({"input", "select", "textarea", "button", "option", "legend"})
_ELSEWHERE = "nav, footer, select, button, label[for], [role=navigation], [role=contentinfo]"
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
    "h6",
    "font",
    "em",
)


@dataclass(frozen=True, slots=True)
class LabelledValue:
    """A known label and its value. `sure`: a colon or the kind of the element says that it is a label;
    else the value has to prove it.
    """

    field: str
    value: str
    sure: bool


def labelled(document: Document) -> dict[str, str]:
    """The first value of each known label, by the name of the field."""
    found: dict[str, str] = {}
    for label in read_labels(document):
        if label.sure:
            found.setdefault(label.field, label.value)
    return found


def read_labels(document: Document) -> list[LabelledValue]:
    """The known labels of a page with their values: those of elements in document order, then those of
    lines.
    """
    body = document.root.css_first("body") or document.root
    own = ((node, " ".join(node.own_text.split())) for node in islice(body.walk(*_HOLDERS), MAX_NODES))
    known = ((node, text) for node, text in own if text and _names_field(text))
    return [
        *(label for node, text in islice(known, MAX_LABELS) for label in _of_element(node, text)),
        *islice(_of_lines(document), MAX_LABELS),
    ]


def _names_field(text: str) -> bool:
    label = text.partition(":")[0]
    return len(label) <= MAX_LABEL and field_of(label) is not None


def _of_element(node: Node, own: str) -> Iterator[LabelledValue]:
    if node.closest(_ELSEWHERE) is not None:
        return
    label, colon, rest = own.partition(":")
    under = _under(node)
    value = rest if rest.strip() else _after(node) if under is None else under
    sure = bool(colon) or node.tag in _LABELS or any(char.isdigit() for char in value)
    if field := field_of(label):
        yield from _usable(field, value, sure=sure)


def _of_lines(document: Document) -> Iterator[LabelledValue]:
    """Labels with a colon, each at the beginning of a line or of a part of one: "Place: Leeds | Pay: 20"."""
    for block in islice(document.flow.blocks, MAX_BLOCKS):
        if ":" not in block.text or block.section.tag in _CONTROLS:
            continue
        for part in _PARTS.split(block.text[:MAX_TEXT]):
            label, _, rest = part.partition(":")
            field = field_of(label) if rest.strip() and len(label) <= MAX_LABEL else None
            if field and Node(block.section.element).closest(_ELSEWHERE) is None:
                yield from _usable(field, rest, sure=True)


def _after(node: Node) -> str:
    """What follows the label: the rest of its element, the text after it, else what stands next to it or to
    what it stands in.
    """
    inside = " ".join(child.line for child in node.children)
    if inside.strip():
        return inside
    for each in (node, *islice(node.ancestors, LEVELS)):
        text = _between(each) or _beside(each)
        if text is None:
            return ""
        if text:
            return text
        if each.tag in _WHOLE:
            break
    return ""


def _beside(node: Node) -> str | None:
    """The text of the next element that has one; a line break between the two does not part them. None where
    the reader is to fill it in.
    """
    following = node.next
    for _ in range(3):
        if following is None:
            return ""
        if following.tag in _CONTROLS:
            return None
        if line := following.line:
            return line if len(line) <= MAX_VALUE else ""
        if following.css_first("input, select, textarea") is not None:
            return None
        following = following.next
    return ""


def _between(node: Node) -> str:
    """The bare text right after an element, up to the next one that is no line break."""
    for following in islice(node.raw.next_siblings, 4):
        if isinstance(following, Text) and following.data.strip():
            return " ".join(following.data.split())
        if isinstance(following, Element) and following.tag != "br":
            break
    return ""


def _under(node: Node) -> str | None:
    """What stands under a label in the head of a table with one row; None where it is no head of one."""
    head = node.parent
    if node.tag != "th" or head is None or len(cells := head.children[:MAX_CELLS]) < 2:
        return None
    if node not in cells or any(cell.tag != "th" for cell in cells):
        return None
    row = head.next or (head.parent and head.parent.next and head.parent.next.css_first("tr"))
    if row is None or row.next is not None or len(row.children) != len(cells):
        return ""
    return row.children[cells.index(node)].line


def _usable(field: str, value: str, *, sure: bool) -> Iterator[LabelledValue]:
    value = " ".join(value[: MAX_VALUE * 5].split()).strip(" :-–|")
    if value and len(value) <= MAX_VALUE and field_of(value) is None:
        yield LabelledValue(field, value, sure)


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
