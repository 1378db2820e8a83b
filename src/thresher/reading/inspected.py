"""An inspection: everything that could be read from one page, and the verdict on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher.core.errors import Blocked, RateLimited, TaskError, Unauthorized
from thresher.core.page import Look, Verdict
from thresher.reading.boards import Board
from thresher.reading.company import Company
from thresher.reading.kind import Kind
from thresher.reading.listing import Listing
from thresher.reading.outlinks import Outlink
from thresher.reading.posting import Posting
from thresher.reading.product import Product

MAX_TEXT = 1_000_000  # characters of text and of Markdown


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that could be read, and the verdict on it."""

    source: str
    status: int
    look: Look
    kind: Kind
    title: str = ""
    language: str | None = None
    board: Board | None = None
    company: Company = field(default_factory=Company)
    postings: tuple[Posting, ...] = ()
    products: tuple[Product, ...] = ()
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
        source, 0, Look(verdict, str(problem)), Kind.WALL if isinstance(problem, Blocked) else Kind.OTHER
    )


def board_of(listing: Listing | None, url: str) -> Board | None:
    """The board that the rows belong to; where only the platform is known, that."""
    if listing is None or listing.platform is None:
        return None
    return listing.board or Board(listing.platform, None, url if url.startswith("http") else "")
