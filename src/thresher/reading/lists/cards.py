"""Cards: the repeated rows of a page of results, found by what they share rather than by anybody's class
names.

Links to things of one kind have addresses of one shape (`/item/123`, `/item/456`). The largest part of the
page that belongs to one such address alone is its card; five links to one thing make one card. Blocks that
recommend, advertise or remember other things are kept apart, because they are not what was asked for.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from urllib.parse import parse_qsl

import ada_url

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node
from thresher.reading.text.vocabulary import plain, vocabulary, words

MAX_LINKS = 3_000
MAX_LEVELS = 40
MAX_BLOCKS = 50
MAX_TITLE = 220
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
MAX_CARD = 6_000  # characters of text: above it a "card" is the page
_CHROME = "nav, footer, header nav, [role=navigation], [role=contentinfo]"
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CARD_TAGS = ("li", "article", "tr", "section")
_BLOCKS = ("div", "p", "li", "dd", "dt", "td", "strong")
_STOP_TAGS = frozenset({"body", "html", "main", "ul", "ol"})
_ASIDE_NAMES = re.compile(
    r"recommend|similar|suggest|recently|also-?(?:bought|viewed|like)|related|promoted-?item|sponsored-?item",
    re.IGNORECASE,
)
# Addresses of chores: signing in, sharing, printing. Never a thing of the list.
_CHORES = re.compile(
    r"/(?:login|log-?in|sign-?in|sign-?up|signup|register|auth\w*|share|sharer|print|email\w*|help|faq|support|privacy[\w-]*|terms[\w-]*"
    r"|cookies?[\w-]*)(?:[/?.]|$)",
    re.IGNORECASE,
)
_ID = re.compile(r"\d{6,}|[0-9a-f]{8}-[0-9a-f]{4}-")
_NEW_WINDOW = re.compile(r"\s*\(?opens in (?:a )?new (?:window|tab)(?: or tab)?\)?\s*$", re.IGNORECASE)
_WORD = re.compile(r"\w{2,}")
_VARIES = re.compile(r"\d|%|[A-Z].*[a-z].*[A-Z]")


@dataclass(frozen=True, slots=True)
class Card:
    """One row: the element, the address it is about, what it is called. `aside` is a row beside what was
    asked for.
    """

    node: Node
    url: str
    title: str
    aside: bool = False

    @property
    def names(self) -> str:
        """Class names, ids and data attributes of the row, for hints."""
        return _names(self.node)


@dataclass(frozen=True, slots=True)
class CardGroup:
    """Cards whose addresses have one shape, in the order of the page."""

    shape: str
    cards: tuple[Card, ...]


def groups(document: Document) -> list[CardGroup]:
    """The groups of cards of a page, the largest first."""
    by_shape: dict[str, dict[str, list[Node]]] = defaultdict(lambda: defaultdict(list))
    for url, node in _links(document):
        by_shape[_shape(url)][_same(url)].append(node)
    found = [CardGroup(shape, tuple(_cards(links))) for shape, links in by_shape.items()]
    return sorted((group for group in found if group.cards), key=lambda group: -len(group.cards))


def _links(document: Document) -> Iterator[tuple[str, Node]]:
    chrome = set(document.root.css(_CHROME))
    here = _same(document.url) if document.url else ""
    for node in document.root.css("a[href]")[:MAX_LINKS]:
        href = (node.attribute("href") or "").strip()
        if not href or href.startswith(("#", "javascript:", "mailto:", "tel:")):
            continue
        url = document.absolute(href) or (href if not document.url else None)
        if (
            url
            and not _CHORES.search(url)
            and _same(url) != here
            and chrome.isdisjoint(islice(node.ancestors, MAX_LEVELS))
        ):
            yield url, node


def _same(url: str) -> str:
    """One spelling for addresses of one thing: where the path ends in an id, the query only says how one came
    there.
    """
    try:
        same = canonical_url(url)
    except InvalidUrl:
        same = url.partition("#")[0]
    path, _, query = same.partition("?")
    return path if query and _ID.search(path.rstrip("/").rpartition("/")[2]) else same


def _shape(url: str) -> str:
    """An address with everything that tells one thing from another taken out: `/offer/*`, `/item?id`."""
    try:
        parsed = ada_url.URL(url, "https://here.invalid/")
    except ValueError:
        return url
    parts = [part for part in parsed.pathname.split("/") if part]
    asked_for = parse_qsl(parsed.search[1:], keep_blank_values=True)
    by_query = any(
        _VARIES.search(value) for _, value in asked_for
    )  # `/view?id=123`: the last segment names a kind, the query the thing
    kept = [
        "*" if _is_one_thing(part, last=at == len(parts) and not (by_query and part.isalpha())) else part
        for at, part in enumerate(parts, 1)
    ]
    names = sorted({name for name, _ in asked_for})
    asked = f"?{','.join(names[:3])}" if not kept or kept[-1] != "*" else ""
    return f"{parsed.hostname}/{'/'.join(kept)}{asked}"


def _is_one_thing(part: str, *, last: bool) -> bool:
    """Whether a segment names one page rather than a kind of page."""
    return (
        len(part) > 30
        or bool(_VARIES.search(part))
        or part.count("-") > 2
        or "_" in part
        or (last and "." not in part)
    )


def _cards(links: dict[str, list[Node]]) -> Iterator[Card]:
    owners: dict[Node, set[str]] = defaultdict(set)
    for url, nodes in links.items():
        for node in nodes:
            owners[node].add(url)
            for each in islice(node.ancestors, MAX_LEVELS):
                owners[each].add(url)
    for url, nodes in links.items():
        node = _owned(nodes[0], owners, alone=len(links) == 1)
        title = _title(node, nodes)
        if title and not words("button").is_one(title):
            yield Card(node, url, title, _is_aside(node))


def _owned(link: Node, owners: dict[Node, set[str]], *, alone: bool) -> Node:
    """The largest element that belongs to one address alone."""
    if alone:
        found = {each.tag: each for each in islice(link.ancestors, 12) if each.tag in _CARD_TAGS}
        return next((found[tag] for tag in _CARD_TAGS if tag in found), link.parent or link)
    best = link
    for each in islice(link.ancestors, MAX_LEVELS):
        if each.tag in _STOP_TAGS or len(owners[each]) != 1:
            break
        best = each
    return best if len(best.line) <= MAX_CARD else link


def _title(card: Node, links: list[Node]) -> str | None:
    """What the thing is called: a heading in or around its link, what is named title, else the first link
    that is no button.
    """
    for link in links:
        for heading in (
            *link.walk(*_HEADINGS),
            *(each for each in islice(link.ancestors, 4) if each.tag in _HEADINGS),
        ):
            if title := _proper(heading.line):
                return title
    said = [(link, title) for link in links if (title := _proper(_first_block(link) or link.line))]
    named = next((title for link, title in said if "title" in _names(link).lower()), None)
    if named:
        return named
    if said:
        return _addressed([title for _, title in said], links[0].attribute("href") or "")
    return next((title for text in _other_names(card, links) if (title := _proper(text))), None)


def _addressed(titles: list[str], url: str) -> str:
    """Of several texts that lead to one address (the town, the title), the one whose words the address
    repeats most; else the first.
    """
    if len(titles) == 1:
        return titles[0]
    path = plain(url.partition("?")[0].rpartition("//")[2].partition("/")[2])
    return max(
        titles, key=lambda title: sum(len(word) for word in set(_WORD.findall(plain(title))) if word in path)
    )


def _first_block(link: Node) -> str | None:
    """Of a link around a whole row, the first of its blocks; None where it holds a single text."""
    blocks = [
        text for node in islice(link.walk(*_BLOCKS), MAX_BLOCKS) if (text := " ".join(node.own_text.split()))
    ]
    return blocks[0] if len(blocks) > 1 else None


def _other_names(card: Node, links: list[Node]) -> Iterator[str]:
    for heading in card.walk(*_HEADINGS):
        yield heading.line
    for node in card.css(
        "[class*=title], [class*=Title], [data-testid*=title], [itemprop=name], [itemprop=title]"
    )[:5]:
        yield node.line
    for link in links:
        yield link.attribute("title") or ""
        yield link.attribute("aria-label") or ""
    for image in card.css("img[alt]")[:3]:
        yield image.attribute("alt") or ""


def _proper(text: str) -> str | None:
    text = _NEW_WINDOW.sub("", text)
    if not 2 <= len(text) <= MAX_TITLE or not any(char.isalpha() for char in text):
        return None
    return (
        None
        if words("button").is_one(text) or plain(text).startswith(vocabulary("button")["starts"])
        else text
    )


def _is_aside(card: Node) -> bool:
    """Whether the row stands in a block that calls itself recommended, similar, sponsored or recently
    viewed.
    """
    for each in (card, *islice(card.ancestors, 8)):
        if each.tag in ("body", "main", "html"):
            return False
        if each.tag == "aside" or _ASIDE_NAMES.search(_names(each)):
            return True
        heading = _heading_before(each)
        if heading:
            return words("recommended").names(heading)
    return False


def _heading_before(node: Node) -> str | None:
    """The heading that stands right before an element among its siblings, if one does."""
    before = node.previous
    for _ in range(3):
        if before is None or (before.tag, before.classes) == (node.tag, node.classes):
            return None  # another row like this one: its heading is its own
        if before.tag in _HEADINGS:
            return before.line
        inner = before.css_first("h1, h2, h3, h4") if len(before.line) < MAX_TITLE else None
        if inner:
            return inner.line
        before = before.previous if len(before.line) < 3 else None
    return None


def _names(node: Node) -> str:
    attributes = (node.attribute(name) or "" for name in NAMING)
    return " ".join(value for value in attributes if value)
