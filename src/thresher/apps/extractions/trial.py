"""What a level of a recipe would do with one page: which links it follows, where its list goes on.

Pure, and always called in a process that can be killed: the pattern is a person's, the page is a stranger's,
and no one can tell beforehand whether the one ends on the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from thresher.apps.extractions.model import Configuration, ExtractionPage, Level, StepKind, page_name
from thresher.apps.extractions.walking.branch import ListState, branch
from thresher.apps.extractions.walking.facts import PageFacts, read_page
from thresher.apps.extractions.walking.paging import total_pages
from thresher.core.errors import Malformed
from thresher.core.page import Page
from thresher.reading.html.document import Document

MAX_SHOWN = 50
NEXT_PAGES = 3


@dataclass(frozen=True, slots=True)
class PageTrial:
    """`links` are the first addresses that lead on, of `links_found`; `next_pages` the first of the list's
    other pages. `notes` say what would stop an extraction here.
    """

    title: str = ""
    links: tuple[str, ...] = ()
    links_found: int = 0
    next_pages: tuple[str, ...] = ()
    total_pages: int | None = None
    notes: tuple[str, ...] = ()


def try_page(page: Page, level: Level) -> PageTrial:
    """Walk on from a page as the level says, without requesting anything."""
    try:
        facts = read_page(page, level)
    except Malformed as problem:
        return PageTrial(notes=(str(problem),))
    following = tuple(_next_pages(page, level, facts))
    return PageTrial(
        Document.of(page).title[:200],
        facts.links[:MAX_SHOWN],
        len(facts.links),
        following[:NEXT_PAGES],
        _total(level, facts),
        tuple(_notes(level, facts, following)),
    )


def _next_pages(page: Page, level: Level, facts: PageFacts) -> Iterator[str]:
    """The other pages of the list that an extraction would fetch, as far as this page tells."""
    url = page.final_url
    first = ExtractionPage(0, page_name(url), url, 0, 0, level.page_type)
    found = branch(Configuration((level,)), first, facts, ListState(url))
    yield from (each.url for each in found.pages if each.kind is StepKind.PAGINATION)
    if found.follow is not None:
        yield found.follow.url


def _total(level: Level, facts: PageFacts) -> int | None:
    if level.pagination is None:
        return None
    return total_pages(level.pagination, urls=facts.page_urls, total=facts.total, rows=len(facts.links))


def _notes(level: Level, facts: PageFacts, following: tuple[str, ...]) -> Iterator[str]:
    if facts.shell:
        yield facts.shell
    if not level.page_type.holds_data and not facts.links:
        what = "no link of the page matches link_pattern" if level.link_pattern else "the page shows no list"
        yield f"{what}, so nothing would be followed from here"
    if level.pagination is not None and level.pagination.kind.is_followed and not following:
        yield "the page names no next page"
    if level.needs_browser:
        yield "clicks and waits are carried out by an extraction, not by this test"
