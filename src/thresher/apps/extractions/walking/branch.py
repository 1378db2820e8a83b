"""Where the walk goes from a page: to the other pages of its list, into the data set, to the next level.

The seed's order: pagination first, then the data of the page, then its links. A list page is itself the
first page of its list, so its own links are followed at once and it is not requested twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thresher.apps.extractions.model import (
    Configuration,
    ExtractionPage,
    Level,
    PageType,
    Pagination,
    StepKind,
    page_name,
)
from thresher.apps.extractions.walking.facts import PageFacts
from thresher.apps.extractions.walking.paging import paged_url, total_pages

EXPLORATION = 100  # number of the first step of exploration
MAX_PAGES_OF_LIST = 100_000


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to fetch next. `counting`: its list is counted on, as nobody says how long it is."""

    page: str
    url: str
    step: int
    kind: StepKind
    level: int
    page_type: PageType
    number: int | None = None
    list_page: str | None = None
    explored: int = 0
    counting: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """What follows from a page. `pages` are fetched at their own time; `follow` is the next page of a list
    whose pages are known one by one. `extract` is whether the page itself is read into the data set. `left`
    is 1 where the list may go on behind the last page that any list may have.
    """

    pages: tuple[NewPage, ...] = ()
    follow: NewPage | None = None
    extract: bool = False
    left: int = 0


@dataclass(frozen=True, slots=True)
class ListState:
    """What is known of the list that a page belongs to: the address that it begins with, the highest place in
    it that is known already, and whether its pages are counted on one by one.
    """

    url: str
    last: int = 0
    counting: bool = False


def branch(configuration: Configuration, page: ExtractionPage, facts: PageFacts, of: ListState) -> Branch:
    """Decide."""
    level = configuration.levels[page.level]
    rest = tuple(_rest_of_list(level, page, facts, of))
    linked = tuple(_linked(configuration, page, facts))
    is_last = not rest and (page.number or 0) >= of.last
    follow = _following(level, page, facts, of) if is_last else None
    is_cut = (
        level.pagination is not None and (page.number or 0) + 1 >= MAX_PAGES_OF_LIST and bool(facts.links)
    )
    return Branch((*rest, *linked), follow, level.page_type.holds_data, int(is_cut))


def _rest_of_list(level: Level, page: ExtractionPage, facts: PageFacts, of: ListState) -> Iterator[NewPage]:
    """The pages of a numbered list that nobody knows yet: all of them on its first page, and on its last
    those that its total kept quiet about.
    """
    paging, place = level.pagination, page.number or 0
    if paging is None or not paging.kind.is_counted or place < of.last or not facts.links:
        return
    total = total_pages(paging, urls=facts.page_urls, total=facts.total, rows=len(facts.links))
    for number in range(place + 1, min(total or 0, MAX_PAGES_OF_LIST)):
        if (url := paged_url(paging, of.url, number)) is not None:
            yield _in_list(page, url, number)


def _following(level: Level, page: ExtractionPage, facts: PageFacts, of: ListState) -> NewPage | None:
    """The next page of a list that is followed: as its next link says, or by counting on where nobody says
    how many there are. A page without links ends it.
    """
    paging, number = level.pagination, (page.number or 0) + 1
    if paging is None or not facts.links or number >= MAX_PAGES_OF_LIST:
        return None
    if paging.kind.is_followed:
        return _in_list(page, facts.next_url, number) if facts.next_url else None
    url = paged_url(paging, of.url, number) if _counts_on(paging, page, facts, of) else None
    return _in_list(page, url, number, counting=True) if url else None


def _counts_on(paging: Pagination, page: ExtractionPage, facts: PageFacts, of: ListState) -> bool:
    """Whether there may be a next page although nobody says so: the list has said nothing from its beginning,
    and this page is full.
    """
    said = total_pages(paging, urls=facts.page_urls, total=facts.total, rows=len(facts.links))
    is_begun = of.counting or not page.number
    return said is None and is_begun and len(facts.links) >= (paging.page_size or 1)


def _in_list(page: ExtractionPage, url: str, number: int, *, counting: bool = False) -> NewPage:
    return NewPage(
        page_name(url),
        url,
        2 * page.level + 1,
        StepKind.PAGINATION,
        page.level,
        page.page_type,
        number,
        page.list_page or page.page,
        counting=counting,
    )


def _linked(configuration: Configuration, page: ExtractionPage, facts: PageFacts) -> Iterator[NewPage]:
    below = page.level + 1
    if below >= len(configuration.levels):
        return
    for url in facts.links:
        yield NewPage(
            page_name(url), url, 2 * below, StepKind.LINKS, below, configuration.levels[below].page_type
        )


def explored(page: ExtractionPage, urls: Sequence[str], max_depth: int) -> tuple[NewPage, ...]:
    """The pages that exploration goes on to: more of the same kind, as a step of their own."""
    depth = page.explored + 1
    if depth > max_depth:
        return ()
    step = EXPLORATION + depth
    return tuple(
        NewPage(page_name(url), url, step, StepKind.EXPLORATION, page.level, page.page_type, explored=depth)
        for url in urls
    )
