"""What every client is asked for, and what every client answers: the small protocol that they share.

A client never goes out by itself. It says which request to send (`Call`), and reads the body that came back,
in a process that can be killed. So both halves are plain functions of values that can be pickled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from thresher.reading.postings.posting import Posting


class WindowKind(StrEnum):
    """How a client can be kept to a time.

    range    from one day to another
    since    from one day on
    buckets  the last so many days, of a few numbers
    none     not at all: it shows what it shows
    """

    RANGE = "range"
    SINCE = "since"
    BUCKETS = "buckets"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Reach:
    """What the answers of a client can prove.

    `buckets` are numbers of days, rising; with `any`, everything may be asked for as well. `max_days` is how
    far back it can be asked at all. `newest_first`: rows come in the order of their dates, so that a look
    that was cut short has seen everything down to where it ended. `whole`: a list read to its end has every
    offer that is open, so that one that is no longer there is gone.
    """

    window: WindowKind = WindowKind.NONE
    buckets: tuple[int, ...] = ()
    any: bool = True
    max_days: int | None = None
    newest_first: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Search:
    """What every client takes. `updated_since` is the first day wanted, `until` the last; a client that
    cannot be kept to them shows more. `parameters` are the query's own.
    """

    text: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    updated_since: date | None = None
    until: date | None = None
    today: date = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Offer:
    """An offer as a client shows it. `updated` is when it was last changed, where the client says so;
    `company_id` is the client's own for the company.
    """

    posting: Posting
    updated: date | None = None
    company_id: str | None = None
    company_url: str | None = None

    @property
    def day(self) -> date | None:
        """The day by which a client's window knows it."""
        return self.updated or self.posting.posted_date


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The search metadata of one page, and its offers.

    `rows` is how many entries stood there, `bad` why some of them are no offers, `total` how many the client
    says there are. `next` leads to the following page; None: the list ends here. `capped` says why the client
    itself shows no more, although there is more. `trouble` is why the page proves nothing: it could not be
    read to its end, or is not what was asked for.
    """

    offers: tuple[Offer, ...] = ()
    rows: int = 0
    bad: tuple[str, ...] = ()
    total: int | None = None
    next: str | None = None
    capped: str | None = None
    trouble: str | None = None
