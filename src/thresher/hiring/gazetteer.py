"""The countries, regions and larger cities of the world, by the names that locations are written with. Facts,
kept as data.

A name may belong to several: there is a Portland in Oregon and one in Maine. Who asks gets all of them, and
the one that is meant where nothing else is said, if there is one.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from thresher.reading.structured.yaml_file import read_yaml


@dataclass(frozen=True, slots=True)
class City:
    """`main` is the one that is meant by the bare name."""

    name: str
    region: str | None
    country: str
    main: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A state, a province, a Land."""

    code: str
    country: str


def folded(name: str) -> str:
    """A name as it is compared: small letters, no accents, no points, single spaces."""
    if not name.isascii():
        name = "".join(
            char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char)
        ).replace("ß", "ss")
    return " ".join(name.lower().replace(".", "").replace("ł", "l").replace("ø", "o").split())


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
    """The cities of a name."""
    return _cities().get(folded(name), ())


@cache
def _file(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = read_yaml(
        (files("thresher.hiring") / "vocabulary" / f"{name}.yaml").read_text("utf-8")
    )
    return found


def _listed(text: str) -> Iterator[str]:
    return (piece for each in text.split(";") if (piece := " ".join(each.split())))


@cache
def _countries() -> Mapping[str, str]:
    return {
        folded(name): code
        for code, names in _file("countries").items()
        for name in _listed(names)
        if not _is_code(name)
    }


@cache
def _country_codes() -> Mapping[str, str]:
    listed = {
        name: code for code, names in _file("countries").items() for name in _listed(names) if _is_code(name)
    }
    return listed | {code: code for code in _file("countries")}


def _is_code(name: str) -> bool:
    return name.isupper() and len(name.replace(".", "")) <= 3


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
def _cities() -> Mapping[str, tuple[City, ...]]:
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
