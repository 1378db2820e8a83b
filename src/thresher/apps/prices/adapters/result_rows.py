"""The rows of a page of search results as listings. Runs in a process that can be killed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from urllib.parse import urljoin

from thresher.apps.prices.adapters.adapter import ListingPage
from thresher.apps.prices.adapters.amounts import ReadAmount, read_amount
from thresher.apps.prices.adapters.page_currency import currency_of_page
from thresher.apps.prices.adapters.rows import MAX_QUOTE, MAX_TITLE, MAX_VALUE, believed_day, day_of, line_of
from thresher.apps.prices.model import Listing, PriceType
from thresher.core.credentials import origin_of
from thresher.core.page import Page, Verdict
from thresher.reading.apis.request import web_link
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Node, written_selector
from thresher.reading.lists.find_lists import ListRow
from thresher.reading.lists.pagination import pagination
from thresher.reading.lists.strangers import ADVERT
from thresher.reading.structured.facts import Facts
from thresher.reading.text.plain import full_text
from thresher.reading.text.vocabulary import words
from thresher.reading.verdict.emptiness import counts_rows, is_main, shell, statement
from thresher.reading.verdict.wall import wall

MAX_ROWS = 1_000
MAX_NOTES = 5
MAX_PRICE = 80  # characters
MAX_PIECES = 200  # elements of a row that are looked at
_SHIPPING = re.compile(
    r"shipping|postage|delivery|versand|livraison|frais de port|\bport\b|frakt|fragt|envío|spedizione|verzend",
    re.IGNORECASE,
)
_FREE = re.compile(r"\b(?:free|gratis|kostenlos|gratuit\w*|0[.,]00)\b", re.IGNORECASE)
_SOLD = re.compile(
    r"\b(?:sold|verkauft|vendu|såld|solgt|vendido|venduto|verkocht|ended|beendet)\b", re.IGNORECASE
)
_PRICED = "[class*=price], [class*=Price], [itemprop=price], [class*=preis], [class*=prix], [class*=precio]"
_NOT_THE_PRICE = re.compile(
    r"old|was|list-?price|strike|original|before|sav(?:e|ing)|discount|shipping|unit|per-?", re.IGNORECASE
)
_ADVERT_CLASS = re.compile(
    r"(?:^|[\s_-])(?:ad|ads|advert\w*|sponsor\w*|promo|promoted|promotion|banner)(?:$|[\s_-])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Selectors:
    """Where rows stand, and inside of them their fields. `@name` behind a selector reads an attribute."""

    rows: str = ""
    title: str = ""
    price: str = ""
    link: str = ""
    shipping: str = ""
    condition: str = ""
    date: str = ""
    next: str = ""
    advert: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """A page of results, and what tells its rows apart. `page.next` is the address of the next one."""

    page: ListingPage
    keys: tuple[str, ...] = ()


def read_results(
    selectors: Selectors, kind: PriceType, currency: str | None, asked: str, page: Page
) -> Results:
    """The listings of a page. Never raises for what the page holds."""
    document = Document.of(page)
    if stands := wall(page.status, page.headers, document.html):
        return Results(ListingPage((), Verdict.BLOCKED, f"the search is behind a wall: {stands}"))
    facts = Facts(document)
    today = day_of(page)
    currency = currency or currency_of_page(facts, page.final_url)
    nodes = list(_rows(selectors, facts))
    kept = [each for each in nodes if not _is_advert(selectors, each)]
    adverts = len(nodes) - len(kept)
    read = [_listing(selectors, kind, currency, today, page, each) for each in kept]
    listings = tuple(each for each in read if isinstance(each, Listing))
    bad = [each for each in read if isinstance(each, str)]
    notes = [f"{adverts:,} advertisements were left out"] if adverts else []
    notes += [f"{len(bad):,} of {len(read):,} rows were left out: {bad[0]}"] if bad else []
    verdict, reason = _verdict(document, listings, bad)
    if verdict is not Verdict.FOUND:
        listings = ()  # what stands beside a statement that there are none is recommended
    following, more = _following(selectors, document, asked) if listings else (None, None)
    paging = pagination(document)
    notes += [more] if more else []
    shown = ListingPage(
        listings,
        verdict,
        reason,
        following,
        paging.total,
        capped=more is not None,
        notes=tuple(notes[:MAX_NOTES]),
    )
    return Results(shown, tuple(each.url or f"{each.title}\n{each.amount}" for each in listings))


def _verdict(document: Document, listings: Sequence[Listing], bad: Sequence[str]) -> tuple[Verdict, str]:
    """What the page proves. Rows beside its own statement that there are none are recommendations."""
    text = full_text(document)
    said = statement(document)
    if said is not None and is_main(said, document, len(text)) and not counts_rows(document, text):
        return Verdict.CONFIRMED_EMPTY, f'the page says "{said.quote}"'
    if listings:
        return Verdict.FOUND, f"{len(listings):,} results"
    if bad:
        return Verdict.UNKNOWN, f"none of {len(bad):,} rows is a listing: {bad[0]}"
    if (empty := shell(document)) is not None:
        return Verdict.UNKNOWN, f"{empty}; render it (render: yes)"
    return Verdict.UNKNOWN, "no results were recognised, and the page does not say that there are none"


@dataclass(frozen=True, slots=True)
class _Row:
    """A row: its element, and what was found of it without selectors."""

    node: Node
    found: ListRow | None = None


def _rows(selectors: Selectors, facts: Facts) -> Iterator[_Row]:
    if selectors.rows:
        chosen = facts.document.root.select_by(written_selector(selectors.rows))
        yield from (_Row(node) for node in chosen[:MAX_ROWS])
        return
    for group in (*facts.lists, *facts.lone_rows):
        rows = [row for row in group.rows if not row.aside]
        priced = sum(_price_text(row) is not None for row in rows)
        if priced and priced * 2 >= len(rows) and not group.menu:
            yield from (_Row(row.node, row) for row in rows[:MAX_ROWS])
            return


def _price_text(row: ListRow) -> str | None:
    """What a row shows as its price: not the struck one, nor what sending it costs."""
    for node in row.node.css(_PRICED)[:MAX_PIECES]:
        names = f"{node.attribute('class') or ''} {node.attribute('id') or ''}"
        if _NOT_THE_PRICE.search(names) or node.closest("s, del, strike") is not None:
            continue
        text = node.attribute("content") or node.line
        if any(char.isdigit() for char in text) and len(text) <= MAX_PRICE:
            return text
    said = row.fields.get("price")
    return said if said and any(char.isdigit() for char in said) else None


def _is_advert(selectors: Selectors, row: _Row) -> bool:
    """Whether a row says of itself that somebody has paid for it, or leads through an advertiser."""
    if selectors.advert:
        paid, around = written_selector(selectors.advert), row.node.parent
        if row.node.select_first_by(paid) is not None or (around and row.node in around.select_by(paid)):
            return True
    if _ADVERT_CLASS.search(" ".join(row.node.classes)):
        return True
    link = row.node.css_first("a[href]")
    if link is not None and ADVERT.search(link.attribute("href") or ""):
        return True
    return any(
        words("recommended", "paid").is_one(each.line)
        for each in islice(row.node.walk("span", "div", "small", "em"), MAX_PIECES)
        if len(each.line) <= 20
    )


def _listing(
    selectors: Selectors, kind: PriceType, currency: str | None, today: date, page: Page, row: _Row
) -> Listing | str:
    if selectors.title:
        name = _field(row.node, selectors.title)
    else:
        name = row.found.title if row.found else _link_text(row.node)
    title = line_of(name, MAX_TITLE)
    if not any(char.isalnum() for char in title):
        return "it has no title"
    if selectors.link or row.found is None:
        link = _field(row.node, selectors.link or "a[href]@href")
    else:
        link = row.found.url
    url = web_link(link, page.final_url)
    amount, quote = _amount(selectors, currency, row)
    doubts = [amount.doubt] if amount.doubt else []
    lines = list(_lines(row.node))
    when = (
        _field(row.node, selectors.date)
        if selectors.date
        else next((each for each in lines if _SOLD.search(each)), None)
    )
    shipping = (
        _field(row.node, selectors.shipping)
        if selectors.shipping
        else next((each for each in lines if _SHIPPING.search(each)), None)
    )
    return Listing(
        title=title,
        price_type=kind,
        amount=amount.minor,
        currency=amount.currency,
        quote=quote,
        place=row.node.path[:MAX_QUOTE],
        url=url,
        high=amount.high,
        was=amount.was if amount.was and amount.minor and amount.was > amount.minor else None,
        shipping=_shipping(shipping, amount, currency),
        per=amount.per,
        condition=line_of(_field(row.node, selectors.condition), MAX_VALUE) or None
        if selectors.condition
        else None,
        listed_on=believed_day(_SOLD.sub("", when).strip(" :,-") if when else None, today),
        doubts=tuple(doubts),
    )


def _amount(selectors: Selectors, currency: str | None, row: _Row) -> tuple[ReadAmount, str]:
    """What a row costs, and the text that says so. A currency that the row names itself counts first."""
    if selectors.price or row.found is None:
        text = _field(row.node, selectors.price or _PRICED)
    else:
        text = _price_text(row.found)
    if not text:
        return ReadAmount(doubt="the row shows no price"), ""
    found = read_amount(text, None)
    if found.doubt and currency:
        found = read_amount(text, currency)
    if found.high is not None:
        found = ReadAmount(doubt=f"the price is {line_of(text, 40)!r}: a range")
    return found, line_of(text, MAX_QUOTE)


def _shipping(text: str | None, amount: ReadAmount, currency: str | None) -> int | None:
    if not text or amount.currency is None:
        return None
    bare = _SHIPPING.sub(" ", text).strip(" +:()")
    found = read_amount(bare, currency or amount.currency, what="shipping")
    if found.minor is not None:
        return found.minor if found.currency == amount.currency else None
    return 0 if _FREE.search(text) else None


def _field(node: Node, selector: str) -> str | None:
    """What a selector of the source says of a row."""
    css, _, attribute = selector.partition("@")
    found = node.select_first_by(written_selector(css)) if css else node
    if found is None:
        return None
    return (found.attribute(attribute) if attribute else found.line) or None


def _link_text(node: Node) -> str | None:
    links = (each.line for each in node.css("a[href]")[:MAX_PIECES])
    return max(links, key=len, default=None)


def _lines(node: Node) -> Iterator[str]:
    """The short texts of a row."""
    for each in islice(node.walk(), MAX_PIECES):
        own = " ".join(each.own_text.split())
        if own and len(own) <= 80:
            yield own


def _following(selectors: Selectors, document: Document, asked: str) -> tuple[str | None, str | None]:
    """The address of the next page, or why the list goes on out of reach."""
    if selectors.next:
        said = _field(document.root, selectors.next if "@" in selectors.next else f"{selectors.next}@href")
        link = _joined(document.url, said) if said else None
    else:
        paging = pagination(document)
        link = paging.next
        if link is None and (paging.more or paging.infinite):
            return None, "the page loads more in place, which was not followed"
    if link is None:
        return None, None
    if origin_of(link) != origin_of(asked):
        return None, "the link to the next page leads to another host, and was not followed"
    return link, None


def _joined(base: str, link: str) -> str | None:
    try:
        return urljoin(base, link)
    except ValueError:
        return None
