"""The places of work that a location names: "New York, NY; London, UK", "US-SC-Prosperity", "Remote - US",
"Berlin (hybrid)".

A city, a region and a country are told apart by what stands beside them, because half of the short names mean
several things: CA is California and Canada, DE Delaware and Germany, "or" a word and Oregon. What is not
known stays as it was written.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

from thresher.hiring.opening import Spot
from thresher.reading.values.gazetteer import (
    FAR_LARGER,
    City,
    Region,
    cities_named,
    country_named,
    county_regions,
    folded,
    is_word,
    listed_cities,
    regions_coded,
    regions_named,
)

MAX_LENGTH = 1_000  # characters of a location that are read
MAX_SPOTS = 40  # spots of one posting
MAX_NAME = 40
# What may divide two places. A comma does not: it also divides a city from its country. "OR" in capitals is
# Oregon.
_PLACES = re.compile(r"\s*(?:[;|•·\n]|\|\|| / | & |\s(?:or|and|oder|und|ou|et|y)\s)\s*")
_PARTS = re.compile(r"\s*[,()\[\]:]\s*|\s+[-–—/>]+\s+|\s+in\s+(?=[A-Z])|\s*[–—]\s*")
_CODED = re.compile(r"[A-Z]{2,3}(?:-[A-Z]{2,3})?-[^\W\d_][^-]*")  # US-SC-Prosperity
_REMOTE = re.compile(
    r"\b(?:fully remote|100% remote|remote[- ](?:first|friendly|eligible|opportunity|only|based)|remote|home[- ]?office|home[- ]?based|"
    r"telecommute|"
    r"work from (?:home|anywhere)|wfh|offsite|virtual|télétravail|teletrabajo|remoto)\b",
    re.IGNORECASE,
)
_NOT_REMOTE = re.compile(r"\b(?:no|not|non)[- ]remote\b", re.IGNORECASE)
_ANYWHERE = re.compile(r"(?:anywhere(?: in the world)?|world ?wide|distributed)", re.IGNORECASE)
# Words beside a place that are no part of its name.
_BESIDE = re.compile(
    r"\b(?:hybrid|on-?site|in-?office|head ?office|headquarters|hq|offices?|metro(?:politan)?(?: area)?|greater|area|region|based|only|"
    r"eligible|select "
    r"locations?|locations?|preferred|flexible|opportunity|home)\b|\b\d{5}(?:-\d{4})?\b|\b\d{1,3}\s?%|^(?:in|within|from|"
    r"across)(?: the)?(?=\s[A-Z])",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(
    r"(?:\d+\+? locations?|(?:multiple|various|several|many|any|all|other) locations?|multiple|various|any|anywhere(?: in the world)?|"
    r"world ?wide|"
    r"global(?:ly)?|distributed|flexible|nation ?wide|international|tbd|n/?a|unspecified|other|emea|apac|amer|americas|latam|europe|eu|"
    r"asia|africa|"
    r"north america|south america|latin america|oceania|dach|nordics|benelux|usca|mena|anz|ww|us/canada|(?:north|south|mid|"
    r"central)?-?(?:east|west)?(?:ern)?|"
    r"field)",
    re.IGNORECASE,
)
COUNTY = re.compile(r"\b(?:County|Parish|Borough|Landkreis)\b")
_NAME = re.compile(r"(?:[^\W\d_]|[ .'’-])+")


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the parts of one place may be."""

    names: tuple[str, ...]
    cities: tuple[City, ...] = ()
    regions: tuple[Region, ...] = ()
    country: str | None = None
    unknown: tuple[str, ...] = ()


@lru_cache(8_192)
def read_spots(location: str) -> tuple[Spot, ...]:
    """The places of work, each once, in order."""
    found: list[Spot] = []
    for piece in _pieces(location[:MAX_LENGTH]):
        found += [spot for spot in _read(piece) if spot not in found]
    return tuple(found[:MAX_SPOTS])


def _pieces(location: str) -> Iterator[str]:
    """The stretches that name a place each. "Trinidad and Tobago" is one."""
    whole = location.strip()
    if country_named(whole):
        yield whole
    else:
        yield from (piece for each in _PLACES.split(whole) if (piece := each.strip(" ,-–—.")))


def _read(piece: str) -> list[Spot]:
    remote = bool(_REMOTE.search(piece) or _ANYWHERE.fullmatch(piece)) and not _NOT_REMOTE.search(piece)
    if not remote and _NO_PLACE.fullmatch(piece):
        return []
    parts = _named(_split(_REMOTE.sub(" , ", piece)))
    if several := _several(parts):
        return [replace(spot, remote=remote) for spot in several]
    spot = _settled(piece, parts, remote=remote)
    return [spot] if remote or spot != Spot(piece) or parts.unknown else []


def _split(piece: str) -> tuple[str, ...]:
    bare = piece.strip(" ,-")
    pieces = bare.split("-") if _CODED.fullmatch(bare) and not country_named(bare) else _PARTS.split(piece)
    return tuple(name for each in pieces if each for name in _unglued(_cleaned(each)) if name)


def _cleaned(part: str) -> str:
    return part.strip() if cities_named(part) else " ".join(_BESIDE.sub(" ", part).split()).strip(" -–—./'")


def _unglued(part: str) -> tuple[str, ...]:
    """A city and the code of its region with nothing between them: "Austin TX", "USA FL Homestead",
    "Stuttgart-Vaihingen", "Mumbai/Bombay".
    """
    if len(part) > MAX_NAME or cities_named(part) or country_named(part) or regions_named(part):
        return (part,)
    head, _, last = part.rpartition(" ")
    if head and regions_coded(last) and last.isupper():
        return (head, last)
    first, _, rest = part.partition(" ")
    if rest and len(first) <= 3 and first.isupper() and (country_named(first) or regions_named(first)):
        return (first, *_unglued(rest))
    name = re.split("[-/]", part, maxsplit=1)[0]
    return (name,) if name != part and cities_named(name) else (part,)


def _named(names: tuple[str, ...]) -> _Parts:
    """Each part as what it can be. Codes that mean several things are decided by the city that is known, else
    by the order.
    """
    parts = _Parts(names)
    known = tuple(city for name in names for city in _cities(name, names))
    for at, name in enumerate(names):
        parts = _with(parts, name, at, known)
    return parts


def _cities(name: str, names: Sequence[str]) -> tuple[City, ...]:
    """The cities that a part may be. If nobody has listed it, a word such as Enterprise needs a region or a
    country beside it, and a small city beside a far larger one of its country is a quarter of that:
    "Dwarka, New Delhi".
    """
    found = cities_named(name)
    if not found or folded(name) in listed_cities():
        return found
    others = [other for other in names if other != name]
    if is_word(name) and not any(country_named(other) or regions_named(other) for other in others):
        return ()
    beside = [city for other in others for city in cities_named(other)]
    return tuple(
        city
        for city in found
        if not any(city.country == each.country and each.size > FAR_LARGER * city.size for each in beside)
    )


def _with(parts: _Parts, name: str, at: int, known: Sequence[City]) -> _Parts:
    regions, country = _region(name, at, known), country_named(name)
    if (found := _cities(name, parts.names)) and not _is_region_of_its_city(parts, regions, found, known):
        return replace(parts, cities=(*parts.cities, *(city for city in found if city not in parts.cities)))
    if regions and country:  # CA, DE, IN, CO, Georgia
        regions, country = _decided(parts, at, (regions, country), known)
    if country and (parts.country is None or len(name) > 3):
        # A name says more than a code before it: "CH - Shanghai, China"
        return replace(parts, country=country)
    if regions:
        return replace(parts, regions=(*parts.regions, *regions))
    if country or country_named(name) or _NO_PLACE.fullmatch(name):
        return parts
    return replace(parts, unknown=(*parts.unknown, name))


def _is_region_of_its_city(
    parts: _Parts, regions: Sequence[Region], found: Sequence[City], known: Sequence[City]
) -> bool:
    """Whether a name that is a city's too is meant as the region: "Buffalo, New York", "Rye, New York"."""
    codes = {(each.code, each.country) for each in regions}
    return bool(codes) and (
        bool(parts.unknown)
        or any((city.region, city.country) in codes for city in known if city not in found)
    )


def _decided(
    parts: _Parts, at: int, both: tuple[tuple[Region, ...], str], known: Sequence[City]
) -> tuple[tuple[Region, ...], str | None]:
    """A region or a country: the city that is known decides, else what stands beside it, else the order.
    Alone it is neither.
    """
    regions, country = both
    codes = {(each.code, each.country) for each in regions}
    inside = [city.size for city in known if (city.region, city.country) in codes]
    abroad = [city.size for city in known if city.country == country]
    if inside and max(abroad, default=0) <= FAR_LARGER * max(1, *inside):
        return regions, None
    if abroad:
        return (), country
    if parts.country is not None:
        return (regions, None) if parts.country in {each.country for each in regions} else ((), country)
    following = parts.names[at + 1] if at + 1 < len(parts.names) else None
    if following and any(each.country == country for each in regions_named(following)):
        return (), country
    # Behind a city it is a region, in front of an unknown one it may be either.
    return (regions, None) if at else ((), None)


def _region(name: str, at: int, known: Sequence[City]) -> tuple[Region, ...]:
    if found := regions_named(name) or regions_named(name.replace(".", "")):
        return found
    if at == 0 or len(name) != 2:
        return ()
    beside = {
        (city.region, city.country) for city in known
    }  # "portland, or": in small letters a code counts only beside its city
    return tuple(each for each in regions_coded(name) if (each.code, each.country) in beside)


def _several(parts: _Parts) -> list[Spot]:
    """Several cities or several regions in a row: "San Francisco, New York City", "Remote (ON, AB)"."""
    if parts.unknown:
        return []
    regions = dict.fromkeys(each for each in parts.regions if parts.country in (None, each.country))
    if not parts.cities:
        distinct = len({each.code for each in regions}) > 1 and len({each.country for each in regions}) == 1
        return [Spot(each.code, None, each.code, each.country) for each in regions] if distinct else []
    if parts.regions or parts.country:
        return []
    each = [_plain(found) for name in parts.names if (found := _cities(name, parts.names))]
    cities = [city for city in each if city is not None]
    distinct = len(cities) == len(each) and len({city.name for city in cities}) > 1
    return [Spot(city.name, city.name, city.region, city.country) for city in cities] if distinct else []


def _plain(cities: Sequence[City]) -> City | None:
    """The one that is meant by its bare name."""
    return cities[0] if len(cities) == 1 else next((city for city in cities if city.main), None)


def _settled(piece: str, parts: _Parts, *, remote: bool) -> Spot:
    spot = Spot(piece, remote=remote, country=parts.country)
    fitting = [city for city in parts.cities if _fits(city, parts)]
    if any(COUNTY.search(name) for name in parts.unknown) and not parts.regions:
        return _in_county(spot, parts, fitting)
    regions = [each for each in parts.regions if parts.country in (None, each.country)]
    if fitting:
        city = _plain(fitting)
        if city is None:
            region = fitting[0].region if len({each.region for each in fitting}) == 1 else None
            country = fitting[0].country if len({each.country for each in fitting}) == 1 else None
            return replace(spot, city=fitting[0].name, region=region, country=parts.country or country)
        return replace(spot, city=city.name, region=city.region, country=city.country)
    name = _written_city(parts)
    if regions and (len(regions) == 1 or len(parts.names) > 1):
        return replace(spot, city=name, region=regions[0].code, country=regions[0].country)
    return replace(spot, city=name)


def _in_county(spot: Spot, parts: _Parts, fitting: Sequence[City]) -> Spot:
    """A place in a county of the US: "Lansing, Ingham County". The state follows from both names, or from a
    county that only one state has. The city may be a smaller one than the bare name means.
    """
    counties = {each for name in parts.unknown for each in county_regions(name)}
    inside = [city for city in fitting if Region(city.region or "", city.country) in counties]
    states = {city.region for city in inside} if inside else {each.code for each in counties}
    name = inside[0].name if inside else _written_city(parts)
    if len(states) != 1 or parts.country not in (None, "US"):
        return replace(spot, city=name, country=parts.country)
    return replace(spot, city=name, region=states.pop(), country="US")


def _fits(city: City, parts: _Parts) -> bool:
    """Whether a city of the table can be the one that stands beside this region and this country."""
    if parts.country is not None and city.country != parts.country:
        return False
    inside = [each for each in parts.regions if each.country == city.country]
    if parts.regions and city.region is not None:
        return any(each.code == city.region for each in inside)
    return not parts.regions or bool(inside)


def _written_city(parts: _Parts) -> str | None:
    """The city where none of the table fits: one that the table has elsewhere ("Paris, TX"), else the first
    that looks like a name.
    """
    elsewhere = {folded(city.name): city.name for city in parts.cities}
    written = [elsewhere[folded(name)] for name in parts.names if folded(name) in elsewhere]
    return next(chain(written, filter(_looks_like_a_name, parts.unknown)), None)


def _looks_like_a_name(name: str) -> bool:
    likely = 2 < len(name) <= MAX_NAME and name[0].isupper() and not (name.isupper() and len(name) <= 4)
    return likely and len(name.split()) <= 4 and bool(_NAME.fullmatch(name)) and not COUNTY.search(name)
