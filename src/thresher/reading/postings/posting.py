"""A posting: one opening as a source describes it; and a listing: the postings of one page or response."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.reading.platforms.boards import Board


@dataclass(frozen=True, slots=True)
class Salary:
    """What a posting pays, as far as it says: `period` is hour, day, week, month or year."""

    text: str
    low: Decimal | None = None
    high: Decimal | None = None
    currency: str | None = None
    period: str | None = None


@dataclass(frozen=True, slots=True)
class Posting:
    """`where` says where in the page or answer it stands; `key` is the source's own id for it.

    `remote` is remote, hybrid or onsite where the source says so in a field of its own, else None.
    """

    title: str
    company: str | None = None
    location: str | None = None
    url: str | None = None
    posted_date: date | None = None
    employment_type: str | None = None
    salary: Salary | None = None
    description: str | None = None
    key: str | None = None
    where: str = ""
    remote: str | None = None


# Where a description was read that no element and no label names as one.
UNDER_HEADLINE = "the text under the headline"


def merged(postings: Iterable[Posting]) -> tuple[Posting, ...]:
    """Each posting once, in order. One opening listed per place of work, or linked five times, is one
    posting.
    """
    found: dict[tuple[str, ...], Posting] = {}
    for posting in postings:
        same = _identity(posting)
        found[same] = _joined(found[same], posting) if same in found else posting
    return tuple(found.values())


def _identity(posting: Posting) -> tuple[str, ...]:
    if posting.key:
        return ("key", posting.key)
    if posting.url:
        return ("url", _same_page(posting.url))
    return ("words", posting.title, posting.company or "", posting.location or "")


def _same_page(url: str) -> str:
    try:
        return canonical_url(url)
    except InvalidUrl:
        return url


def _joined(first: Posting, second: Posting) -> Posting:
    places = dict.fromkeys(
        place for each in (first, second) if each.location for place in each.location.split("; ")
    )
    return replace(
        first,
        company=first.company or second.company,
        location="; ".join(places) or None,
        url=first.url or second.url,
        posted_date=first.posted_date or second.posted_date,
        employment_type=first.employment_type or second.employment_type,
        salary=first.salary or second.salary,
        description=first.description or second.description,
        remote=first.remote or second.remote,
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """`rows` is how many entries stood there before doubles were merged; `total` what the source says, if it
    says.

    `share` is the part of the page's text that its rows stand in, where they were read off the page.

    `proof` is whether an empty listing may be taken at its word: some platforms answer so for boards that do
    not exist.
    """

    postings: tuple[Posting, ...]
    source: str
    rows: int = 0
    total: int | None = None
    next: str | None = None
    board: Board | None = None
    platform: str | None = None
    proof: bool = True
    single: bool = False
    share: float = 0.0
