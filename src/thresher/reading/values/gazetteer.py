"""The countries, regions and cities of the world, by the names that locations are written with. Facts, kept
as data.

Two sorts of tables are read together. Those that people write (`cities.yaml`, `countries.yaml`,
`regions.yaml`) say which city is meant by a bare name. Those that `make gazetteer` writes hold every city of
15,000 inhabitants and more and the counties of the US (GeoNames), and the names of all countries in many
languages (CLDR).

A name may belong to several: there is a Portland in Oregon and one in Maine. Who asks gets all of them, and
the one that is meant where nothing else is said, if there is one.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from thresher.reading.structured.yaml_file import read_yaml

CITIES = "world_cities.txt"
COUNTRIES = "world_countries.txt"
COUNTIES = "us_counties.txt"
UNKNOWN_SIZE = 50  # thousand inhabitants of a city that people list and GeoNames knows by another name
FAR_LARGER = 5  # times: the city that is meant by a bare name has so many times the inhabitants of the next

_FOLDED = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i"} | dict.fromkeys(".'’‘`ʻʼʿʾ"))


@dataclass(frozen=True, slots=True)
class City:
    """`main` is the one that is meant by the bare name. `size`: inhabitants in thousands, 0 if unknown."""

    name: str
    region: str | None
    country: str
    main: bool = False
    size: int = 0


@dataclass(frozen=True, slots=True)
class Region:
    """A state, a province, a Land."""

    code: str
    country: str


def folded(name: str) -> str:
    """A name as it is compared: small letters, no accents, no points, no apostrophes, single spaces."""
    if not name.isascii():
        name = "".join(
            char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)
        ).replace("ß", "ss")
    return " ".join(name.lower().translate(_FOLDED).split())


def country_named(name: str) -> str | None:
    """The code of a country, from its name in any case, or from a code in capitals."""
    return _country_codes().get(name) or _countries().get(folded(name))


def regions_named(name: str) -> tuple[Region, ...]:
    """The regions of a name in any case, or of a code in capitals."""
    return _region_codes().get(name) or _regions().get(folded(name), ())


def regions_coded(code: str) -> tuple[Region, ...]:
    """The regions of a code, whatever its case."""
    return _region_codes().get(code.upper(), ())


def cities_named(name: str) -> tuple[City, ...]:
    """The cities of a name, those that people have listed first, then the largest first."""
    return _merged(folded(name))


def county_regions(name: str) -> tuple[Region, ...]:
    """The states of the US that have a county of this name: "Stearns County"."""
    states = _counties().get(folded(name).replace("saint ", "st "), "")
    return tuple(Region(state, "US") for state in states.split())


def is_word(name: str) -> bool:
    """Whether the name of a city is an English word or a technology, too: Mobile, Nice, Reading, Spring."""
    return folded(name) in _world()[0]


@lru_cache(16_384)
def _merged(key: str) -> tuple[City, ...]:
    listed, world = listed_cities().get(key, ()), _world_cities(key)
    if not world:
        return listed
    own = [_with_size(city, world) for city in listed]
    others = [city for city in world if not any(_is_same(city, mine) for mine in own)]
    if not own:
        return (_main_if_larger(others[0], others[1:]), *others[1:])
    if len(own) == 1:
        largest = max((city.size for city in others), default=0)
        own[0] = replace(own[0], main=own[0].main or largest < FAR_LARGER * (own[0].size or UNKNOWN_SIZE))
    return (*own, *others)


def _with_size(city: City, world: Sequence[City]) -> City:
    return replace(city, size=max((each.size for each in world if _is_same(each, city)), default=0))


def _is_same(world: City, listed: City) -> bool:
    regions = {world.region, listed.region} - {None}
    return world.country == listed.country and len(regions) < 2


def _main_if_larger(largest: City, others: Sequence[City]) -> City:
    return replace(largest, main=all(largest.size >= FAR_LARGER * city.size for city in others))


def _text(name: str) -> str:
    return (files("thresher.reading") / "vocabulary" / name).read_text("utf-8")


@cache
def _file(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(_text(f"{name}.yaml"))
    return found


def _listed(text: str) -> Iterator[str]:
    return (piece for each in text.split(";") if (piece := " ".join(each.split())))


@cache
def _countries() -> Mapping[str, str]:
    written = {
        folded(name): code
        for code, names in _file("countries").items()
        for name in _listed(names)
        if not _is_code(name)
    }
    return {
        folded(name): code for code, _, names in _world_countries() for name in names.split(";")
    } | written


@cache
def _country_codes() -> Mapping[str, str]:
    """The codes that count as such. Of a country that nobody has listed only three letters do: two are too
    often something else, as SC is South Carolina and NA North America.
    """
    listed = {
        name: code for code, names in _file("countries").items() for name in _listed(names) if _is_code(name)
    }
    three_letters = {three: code for code, three, _ in _world_countries() if three}
    return three_letters | listed | {code: code for code in _file("countries")}


def _is_code(name: str) -> bool:
    return name.isupper() and len(name.replace(".", "")) <= 3


@cache
def _world_countries() -> tuple[tuple[str, str, str], ...]:
    """Two letters, three letters, folded names."""
    lines = _text(COUNTRIES).splitlines()[1:]
    return tuple((code, three, names) for code, three, names in (line.split("\t") for line in lines))


@cache
def _regions() -> Mapping[str, tuple[Region, ...]]:
    found: dict[str, tuple[Region, ...]] = {}
    for country, code, names in _each_region():
        for name in names:
            found[folded(name)] = (*found.get(folded(name), ()), Region(code, country))
    return found


@cache
def _region_codes() -> Mapping[str, tuple[Region, ...]]:
    found: dict[str, tuple[Region, ...]] = {}
    for country, code, _ in _each_region():
        found[code] = (*found.get(code, ()), Region(code, country))
    return found


def _each_region() -> Iterator[tuple[str, str, list[str]]]:
    for country, text in _file("regions").items():
        for piece in _listed(text):
            code, _, names = piece.partition(" ")
            yield country, code, names.split("/")


@cache
def listed_cities() -> Mapping[str, tuple[City, ...]]:
    """The cities that people have listed, by folded name."""
    found: dict[str, tuple[City, ...]] = {}
    for country, regions in _file("cities").items():
        for region, text in regions.items():
            for piece in _listed(text):
                first = piece.partition("/")[0].rstrip("!")
                for name in piece.split("/"):
                    city = City(first, None if region == "-" else region, country, name.endswith("!"))
                    key = folded(name.rstrip("!"))
                    found[key] = (*found.get(key, ()), city)
    return found


def _world_cities(key: str) -> tuple[City, ...]:
    """The cities of GeoNames with this name. A line is parsed when it is asked for: most never are."""
    return tuple(_city(key, each) for each in _world()[1].get(key, "").split(";") if each)


def _city(key: str, text: str) -> City:
    country, region, size, *name = text.split(" ", 3)
    return City(name[0] if name else key.title(), None if region == "-" else region, country, size=int(size))


@cache
def _world() -> tuple[frozenset[str], Mapping[str, str]]:
    """The names that are words, too, and the lines of the file by folded name."""
    _, words, *lines = _text(CITIES).splitlines()
    return frozenset(words.split(";")), dict(line.split("\t") for line in lines)


@cache
def _counties() -> Mapping[str, str]:
    return dict(line.split("\t") for line in _text(COUNTIES).splitlines()[1:])
