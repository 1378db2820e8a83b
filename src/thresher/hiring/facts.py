"""The facts of a posting: pay, place, level, experience, contract, skills and more, each with its evidence.

A dedicated field is read before the description. What nobody says is unknown. Every character of a posting
may be hostile; at most `MAX_LENGTH` of them are read, each a bounded number of times.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from thresher.core.evidence import Evidence, Place
from thresher.hiring import pay, workplace
from thresher.hiring.company.facts import Completeness
from thresher.hiring.experience import read_experience
from thresher.hiring.finding import Finding, flat, place
from thresher.hiring.level import read_level
from thresher.hiring.locations import read_spots
from thresher.hiring.mentions import Mention
from thresher.hiring.opening import Employment, Experience, Level, Opening, Pay, Spot, Workplace
from thresher.hiring.records import PostingRecord
from thresher.hiring.skills import skills
from thresher.reading.values.dates import posted_on

# Contract types: full time, part time, contract, temporary, internship, volunteer. An opening may offer
# several.

_FIELD = re.compile(
    r"(?<![a-z])(?:(?P<full_time>full[-_ ]?time|vollzeit|temps plein|tiempo completo|jornada completa|tempo pieno|voltijd|fulltime|fte|"
    r"heltid|tempo integral)|"
    r"(?P<part_time>part[-_ ]?time|teilzeit|temps partiel|tiempo parcial|media jornada|deeltijd|parttime|deltid|meio período)|"
    r"(?P<internship>intern|internship|interns|praktikum|praktikant(?:in)?|werkstudent(?:in)?|working[-_ ]student|stage|stagiaire|"
    r"trainee|co-?op|estágio|prácticas)|"
    r"(?P<contract>contract(?:or|ors)?|freelance|freelancer|corp[- ]to[- ]corp|c2c|1099|b2b|freiberuflich|independent)|"
    r"(?P<temporary>temporary|temp|fixed[-_ ]term|seasonal|befristet|interim|cdd|temporal|per[-_ ]diem|casual|limited)|"
    r"(?P<volunteer>volunteer|voluntary|ehrenamtlich|bénévole))(?![a-z])"
)
_TITLE = re.compile(
    r"(?<![a-z])(?:(?P<full_time>full[- ]?time|vollzeit)|(?P<part_time>part[- ]?time|teilzeit|(?<![0-9])[1-7]0 ?%)|"
    r"(?P<internship>intern|interns|internship|internships|praktikum|praktikant(?:in)?|werkstudent(?:in)?|working student|stagiaire|co-op)|"
    r"(?P<contract>(?<=[(\[-] )contract|(?<=[(\[])contract(?:or)?|contractor|freelance(?:r)?|contract(?=[)\]]|$| -)|"
    r"\d+[- ]months? contract)|"
    r"(?P<temporary>temporary|fixed[- ]term|seasonal|befristet|(?<=[(\[])temp|maternity cover)|(?P<volunteer>volunteer))(?![a-z])"
)
# In a description: preceded by a label, or followed by a noun.
_LABEL = re.compile(
    r"(?:\b(?:(?:employment|job|position|contract|work|schedule|role|hire|engagement)(?: ?/? ?(?:type|status|schedule))|schedule|"
    r"type of (?:employment|contract)|"
    r"beschäftigungsart|anstellungsart|arbeitszeit|employment)\b ?[:-]+ ?|\b(?:this is|it is|it's|we offer|offering|looking for|seeking|"
    r"hiring|as) an? "
    r"(?:[a-z-]+,? (?:[a-z-]+,? )?)?|^ ?[-•]? ?|\n ?[-•]? ?|[(|,] ?|\bpermanent,? |\b(?:role|position|job|opportunity) is (?:a )?)$"
)
_NOUN = re.compile(
    r"[ ,/-]*(?:(?:remote|hybrid|on-?site|permanent|exempt|regular|w2|salaried|hourly|direct hire|contract|paid|temporary|position|role|"
    r"and)[ ,/-]+){0,3}"
    r"(?:position|role|job|opportunity|employment|basis|contract|assignment|internship|engagement|stelle|anstellung|festanstellung|"
    r"schedule|[|)\n•.]|$)"
)
_NEGATED = re.compile(r"\b(?:not|no|isn't|non|nor)\b(?: (?:a|an|currently|any|offering|for|open to))* ?$")
_ANCHORS = (
    ("full-time", Employment.FULL_TIME),
    ("full time", Employment.FULL_TIME),
    ("vollzeit", Employment.FULL_TIME),
    ("part-time", Employment.PART_TIME),
    ("part time", Employment.PART_TIME),
    ("teilzeit", Employment.PART_TIME),
    ("internship", Employment.INTERNSHIP),
    ("praktikum", Employment.INTERNSHIP),
    ("contract", Employment.CONTRACT),
    ("freelance", Employment.CONTRACT),
    ("fixed-term", Employment.TEMPORARY),
    ("fixed term", Employment.TEMPORARY),
    ("temporary", Employment.TEMPORARY),
    ("seasonal", Employment.TEMPORARY),
)
MAX_MENTIONS = 40
HOURS = (Employment.FULL_TIME, Employment.PART_TIME)  # how long somebody works, not as what


@lru_cache(2_048)
def of_field(text: str) -> tuple[Employment, ...]:
    """What a field that is about nothing else says: "FULL_TIME", "permanent / full-time", "CDD"."""
    return tuple(dict.fromkeys(Employment(str(each.lastgroup)) for each in _FIELD.finditer(flat_field(text))))


def flat_field(text: str) -> str:
    """A field in small letters. Underlines are kept: FULL_TIME is one word."""
    return text[:300].lower()


@lru_cache(8_192)
def in_title(title: str) -> tuple[Finding[Employment], ...]:
    """What a title says beside the role, each sort once."""
    found: dict[Employment, Finding[Employment]] = {}
    for each in _TITLE.finditer(flat(title[:300])):
        if each.lastgroup is not None:
            found.setdefault(Employment(each.lastgroup), Finding(Employment(each.lastgroup), *each.span()))
    return tuple(found.values())


def in_text(low: str) -> tuple[Finding[Employment], ...]:
    """What a flat description says of the opening, each sort once, in the order of the text."""
    found: dict[Employment, Finding[Employment]] = {}
    left = MAX_MENTIONS
    for word, meant in _ANCHORS:
        at = low.find(word)
        while at >= 0 and left and meant not in found:
            left -= 1
            if _is_said(low, at, at + len(word)):
                found[meant] = Finding(meant, at, at + len(word))
            at = low.find(word, at + 1)
    return tuple(sorted(found.values(), key=lambda each: each.start))


def _is_said(low: str, start: int, end: int) -> bool:
    before = low[max(0, start - 50) : start]
    if before[-1:].isalnum() or _NEGATED.search(before):
        return False
    return _LABEL.search(before) is not None and _NOUN.match(low, end) is not None


# Skills: technologies and others, each once, at its first mention.

MAX_SKILLS = 60


def read_skills(text: str) -> tuple[Finding[str], ...]:
    """Each skill once, in the order of the text."""
    return _once(skills(text))


@lru_cache(4_096)
def skills_of_title(title: str) -> tuple[Finding[str], ...]:
    """The same of a title: most titles are seen many times."""
    return _once(skills(title))


def _once(mentions: Iterable[Mention]) -> tuple[Finding[str], ...]:
    found: dict[str, Finding[str]] = {}
    for each in mentions:
        if each.name not in found:
            found[each.name] = Finding(each.name, each.start, each.end)
    return tuple(found.values())[:MAX_SKILLS]


MAX_LENGTH = 30_000  # characters of a description that are read
MAX_LINE = 1_000  # of a title, a location, a field
MAX_URL = 8_192
_LOCATED = ("location:", "locations:", "standort:", "arbeitsort:", "work location:", "job location:")


def read_facts(posting: PostingRecord, *, today: date, source: str | None = None) -> Opening:
    """The opening that a posting describes. `source` names the stored text that the places of the description
    count in.
    """
    sheet = _Sheet(
        _text(posting.title), _text(posting.location), _text(posting.description, MAX_LENGTH), posting
    )
    spots = sheet.spots()
    return Opening(
        key=posting.key,
        title=sheet.title,
        text=sheet.text,
        company=_text(posting.company_name) or None,
        url=_text(posting.url, MAX_URL) or None,
        posted=sheet.posted(today),
        pay=sheet.pay(spots),
        spots=spots,
        workplace=sheet.workplace(),
        level=sheet.level(),
        experience=sheet.experience(),
        employment=sheet.employment(),
        skills=sheet.skills(),
        evidence=Evidence(sheet.places, source),
    )


def _text(said: str | None, most: int = MAX_LINE) -> str:
    return said[:most] if said else ""


@dataclass(slots=True)
class _Sheet:
    """One posting while it is read. Every answer leaves its place in `places`."""

    title: str
    location: str
    text: str
    posting: PostingRecord
    low: str = ""
    places: dict[str, Place | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.low = flat(self.text)

    def posted(self, today: date) -> date | None:
        said = _text(self.posting.posted, 100)
        day = _iso(said) or (posted_on(said, today) if said else None)
        if day is not None:
            self.places["posted"] = Place(said, path="posted")
        return day

    def pay(self, spots: tuple[Spot, ...]) -> Pay | None:
        countries = {spot.country for spot in spots if spot.country}
        country = next(iter(countries)) if len(countries) == 1 else None
        said = pay.of_field(self.posting.salary, country)
        found = (
            pay.in_text(self.low, self.text, country=country)
            if said is None or said.low is said.high is None
            else None
        )
        if found is not None:
            self.places["pay"] = place(found, self.text)
            return found.value
        if said is not None:
            self.places["pay"] = _place_of_salary(self.posting.salary)
        return said

    def spots(self) -> tuple[Spot, ...]:
        if self.location:
            found = read_spots(self.location)
            for at in range(len(found)):
                self.places[f"spots.{at}"] = Place(self.location, path="location")
            return found
        return self._labelled_spots()

    def _labelled_spots(self) -> tuple[Spot, ...]:
        """A line of the description that says where: "Location: Leeds"."""
        for label in _LOCATED:
            at = self.low.find(label)
            if at >= 0 and (at == 0 or not self.low[at - 1].isalnum()):
                start = at + len(label)
                end = self.low.find("\n", start, start + 200)
                line = self.text[start : end if end >= 0 else start + 100].strip(" *_\t")
                start = self.text.index(line, start) if line else start
                found = tuple(
                    spot
                    for spot in read_spots(line)
                    if spot.city or spot.region or spot.country or spot.remote
                )
                for number in range(len(found)):
                    self.places[f"spots.{number}"] = Place(line, start, start + len(line))
                return found
        return ()

    def workplace(self) -> Workplace | None:
        own = self.posting
        fields = (
            ("workplace", own.workplace),
            ("workplace_type", own.workplace_type),
            ("remote", own.remote),
        )
        for name, value in fields:
            said = "true" if value is True else value
            if isinstance(said, str) and (meant := workplace.of_field(said)) is not None:
                self.places["workplace"] = Place(str(value), path=name)
                return meant
        for path, line, read in (
            ("location", self.location, workplace.in_location),
            ("title", self.title, workplace.in_title),
        ):
            if line and (found := read(line)) is not None:
                self.places["workplace"] = place(found, line, path)
                return found.value
        if (found := workplace.in_text(self.low)) is None:
            return None
        self.places["workplace"] = place(found, self.text)
        return found.value

    def level(self) -> Level | None:
        if (found := read_level(self.title)) is None:
            return None
        self.places["level"] = place(found, self.title, "title")
        return found.value

    def experience(self) -> Experience | None:
        if (found := read_experience(self.low)) is None:
            return None
        self.places["experience"] = place(found, self.text)
        return found.value

    def employment(self) -> tuple[Employment, ...]:
        said = _text(self.posting.employment_type, 300)
        if said and (meant := of_field(said)):
            self.places |= {
                f"employment.{at}": Place(said, path="employment_type") for at in range(len(meant))
            }
            # A field may be about the hours alone: an intern who works full time is an intern.
            extra = [each for each in in_title(self.title) if each.value not in (*meant, *HOURS)]
            self.places |= {
                f"employment.{len(meant) + at}": place(each, self.title, "title")
                for at, each in enumerate(extra)
            }
            return (*meant, *(each.value for each in extra))
        path, line = "title", self.title
        found = in_title(self.title)
        if not found:
            path, line = "", self.text
            found = in_text(self.low)
        self.places |= {f"employment.{at}": place(each, line, path or None) for at, each in enumerate(found)}
        return tuple(each.value for each in found)

    def skills(self) -> tuple[str, ...]:
        found = read_skills(self.text)
        self.places |= {f"skills.{at}": place(each, self.text) for at, each in enumerate(found)}
        named = {each.value for each in found}
        extra = [each for each in skills_of_title(self.title) if each.value not in named]
        self.places |= {
            f"skills.{len(found) + at}": place(each, self.title, "title") for at, each in enumerate(extra)
        }
        return tuple(each.value for each in (*found, *extra))


def _place_of_salary(salary: Any) -> Place:
    """Its words where it has some, else the number that was written."""
    if isinstance(salary, str):
        return Place(salary[: pay.MAX_LENGTH], path="salary")
    if text := str(salary.get("text") or ""):
        return Place(text[: pay.MAX_LENGTH], path="salary.text")
    name = "low" if salary.get("low") is not None else "high"
    return Place(str(salary[name])[: pay.MAX_LENGTH], path=f"salary.{name}")


def _iso(text: str) -> date | None:
    try:
        day = date.fromisoformat(text[:10]) if len(text) >= 10 else None
    except ValueError:
        return None
    return day if day is not None and 1990 <= day.year <= 2200 else None


# How much a posting says: enough to be judged, or all that a good listing says.

_REQUIREMENTS = re.compile(
    r"(?<![a-z])(?:requirements?|required|qualifications?|must[- ]haves?|you (?:bring|have|are|need)|what you(?:'ll)? (?:bring|need)|your profile|"
    r"experience (?:with|in)|anforderungen|(?:dein|ihr) profil|requisitos|profil recherché|requisiti)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a posting does not say. `minimal` is what it needs to be judged, each with a sentence; `good` is
    the rest of a good listing.
    """

    minimal: Mapping[str, str]
    good: tuple[str, ...]

    @property
    def completeness(self) -> Completeness:
        if self.minimal:
            return Completeness.NONE
        return Completeness.MINIMAL if self.good else Completeness.GOOD

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.minimal, *self.good)


def gaps_of(posting: PostingRecord, opening: Opening, description: int) -> Gaps:
    """A minimal listing has a URL, a title, a company and more than `description` characters of text; a good
    one has also a location, the day it was posted, and requirements.
    """
    length = len((posting.description or "").strip())
    minimal = {
        "url": None if posting.url else "it has no URL",
        "title": None if posting.title else "it has no title",
        "company": None if posting.company_name else "its company is not known",
        "description": None
        if length > description
        else f"its description has {length} characters; more than {description} are needed to judge it",
    }
    good = {
        "location": posting.location or opening.spots,
        "posted": opening.posted,
        "requirements": opening.skills or opening.experience or _REQUIREMENTS.search(flat(opening.text)),
    }
    return Gaps(
        {name: reason for name, reason in minimal.items() if reason},
        tuple(name for name, said in good.items() if not said),
    )
