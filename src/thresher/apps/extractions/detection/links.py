"""The lists of links on a page: which rows it shows, where they lead, and how much of the page they are.

What finds the rows is `thresher.reading.lists`. Here they become addresses, without the links of the pager,
of menus and of filters, so that lists of two pages can be compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from thresher.apps.extractions.detection.link_pattern import apart, distinct
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.html.document import Document
from thresher.reading.html.links import PageLink, links
from thresher.reading.lists.find_lists import find_lists
from thresher.reading.lists.pager import is_paged, same_list

MAX_LINKS = 2_000  # of a page that are compared
MAX_LISTS = 6
MAX_URLS = 1_000  # of one list
MAX_TITLES = 5
MAX_TITLE = 120
MIN_ROWS = 2
MAX_ROWS = 1_000  # from here on a list is what its page is for, whatever else there is
MANY_ROWS = 5  # from here on more rows do not make a list more likely
LONG_ROW = 500  # characters: what is much longer than that is a chapter, not a row
MENU = 0.3  # what a list of a menu, a footer or a filter counts for
_FURNITURE = frozenset({"nav", "footer"})  # a card has a header, too


@dataclass(frozen=True, slots=True)
class LinkList:
    """The addresses that rows of one list lead to, in the order of the page. `share` is the part of the
    page's text that stands in its rows; `score` says how much of the page the list is, between 0 and 1;
    `rank` compares the lists of one page.
    """

    NOT_STORED: ClassVar = ((),)

    urls: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    share: float = 0.0
    score: float = 0.0
    rank: float = 0.0


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the reader of lists says of one list."""

    urls: tuple[str, ...]
    titles: tuple[str, ...]
    characters: int
    rank: float


def all_links(document: Document) -> list[PageLink]:
    """The web links of a page, each address once."""
    return [link for link in links(document)[:MAX_LINKS] if link.kind == "web"]


def link_lists(document: Document) -> tuple[LinkList, ...]:
    """The lists of a page, the likeliest to be its main matter first."""
    body = document.root.css_first("body") or document.root
    whole = max(1, len(body.line))
    regions = {_same(link.url): link.region for link in all_links(document)}
    found = [_scored(rows, regions, whole, document.url) for rows in _row_groups(document)]
    long = [each for each in found if len(each.urls) >= MIN_ROWS]
    return tuple(long[:MAX_LISTS])


def _row_groups(document: Document) -> Iterable[_Rows]:
    """The one place that knows which reader finds the rows of a page."""
    for group in find_lists(document):
        rows = [
            row for row in group.rows if row.url and not row.aside and not _is_pager(row.url, document.url)
        ]
        yield _Rows(
            tuple(row.url or "" for row in rows),
            tuple(row.title for row in rows),
            sum(len(node.line) for row in rows for node in row.nodes),
            group.score,
        )


def _is_pager(url: str, here: str) -> bool:
    return is_paged(url) and same_list(url, here)


def _scored(rows: _Rows, regions: dict[str, str], whole: int, here: str) -> LinkList:
    urls = distinct(rows.urls, MAX_URLS)
    share = 1.0 if len(rows.urls) >= MAX_ROWS else min(1.0, rows.characters / whole)
    aside = sum(regions.get(url) in _FURNITURE for url in urls)
    size = rows.characters / max(1, len(urls))
    likely = min(1.0, LONG_ROW / max(1.0, size))
    likely *= MENU if urls and (2 * aside > len(urls) or _filters(urls, here)) else 1.0
    return LinkList(
        tuple(urls),
        tuple(title[:MAX_TITLE] for title in rows.titles[:MAX_TITLES]),
        round(share, 4),
        round(share * min(1.0, len(urls) / MANY_ROWS) * likely, 4),
        round(rows.rank, 3),
    )


def _filters(urls: Sequence[str], here: str) -> bool:
    """Whether the links lead to this very page with other words behind the question mark."""
    own = _same(here).partition("?")[0]
    return own != "" and 2 * sum(url.partition("?")[0] == own for url in urls) > len(urls)


def _same(url: str) -> str:
    try:
        return canonical_url(url)
    except InvalidUrl:
        return url


def same_site(url: str, other: str) -> bool:
    """Whether two addresses have one host."""
    return apart(_same(url)).host == apart(_same(other)).host
