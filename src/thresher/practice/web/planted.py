"""What the ten catalogues of the practice web list: every item, its fields as its page shows them, and what
changes from day to day.

The pages are made from here and so is the answer of `planted`, so a test can compare a data set with what was
there. Everything follows from the seed, the number of the item and the day: no list has to be kept.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.entities import ENTITIES, EntityField, Values, draw_values, slug_of

DOMAIN = "catalogues.example"
MAX_SIZE = 200_000
BROKEN = 2
MEMBERS = 2
# Numbers no catalogue reaches, for entries that have no item behind them.
FIRST_BROKEN = 900_000
FIRST_MEMBER = 800_000
# A department that robots.txt disallows, in the catalogue that has departments.
STAFF = "/members/staff-training"
# Of every so many items one is new, one ends and two change, all within the first week.
BLOCK = 20
WEEK = 7
FORTNIGHT = 14
NEW, GONE, MOVED, CHANGING = 0, 1, 5, (2, 12)
_SITE = re.compile(rf"(?:n([1-9][0-9]{{0,5}})\.)?([a-z]+)(?:\.{re.escape(DOMAIN)})?")


class ListStyle(StrEnum):
    """How a catalogue leads to its items."""

    NUMBERED = "numbered"  # ?page=1, 2, 3 … last
    OFFSET = "offset"  # ?offset=20&limit=20
    NEXT = "next"  # a next link with an opaque cursor
    MORE = "more"  # a button that appends the next batch
    TREE = "tree"  # departments, subjects, items
    API = "api"  # an empty page, and a script that asks for JSON
    ZERO = "zero"  # ?p=0 is the first page
    LYING = "lying"  # a total and a last page that do not exist
    DOUBLED = "doubled"  # every item is linked many times


class Markup(StrEnum):
    """How a detail page writes its fields down."""

    TERMS = "terms"  # a definition list
    TABLE = "table"
    LINES = "lines"  # paragraphs such as `Label: value`
    MICRODATA = "microdata"
    MIXED = "mixed"  # definition lists on even numbers, lines in another order on odd ones


@dataclass(frozen=True, slots=True)
class CatalogueSite:
    """One site. `path` is the address of an item, `start` of its first list; `noted` are the fields that
    lists show beside the name. `size` counts the items there will ever be.
    """

    name: str
    owner: str
    kind: str
    listing: ListStyle
    markup: Markup
    size: int
    per_page: int
    start: str
    path: str
    noted: tuple[str, ...]
    structured: bool = False  # JSON-LD on the detail pages
    language: str = "en"
    charset: str = "utf-8"
    first_id: int = 1_000
    prefix: str = ""

    @property
    def host(self) -> str:
        return f"{self.prefix}{self.name}.{DOMAIN}"

    @property
    def start_url(self) -> str:
        return f"https://{self.host}{self.start}"

    @property
    def fields(self) -> tuple[EntityField, ...]:
        return ENTITIES[self.kind]

    @property
    def title(self) -> str:
        """The field that is an item's name."""
        return self.fields[0].name


CATALOGUES: tuple[CatalogueSite, ...] = (
    CatalogueSite(
        "numbered",
        "Alder Valley College",
        "course",
        ListStyle.NUMBERED,
        Markup.TERMS,
        70,
        12,
        "/courses",
        "/course/{id}-{slug}",
        ("level", "credits"),
        structured=True,
    ),
    CatalogueSite(
        "offsets",
        "Register of Credentials",
        "credential",
        ListStyle.OFFSET,
        Markup.TABLE,
        95,
        20,
        "/credentials",
        "/credentials/{id}",
        ("type", "issuer"),
        first_id=4_210,
    ),
    CatalogueSite(
        "nextlinks",
        "Fachschule Süderbrück",
        "programme",
        ListStyle.NEXT,
        Markup.LINES,
        48,
        9,
        "/bildungsgaenge",
        "/bildungsgang/{slug}-{id}",
        ("degree", "duration"),
        language="de",
        charset="cp1252",
        first_id=300,
    ),
    CatalogueSite(
        "loadmore",
        "Kestrel Hardware",
        "product",
        ListStyle.MORE,
        Markup.MICRODATA,
        64,
        10,
        "/shop",
        "/shop/{slug}-{id}.html",
        ("price", "availability"),
        first_id=70_001,
    ),
    CatalogueSite(
        "departments",
        "Harbour University",
        "course",
        ListStyle.TREE,
        Markup.TABLE,
        110,
        5,
        "/",
        "/catalog/course/{id}",
        ("code", "credits"),
        first_id=2_000,
    ),
    CatalogueSite(
        "api",
        "Open Evening School",
        "course",
        ListStyle.API,
        Markup.LINES,
        84,
        20,
        "/",
        "/courses/{id}",
        ("code", "level"),
    ),
    CatalogueSite(
        "zerobased",
        "Regional Skills Library",
        "competency",
        ListStyle.ZERO,
        Markup.TERMS,
        88,
        16,
        "/framework",
        "/framework/{id}/{slug}",
        ("code", "category"),
    ),
    CatalogueSite(
        "totals",
        "The Harbour Review",
        "article",
        ListStyle.LYING,
        Markup.LINES,
        60,
        20,
        "/articles",
        "/articles/{slug}-{id}",
        ("section", "published"),
        structured=True,
    ),
    CatalogueSite(
        "duplicates",
        "Old Mill Stores",
        "product",
        ListStyle.DOUBLED,
        Markup.TABLE,
        52,
        12,
        "/",
        "/p/{id}/{slug}",
        ("price",),
        first_id=510,
    ),
    CatalogueSite(
        "layouts",
        "Northgate Institute",
        "programme",
        ListStyle.NUMBERED,
        Markup.MIXED,
        66,
        15,
        "/programmes",
        "/programmes/{id}",
        ("degree", "tuition"),
    ),
)


@dataclass(frozen=True, slots=True)
class Item:
    """One item as its own page shows it. A field that the page leaves out is None."""

    id: int
    url: str
    kind: str
    fields: Mapping[str, str | None]
    changed: datetime


@dataclass(frozen=True, slots=True)
class Traps:
    """What the lists link besides the items: addresses that answer 404, addresses that robots.txt disallows,
    and old addresses with the one they redirect to.
    """

    broken: tuple[str, ...]
    disallowed: tuple[str, ...]
    moved: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """The addresses of the items that came, changed and went between two moments."""

    new: frozenset[str]
    changed: frozenset[str]
    gone: frozenset[str]


class Way(StrEnum):
    """What is behind an entry of a list."""

    ITEM = "item"
    MOVED = "moved"
    BROKEN = "broken"
    MEMBERS = "members"


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """An entry of a list. `number` names the item it is about, which a broken one only claims to have."""

    id: int
    number: int
    way: Way = Way.ITEM


def catalogue(site: str) -> CatalogueSite | None:
    """The catalogue of a host or a name: `numbered`, or `n5000.numbered` for one with 5,000 items."""
    found = _SITE.fullmatch(site)
    base = next((each for each in CATALOGUES if found and each.name == found[2]), None)
    if found is None or base is None or found[1] is None:
        return base
    return replace(base, size=min(int(found[1]), MAX_SIZE), prefix=f"n{found[1]}.")


def planted(site: str, seed: int, now: datetime) -> tuple[Item, ...]:
    """The items that a careful visitor finds at this moment, in the order of the lists."""
    of, day = _known(site), day_of(now)
    return tuple(item(of, seed, row.number, day) for row in rows(of, seed, day) if row.way in _REAL)


def traps(site: str, seed: int, now: datetime) -> Traps:
    """What the lists link at this moment that is not an item's own address."""
    of = _known(site)
    by_way: dict[Way, list[CatalogueEntry]] = {way: [] for way in Way}
    for row in rows(of, seed, day_of(now)):
        by_way[row.way].append(row)
    return Traps(
        tuple(_url(of, address(of, seed, row)) for row in by_way[Way.BROKEN]),
        (
            *(_url(of, address(of, seed, row)) for row in by_way[Way.MEMBERS]),
            *([_url(of, STAFF)] if of.listing is ListStyle.TREE else []),
        ),
        {
            _url(of, address(of, seed, row)): _url(of, path_of(of, seed, row.number))
            for row in by_way[Way.MOVED]
        },
    )


def item_changes(site: str, seed: int, before: datetime, after: datetime) -> ItemChanges:
    """What happened to the items between two moments."""
    old = {each.url: each.fields for each in planted(site, seed, before)}
    new = {each.url: each.fields for each in planted(site, seed, after)}
    return ItemChanges(
        frozenset(new.keys() - old.keys()),
        frozenset(url for url in new.keys() & old.keys() if new[url] != old[url]),
        frozenset(old.keys() - new.keys()),
    )


def day_of(now: datetime) -> int:
    """The day that decides what is listed. Before the first day everything is as on the first."""
    return max(0, (now - DAY_ZERO) // timedelta(days=1))


@lru_cache(64)
def rows(of: CatalogueSite, seed: int, day: int) -> tuple[CatalogueEntry, ...]:
    """All entries of a catalogue in order: the items of the day, and among them the traps."""
    listed = [
        CatalogueEntry(of.first_id + number, number, Way.MOVED if number == _moved(of, seed) else Way.ITEM)
        for number in range(of.size)
        if is_live(seed, number, day)
    ]
    if of.listing is ListStyle.API:
        return tuple(listed)
    for each in range(BROKEN):
        number = FIRST_BROKEN + each
        listed.insert(4 + 13 * each, CatalogueEntry(of.first_id + number, number, Way.BROKEN))
    for each in range(MEMBERS):
        number = FIRST_MEMBER + each
        listed.insert(9 + 15 * each, CatalogueEntry(of.first_id + number, number, Way.MEMBERS))
    return tuple(listed)


def is_live(seed: int, number: int, day: int) -> bool:
    """Whether the item with this number is offered on this day."""
    role, begins = _role(seed, number), _first_day(number)
    if role == NEW:
        return day >= begins
    return role != GONE or day < begins


def is_steady(seed: int, number: int) -> bool:
    """Whether an item is always there. Only such are recommended: a page changes with its item alone."""
    return _role(seed, number) not in (NEW, GONE)


def version(seed: int, number: int, day: int) -> int:
    """How often an item has changed by this day: once in the first week, then every fortnight."""
    if _role(seed, number) not in CHANGING or day < _first_day(number):
        return 0
    return 1 + (day - _first_day(number)) // FORTNIGHT


def item(of: CatalogueSite, seed: int, number: int, day: int) -> Item:
    """The item with this number, as its page shows it on this day."""
    times = version(seed, number, day)
    values = _values(of.name, of.kind, of.language, seed, number, times)
    changed = DAY_ZERO - timedelta(days=30 + number % 200)
    if times:
        changed = DAY_ZERO + timedelta(days=_first_day(number) + FORTNIGHT * (times - 1))
    url = _url(of, path_of(of, seed, number))
    return Item(of.first_id + number, url, of.kind, MappingProxyType(values), changed)


def path_of(of: CatalogueSite, seed: int, number: int) -> str:
    """The path of an item's own page."""
    return _path(of, seed, number, of.first_id + number)


def address(of: CatalogueSite, seed: int, row: CatalogueEntry) -> str:
    """The path that a list links for an entry."""
    match row.way:
        case Way.MOVED:
            return f"/go/{row.id}"
        case Way.MEMBERS:
            return f"/members/{row.id}"
        case Way.ITEM | Way.BROKEN:
            return _path(of, seed, row.number, row.id)


def _path(of: CatalogueSite, seed: int, number: int, shown: int) -> str:
    name = _values(of.name, of.kind, of.language, seed, number, 0)[of.title] or ""
    return of.path.format(id=shown, slug=slug_of(name))


@lru_cache(20_000)
def _values(name: str, kind: str, language: str, seed: int, number: int, times: int) -> Values:
    return draw_values(kind, language, seed, name, number, times)


def _known(site: str) -> CatalogueSite:
    found = catalogue(site)
    if found is None:
        names = ", ".join(each.name for each in CATALOGUES)
        raise ValueError(
            f"there is no catalogue {site!r}: choose one of {names}, or n5000.{CATALOGUES[0].name}"
        )
    return found


def _url(of: CatalogueSite, path: str) -> str:
    return f"https://{of.host}{path}"


def _moved(of: CatalogueSite, seed: int) -> int:
    """The one item that lists link under an old address; it is among the first, whatever the size."""
    return -1 if of.listing is ListStyle.API else (MOVED - seed) % BLOCK


def _role(seed: int, number: int) -> int:
    return (number + seed) % BLOCK


def _first_day(number: int) -> int:
    return 1 + number // BLOCK % WEEK


_REAL = (Way.ITEM, Way.MOVED)
