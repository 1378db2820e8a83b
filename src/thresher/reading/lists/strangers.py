"""Rows that stand in a list without being of it: heads of tables, advertisements among the results, and whole
blocks of recommendations.

A paid place for a thing of the list is a row like the others. An advertisement leads elsewhere, or is built
differently from every row around it.
"""

import re
from collections import Counter
from urllib.parse import urlsplit

from thresher.reading.html.document import Document
from thresher.reading.lists.pieces import HEADINGS, NAMING
from thresher.reading.lists.shapes import shape
from thresher.reading.lists.table import MAX_TITLE, RowTable
from thresher.reading.lists.tree import Tree
from thresher.reading.text.vocabulary import plain, words

COMMON = 0.8  # share of rows that have a slot which all should have
MOST = 0.7  # share of rows that agree on where they lead
FEW = 0.2  # share of rows that lead to another site
UNLIKE = 0.5  # share of the common slots below which a row is built differently
LEVELS = 8
MAX_SUBJECT = 1_000
ADVERT = re.compile(
    r"/(?:pagead|adclick|aclk|ads?|sponsored|adserver|click-?ad|banner)(?:/|\?|$)|doubleclick|googlesyndication|adnxs|taboola|outbrain",
    re.IGNORECASE,
)
_ADVERT_NAMES = re.compile(
    r"(?:^|[\s_-])(?:ad|ads|advert\w*|adsense|sponsor\w*|promo|promoted|promotion|banner)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ASIDE_NAMES = re.compile(
    r"recommend|similar|suggest|recently|also-?(?:bought|viewed|like)|related|promoted-?item|sponsored-?item",
    re.IGNORECASE,
)


def own_rows(table: RowTable) -> list[int]:
    """The numbers of the rows that belong to the list."""
    hosts, kinds = (
        _most([_host(url) for url in table.links]),
        _most([url and shape(url) for url in table.links]),
    )
    fits = _fits(table)
    return [
        number
        for number, title in enumerate(table.titles)
        if title and not _is_strange(table, number, fits[number], hosts, kinds)
    ]


def _is_strange(
    table: RowTable, number: int, fit: float, hosts: tuple[str | None, float], kinds: tuple[str | None, float]
) -> bool:
    url = table.links[number]
    if url is None:
        return hosts[1] >= MOST and (hosts[0] is not None) and fit < COMMON
    if ADVERT.search(url):
        return True
    if kinds[1] >= MOST and shape(url) == kinds[0]:
        return False
    if hosts[0] is not None and hosts[1] >= 1 - FEW and _host(url) != hosts[0]:
        return fit < 1.0 or _is_marked(table, number)
    return kinds[1] >= MOST and (fit < UNLIKE or (fit < COMMON and _is_marked(table, number)))


def _most(values: list[str | None]) -> tuple[str | None, float]:
    value, count = Counter(values).most_common(1)[0]
    return value, count / len(values)


def _host(url: str | None) -> str | None:
    if url is None:
        return None
    try:
        return urlsplit(url).netloc.removeprefix("www.")
    except ValueError:
        return url


def _fits(table: RowTable) -> list[float]:
    """For each row, the share of the slots that nearly all rows have."""
    common = {column.slot for column in table.columns if column.coverage >= COMMON}
    return [
        len(common & {piece.slot for piece in row}) / len(common) if common else 1.0 for row in table.pieces
    ]


def _is_marked(table: RowTable, number: int) -> bool:
    """Whether a row calls itself an advertisement."""
    names = " ".join(table.tree.tokens[table.candidate.rows[number][0]])
    return bool(_ADVERT_NAMES.search(names)) or any(
        words("recommended", "paid").is_one(piece.text) for piece in table.pieces[number]
    )


class Asides:
    """Which elements stand in a block that calls itself recommended, similar, sponsored or recently viewed.
    Each element is asked once.
    """

    def __init__(self, tree: Tree, document: Document) -> None:
        self.tree = tree
        headline = document.root.css_first("h1")
        self.subject = plain(f"{document.title} {headline.line if headline else ''}"[:MAX_SUBJECT])
        self.known: dict[int, bool | None] = {}

    def __contains__(self, number: int) -> bool:
        for each, _ in zip((number, *self.tree.above(number)), range(LEVELS), strict=False):
            if self.tree.elements[each].tag in ("body", "main", "html"):
                return False
            if each not in self.known:
                self.known[each] = self._says(each)
            if (said := self.known[each]) is not None:
                return said
        return False

    def _says(self, number: int) -> bool | None:
        element = self.tree.elements[number]
        names = " ".join(value for name in NAMING if (value := element.attr(name)))[:500]
        if element.tag == "aside" or _ASIDE_NAMES.search(names):
            return True
        heading = self._heading_before(number)
        if not heading:
            return None
        phrase = words("recommended").quote(heading)
        # A page of best sellers lists them: what its title says is no block beside its main matter.
        return phrase is not None and phrase not in self.subject

    def _heading_before(self, number: int) -> str | None:
        """The heading that stands right before an element among its siblings, if one does."""
        node = self.tree.node(number)
        before = node.previous
        for _ in range(3):
            if before is None or (before.tag, before.classes) == (node.tag, node.classes):
                return None  # another row like this one: its heading is its own
            if before.tag in HEADINGS:
                return before.line[:MAX_TITLE]
            inner = before.css_first("h1, h2, h3, h4") if len(before.line) < MAX_TITLE else None
            if inner:
                return inner.line
            before = before.previous if len(before.line) < 3 else None
        return None
