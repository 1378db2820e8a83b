"""An inspection: what was read from one page, its type, the links worth following, the verdict, and what to
do next.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from thresher.core.errors import Blocked, RateLimited, TaskError, Unauthorized
from thresher.core.page import Look, Verdict
from thresher.reading.inspect.company import CompanyOnPage, careers_url
from thresher.reading.lists.find_lists import ListGroup
from thresher.reading.platforms.boards import Board, recognise
from thresher.reading.platforms.calls import list_call
from thresher.reading.postings.posting import Listing, Posting
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import Product


class PageKind(StrEnum):
    """In a person's words, because they are shown to people."""

    LISTING = "listing"
    DETAIL = "detail"
    COMPANY = "company"
    BOARD = "board"
    FEED = "feed"
    SHELL = "shell"
    WALL = "bot wall"
    ARTICLE = "article"
    OTHER = "other"


# Links worth following: those that lead to more of the same.

MAX_LINKS = 300
ENOUGH_ROWS = 3


@dataclass(frozen=True, slots=True)
class Outlink:
    """An address, what its link says, and why it is worth a look."""

    url: str
    text: str
    why: str


def worth_following(facts: Facts) -> tuple[Outlink, ...]:
    """Links to openings first, then boards, then the rows of the page."""
    found: dict[str, Outlink] = {}
    if careers := careers_url(facts.document):
        found[careers] = Outlink(careers, "", "careers")
    for group in (*facts.lists, *facts.lone_rows):
        for row in group.rows:
            url = row.url or ""
            if url.startswith(("http://", "https://")) and len(found) < MAX_LINKS:
                is_row = len(group.rows) >= ENOUGH_ROWS and not row.aside
                why = "board" if recognise(url) else "row" if is_row else ""
                if why:
                    found.setdefault(url, Outlink(url, row.title, why))
    return tuple(found.values())


MAX_TEXT = 1_000_000  # characters of text and of Markdown


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that could be read, and the verdict on it."""

    source: str
    status: int
    look: Look
    kind: PageKind
    title: str = ""
    language: str | None = None
    board: Board | None = None
    company: CompanyOnPage = field(default_factory=CompanyOnPage)
    postings: tuple[Posting, ...] = ()
    products: tuple[Product, ...] = ()
    lists: tuple[ListGroup, ...] = ()
    links: tuple[Outlink, ...] = ()
    next: str | None = None
    pages: tuple[str, ...] = ()
    markdown: str = ""
    text: str = ""
    timings: Mapping[str, float] = field(default_factory=dict)


def unreachable(source: str, problem: TaskError) -> Inspection:
    """The inspection of a page that never came: why not, and no more."""
    refused = isinstance(problem, Blocked | Unauthorized | RateLimited)
    verdict = Verdict.BLOCKED if refused else Verdict.UNKNOWN
    return Inspection(
        source,
        0,
        Look(verdict, str(problem)),
        PageKind.WALL if isinstance(problem, Blocked) else PageKind.OTHER,
    )


def board_of(listing: Listing | None, url: str) -> Board | None:
    """The board that the rows belong to; where only the platform is known, that."""
    if listing is None or listing.platform is None:
        return None
    return listing.board or Board(listing.platform, None, url if url.startswith("http") else "")


# What to do next about a page, in one or two sentences.


def advice(seen: Inspection) -> str:
    """The most useful next step."""
    if seen.look.verdict is Verdict.BLOCKED:
        return (
            "Do not force it: look for the site's feed or API, ask its owner, or wait and fetch more slowly."
        )
    if seen.kind is PageKind.SHELL:
        return "Inspect it again with --render, or request its board's own list." + _board(seen)
    if seen.look.verdict is Verdict.CONFIRMED_EMPTY:
        return "Nothing to do: the source itself says so. Try again another day."
    if seen.look.verdict is Verdict.UNKNOWN:
        return (
            "It proves nothing. Open it in a browser and compare; --json shows the text that was "
            "read." + _board(seen)
        )
    if seen.next:
        return f"There is more: the next page is {seen.next}"
    return "It can be read." + _board(seen)


def _board(seen: Inspection) -> str:
    call = list_call(seen.board) if seen.board and seen.kind is not PageKind.BOARD else None
    if call is None:
        return ""
    return (
        " The list of postings is "
        f"{'at' if call.method == 'GET' else f'requested with a {call.method} to'} {call.url}"
    )
