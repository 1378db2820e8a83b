"""Where a page leads: every link with its address, its text and where on the page it stands.

One place is often linked three times, as picture, headline and "read more". It is given once, with the text
that says most. The region and the nearest heading tell a link of the main list from one of the footer.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from thresher.core.keys import MAX_URL
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node

MAX_LINKS: Final = 5_000
MAX_TEXT: Final = 300
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_REGIONS: Final = {
    "nav": "nav",
    "header": "header",
    "footer": "footer",
    "main": "main",
    "article": "main",
    "aside": "aside",
    "body": "body",
}
_ROLES: Final = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "main": "main",
    "complementary": "aside",
}
# Pages without the elements made for it name the region in an id or a class. Whole words only: "navy" is no
# menu.
_NAMES: Final = {
    "nav": "nav",
    "navbar": "nav",
    "navigation": "nav",
    "menu": "nav",
    "breadcrumb": "nav",
    "breadcrumbs": "nav",
    "header": "header",
    "footer": "footer",
    "sidebar": "aside",
    "content": "main",
    "main": "main",
}
_ROWS: Final = "li, tr, article, p, dd, dt, td, section, div"
_SAYS_LITTLE: Final = frozenset(
    {
        "",
        "more",
        "read more",
        "details",
        "view",
        "view details",
        "learn more",
        "here",
        "click here",
        "link",
        "show",
        "see more",
        "continue",
        "apply",
        "apply now",
        "mehr",
        "weiterlesen",
        "en savoir plus",
        "lire la suite",
        "leer más",
        "ver más",
        "leggi tutto",
        "lees meer",
    }
)
_UNREAD: Final = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_INLINE: Final = frozenset(
    {
        "a",
        "b",
        "i",
        "em",
        "strong",
        "span",
        "small",
        "u",
        "font",
        "mark",
        "abbr",
        "sup",
        "sub",
        "label",
        "bdi",
    }
)
_OTHER_KINDS: Final = {"mailto:": "mail", "tel:": "phone"}


@dataclass(frozen=True, slots=True)
class PageLink:
    """`kind` is "web", "mail" or "phone". `region` is nav, header, main, aside, footer or body; `row` the
    text of the entry around it.

    `position` counts from 0 in document order. `node` is the element, whose `path` is the evidence.
    """

    url: str
    text: str
    kind: str = "web"
    rel: tuple[str, ...] = ()
    region: str = "body"
    heading: str | None = None
    row: str = ""
    position: int = 0
    node: Node | None = field(default=None, compare=False, repr=False)


def links(document: Document) -> list[PageLink]:
    """Every place that the page leads to, once, in the order of first mention. Fragments of the page itself
    are no places.
    """
    found: dict[str, PageLink] = {}
    for link in every_link(document):
        key = link.url.partition("#")[0] if link.kind == "web" else link.url
        known = found.get(key)
        found[key] = link if known is None else _merged(known, link)
    return list(found.values())


def every_link(document: Document) -> Iterator[PageLink]:
    """Every link as it stands, in document order, doubles included."""
    regions: dict[Node, str] = {}
    rows: dict[Node, str] = {}
    here = document.url.partition("#")[0]
    heading: str | None = None
    position = 0
    for node in document.root.walk("a", "area", *_HEADINGS):
        if node.tag in _HEADINGS:
            heading = beginning(node) or heading
            continue
        target = _target(document, node, here)
        if target is None:
            continue
        kind, url = target
        rel = tuple((node.attribute("rel") or "").lower().split())
        yield PageLink(
            url, link_text(node), kind, rel, _region(node, regions), heading, _row(node, rows), position, node
        )
        position += 1
        if position >= MAX_LINKS:
            return


def _target(document: Document, node: Node, here: str) -> tuple[str, str] | None:
    href = (node.attribute("href") or "").strip()
    if not href or href.startswith("#") or len(href) > MAX_URL:
        return None
    for scheme, kind in _OTHER_KINDS.items():
        if href[: len(scheme)].lower() == scheme:
            return kind, href[len(scheme) :].partition("?")[0].strip()
    url = document.absolute(href)
    if url is None or (here and "#" in url and url.partition("#")[0] == here):
        return None
    return "web", url


def link_text(node: Node) -> str:
    """What a reader sees or hears of a link: its text, else its label, title, or the description of its
    picture.
    """
    said = beginning(node) or node.attribute("aria-label") or node.attribute("title") or ""
    if not said and (picture := node.css_first("img[alt]")) is not None:
        said = picture.attribute("alt") or ""
    return " ".join(said.split())[:MAX_TEXT]


def beginning(node: Node, most: int = MAX_TEXT) -> str:
    """The first words of an element on one line. Reads no further than it must: rows within rows would all be
    read to the end.
    """
    found: list[str] = []
    size = 0
    todo: list[Node | str] = [node]
    while todo and size <= most:
        piece = todo.pop()
        if isinstance(piece, str):
            found.append(piece)
            size += len(piece.strip())
        elif piece.tag not in _UNREAD:
            inline = piece.tag in _INLINE
            todo += [] if inline else [" "]
            todo += reversed(piece.pieces)
            found += [] if inline else [" "]
    return " ".join("".join(found).split())[:most]


def _merged(known: PageLink, again: PageLink) -> PageLink:
    if _says(again) <= _says(known):
        return known
    return replace(again, position=known.position, rel=tuple(dict.fromkeys(known.rel + again.rel)))


def _says(link: PageLink) -> tuple[bool, bool, int]:
    bare = link.text.lower().strip(" .…>»→")
    return bare not in _SAYS_LITTLE, link.region in ("main", "body"), min(len(bare), 80)


def _region(node: Node, known: dict[Node, str]) -> str:
    """The part of the page around an element. Every element passed on the way up is remembered."""
    passed: list[Node] = []
    found = "body"
    for above in node.ancestors:
        if above in known:
            found = known[above]
            break
        passed.append(above)
        if (named := _region_of(above)) is not None:
            found = named
            break
    known.update(dict.fromkeys(passed, found))
    return found


def _region_of(node: Node) -> str | None:
    if node.tag in _REGIONS:
        return _REGIONS[node.tag]
    role = node.attribute("role")
    if role is not None and role in _ROLES:
        return _ROLES[role]
    if node.tag in ("div", "ul", "ol", "td", "section", "table"):
        words = (
            f"{node.attribute('id') or ''} {node.attribute('class') or ''}".lower()
            .replace("-", " ")
            .replace("_", " ")
            .split()
        )
        return next((_NAMES[word] for word in words if word in _NAMES), None)
    return None


def _row(node: Node, known: dict[Node, str]) -> str:
    row = node.closest(_ROWS)
    if row is None:
        return ""
    if row not in known:
        known[row] = beginning(row)
    return known[row]
