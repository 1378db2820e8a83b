"""Postings: what they ask for, and their lives. They open, are edited, close, and are sometimes listed again
under a new number.

A company has a number of places. Each place is a chain of postings through time, drawn from the seed, so what
is open at any moment follows from the seed and the moment alone, whichever moments were looked at before.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.company import MAINE, OREGON, STACK, Company, traits
from thresher.practice.web.draw import Draw, uuid
from thresher.practice.web.words import CITIES, DEPARTMENTS, EMPLOYMENT, LEVELS, OFFERS, WANTS

# What a posting asks for and on what terms, in sentences, with what is true of them: years, skills, where
# the work is done.

REMOTE, HYBRID, ONSITE = "remote", "hybrid", "onsite"
OFFICE_TOOLS = ("SQL", "Excel", "Salesforce", "Figma", "Tableau")
YEARS = (
    "{years}+ years of experience in a similar role",
    "At least {years} years of experience",
    "{years}-{more} years of relevant experience",
    "Minimum {years} years' experience with this kind of work",
)
SKILLS = ("Solid knowledge of {skills}", "You have worked with {skills}", "Hands-on experience with {skills}")
WORKPLACE = {
    REMOTE: (
        "This is a fully remote role, from anywhere in {country}",
        "You work remotely, wherever in {country} you live",
    ),
    HYBRID: (
        "Hybrid work: two days a week in our {city} office",
        "A hybrid role with three days a week in {city}",
    ),
    ONSITE: (
        "This is not a remote role: the work is done in our {city} office",
        "You work on-site in {city}; remote work is not possible",
        "On-site in {city}",
    ),
}
AGE = ("We have been in business for {years} years", "Customers have relied on us for over {years} years")
CLEARANCE, NO_CLEARANCE = "An active security clearance is required", "No security clearance is required"
BUZZWORDS = ("A rockstar attitude", "You are a coding ninja")
COMMISSION = "Pay is commission only"
PENSION = "A 401k with a match of 4%"


@dataclass(frozen=True, slots=True)
class Demands:
    """What is asked for. None and empty: the posting does not say. `wants` and `offers` are the sentences
    that say it.
    """

    years: int | None
    skills: tuple[str, ...]
    says_workplace: bool
    clearance: bool
    buzzword: bool
    commission: bool
    wants: tuple[str, ...]
    offers: tuple[str, ...]


def demands(draw: Draw, department: str, mode: str, city: tuple[str, str, str, str, str, int]) -> Demands:
    """Drawn for one posting; the same for every time it is listed."""
    years = draw.between(1, 10) if draw.chance(60) else None
    skills = tuple(
        draw.some(STACK, draw.between(2, 4))
        if department == "Engineering"
        else draw.some(OFFICE_TOOLS, draw.below(3))
    )
    said, clearance = draw.chance(65), draw.chance(4)
    buzzword, commission = draw.chance(4), department == "Sales" and draw.chance(10)
    wants, offers = [], []
    if years:
        wants.append(draw.pick(YEARS).format(years=years, more=years + 2))
    if skills:
        wants.append(draw.pick(SKILLS).format(skills=listed(skills)))
    if clearance or draw.chance(5):
        wants.append(CLEARANCE if clearance else NO_CLEARANCE)
    if buzzword:
        wants.append(draw.pick(BUZZWORDS))
    if said:
        offers.append(draw.pick(WORKPLACE[mode]).format(city=city[0], country=city[2]))
    if draw.chance(25):
        offers.append(draw.pick(AGE).format(years=draw.between(11, 60)))
    if city[3] == "US" and draw.chance(50):
        offers.append(PENSION)
    if commission:
        offers.append(COMMISSION)
    return Demands(years, skills, said, clearance, buzzword, commission, tuple(wants), tuple(offers))


def listed(names: tuple[str, ...]) -> str:
    """Python, Go and Rust."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


City = tuple[str, str, str, str, str, int]
# A place's first posting opened this long before day 0 at most, so that day 0 already has old and new ones.
RUN_UP = 150
FIRST_ID = 4_000_000_000
# A rotated id is the true one followed by three figures that change with every answer.
ROTATION = 1_000
# Short codes hold the posting's number, and do not look it.
SCRAMBLE = 0x5A_3C_96_69_A5
SQL = "SQL beyond the basics"


@dataclass(frozen=True, slots=True)
class PostedPay:
    """A salary range in whole units of its currency a year."""

    least: int
    most: int
    currency: str


@dataclass(frozen=True, slots=True)
class PracticePosting:
    """One posting as it reads at a moment. `round` counts the postings of its place; `revision` its edits so
    far.
    """

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
    pay: PostedPay | None
    opened: datetime
    updated: datetime
    closes: datetime
    duties: tuple[str, ...]
    wants: tuple[str, ...]
    offers: tuple[str, ...]
    level: str
    demands: Demands

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
        return f"{self.requisition}-{self.round}" + (
            f"-{self.id % ROTATION}" if self.id >= FIRST_ID * ROTATION else ""
        )

    @property
    def slug(self) -> str:
        return "-".join("".join(each if each.isalnum() else " " for each in self.title.lower()).split())

    @property
    def where(self) -> str:
        """City and country; with the state between them where the name alone could mean two cities."""
        return ", ".join(self.city[:3] if self.city in (OREGON, MAINE) else (self.city[0], self.city[2]))

    @property
    def skills(self) -> tuple[str, ...]:
        """What it names that one can learn, besides its title."""
        return self.demands.skills + (
            ("SQL",) if SQL in self.wants and "SQL" not in self.demands.skills else ()
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that a board may number it by."""
        return (str(self.id), self.uuid, self.shortcode, self.mark, self.requisition)


@lru_cache(1_024)
def postings(seed: int, company: Company, now: datetime) -> tuple[PracticePosting, ...]:
    """What is open now, newest first."""
    found = (each for place in range(company.places) for each in _open(seed, company, place, now))
    return tuple(sorted(found, key=lambda each: (each.opened, each.id), reverse=True))


def number_in(key: str) -> int:
    """The posting's number from its uuid or its short code; -1 where there is none."""
    try:
        return int(key[24:], 16) if len(key) == 36 else int(key, 16) ^ SCRAMBLE
    except ValueError:
        return -1


@dataclass(frozen=True, slots=True)
class Life:
    """One posting of a place, from its opening to its closing. `words` is the round whose words it has: of a
    relisted one, an earlier.
    """

    place: int
    round: int
    words: int
    opened: datetime
    closes: datetime

    @property
    def is_relisted(self) -> bool:
        return self.words < self.round


def lives(seed: int, company: Company, place: int, until: datetime) -> Iterator[Life]:
    """The postings of a place that opened until then, the first one first."""
    draw = Draw(seed, "place", company.token, place)
    opened = DAY_ZERO - timedelta(days=RUN_UP) + timedelta(minutes=draw.below((RUN_UP - 10) * 1_440))
    number, words = 0, 0
    while opened <= until:
        closes = opened + timedelta(minutes=draw.between(12 * 1_440, 90 * 1_440))
        yield Life(place, number, words, opened, closes)
        again = draw.chance(35)
        opened = closes + timedelta(minutes=draw.between(60, 21 * 1_440))
        number += 1
        words = words if again else number  # listed again: another number, the same words


def _open(seed: int, company: Company, place: int, now: datetime) -> Iterator[PracticePosting]:
    return (
        read_at(seed, company, life, now) for life in lives(seed, company, place, now) if now < life.closes
    )


def read_at(seed: int, company: Company, life: Life, now: datetime) -> PracticePosting:
    """A posting as it reads at a moment of its life."""
    place, words = life.place, life.words
    draw = Draw(seed, "posting", company.token, place, words)
    department = draw.pick(tuple(DEPARTMENTS))
    titles, duties = DEPARTMENTS[department]
    level, title = draw.pick(LEVELS), draw.pick(titles)
    city = company.city if draw.chance(60) else draw.pick(CITIES)
    apart = Draw(seed, "demands", company.token, place, words)
    portland = next((each for each in traits(seed, company).offices if each in (OREGON, MAINE)), None)
    if portland and apart.chance(30):
        city = portland
    also = (
        tuple(each for each in draw.some(CITIES, draw.between(1, 3)) if each != city)
        if draw.chance(15)
        else ()
    )
    pay = _pay(draw, city, LEVELS.index(level)) if draw.chance(55) else None
    edits = Draw(
        seed, "edits", company.token, place, words
    )  # of their own: an edit must not move the draws after it
    revision, updated = _edits(edits, life.opened, now)
    if revision and edits.chance(30):
        title = f"{title} ({edits.pick(('all genders', 'm/f/d', '4 days', 'hybrid'))})"
    if revision and pay:
        pay = PostedPay(pay.least + 1_000 * revision, pay.most + 2_000 * revision, pay.currency)
    mode, employment = draw.pick((ONSITE, ONSITE, HYBRID, HYBRID, REMOTE)), draw.pick(EMPLOYMENT)
    texts = [tuple(draw.some(choices, 3)) for choices in (duties, WANTS, OFFERS)]
    asked = demands(apart, department, mode, city)
    return PracticePosting(
        id=FIRST_ID + Draw(seed, "id", company.token, place, life.round).below(900_000_000),
        company=company,
        place=place,
        round=life.round,
        revision=revision,
        title=f"{level}{title}",
        department=department,
        city=city,
        also=also,
        mode=mode,
        employment=employment,
        pay=pay,
        opened=life.opened,
        updated=updated,
        closes=life.closes,
        duties=texts[0],
        wants=texts[1] + asked.wants,
        offers=texts[2] + asked.offers,
        level=level.strip().lower(),
        demands=asked,
    )


def _pay(draw: Draw, city: City, level: int) -> PostedPay:
    least = city[5] * (80 + 6 * level + draw.below(15)) // 100 * 1_000
    return PostedPay(least, least + least // 100 * draw.between(10, 35), city[4])


def _edits(draw: Draw, opened: datetime, now: datetime) -> tuple[int, datetime]:
    """How often it was edited by now, and when last."""
    every = timedelta(minutes=draw.between(5 * 1_440, 40 * 1_440)) if draw.chance(50) else None
    count = (now - opened) // every if every else 0
    return count, opened + count * every if every and count else opened
