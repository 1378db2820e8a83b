"""Whether a short text is a place and nothing else: "Leeds, UK", "Berlin (hybrid)", "Remote - Germany".

This decides about lines without a label, so a name alone must be a city, a region or a country of the
gazetteer, and no word besides: Reading and Nice are places only beside their country.
"""

import re
from functools import cache, lru_cache

from thresher.reading.text.vocabulary import plain, vocabulary, words
from thresher.reading.values.gazetteer import (
    cities_named,
    country_named,
    is_word,
    regions_coded,
    regions_named,
)

MAX_LENGTH = 80  # characters
MAX_PARTS = 6
MAX_NAME_WORDS = 4
_DIVIDED = re.compile(
    r"\s*[,;()\[\]/]\s*|\s+[-–—|]\s+|\s+(?:and|or|und|oder|et|ou|y|o|en|of|i|lub)\s+|\s*[–—]\s*"
)
_POSTCODE = re.compile(
    r"(?!^\d{1,4}\s)\b(?:[A-Z]{1,2}-)?\d{4,6}(?:-\d{3,4})?\b|\b\d{2}-\d{3}\b|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"
)
_CODED = re.compile(r"([A-Z]{2})-([A-Z]{2,3})-[^\W\d_][^\d]*")  # US-SC-Prosperity
_EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EASTERN_PARTS = re.compile(r"[\s\-·/、，,・>＞|（）()\[\]]+")
_UNIT = re.compile(
    r"[\u3400-\u9fff]{1,6}(?:省|市|区|區|县|縣|県|都|府|道|町|村|駅|郡|自治区|自治州|新区)|[\uac00-\ud7af]{1,6}(?:시|구|군|도|동|읍|면|역|특별시|광역시)"
)
_AROUND = re.compile(
    r"^(?:greater|metro|raum|région|region|im raum)\s+|\s+(?:area|metro|region|metropolitan area|und umgebung)$",
    re.IGNORECASE,
)


@lru_cache(2_048)
def is_place(text: str) -> bool:
    """Whether each part of a text is known as a place, or as a way to work that stands for one."""
    if not 2 <= len(text) <= MAX_LENGTH:
        return False
    if _EASTERN.search(text):
        return _is_eastern(text)
    if coded := _CODED.fullmatch(text):
        return country_named(coded[1]) is not None and bool(regions_coded(coded[2]))
    parts = [
        part
        for each in _DIVIDED.split(_POSTCODE.sub(" ", text))
        if (part := _AROUND.sub("", each.strip(" .:-")))
    ]
    if not 1 <= len(parts) <= MAX_PARTS or any(char.isdigit() for part in parts for char in part):
        return False
    places = [part for part in parts if not words("opening", "anywhere").is_one(part)]
    if len(places) == len(parts) == 1:
        return _is_meant_alone(parts[0]) or _ends_in_code(parts[0])
    if not places:
        return any("remote" in plain(part) for part in parts)
    return all(_is_known(part) for part in places) or _is_addressed(places)


def _is_eastern(text: str) -> bool:
    """Whether a text in Chinese, Japanese or Korean is a place: its first part is a city or ends as
    administrative units do, and so do most of the others.
    """
    parts = [part for part in _EASTERN_PARTS.split(text) if part]
    named = [bool(_UNIT.fullmatch(part)) or part in _eastern_cities() for part in parts]
    return bool(named) and named[0] and sum(named) * 2 >= len(named) and len(parts) <= MAX_PARTS


@cache
def _eastern_cities() -> frozenset[str]:
    return frozenset(vocabulary("opening")["eastern_cities"])


def _is_meant_alone(name: str) -> bool:
    """Whether a bare name can only be a place."""
    if not _is_name(name) or len(name) < 3:
        return name in ("UK", "US")
    if country_named(name) is not None:
        return len(name) > 3 or name in ("USA", "UAE")
    if is_word(name) or (name.isupper() and len(name) < 4):
        return False
    return bool(cities_named(name)) or (len(name) > 3 and bool(regions_named(name)))


def _is_known(name: str) -> bool:
    """Whether a name beside others is a place: here a code counts, too."""
    return _is_name(name) and bool(
        cities_named(name) or country_named(name) or regions_named(name) or _ends_in_code(name)
    )


def _is_addressed(parts: list[str]) -> bool:
    """Whether an unknown town stands before the code of its state: "Redwood Shores, CA"."""
    return len(parts) == 2 and _is_name(parts[0]) and parts[1].isupper() and bool(regions_coded(parts[1]))


def _ends_in_code(name: str) -> bool:
    """Whether a name is a city and the code of its region: "Melbourne VIC"."""
    city, _, code = name.rpartition(" ")
    is_known = bool(cities_named(city) or regions_named(city)) if city else False
    return is_known and code.isupper() and bool(regions_coded(code))


def _is_name(text: str) -> bool:
    """Whether a text is written as names are: not in small letters, and of few words."""
    return not text[:1].islower() and len(text.split()) <= MAX_NAME_WORDS
