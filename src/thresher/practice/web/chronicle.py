"""What happened to the postings of a company between two days, straight from the generator: what a crawler
should have seen.

It counts from what stood on the board at the end of the first day's look to what stands there at the last: a
posting that is open at both may have changed, one that is open at neither but was in between has opened and
closed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.company import Company, company
from thresher.practice.web.posting import Life, PracticePosting, lives, postings, read_at
from thresher.practice.web.sites.home import board_url


@dataclass(frozen=True, slots=True)
class Chronicle:
    """A company, its board, and the postings: open at the end; opened, changed, closed and listed again since
    the beginning.

    Each reads as it did when last seen. Listed again are those of `opened` that have the words of an earlier
    posting of their place.
    """

    company: Company
    board: str
    open: tuple[PracticePosting, ...]
    opened: tuple[PracticePosting, ...]
    changed: tuple[PracticePosting, ...]
    closed: tuple[PracticePosting, ...]
    relisted: tuple[PracticePosting, ...]


def chronicle(seed: int, token: str, since: float, until: float) -> Chronicle:
    """What happened after one day's moment and up to another's."""
    who, first, last = company(seed, token), day(since), day(until)
    before = {each.id: each for each in postings(seed, who, first)}
    after = postings(seed, who, last)
    begun = [life for life in _lives(seed, who, last) if first < life.opened]
    ended = [life for life in _lives(seed, who, last) if first < life.closes <= last]
    return Chronicle(
        company=who,
        board=board_url(who),
        open=after,
        opened=tuple(_at_last(seed, who, life, last) for life in begun),
        changed=tuple(each for each in after if each.id in before and differs(before[each.id], each)),
        closed=tuple(_at_last(seed, who, life, last) for life in ended),
        relisted=tuple(_at_last(seed, who, life, last) for life in begun if life.is_relisted),
    )


def day(number: float) -> datetime:
    """The moment that the practice web's calendar has on that day."""
    return DAY_ZERO + timedelta(days=number)


def differs(one: PracticePosting, other: PracticePosting) -> bool:
    """Whether a reader of both would see a change. An edit that only moves a date is none."""
    return (one.title, one.pay) != (other.title, other.pay)


def _lives(seed: int, who: Company, until: datetime) -> Iterator[Life]:
    return (life for place in range(who.places) for life in lives(seed, who, place, until))


def _at_last(seed: int, who: Company, life: Life, last: datetime) -> PracticePosting:
    return read_at(seed, who, life, min(last, life.closes - timedelta(seconds=1)))
