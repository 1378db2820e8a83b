"""When a company began, and where it sits, as its own sentences say it."""

import re
from functools import cache

from thresher.hiring.company.phrases import one_of
from thresher.hiring.finding import Finding
from thresher.hiring.gazetteer import cities_named, country_named, regions_named

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
