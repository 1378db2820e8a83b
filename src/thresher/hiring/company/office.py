"""Whether a company has an office in one city: the right city of that name, and a place where it works.

"Portland cement" is no city, "Portland, Maine" another one, and a customer in Portland is not an office. A
bare name counts only where it means the wanted city by itself, and nothing on the same pages says that the
other one is meant.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from thresher.hiring.company.focus import denied
from thresher.hiring.company.phrases import phrases_of
from thresher.hiring.finding import Finding
from thresher.reading.values.gazetteer import (
    cities_named,
    country_named,
    folded,
    regions_coded,
    regions_named,
)

SHORT = 120  # characters up to which a line with a whole address needs no further words
AROUND = 100
MAX_QUOTE = 160
_END = re.compile(r"[.!?]\s")
_BEHIND = re.compile(
    r"(?P<comma>\s?[,(|/–-]\s?|\s)(?P<first>[^\W0-9_][\w.'’-]*)(?:\s(?P<second>[^\W0-9_][\w.'’-]*))?"
)
_CAPITALS = re.compile(r"[A-Z][a-z]{3,14}(?: [A-Z][a-z]{3,14})?")
_INTO = re.compile(
    r"\b(?:in|near|downtown|outside|from|to|at|of|and|à|en|a|i|w|em|und|et|y|e)\s$", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\s(?:and|or|und|oder|et|ou|y|e|i|as|is|since|where|with|we|our|offices?|hq|headquarters|metro|area|studio|team|hub|campus|location)\b"
)


@dataclass(frozen=True, slots=True)
class Town:
    """A city to work in. Region and country are codes; without them the best-known city of that name is
    meant.
    """

    city: str
    region: str | None = None
    country: str | None = None


def office(lines: Iterable[tuple[str, int]], town: Town) -> Finding[str] | None:
    """The words in which a company says that it works in this city. `lines` are those of its dossier, with
    where they begin.
    """
    bare: Finding[str] | None = None
    elsewhere = False
    listed = list(lines)
    for text, start in listed:
        for match in _name(town.city).finditer(text):
            which = _which(text, match, town)
            elsewhere = elsewhere or which is False
            if which is False or denied(text, match.start()):
                continue
            if which and _works_there(text, match):
                return _quote(text, match, start)
            if which is None and bare is None and _is_office(text, match):
                bare = _quote(text, match, start)
    return bare if bare and not elsewhere and _stands_for_itself(listed, town) else None


def _stands_for_itself(lines: list[tuple[str, int]], town: Town) -> bool:
    """Whether the bare name means this city: no other is known, or no other is better known and the pages
    name no other region.
    """
    known = cities_named(town.city)
    mine = [
        each for each in known if town.region in (None, each.region) and town.country in (None, each.country)
    ]
    others = [each for each in known if each not in mine]
    if not others or any(each.main for each in mine):
        return True
    if any(each.main for each in others) or not mine:
        return False
    named = {
        region.code for text, _ in lines for name in _CAPITALS.findall(text) for region in regions_named(name)
    }
    return any(each.region in named for each in mine) or not any(each.region in named for each in others)


def _which(text: str, match: re.Match[str], town: Town) -> bool | None:
    """Whether what stands behind a name says that it is this city; None where it says nothing."""
    behind = _BEHIND.match(text, match.end())
    if behind is None:
        return None
    apart = behind["comma"].strip() != ""
    pair = f"{behind['first']} {behind['second']}" if behind["second"] else ""
    for name in (pair, behind["first"]):
        if name and (found := _is_there(name, town, apart=apart)) is not None:
            return found
    return None


def _is_there(name: str, town: Town, *, apart: bool) -> bool | None:
    """Whether a region or country is the wanted one; None where it is neither. A code needs a comma or
    capitals: "or" is a word.
    """
    name = name.rstrip(".")
    is_code = len(name.replace(".", "")) <= 3
    if is_code and not (name.isupper() and (apart or len(name) > 1)):
        return None
    regions = regions_coded(name.replace(".", "")) if is_code else regions_named(name)
    if regions and town.region:
        if any(each.code == town.region and town.country in (None, each.country) for each in regions):
            return True
        return None if _names_a_country(name, town) else False
    country = country_named(name)
    if country and town.country:
        return country == town.country
    return None


def _names_a_country(name: str, town: Town) -> bool:
    return town.country is not None and country_named(name) == town.country


def _works_there(text: str, match: re.Match[str]) -> bool:
    if phrases_of("stranger").names(_sentence(text, match)):
        return False
    return len(text) <= SHORT or phrases_of("office").names(_sentence(text, match))


def _is_office(text: str, match: re.Match[str]) -> bool:
    """Whether a bare name is a place of work: alone in its line, or in a sentence on offices and not part of
    another name.
    """
    if text.strip(" •·-–|,").casefold() == match[0].casefold():
        return True
    said = _sentence(text, match)
    if phrases_of("stranger").names(said) or not phrases_of("office").names(said):
        return False
    after = text[match.end() : match.end() + 20]
    ends = (
        not after
        or not (after[0] == " " and len(after) > 1 and after[1].isalpha())
        or _GOES_ON.match(after) is not None
    )
    return (ends or not after[1:2].isupper()) and (
        ends or _INTO.search(text[max(0, match.start() - 12) : match.start()]) is not None
    )


def _sentence(text: str, match: re.Match[str]) -> str:
    low, high = max(0, match.start() - AROUND), min(len(text), match.end() + AROUND)
    ends = [each.end() for each in _END.finditer(text, low, match.start())]
    end = _END.search(text, match.end(), high)
    return text[ends[-1] if ends else low : end.start() if end else high]


def _quote(text: str, match: re.Match[str], start: int) -> Finding[str]:
    said = _sentence(text, match)
    at = text.index(said, max(0, match.start() - AROUND))
    said = said[: max(MAX_QUOTE, match.end() - at)].strip()
    at = text.index(said, at)
    return Finding(said, start + at, start + at + len(said))


@lru_cache(64)
def _name(city: str) -> re.Pattern[str]:
    """The city with a capital, as the person or the gazetteer writes it."""
    spellings = {city, *(each.name for each in cities_named(city) if folded(each.name) == folded(city))}
    said = "|".join(
        re.escape(each[:1].upper() + each[1:]) for each in sorted(spellings, key=len, reverse=True) if each
    )
    return re.compile(rf"(?<![\w-])(?:{said}|{said.upper()})(?![\w-]|\.\w)" if said else r"(?!)")
