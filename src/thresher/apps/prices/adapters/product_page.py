"""The product of a page: what it declares about itself, else what it tells those who share it, else what it
shows. Runs in a process that can be killed.

A page may declare ten products and sell one. Only the one that is the page's own is read: by its address, or
by the page's headline. Of several prices for one product none is chosen.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import urljoin, urlsplit

from thresher.apps.prices.adapters.adapter import ListingPage
from thresher.apps.prices.adapters.amounts import ReadAmount, read_amount
from thresher.apps.prices.adapters.page_currency import currency_of_page
from thresher.apps.prices.adapters.rows import MAX_ID, MAX_QUOTE, MAX_TITLE, MAX_VALUE, line_of
from thresher.apps.prices.model import Listing, PriceType
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.page import Page, Verdict
from thresher.reading.html.document import Document
from thresher.reading.html.labels import headline_of
from thresher.reading.postings.products import shared_product, shown_products
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import availability, text_of
from thresher.reading.structured.thing import Thing
from thresher.reading.values.money import Price
from thresher.reading.verdict.emptiness import shell
from thresher.reading.verdict.wall import wall

GONE = (404, 410)
MAX_OFFERS = 200
MAX_LINE = 200  # characters of a statement
MAX_BLOCKS = 3_000
UNREAD = "no product was recognised on the page"
_TYPES = ("Product", "ProductGroup", "ProductModel", "IndividualProduct", "Vehicle", "Book")
_BESIDE = re.compile(
    r"isRelatedTo|isSimilarTo|isAccessoryOrSparePartFor|isConsumableFor|itemListElement|hasPart|itemReviewed|mentions"
)
_VARIANT = re.compile(r"hasVariant|\.model\b")
_NOT_NOW = re.compile(r"ListPrice|SRP|MSRP|Strikethrough|Regular", re.IGNORECASE)
_GONE = re.compile(
    r"no longer (?:available|sold|for sale)|(?:has been|is) discontinued|this (?:listing|item|product|auction) (?:has ended|was removed|does not exist)"
    r"|nicht mehr (?:verfügbar|lieferbar|erhältlich|im sortiment)|n['’]est plus (?:disponible|en vente)|ya no está (?:disponible|a la venta)"
    r"|non è più disponibile|não está mais disponível|niet meer (?:leverbaar|beschikbaar|verkrijgbaar)|(?:finns|säljs) inte längre|nie jest już dostępny",
    re.IGNORECASE,
)
_IN_STOCK = (
    "in stock",
    "limited availability",
    "online only",
    "in store only",
    "pre order",
    "pre sale",
    "back order",
    "backorder",
    "made to order",
)
_OUT = ("out of stock", "sold out", "discontinued", "reserved", "unavailable")
_OUT_WORDS = re.compile(
    r"out of stock|sold out|unavailable|not available|ausverkauft|nicht (?:lieferbar|verfügbar)|épuisé|indisponible|agotado|esaurito|uitverkocht|slutsåld",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    r"\bin stock\b|\bavailable\b|auf lager|en stock|disponible|disponibile|op voorraad|i lager", re.IGNORECASE
)
_GTINS = ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "ean", "isbn")
_ASPECTS = ("brand", "model", "sku", "mpn", "color", "size", "material", "productID")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Offer:
    """One offer of a product, as far as it can be read."""

    amount: ReadAmount
    url: str = ""
    quote: str = ""
    was: int | None = None
    available: bool | None = None
    condition: str | None = None
    shipping: int | None = None
    quantity: int | None = None
    doubt: str | None = None


def read_product_page(asked: str, currency: str | None, page: Page) -> ListingPage:
    """What the page at an address sells; `currency` is what a bare amount or an ambiguous sign is in. Never
    raises for what the page holds.
    """
    if page.status in GONE:
        return ListingPage(
            (),
            Verdict.CONFIRMED_EMPTY,
            f"{asked} is gone ({page.status})",
            notes=(f"{asked} is gone ({page.status})",),
        )
    document = Document.of(page)
    if stands := wall(page.status, page.headers, document.html):
        return ListingPage((), Verdict.BLOCKED, f"{asked} is behind a wall: {stands}")
    facts = Facts(document)
    moved = _path(asked) != _path(page.final_url)
    own = _own_product(facts, asked, page)
    if own is None and (said := _says_gone(document)):
        why = f'{asked} says "{said}"'
        return ListingPage((), Verdict.CONFIRMED_EMPTY, why, notes=(why,))
    found = own if own is not None else _shown(facts, currency, asked, page)
    if isinstance(found, str):
        if moved:
            found = f"{asked} leads to {page.final_url[:MAX_LINE]} now, which is no product page: {found}"
        elif (empty := shell(document)) is not None:
            found = f"{found}: {empty}"
        return ListingPage((), Verdict.UNKNOWN, found)
    if moved:
        found = replace(
            found, doubts=(*found.doubts, f"its address leads to {page.final_url[:MAX_LINE]} now")
        )
    return ListingPage((found,), Verdict.FOUND, f"{asked}: {line_of(found.title, 80)}", notes=_notes(found))


def listing_id(url: str) -> str:
    """What tells a product page from others: its address, so that a changed price is the same listing's."""
    try:
        known = canonical_url(url)
    except InvalidUrl:
        known = url
    return known if len(known) <= MAX_ID else hashlib.sha256(known.encode()).hexdigest()


def _notes(found: Listing) -> tuple[str, ...]:
    return tuple(found.doubts[:3]) if found.amount is None else ()


# Which product


def _own_product(facts: Facts, asked: str, page: Page) -> Listing | None:
    """The declared product that is the page's own."""
    declared = [
        each
        for each in facts.structured.of(*_TYPES)
        if each.syntax != "opengraph" and _name(each) and not _BESIDE.search(each.path)
    ]
    chosen = _chosen(declared, facts.document, asked, page.final_url)
    return _declared(chosen, asked, page) if chosen is not None else None


def _chosen(declared: Sequence[Thing], document: Document, asked: str, here: str) -> Thing | None:
    whole = [each for each in declared if not _VARIANT.search(each.path)]
    distinct = {_name(each): each for each in reversed(whole)}
    if not distinct:
        return None
    by_url = [each for each in whole if _is_here(_link(each, here), (asked, here))]
    if len({_name(each) for each in by_url}) == 1:
        return by_url[0]
    headline = headline_of(document)
    said = {
        word.lower()
        for word in _WORDS.findall(f"{headline.line if headline else ''} {document.title}"[:1_000])
    }
    named = [
        each
        for name, each in distinct.items()
        if (words := _WORDS.findall(name.lower())) and said.issuperset(words)
    ]
    if len(named) == 1:
        return named[0]
    if len(distinct) > 1:
        return None
    # One product, and the page's headline is about something else: then it is a recommendation.
    only = next(iter(distinct.values()))
    return only if not said or _alike(_name(only), said) else None


def _alike(name: str, said: set[str]) -> bool:
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(words) and len(words & said) * 2 >= len(words)


def _name(thing: Thing) -> str:
    return line_of(thing.text("name"), MAX_TITLE)


def _link(thing: Thing, here: str) -> str:
    said = thing.text("url", "@id", "mainEntityOfPage") or ""
    try:
        return urljoin(here, said) if said else ""
    except ValueError:
        return ""


def _is_here(url: str, places: Sequence[str]) -> bool:
    return bool(url) and any(_path(url) == _path(each) and _host(url) == _host(each) for each in places)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path.rstrip("/").casefold() or "/"
    except ValueError:
        return url


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


# What it costs


def _declared(thing: Thing, asked: str, page: Page) -> Listing:
    offers = list(islice(_offers(thing, page.final_url), MAX_OFFERS))
    offer = _one_of(offers, asked, page.final_url)
    return _listing(_name(thing), offer, f"{thing.syntax}: {thing.path}", _aspects(thing), asked, page)


def _one_of(offers: Sequence[_Offer], asked: str, here: str) -> _Offer:
    """The offer that counts. Of several prices the one with this very address, else none."""
    priced = [each for each in offers if each.amount.minor is not None]
    if not priced:
        doubt = next(
            (each.doubt or each.amount.doubt for each in offers if each.doubt or each.amount.doubt), None
        )
        available = {each.available for each in offers}
        none = ReadAmount(doubt=doubt or "the page declares no price")
        return (
            replace(offers[0], amount=none, available=available.pop() if len(available) == 1 else None)
            if offers
            else _Offer(none)
        )
    prices = {(each.amount.minor, each.amount.currency) for each in priced}
    if len(prices) == 1:
        best = next((each for each in priced if each.available is not False), priced[0])
        return best if best.doubt is None else replace(best, amount=ReadAmount(doubt=best.doubt))
    exact = [each for each in priced if urlsplit(each.url).query and each.url in (asked, here)]
    if len({each.amount.minor for each in exact}) == 1:
        return exact[0]
    amounts = sorted(minor for minor, _ in prices if minor is not None)
    codes = sorted({code for _, code in prices if code})
    span = f"{len(prices)} prices from {amounts[0]} to {amounts[-1]} ({', '.join(codes)}, smallest unit)"
    return _Offer(ReadAmount(doubt=f"it has {span}: sellers or variants, and none is chosen"))


def _offers(thing: Thing, here: str) -> Iterator[_Offer]:
    """Every offer of a product and of its variants."""
    for each in _mappings(thing.properties.get("offers")):
        inner = _mappings(each.get("offers"))
        if inner:
            yield from (_offer(one, each, here) for one in inner)
        else:
            yield _offer(each, {}, here)
    for variant in (
        *_mappings(thing.properties.get("hasVariant")),
        *_mappings(thing.properties.get("model")),
    ):
        for each in _mappings(variant.get("offers")):
            yield _offer(each, {"url": variant.get("url")}, here)


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    found = value if isinstance(value, list) else [value]
    return [each for each in found[:MAX_OFFERS] if isinstance(each, Mapping)]


def _offer(said: Mapping[str, Any], around: Mapping[str, Any], here: str) -> _Offer:
    specs = _mappings(said.get("priceSpecification"))
    now = [each for each in specs if not _is_other_price(each)]
    code = (
        _first(said, "priceCurrency")
        or _first(around, "priceCurrency")
        or next((found for each in specs if (found := _first(each, "priceCurrency"))), None)
    )
    text = _first(said, "price") or next((found for each in now if (found := _first(each, "price"))), None)
    low, high = (
        _first(said, *names) or next((found for each in now if (found := _first(each, *names))), None)
        for names in (("lowPrice", "minPrice"), ("highPrice", "maxPrice"))
    )
    amount = ReadAmount(doubt="the page declares no price")
    doubt: str | None = None
    if text is not None:
        amount = read_amount(text, code)
        doubt = (
            "it is a range"
            if amount.high is not None
            else f"it is a price per {amount.per}"
            if amount.per
            else None
        )
    elif low is not None:
        least, most = read_amount(low, code), read_amount(high or low, code)
        if high is not None and least.minor is not None and least.minor == most.minor:
            amount = least
        else:
            amount = ReadAmount(
                doubt=f"it costs from {line_of(low, 20)} to {line_of(high, 20) or 'more'} {line_of(code, 3)}: a range of variants or sellers"
            )
        text = low
    was = _list_price(specs, code, amount)
    return _Offer(
        amount,
        _absolute(text_of(said.get("url")) or text_of(around.get("url")), here),
        line_of(text, MAX_QUOTE),
        was if was is not None and amount.minor is not None and was > amount.minor else None,
        _available(availability(_first(said, "availability") or _first(around, "availability"))),
        _condition(_first(said, "itemCondition") or _first(around, "itemCondition")),
        _shipping(said, amount),
        _quantity(said),
        doubt,
    )


def _list_price(specs: Sequence[Mapping[str, Any]], code: str | None, amount: ReadAmount) -> int | None:
    """The struck price that stands beside the one that holds."""
    listed = (each for each in specs if _NOT_NOW.search(_first(each, "priceType") or ""))
    read = (read_amount(_first(each, "price"), _first(each, "priceCurrency") or code) for each in listed)
    return next((each.minor for each in read if each.currency == amount.currency), None)


def _is_other_price(spec: Mapping[str, Any]) -> bool:
    """A list price, or one for a hundred grams."""
    return bool(_NOT_NOW.search(_first(spec, "priceType") or "")) or spec.get("referenceQuantity") is not None


def _first(said: Mapping[str, Any], *names: str) -> str | None:
    return next((text for name in names if (text := text_of(said.get(name)))), None)


def _absolute(url: str | None, here: str) -> str:
    try:
        return urljoin(here, url) if url else ""
    except ValueError:
        return ""


def _available(said: str | None) -> bool | None:
    if not said:
        return None
    plain = said.casefold()
    if plain in _OUT or _OUT_WORDS.search(plain):
        return False
    return True if plain in _IN_STOCK or _IN_WORDS.search(plain) else None


def _condition(said: str | None) -> str | None:
    name = (said or "").rstrip("/").rpartition("/")[2].removesuffix("Condition")
    return line_of(name.lower(), MAX_VALUE) or None


def _shipping(said: Mapping[str, Any], amount: ReadAmount) -> int | None:
    """What sending costs, where every rate that is declared is the same."""
    rates = {
        (_first(rate, "value", "price"), _first(rate, "currency", "priceCurrency"))
        for details in _mappings(said.get("shippingDetails"))
        for rate in _mappings(details.get("shippingRate"))
    }
    if len(rates) != 1 or amount.currency is None:
        return None
    ((value, code),) = rates
    if value is not None and not value.strip("0. "):
        return 0
    found = read_amount(value, code, what="shipping")
    return found.minor if found.currency == amount.currency else None


def _quantity(said: Mapping[str, Any]) -> int | None:
    """How many are sold together, where the offer says so."""
    for each in _mappings(said.get("eligibleQuantity")):
        text = _first(each, "value", "minValue") or ""
        if text.isascii() and text.isdigit() and 1 < int(text[:9]) <= 1_000_000 and len(text) < 8:
            return int(text)
    return None


def _aspects(thing: Thing) -> dict[str, str]:
    found = {name: line_of(thing.text(name), MAX_VALUE) for name in _ASPECTS}
    found["gtin"] = "".join((thing.text(*_GTINS) or "").split("-"))[:MAX_VALUE].strip()
    for each in _mappings(thing.properties.get("additionalProperty"))[:40]:
        name, value = line_of(_first(each, "name"), 60).lower(), line_of(_first(each, "value"), MAX_VALUE)
        if name and value:
            found.setdefault(name, value)
    return {name: value for name, value in found.items() if value}


def _listing(
    name: str, offer: _Offer, place: str, aspects: Mapping[str, str], asked: str, page: Page
) -> Listing:
    amount = offer.amount
    return Listing(
        title=name,
        price_type=PriceType.ASK,
        amount=amount.minor,
        currency=amount.currency,
        quote=offer.quote,
        place=place[:MAX_QUOTE],
        external_id=listing_id(asked),
        url=page.final_url,
        was=offer.was or (amount.was if amount.was and amount.minor and amount.was > amount.minor else None),
        shipping=offer.shipping,
        quantity=offer.quantity,
        condition=offer.condition,
        aspects=dict(aspects),
        available=offer.available,
        doubts=tuple(filter(None, (amount.doubt,))),
    )


# What it shows


def _shown(facts: Facts, currency: str | None, asked: str, page: Page) -> Listing | str:
    """What a page shows without declaring it, or why nothing is read."""
    shared = shared_product(facts.meta)
    shown = [] if shared and shared.price else shown_products(facts)
    if len(shown) > 1:
        return f"it lists {len(shown)} products and is no page of one"
    product = shared if shared and shared.price else shown[0] if shown else None
    if product is None:
        return UNREAD
    offer = _Offer(
        _certain(product.price, currency or currency_of_page(facts, page.final_url)),
        "",
        product.price.text if product.price else "",
        available=_available(product.availability),
    )
    return _listing(line_of(product.name, MAX_TITLE), offer, product.where, {}, asked, page)


def _certain(price: Price | None, currency: str | None) -> ReadAmount:
    """A price that was read off the page, if nothing about it is doubtful."""
    if price is None:
        return ReadAmount(doubt="the page shows no price")
    said = line_of(price.text, 60)
    if price.high is not None or price.bound is not None:
        return ReadAmount(doubt=f"the price is {said!r}: a range")
    if price.per is not None:
        return ReadAmount(doubt=f"the price is {said!r}: for one {price.per}")
    found = read_amount(price.text, price.currency if price.certain else currency)
    return replace(found, was=found.was or price.was) if found.minor is not None else found


def _says_gone(document: Document) -> str | None:
    """The page's own statement that the thing is no longer sold: in its title, a headline or a short
    block.
    """
    headline = headline_of(document)
    lines = [document.title, headline.line if headline else ""]
    body = document.root.css_first("main") or document.root.css_first("body") or document.root
    lines += [
        " ".join(node.own_text.split())
        for node in islice(body.walk("p", "div", "span", "strong", "h1", "h2"), MAX_BLOCKS)
    ]
    return next(
        (line_of(line, MAX_LINE) for line in lines if len(line) <= MAX_LINE and _GONE.search(line)), None
    )


def product_listing(
    product: Mapping[str, Any], quotes: Mapping[str, str], currency: str | None, asked: str, page: Page
) -> Listing | None:
    """A listing out of what a learned extractor has read; None where it has no name and price."""
    name, price = line_of(str(product.get("name") or ""), MAX_TITLE), product.get("price")
    if not name or not price:
        return None
    amount = read_amount(str(price), None)
    if amount.doubt and currency:
        amount = read_amount(str(price), currency)
    offer = _Offer(
        amount,
        "",
        quotes.get("price", str(price)),
        available=_available(str(product.get("availability") or "")),
    )
    aspects = {key: line_of(str(product[key]), MAX_VALUE) for key in ("brand", "gtin") if product.get(key)}
    return _listing(name, offer, "learned", aspects, asked, page)
