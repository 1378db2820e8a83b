"""Ten catalogues, each of another make: `NAME.catalogues.example`, and `n5000.NAME.catalogues.example` for
one with 5,000 items.

What a page is to a careful reader, its type, its links and how it goes on, is decided first and written as
HTML from that, so the practice model answers questions about a page from the same value.
"""

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from thresher.practice.web.answer import WebRequest, WebResponse, data, made, page, plain, redirect, whole
from thresher.practice.web.draw import Draw, token
from thresher.practice.web.entities import SUBJECTS, slug_of
from thresher.practice.web.knob import Trouble
from thresher.practice.web.planted import (
    BROKEN,
    FIRST_MEMBER,
    MEMBERS,
    STAFF,
    CatalogueEntry,
    CatalogueSite,
    Item,
    ListStyle,
    Way,
    address,
    catalogue,
    day_of,
    is_live,
    is_steady,
    item,
    path_of,
    rows,
)
from thresher.practice.web.posting import ROTATION
from thresher.practice.web.sites import home
from thresher.practice.web.sites.item_lists import (
    API,
    CataloguePage,
    PageType,
    api_item,
    api_page,
    batch,
    list_page,
)
from thresher.practice.web.sites.item_pages import detail, framed, printed
from thresher.practice.web.window import window

MAX_LIMIT = 50
NEAR = 2
FEATURED = 3
RECOMMENDED = 5
OVERLAP = 2
# A list of departments, and one of subjects, has so many entries on a page.
DEPARTMENTS_PER_PAGE, SUBJECTS_PER_PAGE = 6, 4
DEPARTMENTS = (
    "Engineering",
    "Fine Arts",
    "Health Sciences",
    "Humanities",
    "Law & Society",
    "Marine Studies",
    "Natural Sciences",
    "Trades",
    "Upper School",
)
SHELVES = ("garden", "kitchen", "workshop", "gifts")
PROSE = MappingProxyType(
    {
        "about": "We have been here since 1962, and our catalogue grows every term.",
        "news": "The library is open on Saturdays again. The lift is being repaired.",
        "contact": "Write to us, or visit us between nine and four.",
        "imprint": "Responsible for this site: the board of the house.",
        "privacy": "We keep what you send us for as long as we need it.",
    }
)
ROBOTS = "User-agent: *\nDisallow: /members/\nDisallow: /print/\nDisallow: /account/\nDisallow: /*?*sort=\n"


def site(ask: WebRequest) -> WebResponse:
    """The start of the catalogue, its lists and categories, an address for each item, `/robots.txt`."""
    of = catalogue(ask.host)
    if of is None:
        return home.unregistered(ask)
    match ask.parts:
        case ("robots.txt",):
            return plain(ROBOTS)
        case ("go", number) if shown := _live(of, ask, whole(number)):
            return redirect(path_of(of, ask.seed, shown.id - of.first_id), 301)
        case ("print", number) if shown := _live(of, ask, whole(number)):
            return _sent(of, printed(of, shown))
        case () if of.start != "/":
            return redirect(of.start)
        case (name,) if name in PROSE:
            return _prose(of, name.title(), PROSE[name])
        case ("account", *_):
            return _prose(of, "Sign in", "Members sign in here.")
    found = catalogue_page(ask)
    return _missing(of, ask) if found is None else _answer(of, ask, found)


def catalogue_page(ask: WebRequest) -> CataloguePage | None:
    """What is at an address of a catalogue: a list, an item, or nothing."""
    of = catalogue(ask.host)
    if of is None:
        return None
    path = ask.path.rstrip("/") or "/"
    if (found := _item_at(of, ask, path)) is not None:
        return CataloguePage(PageType.DETAIL, found.fields[of.title] or "", item=found)
    return _LISTINGS[of.listing](of, ask, path)


def links_of(ask: WebRequest, found: CataloguePage) -> tuple[str, ...]:
    """The paths that a page links to items, or to categories where it lists those."""
    of = catalogue(ask.host)
    if of is None or found.categories:
        return tuple(path for path, _ in found.categories)
    listed = (*found.featured, *found.rows)
    return tuple(dict.fromkeys(address(of, ask.seed, row) for row in listed))


def _answer(of: CatalogueSite, ask: WebRequest, found: CataloguePage) -> WebResponse:
    day = day_of(ask.now)
    if of.listing is ListStyle.API and ask.path.startswith(API):
        return _api_answer(of, ask, found)
    if found.item is not None:
        return replace(_sent(of, detail(of, ask.seed, found.item, day)), modified=found.item.changed)
    if Trouble.NO_RESULTS in ask.twists:
        found = replace(found, recommended=rows(of, ask.seed, day)[:RECOMMENDED])
    if of.listing is ListStyle.MORE and ask.path.rstrip("/") != of.start:
        return data(batch(of, ask.seed, day, found))
    return _sent(of, list_page(of, ask.seed, day, found))


def _api_answer(of: CatalogueSite, ask: WebRequest, found: CataloguePage) -> WebResponse:
    if found.item is not None:
        path = path_of(of, ask.seed, found.item.id - of.first_id)
        return data(api_item(path, found.item), modified=found.item.changed)
    total = window(ask, rows(of, ask.seed, day_of(ask.now))).total
    number = max(1, ask.number("page", 1))
    return data(api_page(of, ask.seed, day_of(ask.now), found, total, number))


def _sent(of: CatalogueSite, text: str, status: int = 200) -> WebResponse:
    if of.charset == "utf-8":
        return page(text, status)
    return made(text.encode(of.charset, "xmlcharrefreplace"), "text/html", status)


def _prose(of: CatalogueSite, title: str, text: str, status: int = 200) -> WebResponse:
    return _sent(of, framed(of, title, f"<main><h1>{title}</h1><p>{text}</p></main>"), status)


def _missing(of: CatalogueSite, ask: WebRequest) -> WebResponse:
    """404; and 410 for half of what has ended, because some sites know the difference."""
    number = _number_in(of, ask.path.rstrip("/"))
    ended = 0 <= number - of.first_id < of.size and number % 2
    title = "Nicht gefunden" if of.language == "de" else "Not found"
    return _prose(of, title, "", 410 if ended else 404)


# Items.


@lru_cache(32)
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\{id\}", r"([0-9]{1,18})").replace(r"\{slug\}", "[a-z0-9-]*"))


def _number_in(of: CatalogueSite, path: str) -> int:
    found = _pattern(of.path).fullmatch(path)
    return whole(found[1]) if found else -1


def _item_at(of: CatalogueSite, ask: WebRequest, path: str) -> Item | None:
    """The item whose own page this is. Those for members have a page too, which robots.txt disallows."""
    match path.split("/"):
        case ["", "members", name] if 0 <= whole(name) - of.first_id - FIRST_MEMBER < MEMBERS:
            return item(of, ask.seed, whole(name) - of.first_id, 0)
        case ["", "api", "courses", name] if of.listing is ListStyle.API:
            return _live(of, ask, whole(name))
    return _live(of, ask, _number_in(of, path))


def _live(of: CatalogueSite, ask: WebRequest, shown: int) -> Item | None:
    """The item with this id, also under an id it has had for one answer."""
    day = day_of(ask.now)
    for number in (shown - of.first_id, shown // ROTATION - of.first_id):
        if 0 <= number < of.size and is_live(ask.seed, number, day):
            return item(of, ask.seed, number, day)
    return None


# Lists.


def _numbered(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """Pages from 1, with links to the near ones and the last. After the last there is nothing."""
    if path != of.start:
        return None
    listed = rows(of, ask.seed, day_of(ask.now))
    return _paged(of, ask, path, listed[::-1] if "sort" in ask.query else listed, of.owner)


def _paged(
    of: CatalogueSite, ask: WebRequest, path: str, listed: Sequence[CatalogueEntry], title: str
) -> CataloguePage | None:
    number = max(1, ask.number("page", 1))
    shown = window(ask, listed, (number - 1) * of.per_page, of.per_page)
    if not shown.rows and number > 1:
        return None
    last = max(1, -(-shown.total // of.per_page))
    return CataloguePage(
        PageType.DETAIL_LINKS,
        title,
        rows=shown.rows,
        count=f"{shown.total} results",
        following=f"{path}?page={number + 1}" if number < last else None,
        pages=_pages(f"{path}?page=", number, last),
    )


def _pages(prefix: str, number: int, last: int, first: int = 1) -> tuple[tuple[str, str | None], ...]:
    """Links to the first page, the near ones and the last, labelled from 1 whatever their number is."""
    near = sorted({first, last, *range(max(first, number - NEAR), min(last, number + NEAR) + 1)})
    if last == first:
        return ()
    return tuple((str(each + 1 - first), None if each == number else f"{prefix}{each}") for each in near)


def _offset(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """`offset` and `limit`; after the end the list is empty, and says so with 200."""
    if path != of.start:
        return None
    limit = min(max(1, ask.number("limit", of.per_page)), MAX_LIMIT)
    at = max(0, ask.number("offset", 0))
    shown = window(ask, rows(of, ask.seed, day_of(ask.now)), at, limit)
    following = f"{path}?offset={at + limit}&limit={limit}" if at + limit < shown.total else None
    before = f"{path}?offset={max(0, at - limit)}&limit={limit}"
    count = f"Showing {at + 1}–{at + len(shown.rows)} of {shown.total}" if shown.rows else "No entries here."
    return CataloguePage(
        PageType.DETAIL_LINKS,
        of.owner,
        rows=shown.rows,
        count=count,
        following=following,
        pages=(("Previous", before),) if at else (),
    )


def _next(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """Only the next page is linked, by a cursor that says nothing; a made-up cursor is no page."""
    at = _place(of, ask, ask.query.get("cursor", ""))
    if path != of.start or at is None:
        return None
    shown = window(ask, rows(of, ask.seed, day_of(ask.now)), at, of.per_page)
    after = at + of.per_page
    following = f"{path}?cursor={_cursor(of, ask, after)}" if after < shown.total else None
    return CataloguePage(PageType.DETAIL_LINKS, of.owner, rows=shown.rows, following=following)


def _cursor(of: CatalogueSite, ask: WebRequest, at: int) -> str:
    """A place in a list, signed: nobody can count pages by changing it."""
    text = f"{token(ask.seed, of.name, at, size=8)}:{at}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _place(of: CatalogueSite, ask: WebRequest, cursor: str) -> int | None:
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        return None
    at = whole(text.partition(":")[2])
    return at if at >= 0 and _cursor(of, ask, at) == cursor else None


def _more(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """The page has the first batch and a button; what the button brings is at an address of its own."""
    if path not in (of.start, f"{of.start}/more"):
        return None
    at = max(0, ask.number("after", 0)) if path != of.start else 0
    shown = window(ask, rows(of, ask.seed, day_of(ask.now)), at, of.per_page)
    after = at + of.per_page
    following = f"{of.start}/more?after={after}" if after < shown.total else None
    return CataloguePage(
        PageType.DETAIL_LINKS,
        of.owner,
        rows=shown.rows,
        count=f"{shown.total} products",
        following=following,
    )


def _api(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """An empty page at the start, and pages of JSON. The script counts them by the total."""
    if path not in (of.start, API):
        return None
    number = max(1, ask.number("page", 1)) if path == API else 1
    shown = window(ask, rows(of, ask.seed, day_of(ask.now)), (number - 1) * of.per_page, of.per_page)
    following = f"{API}?page={number + 1}" if number * of.per_page < shown.total else None
    return CataloguePage(PageType.DETAIL_LINKS, of.owner, rows=shown.rows, following=following)


def _zero(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """`?p=0` is the first page and is labelled 1; after the last a page is empty."""
    if path != of.start:
        return None
    number = max(0, ask.number("p", 0))
    shown = window(ask, rows(of, ask.seed, day_of(ask.now)), number * of.per_page, of.per_page)
    last = max(0, -(-shown.total // of.per_page) - 1)
    return CataloguePage(
        PageType.DETAIL_LINKS,
        of.owner,
        rows=shown.rows,
        count=f"{shown.total} statements" if shown.rows else "No statements here.",
        following=f"{path}?p={number + 1}" if number < last else None,
        pages=_pages(f"{path}?p=", min(number, last + 1), last, first=0),
    )


def _lying(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """A total of twenty times what there is. The page after the last repeats it, later ones are empty."""
    if path != of.start:
        return None
    listed = rows(of, ask.seed, day_of(ask.now))
    claimed = 21 * (len(listed) - BROKEN - MEMBERS) + 43
    number, last = max(1, ask.number("page", 1)), -(-claimed // of.per_page)
    real = -(-len(listed) // of.per_page)
    at = real if number == real + 1 else number
    shown = window(ask, listed, (at - 1) * of.per_page, of.per_page)
    return CataloguePage(
        PageType.DETAIL_LINKS,
        of.owner,
        rows=shown.rows,
        count=f"{claimed:,} results",
        following=f"{path}?page={number + 1}" if number < last else None,
        pages=_pages(f"{path}?page=", min(number, last + 1), last),
    )


def _doubled(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    """All products and four shelves. A page repeats the end of the one before, and each has the featured
    products above it.
    """
    shelf = path.removeprefix("/c/") if path != of.start else ""
    if shelf not in ("", *SHELVES):
        return None
    listed = _on_shelf(of, ask.seed, day_of(ask.now), shelf)
    number, step = max(1, ask.number("page", 1)), of.per_page - OVERLAP
    shown = window(ask, listed, (number - 1) * step, of.per_page)
    if not shown.rows and number > 1:
        return None
    last = max(1, -(-(shown.total - OVERLAP) // step))
    steady = (row for row in listed if row.way is Way.ITEM and is_steady(ask.seed, row.number))
    return CataloguePage(
        PageType.DETAIL_LINKS,
        shelf.title() or of.owner,
        rows=shown.rows,
        count=f"{shown.total} products",
        following=f"{path}?page={number + 1}" if number < last else None,
        pages=_pages(f"{path}?page=", number, last),
        beside=tuple((f"/c/{shelf}", shelf.title()) for shelf in SHELVES),
        featured=tuple(islice(steady, FEATURED)),
    )


@lru_cache(32)
def _on_shelf(of: CatalogueSite, seed: int, day: int, shelf: str) -> tuple[CatalogueEntry, ...]:
    """The products of a shelf, or all. Most stand on two shelves, some on one."""
    listed = rows(of, seed, day)
    if not shelf:
        return listed
    place = SHELVES.index(shelf)
    return tuple(row for row in listed if place in (row.number % 4, row.number // 4 % 4))


# The tree: departments, their subjects, and the courses of a subject. Every level comes in pages, and no two
# branches have the same size.


def _tree(of: CatalogueSite, ask: WebRequest, path: str) -> CataloguePage | None:
    match path.split("/"):
        case ["", ""]:
            branches = [(f"/departments/{slug_of(name)}", name) for name in DEPARTMENTS]
            return _branches(
                ask, path, of.owner, [*branches, (STAFF, "Staff training")], DEPARTMENTS_PER_PAGE
            )
        case ["", "departments", name] if (place := _department(name)) >= 0:
            subjects = [(f"{path}/{slug_of(each)}", each) for each in _subjects(place)]
            return _branches(ask, path, DEPARTMENTS[place], subjects, SUBJECTS_PER_PAGE)
        case ["", "departments", name, subject] if (place := _department(name)) >= 0:
            return _subject(of, ask, path, place, subject)
        case ["", "members", "staff-training"]:
            listed = [row for row in rows(of, ask.seed, day_of(ask.now)) if row.way is Way.MEMBERS]
            return _paged(of, ask, path, listed, "Staff training")
    return None


def _branches(
    ask: WebRequest, path: str, title: str, branches: Sequence[tuple[str, str]], size: int
) -> CataloguePage | None:
    number, last = max(1, ask.number("page", 1)), -(-len(branches) // size)
    if number > last:
        return None
    return CataloguePage(
        PageType.CATEGORY_LINKS,
        title,
        categories=tuple(branches[(number - 1) * size : number * size]),
        following=f"{path}?page={number + 1}" if number < last else None,
        pages=_pages(f"{path}?page=", number, last),
    )


def _subject(of: CatalogueSite, ask: WebRequest, path: str, place: int, name: str) -> CataloguePage | None:
    subject = next((each for each in _subjects(place) if slug_of(each) == name), None)
    if subject is None:
        return None
    return _paged(
        of, ask, path, _by_subject(of, ask.seed, day_of(ask.now)).get((place, subject), ()), subject
    )


def _department(name: str) -> int:
    return next((place for place, each in enumerate(DEPARTMENTS) if slug_of(each) == name), -1)


def _subjects(place: int) -> tuple[str, ...]:
    """The subjects of a department: from one to seven."""
    return tuple(SUBJECTS[(place * 3 + each) % len(SUBJECTS)] for each in range(1 + place * 5 % 7))


_ALL_SUBJECTS = tuple((place, name) for place in range(len(DEPARTMENTS)) for name in _subjects(place))


@lru_cache(16)
def _by_subject(
    of: CatalogueSite, seed: int, day: int
) -> Mapping[tuple[int, str], tuple[CatalogueEntry, ...]]:
    """The courses of each subject. A few subjects have most of them."""
    found: dict[tuple[int, str], list[CatalogueEntry]] = {}
    for row in rows(of, seed, day):
        draw, count = Draw(seed, "subject", row.number), len(_ALL_SUBJECTS)
        found.setdefault(_ALL_SUBJECTS[draw.below(count) * draw.below(count) // count], []).append(row)
    return {subject: tuple(listed) for subject, listed in found.items()}


_Lists = Callable[[CatalogueSite, WebRequest, str], CataloguePage | None]
_LISTINGS: Mapping[ListStyle, _Lists] = MappingProxyType(
    {
        ListStyle.NUMBERED: _numbered,
        ListStyle.OFFSET: _offset,
        ListStyle.NEXT: _next,
        ListStyle.MORE: _more,
        ListStyle.TREE: _tree,
        ListStyle.API: _api,
        ListStyle.ZERO: _zero,
        ListStyle.LYING: _lying,
        ListStyle.DOUBLED: _doubled,
    }
)
