"""Postings, and their lives: they open, are edited, close, and are sometimes listed again under a new number.

A company has a number of places. Each place is a chain of postings through time, drawn from the seed, so what is open
at any moment follows from the seed and the moment alone, whichever moments were looked at before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.company import Company
from thresher.practice.web.draw import Draw, uuid
from thresher.practice.web.words import CITIES, DEPARTMENTS, EMPLOYMENT, LEVELS, OFFERS, WANTS

City = tuple[str, str, str, str, str, int]
REMOTE, HYBRID, ONSITE = "remote", "hybrid", "onsite"
# A place's first posting opened this long before day 0 at most, so that day 0 already has old and new ones.
RUN_UP = 150
FIRST_ID = 4_000_000_000
# A rotated id is the true one followed by three figures that change with every answer.
ROTATION = 1_000
# Short codes hold the posting's number, and do not look it.
SCRAMBLE = 0x5A_3C_96_69_A5


@dataclass(frozen=True, slots=True)
class Pay:
    """A salary range in whole units of its currency a year."""

    least: int
    most: int
    currency: str


@dataclass(frozen=True, slots=True)
class Posting:
    """One posting as it reads at a moment. `round` counts the postings of its place; `revision` its edits so far."""

    id: int
    company: Company
    place: int
    round: int
    revision: int
    title: str
    department: str
    city: City
    also: tuple[City, ...]
    mode: str
    employment: str
    pay: Pay | None
    opened: datetime
    updated: datetime
    closes: datetime
    duties: tuple[str, ...]
    wants: tuple[str, ...]
    offers: tuple[str, ...]

    @property
    def uuid(self) -> str:
        return f"{uuid(0, self.company.token, self.id)[:24]}{self.id:012x}"

    @property
    def shortcode(self) -> str:
        return f"{self.id ^ SCRAMBLE:010X}"

    @property
    def requisition(self) -> str:
        """Outlives a relisting: the place is the same."""
        return f"R-{10_000 + self.place}"

    @property
    def mark(self) -> str:
        """Names a posting in an address without its number; a rotated number shows as an ending."""
        return f"{self.requisition}-{self.round}" + (f"-{self.id % ROTATION}" if self.id >= FIRST_ID * ROTATION else "")

    @property
    def slug(self) -> str:
        return "-".join("".join(each if each.isalnum() else " " for each in self.title.lower()).split())

    @property
    def where(self) -> str:
        return f"{self.city[0]}, {self.city[2]}"


@lru_cache(256)
def postings(seed: int, company: Company, now: datetime) -> tuple[Posting, ...]:
    """What is open now, newest first."""
    found = (each for place in range(company.places) for each in _open(seed, company, place, now))
    return tuple(sorted(found, key=lambda each: (each.opened, each.id), reverse=True))


def number_in(key: str) -> int:
    """The posting's number from its uuid or its short code; -1 where there is none."""
    try:
        return int(key[24:], 16) if len(key) == 36 else int(key, 16) ^ SCRAMBLE
    except ValueError:
        return -1


def _open(seed: int, company: Company, place: int, now: datetime) -> Iterator[Posting]:
    draw = Draw(seed, "place", company.token, place)
    opened = DAY_ZERO - timedelta(days=RUN_UP) + timedelta(minutes=draw.below((RUN_UP - 10) * 1_440))
    number, text_round = 0, 0
    while opened <= now:
        closes = opened + timedelta(minutes=draw.between(12 * 1_440, 90 * 1_440))
        if now < closes:
            yield _posting(seed, company, place, (number, text_round), (opened, closes), now)
        again = draw.chance(35)
        opened = closes + timedelta(minutes=draw.between(60, 21 * 1_440))
        number += 1
        text_round = text_round if again else number  # listed again: another number, the same words


def _posting(seed: int, company: Company, place: int, rounds: tuple[int, int], life: tuple[datetime, datetime], now: datetime) -> Posting:
    number, words = rounds
    opened, closes = life
    draw = Draw(seed, "posting", company.token, place, words)
    department = draw.pick(tuple(DEPARTMENTS))
    titles, duties = DEPARTMENTS[department]
    level, title = draw.pick(LEVELS), draw.pick(titles)
    city = company.city if draw.chance(60) else draw.pick(CITIES)
    also = tuple(each for each in draw.some(CITIES, draw.between(1, 3)) if each != city) if draw.chance(15) else ()
    pay = _pay(draw, city, LEVELS.index(level)) if draw.chance(55) else None
    edits = Draw(seed, "edits", company.token, place, words)  # of their own: an edit must not move the draws after it
    revision, updated = _edits(edits, opened, now)
    if revision and edits.chance(30):
        title = f"{title} ({edits.pick(('all genders', 'm/f/d', '4 days', 'hybrid'))})"
    if revision and pay:
        pay = Pay(pay.least + 1_000 * revision, pay.most + 2_000 * revision, pay.currency)
    return Posting(
        id=FIRST_ID + Draw(seed, "id", company.token, place, number).below(900_000_000),
        company=company, place=place, round=number, revision=revision, title=f"{level}{title}", department=department, city=city, also=also,
        mode=draw.pick((ONSITE, ONSITE, HYBRID, HYBRID, REMOTE)), employment=draw.pick(EMPLOYMENT), pay=pay, opened=opened, updated=updated,
        closes=closes, duties=tuple(draw.some(duties, 3)), wants=tuple(draw.some(WANTS, 3)), offers=tuple(draw.some(OFFERS, 3)),
    )  # fmt: skip


def _pay(draw: Draw, city: City, level: int) -> Pay:
    least = city[5] * (80 + 6 * level + draw.below(15)) // 100 * 1_000
    return Pay(least, least + least // 100 * draw.between(10, 35), city[4])


def _edits(draw: Draw, opened: datetime, now: datetime) -> tuple[int, datetime]:
    """How often it was edited by now, and when last."""
    every = timedelta(minutes=draw.between(5 * 1_440, 40 * 1_440)) if draw.chance(50) else None
    count = (now - opened) // every if every else 0
    return count, opened + count * every if every and count else opened
