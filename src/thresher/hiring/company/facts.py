"""The facts of a company, each with its evidence: what its pages declare, then label, then say in sentences.
And how complete they are.

What is read here is certain enough to be stored without asking a model. A model may be asked for the rest.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from thresher.core.clock import DAY
from thresher.hiring.company.dossier import Dossier, DossierLine
from thresher.hiring.company.headcount import Headcount, bare_count, headcount
from thresher.hiring.company.phrases import labels, one_of, phrases, phrases_of
from thresher.hiring.company.sections import opening_text, section, sentence
from thresher.hiring.finding import Finding
from thresher.hiring.records import CompanyRecord, company_name_key
from thresher.reading.text.vocabulary import plain
from thresher.reading.values.gazetteer import cities_named, country_named, regions_named

# Founding year and headquarters, from sentences.

EARLIEST = 1500
MAX_PLACE = 80
_YEAR = r"(?<![0-9.,/-])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9/]|[.,][0-9])"
_A_YEAR = re.compile(r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})(?![0-9])")
_DENSE = re.compile(
    r"(?<![0-9])(1[5-9][0-9]{2}|20[0-9]{2})\s?年[^。0-9]{0,20}?(?:設立|創業|創立|成立|创立|创办)"
)
_WORD = r"(?:St\.|Ft\.|(?:[A-Z]\.){2,4}|[^\W0-9_a-zß-ÿ][\w'’-]*)"
_PLACE = rf"{_WORD}(?:(?:,\s|\s)(?:(?:of|de|del|la|the|am|an der|on|upon|sur|du)\s)?{_WORD}){{0,5}}"


def founded(text: str, latest: int) -> Finding[int] | None:
    """The year in which a company says that it began."""
    return _year(_beginnings("founded"), text, latest)


def since(text: str, latest: int) -> Finding[int] | None:
    """The year since which it has been doing what it does: weaker, because other things began in a year
    too.
    """
    return _year(_beginnings("since"), text, latest)


def year_in(text: str, latest: int) -> Finding[int] | None:
    """The only year in a value such as a date."""
    found = [match for match in _A_YEAR.finditer(text) if EARLIEST <= int(match[1]) <= latest]
    return Finding(int(found[0][1]), *found[0].span(1)) if len(found) == 1 else None


def seated(text: str) -> Finding[str] | None:
    """The place that a sentence calls the company's seat, or where it is based, if there is such a place."""
    for name, sure in (("seated", True), ("based", False)):
        for match in _places(name).finditer(text):
            place = match[1][:MAX_PLACE].rstrip(" ,")
            if sure or (
                is_known(place) and not _others().search(text[max(0, match.start() - 40) : match.start()])
            ):
                return Finding(place, match.start(1), match.start(1) + len(place))
    return None


def is_known(place: str) -> bool:
    """Whether some part of a place is a city, a region or a country of the gazetteer."""
    parts = [part.strip() for part in place.split(",")]
    return any(cities_named(part) or regions_named(part) or country_named(part) for part in parts if part)


def _year(patterns: tuple[re.Pattern[str], ...], text: str, latest: int) -> Finding[int] | None:
    found = [
        match
        for pattern in patterns
        for match in pattern.finditer(text)
        if EARLIEST <= int(match[1]) <= latest
    ]
    first = min(found, key=lambda match: match.start(), default=None)
    return Finding(int(first[1]), *first.span(1)) if first else None


@cache
def _beginnings(name: str) -> tuple[re.Pattern[str], ...]:
    """The word before the year, or not far behind it: "1998 in Köln gegründet", "1998年に設立"."""
    said = one_of(name)
    if name == "since":
        return (re.compile(rf"(?<!\w)(?:{said})\s(?:the year\s)?{_YEAR}", re.IGNORECASE),)
    before = re.compile(rf"(?<!\w)(?:{said})(?!\w)[^.0-9]{{0,40}}?{_YEAR}", re.IGNORECASE)
    after = re.compile(rf"{_YEAR}[^.0-9]{{0,30}}?(?<!\w)(?:{said})(?!\w)", re.IGNORECASE)
    return before, after, _DENSE


@cache
def _places(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?i:{one_of(name)})\s({_PLACE})")


@cache
def _others() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of('based_others')})(?!\w)[^.]{{0,15}}$", re.IGNORECASE)


MAX_LABEL = 40
MAX_VALUE = 120
MAX_NAME = 100
# In which order pages are believed about the company itself.
_ROLES = ("about", "home", "mission", "culture", "careers")
FIELDS = ("about", "culture", "mission", "size", "headquarters", "industry", "founded")


@dataclass(frozen=True, slots=True)
class CompanyFacts:
    """The values by their field; a missing field was not found. The value of `size` is a Headcount, that of
    `founded` a year.
    """

    found: Mapping[str, Finding[Any]] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in FIELDS if name not in self.found)


def read_facts(dossier: Dossier, *, name: str = "", year: int) -> CompanyFacts:
    """Everything that can be read by rules. `year` is the present one: nothing was founded later."""
    labelled = _labelled(dossier, year)
    found: dict[str, Finding[Any] | None] = {
        "about": _about(dossier, name),
        "culture": section(dossier, "culture", name),
        "mission": section(dossier, "mission", name) or sentence(dossier, "mission"),
        "size": _declared_size(dossier) or labelled.get("size") or _first(dossier, headcount),
        "headquarters": labelled.get("headquarters")
        or _first(dossier, seated, name)
        or _declared_seat(dossier),
        "industry": dossier.said("industry") or labelled.get("industry"),
        "founded": _declared_year(dossier, year) or labelled.get("founded") or _began(dossier, name, year),
    }
    return CompanyFacts({key: value for key, value in found.items() if value is not None})


def own_name(dossier: Dossier) -> Finding[str] | None:
    """What the company calls itself."""
    found = dossier.said("name", "og:site_name")
    return found if found and len(found.value) <= MAX_NAME else None


def _about(dossier: Dossier, name: str) -> Finding[str] | None:
    """The longest that it says of itself: below a heading, on its page about itself, or in the words that it
    gives to search engines.
    """
    found = [
        section(dossier, "about", name),
        opening_text(dossier, "about"),
        dossier.said("description"),
        dossier.said("og:description"),
    ]
    best = max((each for each in found if each), key=lambda each: len(each.value), default=None)
    return best or opening_text(dossier, "home")


def _declared_size(dossier: Dossier) -> Finding[Headcount] | None:
    said = dossier.said("numberOfEmployees")
    return _moved(bare_count(said.value), said.start) if said else None


def _declared_year(dossier: Dossier, year: int) -> Finding[int] | None:
    said = dossier.said("foundingDate")
    return _moved(year_in(said.value, year), said.start) if said else None


def _declared_seat(dossier: Dossier) -> Finding[str] | None:
    return dossier.said("address", "location")


def _began(dossier: Dossier, name: str, year: int) -> Finding[int] | None:
    return _first(dossier, lambda text: founded(text, year), name) or _first(
        dossier, lambda text: since(text, year), name
    )


def _first(
    dossier: Dossier, read: Callable[[str], Finding[Any] | None], name: str | None = None
) -> Finding[Any] | None:
    """The first that a line says, on the page that is believed most. With a name, only what is said of the
    company itself.
    """
    for role in _ROLES:
        for line in dossier.lines:
            found = read(line.text) if line.role == role and line.linked <= 0.5 else None
            if found and (name is None or _is_its_own(line, found, name)):
                return _moved(found, line.start)
    return None


def _is_its_own(line: DossierLine, found: Finding[Any], name: str) -> bool:
    """Whether a sentence is about the company: it says we or its name, or begins with the matter. Others were
    founded somewhere, too.
    """
    if "©" in line.text or phrases_of("not").names(line.text[: found.end]):
        return False
    if line.role == "about" or plain(line.text[: found.start]).startswith(_openers()):
        return True
    return phrases_of("ourselves").names(line.text) or bool(
        name and company_name_key(name) in company_name_key(line.text)
    )


@cache
def _openers() -> tuple[str, ...]:
    """How a sentence begins that has no other subject than the company: "Founded in 1998, ..."."""
    return tuple(
        phrase
        for name in ("founded", "since", "seated", "based")
        for phrase in phrases(name)
        if len(phrase) > 1
    )


def _labelled(dossier: Dossier, year: int) -> dict[str, Finding[Any]]:
    found: dict[str, Finding[Any]] = {}
    for label, said in _pairs(dossier.lines):
        if label not in found and (value := _value(label, said, year)):
            found[label] = value
    return found


def _pairs(lines: tuple[DossierLine, ...]) -> Iterator[tuple[str, Finding[str]]]:
    """Labels and what stands behind them, in the same line or the next; above a label stand the numbers of a
    poster.
    """
    for at, line in enumerate(lines):
        head, colon, rest = line.text.partition(":")
        name = labels().get(plain(head)) if len(head) <= MAX_LABEL else None
        if name is None:
            continue
        if colon and rest.strip():
            yield name, _stripped(rest, line.start + len(head) + 1)
            continue
        if (
            not colon
            and name == "size"
            and line.tag not in ("dt", "th")
            and at
            and _is_figure(lines[at - 1].text)
        ):
            yield name, _stripped(lines[at - 1].text, lines[at - 1].start)
        if at + 1 < len(lines) and not lines[at + 1].level and lines[at + 1].page == line.page:
            yield name, _stripped(lines[at + 1].text, lines[at + 1].start)


def _is_figure(text: str) -> bool:
    bare = text.strip(" +~>≈")
    return (
        len(bare) <= 10
        and any(map(str.isdecimal, bare))
        and all(char.isdecimal() or char in ".,'’ kK" for char in bare)
    )


def _stripped(text: str, start: int) -> Finding[str]:
    value = text.strip()
    start += len(text) - len(text.lstrip())
    return Finding(value, start, start + len(value))


def _value(label: str, said: Finding[str], year: int) -> Finding[Any] | None:
    if not said.value or len(said.value) > MAX_VALUE or plain(said.value) in labels():
        return None
    if label == "size":
        return _moved(bare_count(said.value), said.start)
    if label == "founded":
        return _moved(year_in(said.value, year), said.start)
    if label == "headquarters":
        return said if is_known(said.value) or "," in said.value else None
    return said if not said.value.endswith((".", "!", "?")) else None


def _moved(found: Finding[Any] | None, by: int) -> Finding[Any] | None:
    """A finding in a line, as one in the dossier."""
    return Finding(found.value, found.start + by, found.end + by) if found else None


# How much is known of a company, and whether that is enough to leave it alone for a while.


class Completeness(StrEnum):
    """From nothing to all that is needed."""

    NONE = "none"
    MINIMAL = "minimal"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Texts have to be longer than these (characters); a good company is left alone for `fresh_days`. Sizes
    are people.
    """

    about_minimal: int = 50
    culture_minimal: int = 25
    about_good: int = 100
    culture_good: int = 50
    fresh_days: float = 30.0
    small: int = 100
    medium: int = 1_000


def completeness(company: CompanyRecord, at: Thresholds) -> Completeness:
    """Minimal is a name, a site and one text; good is both texts, and longer ones."""
    if not (company.name and company.website):
        return Completeness.NONE
    about, culture = len(company.about or ""), len(company.culture or "")
    if about > at.about_good and culture > at.culture_good:
        return Completeness.GOOD
    return (
        Completeness.MINIMAL
        if about > at.about_minimal or culture > at.culture_minimal
        else Completeness.NONE
    )


def is_fresh(company: CompanyRecord, at: Thresholds, now: int) -> bool:
    """Whether reading the site again would be too soon. `now` is in microseconds."""
    if company.completeness != Completeness.GOOD:
        return False
    return 0 <= now - company.analyzed_at < at.fresh_days * DAY


def size_category(low: int, high: int | None, at: Thresholds) -> str:
    """Small, medium or large. Of a range its middle counts; of "500 and more" what is certain."""
    people = low if high is None else (low + high) // 2
    return "small" if people <= at.small else "medium" if people <= at.medium else "large"
