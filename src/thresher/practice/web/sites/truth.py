"""What a page of the practice web says, as a careful reader would write it down: straight from the generator,
in the page's own words.

The practice model answers from here when it is asked about an address it knows. Names of fields that mean the
same lead to the same fact, so an app may call them as it likes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from thresher.practice.web.answer import Json, WebRequest
from thresher.practice.web.company import OWN, Company, Traits, company, owner, token_of, traits
from thresher.practice.web.planted import DOMAIN, Item, day_of, item
from thresher.practice.web.planted import catalogue as catalogue_of
from thresher.practice.web.posting import PracticePosting, number_in, postings
from thresher.practice.web.prose import intro, pay_text
from thresher.practice.web.sites import catalogue, catalogues, home, market
from thresher.practice.web.sites.item_lists import API, PageType
from thresher.practice.web.window import found, named, window

Facts = Mapping[str, Json]
MAX_THINGS = 100
# A question that is longer than this beside its address quotes the page.
QUOTED = 300
# A value of so many characters does not stand in a text by chance.
TELLING = 5

_URL = re.compile(r"(?m)^\s*url: (https?://[^\s<>\"']{1,2000})\s*$")
_SAME = MappingProxyType(
    {
        "title": ("name", "heading", "headline", "product", "course", "role", "position", "job_title"),
        "company": ("employer", "organisation", "organization", "hiring_organization"),
        "location": ("city", "place", "where", "address"),
        "price": ("asking_price", "cost", "amount", "sale_price"),
        "description": ("summary", "about", "text"),
        "posted": ("date_posted", "posted_at", "published", "date"),
        "employment": ("employment_type", "type", "contract_type", "commitment"),
        "salary": ("pay", "compensation", "salary_range"),
        "starts": ("start_date", "start", "begins"),
        "teacher": ("instructor", "taught_by", "lecturer"),
        "grade": ("condition",),
        "sold": ("sold_on", "date_sold", "sold_at"),
        "was": ("old_price", "list_price", "original_price"),
        "founded": ("founding_year", "since", "year"),
        "staff": ("employees", "size", "headcount", "people"),
        "trade": ("industry", "business", "products"),
        "duties": ("responsibilities", "tasks"),
        "wants": ("requirements", "qualifications", "skills"),
        "offers": ("benefits", "perks"),
        "url": ("link", "address_of_page"),
    }
)


def truth(ask: WebRequest, said: str, wanted: Sequence[str] = ()) -> Sequence[Facts] | None:
    """The things that the page shows which a question is about; None where the address is none we know, or is
    not named. `wanted` are the fields that are asked for: some are about the page instead.

    Where the page itself is quoted, what is not in the quotation is not seen: a long page comes in parts.
    """
    named_in = _URL.search(said)
    if named_in is None:
        return None
    parts = urlsplit(named_in[1])
    there = replace(
        ask,
        host=(parts.hostname or "").lower(),
        path=unquote(parts.path),
        query=dict(parse_qsl(parts.query)),
        twists={},
    )
    rest = _URL.sub(" ", said)
    if not PAGE_FIELDS.isdisjoint(wanted):
        known = next((each for reader in PAGE_READERS if (each := reader(there)) is not None), None)
        return None if known is None else [_page_facts(known, named_in[1], rest)]
    things = next((found for reader in READERS if (found := reader(there)) is not None), None)
    return None if things is None else _seen(things, " ".join(rest.split()).lower())


def _spread(facts: Facts) -> Facts:
    """Each fact under all of its names; what is known under a name of its own keeps it."""
    return {other: value for name, value in facts.items() for other in _SAME.get(name, ())} | dict(facts)


def _seen(things: Sequence[Facts], text: str) -> Sequence[Facts] | None:
    """The things as far as the text shows them; all there is where no page is quoted; None where another page
    is.
    """
    if len(things) == 1:
        one = {name: _quoted(value, text) for name, value in things[0].items()}
        if any(len(str(value)) >= TELLING for value in one.values() if value):
            return [_spread(one)]
        return [_spread(things[0])] if len(text) < QUOTED else None
    return [_spread(each) for each in things if len(text) < QUOTED or _quoted(each["title"], text)][
        :MAX_THINGS
    ]


def _quoted(value: Json, text: str) -> Json:
    if isinstance(value, list):
        return [each for each in value if _quoted(each, text)]
    return value if " ".join(str(value).split()).lower() in text else None


def _course_pages(ask: WebRequest) -> Sequence[Facts] | None:
    if ask.host != "courses.practice.example":
        return None
    rows = catalogue.courses(ask.seed, ask.now)
    match ask.parts:
        case ("course", name):
            row = named(rows, name)
            return [_course(row, whole=True)] if row else None
        case () | ("catalogue",) | ("catalogue", _):
            wanted = [each for each in rows if len(ask.parts) < 2 or each.category == ask.parts[1]]
            shown = window(ask, wanted, (max(1, ask.number("page", 1)) - 1) * catalogue.PAGE, catalogue.PAGE)
            return [_course(each, whole=False) for each in shown.rows]
    return None


def _course(row: catalogue.Course, *, whole: bool) -> Facts:
    listed = {
        "title": row.title,
        "price": row.price,
        "currency": "€" if row.cents else None,
        "level": row.level,
        "hours": row.hours,
        "url": f"https://courses.practice.example{row.path}",
    }
    if not whole:
        return listed
    return {
        **listed,
        "teacher": row.teacher,
        "starts": f"{row.starts:%d %B %Y}",
        "category": row.category.title(),
        "description": "You will work on something of your own, and take it home.",
        "availability": "InStock",
    }


def _market_pages(ask: WebRequest) -> Sequence[Facts] | None:
    label, _, rest = ask.host.partition(".")
    if rest != "practice.example" or label not in market.LOCALES:
        return None
    locale = market.LOCALES[label]
    rows = market.listings(ask.seed, locale.language, locale.rate, ask.now)
    match ask.parts:
        case ("item", number):
            row = named(rows, number)
            return [_listing(ask, locale, row)] if row else None
        case ("search",):
            words, sold = ask.query.get("q", "").lower().split(), ask.query.get("sold") == "1"
            fitting = [
                each
                for each in rows
                if (each.sold is not None) == sold and all(word in each.title.lower() for word in words)
            ]
            shown = window(ask, fitting, (max(1, ask.number("page", 1)) - 1) * market.PAGE, market.PAGE)
            return [_listing(ask, locale, each) for each in shown.rows]
    return None


def _listing(ask: WebRequest, locale: market.Locale, row: market.CoinListing) -> Facts:
    money = locale.money(row.cents)
    return {
        "title": row.title,
        "price": money,
        "currency": re.sub(r"[\d.,\s]", "", money),
        "url": f"https://{ask.host}/item/{row.id}",
        "grade": row.grade if ask.parts[0] == "item" else None,
        "shipping": locale.money(row.shipping) if row.shipping else None,
        "was": locale.money(row.was) if row.was else None,
        "sold": row.sold.strftime(locale.day) if row.sold else None,
        "availability": locale.sold
        if row.sold
        else None
        if row.id % 3 == 0 or ask.parts[0] != "item"
        else "InStock",
    }


def _planted_pages(ask: WebRequest) -> Sequence[Facts] | None:
    of, found = catalogue_of(ask.host), catalogues.catalogue_page(ask)
    if of is None or found is None:
        return None
    if found.item is not None:
        return [_planted(of.title, found.item, tuple(found.item.fields))]
    listed = (*found.featured, *found.rows)
    shown = [item(of, ask.seed, row.number, day_of(ask.now)) for row in listed]
    # A list of the API has every field of its items, others have a few.
    names = tuple(each.name for each in of.fields) if ask.path.startswith(API) else (of.title, *of.noted)
    return [_planted(of.title, each, names) for each in shown]


def _planted(title: str, shown: Item, names: Sequence[str]) -> Facts:
    """An item by the names of its fields, and by `title`, which all kinds have."""
    facts = {name: shown.fields[name] for name in names}
    return {"title": shown.fields[title], "url": shown.url, **facts}


def _greenhouse_pages(ask: WebRequest) -> Sequence[Facts] | None:
    if not ask.host.endswith("boards.greenhouse.io") or not ask.parts or ask.host.startswith("boards-api."):
        return None
    who = owner(ask.seed, "greenhouse", ask.parts[0])
    return _board(ask, who, "jobs", named) if who else None


def _lever_pages(ask: WebRequest) -> Sequence[Facts] | None:
    if ask.host not in ("jobs.lever.co", "jobs.ashbyhq.com") or not ask.parts:
        return None
    who = owner(ask.seed, "lever" if ask.host == "jobs.lever.co" else "ashby", ask.parts[0])
    return _board(ask, who, None, lambda rows, key: found(rows, number_in(key))) if who else None


def _board(
    ask: WebRequest,
    who: Company,
    between: str | None,
    find: Callable[[Sequence[PracticePosting], str], PracticePosting | None],
) -> Sequence[Facts] | None:
    rows = postings(ask.seed, who, ask.now)
    match [part for part in ask.parts[1:] if part != between]:
        case []:
            return [_short(each) for each in rows]
        case [key, *_]:
            row = find(rows, key)
            return [_posting(row)] if row else None
    return None


def _company_pages(ask: WebRequest) -> Sequence[Facts] | None:
    """A company's own site. Only names that are meant as such: any host has one."""
    if not ask.host.endswith(".example") or ask.host.endswith((".practice.example", f".{DOMAIN}")):
        return None
    who = company(ask.seed, token_of(ask.host))
    match ask.parts:
        case () | ("about",) | ("about-us",) | ("company",):
            return [_about(who, traits(ask.seed, who), whole=bool(ask.parts))]
        case (first,) if first in home.CAREERS and who.platform == OWN:
            shown = window(
                ask,
                postings(ask.seed, who, ask.now),
                (max(1, ask.number("page", 1)) - 1) * home.PAGE,
                home.PAGE,
            )
            return [{**_short(each), "posted": f"{each.opened:%d %B %Y}"} for each in shown.rows]
        case (first, key, *_) if first in home.CAREERS:
            row = named(postings(ask.seed, who, ask.now), key)
            return [_posting(row)] if row else None
    return None


def _about(who: Company, known: Traits, *, whole: bool) -> Facts:
    more = (
        {"mission": known.mission, "culture": known.culture, "headquarters": known.headquarters}
        if whole
        else {}
    )
    location = f"{who.city[0]}, {who.city[2]}" if whole else who.city[0]
    return {
        "title": who.name,
        "company": who.name,
        "founded": who.founded,
        "location": location,
        "city": who.city[0],
        "staff": who.staff,
        "trade": who.trade,
        "description": f"We make {who.trade}" + (" and nothing else." if whole else "."),
        **more,
    }


def _short(row: PracticePosting) -> Facts:
    return {"title": row.title, "company": row.company.name, "location": row.where}


def _posting(row: PracticePosting) -> Facts:
    rows = {
        name: [each[0].upper() + each[1:] for each in getattr(row, name)]
        for name in ("duties", "wants", "offers")
    }
    return {
        **_short(row),
        "city": row.city[0],
        "country": row.city[2],
        "department": row.department,
        "employment": row.employment,
        "salary": pay_text(row) or None,
        "currency": row.pay.currency if row.pay else None,
        "description": intro(row),
        "posted": row.opened.date().isoformat(),
        **rows,
    }


READERS = (
    _course_pages,
    _market_pages,
    _planted_pages,
    _greenhouse_pages,
    _lever_pages,
    _company_pages,
)


# What a page is for and where it leads, for whoever learns how a site is built. What is true of an address
# comes from its site; a link is only named if the question shows it, and as it is written there.

PAGE_FIELDS = frozenset({"page_type", "link_examples", "pagination_example", "next_url"})
MAX_ADDRESSES = 5_000
_ADDRESS = re.compile(r"(?:https?://|[/?])[^\s<>\"'()\[\]{}|\\^`]{1,2000}")
_TRACKING = ("utm_", "ref")
# How a question of ours opens the quotation of a page, however short the page is.
_QUOTATION = "<<<page "


@dataclass(frozen=True, slots=True)
class PageMap:
    """The type of a page, a title that it shows, and its links: to items or categories, to the next page of
    the same list, to other pages of it. Addresses are paths.
    """

    type: PageType
    title: str
    links: tuple[str, ...] = ()
    following: str | None = None
    pages: tuple[str, ...] = ()


def _planted_map(ask: WebRequest) -> PageMap | None:
    found = catalogues.catalogue_page(ask)
    if found is None:
        return None
    pages = tuple(path for _, path in found.pages if path)
    return PageMap(found.type, found.title, catalogues.links_of(ask, found), found.following, pages)


def _course_map(ask: WebRequest) -> PageMap | None:
    rows = _course_pages(ask)
    if rows is None:
        return None
    if ask.parts[:1] == ("course",):
        return PageMap(PageType.DETAIL, str(rows[0]["title"]))
    number = max(1, ask.number("page", 1))
    later = _course_pages(replace(ask, query={**ask.query, "page": str(number + 1)}))
    return PageMap(
        PageType.DETAIL_LINKS,
        "courses",
        tuple(str(row["url"]) for row in rows),
        f"{ask.path}?page={number + 1}" if later else None,
        (f"{ask.path}?page={number - 1}",) if number > 1 else (),
    )


PAGE_READERS = (_planted_map, _course_map)


def _page_facts(found: PageMap, url: str, text: str) -> Facts:
    """What is true of a page, as far as the text shows it; all of it where no page is quoted."""
    if len(" ".join(text.split())) < QUOTED and _QUOTATION not in text:
        written = {_same(url, path): urljoin(url, path) for path in _paths(found)}
    else:
        written = _addresses(url, text)
    links = [each for path in found.links if (each := written.get(_same(url, path)))]
    following = written.get(_same(url, found.following)) if found.following else None
    other = next((each for path in found.pages if (each := written.get(_same(url, path)))), None)
    return {
        "page_type": found.type if _recognised(found, links, text) else None,
        "link_examples": links,
        "pagination_example": following or other,
        "next_url": following,
    }


def _paths(found: PageMap) -> list[str]:
    return [path for path in (*found.links, found.following, *found.pages) if path]


def _recognised(found: PageMap, links: Sequence[str], text: str) -> bool:
    """Whether the text shows enough to tell: a shell that a script would fill shows nothing."""
    if found.links:
        return bool(links)
    return len(text) < QUOTED or found.title.lower() in " ".join(text.split()).lower()


def _addresses(url: str, text: str) -> dict[str, str]:
    """The addresses in a text as they are written there, by the page they lead to; the first of several."""
    found: dict[str, str] = {}
    for place, match in enumerate(_ADDRESS.finditer(text)):
        if place >= MAX_ADDRESSES:
            break
        written = match[0].rstrip(".,;:!?*_")
        found.setdefault(_same(url, written), written)
    return found


def _same(url: str, link: str) -> str:
    """What two ways of writing one address have in common: no scheme, no tracking, no fragment, no slash at
    the end.
    """
    try:
        parts = urlsplit(urljoin(url, link))
    except ValueError:
        return link
    query = sorted(pair for pair in parse_qsl(parts.query) if not pair[0].startswith(_TRACKING))
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{query}"
