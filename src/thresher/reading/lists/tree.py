"""A page laid out flat: its elements in document order with what a search for repeated structure asks of
each.

Every question about a subtree (how much text, which links) becomes one about an interval of numbers, so that
looking at each level of a page costs no more than looking at it once.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from thresher.core.keys import MAX_URL
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node, Text

MAX_ELEMENTS = 200_000
MAX_TOKENS = 8  # class names of one element that are looked at
MAX_ATTRIBUTE = 500  # characters of them
UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "svg", "iframe", "object", "canvas"})
_CHROME_TAGS = frozenset({"nav", "footer", "select", "datalist", "dialog"})
_CHROME_ROLES = frozenset({"navigation", "contentinfo", "dialog", "menu", "menubar", "tablist", "search"})
# States and positions, which tell one row from its neighbour and not a row from anything else.
_STATE = re.compile(
    r"(?:^|.*[-_])(?:odd|even|first|last|active|selected|current|alt|alternate|new|featured|highlight(?:ed)?|hot|urgent|premium|"
    r"visited|hover|open|closed|expanded|collapsed|clearfix|clear|\d+)$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
# A page that a script opens may stand as a plain address in an attribute.
_ADDRESSES = ("data-href", "data-url", "data-link", "data-detail-url", "data-job-url", "data-target-url")
# `detail/7.html`, `view.php?id=7`
_RELATIVE = re.compile(
    r"[\w-]{1,100}(?:/[\w%.-]{1,300}){1,8}+(?:\?\S{0,2000})?$|[\w-]{1,100}\.[a-z]{2,5}\?\S{1,2000}$"
)
_OPENED = re.compile(
    r"^\s{0,9}(?:javascript:)?\s{0,9}(?:return\s+)?(?:(?:window|document|self|top)\.)?(?:location(?:\.href)?\s{0,9}=\s{0,9}|"
    r"location\.(?:assign|replace)\(\s{0,9}|open\(\s{0,9})[\"']([^\"'<>\s\\]{1,2000})[\"']"
)


@dataclass(slots=True)
class Tree:
    """Lists by number of element. `end` is one past the last element inside; `path` stands for the tags from
    the root down; `text` counts visible characters inside; `chrome` tells what is menu, footer or form.
    """

    elements: list[Element] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    path: list[int] = field(default_factory=list)
    text: list[int] = field(default_factory=list)
    chrome: list[bool] = field(default_factory=list)
    tokens: list[tuple[str, ...]] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)  # of the anchors, one each
    hidden: set[int] = field(default_factory=set)

    def links(self, number: int) -> Iterator[tuple[int, str]]:
        """The links of an element and inside it."""
        for at in range(bisect_left(self.anchors, number), bisect_left(self.anchors, self.end[number])):
            yield self.anchors[at], self.urls[at]

    def link_count(self, number: int) -> int:
        return bisect_left(self.anchors, self.end[number]) - bisect_left(self.anchors, number)

    def node(self, number: int) -> Node:
        return Node(self.elements[number])

    def above(self, number: int) -> Iterator[int]:
        """From the parent up to the root."""
        number = self.parent[number]
        while number >= 0:
            yield number
            number = self.parent[number]


def flat(document: Document) -> Tree:
    """The body of a document, laid out. What a person never sees is left out."""
    tree = Tree()
    paths: dict[tuple[int, str], int] = {}
    body = document.root.css_first("body") or document.root
    stack: list[tuple[Element | None, int]] = [(body.raw, -1)]
    while stack:
        element, parent = stack.pop()
        if element is None:
            _close(tree, parent)
            continue
        if len(tree.elements) >= MAX_ELEMENTS or element.tag in UNSEEN:
            continue
        number = _open(tree, paths, element, parent, document)
        stack.append((None, number))
        inside = list(element)
        tree.text[number] = sum(len(each.data.strip()) for each in inside if isinstance(each, Text))
        stack += [(each, number) for each in reversed(inside) if isinstance(each, Element)]
    return tree


def _open(
    tree: Tree, paths: dict[tuple[int, str], int], element: Element, parent: int, document: Document
) -> int:
    number = len(tree.elements)
    above = tree.path[parent] if parent >= 0 else -1
    tree.elements.append(element)
    tree.parent.append(parent)
    tree.end.append(number + 1)
    tree.path.append(paths.setdefault((above, element.tag), len(paths)))
    tree.text.append(0)
    tree.chrome.append((parent >= 0 and tree.chrome[parent]) or _is_chrome(element))
    tree.tokens.append(tokens_of(element))
    if url := address_of(element, document):
        tree.anchors.append(number)
        tree.urls.append(url)
    return number


def _close(tree: Tree, number: int) -> None:
    tree.end[number] = len(tree.elements)
    if tree.parent[number] >= 0:
        tree.text[tree.parent[number]] += tree.text[number]


def _is_chrome(element: Element) -> bool:
    return element.tag in _CHROME_TAGS or (element.attr("role") or "").lower() in _CHROME_ROLES


def tokens_of(element: Element) -> tuple[str, ...]:
    """The class names that say what kind of element it is: without states, counters and ids."""
    names = (element.attr("class") or "")[:MAX_ATTRIBUTE].split()[:MAX_TOKENS]
    return tuple(dict.fromkeys(_DIGITS.sub("", name) or name for name in names if not _STATE.fullmatch(name)))


def address_of(element: Element, document: Document) -> str | None:
    """Where an element leads: its link, or the plain address that a script would open."""
    href = (element.attr("href") or "").strip() if element.tag in ("a", "area") else ""
    if href and not href.startswith("#") and not href.lower().startswith(("javascript:", "mailto:", "tel:")):
        return _whole(href, document)
    if element.tag in ("a", "tr", "li", "div", "article", "td", "button"):
        said = next((value for name in _ADDRESSES if (value := (element.attr(name) or "").strip())), "")
        opened = _OPENED.match((element.attr("onclick") or href)[:MAX_URL])
        plain = said if _is_address(said) else opened[1] if opened else ""
        return _whole(plain, document) if plain and not plain.lower().startswith("javascript:") else None
    return None


def _is_address(said: str) -> bool:
    """Whether an attribute holds an address, not the name of a thing or of a place on the page."""
    return said.startswith(("/", "http://", "https://", "./", "../", "?")) or bool(
        _RELATIVE.match(said[:MAX_URL])
    )


def _whole(href: str, document: Document) -> str | None:
    """The whole address; of a page whose own is unknown, the link as it is written."""
    if document.url or document.base_url:
        return document.absolute(href)
    if href.startswith("//"):
        href = f"https:{href}"
    return document.absolute(href) or (href if len(href) <= MAX_URL and "://" not in href[:12] else None)
