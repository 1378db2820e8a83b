"""The shop of the practice marketplace: a page for each listing, and pages of search results with paid places
among them.

The pages say what they sell in several ways: JSON-LD, microdata, OpenGraph, or only in words. A listing that
has vanished is gone, or its address leads to the front page, or its page says so.
"""

from html import escape
from typing import Any

from thresher.practice.web.answer import WebRequest, WebResponse, page, plain, redirect
from thresher.practice.web.prose import document, ld
from thresher.practice.web.sites.marketplace_goods import HISTORY, Offer, Role, asked, offers, planted, thing
from thresher.practice.web.window import ListWindow, found, window

PAGE = 12
WAYS = ("json-ld", "microdata", "opengraph", "words")


def site(ask: WebRequest) -> WebResponse:
    """`/search?q=&page=`, `/itm/ID`, `/`."""
    match ask.parts:
        case () | ("index.html",):
            return page(_front(ask))
        case ("search",):
            return page(_results(ask))
        case ("itm", number):
            return _item(ask, number)
        case ("robots.txt",):
            return plain("User-agent: *\nDisallow: /account/\n")
        case _:
            return page(document("Not found", "<h1>There is no such page</h1>"), 404)


def way_of(number: int) -> str:
    """How the page of a listing says what it sells."""
    return WAYS[number % len(WAYS)]


# A listing


def _item(ask: WebRequest, text: str) -> WebResponse:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    each = found(offers(ask.seed, ask.now), number)
    if each is not None:
        return page(_product(ask, each))
    once = planted(ask.seed, number)
    if once is None or ask.now < once.listed:
        return page(document("Not found", "<h1>There is no such listing</h1>"), 404)
    match number % 3:
        case 0:
            return page(document("Gone", "<h1>Gone</h1>"), 410)
        case 1:
            return redirect("/")
        case _:
            near = "".join(map(_card, asked(ask.seed, ask.now)[:4]))
            body = f"<main><h1>{escape(once.title)}</h1><p>This listing is no longer available.</p><h2>Similar items</h2><ul>{near}</ul></main>"
            return page(document(once.title, body))


def _product(ask: WebRequest, each: Offer) -> str:
    way = way_of(each.id)
    head = (
        {"json-ld": _json_ld, "opengraph": _open_graph}[way](ask, each)
        if way in ("json-ld", "opengraph")
        else ""
    )
    was = f"<s>{_money(each.was)}</s> " if each.was else ""
    shipping = f'<span class="shipping">+{_money(each.shipping)} shipping</span>' if each.shipping else ""
    price = f'<span class="price">{_money(each.cents)}</span>'
    if each.role is Role.VARIANTS:
        price = f'<span class="price">{_money(each.low or 0)} - {_money(each.cents)}</span>'
    stock = "Sold out" if each.sold else "In stock"
    inside = f'<h1>{escape(each.title)}</h1><p>{was}{price} {shipping}</p><p class="stock">{stock}</p>'
    if way == "microdata":
        inside = _microdata(each, was, shipping, stock)
    known = thing(each.thing)
    facts = "".join(
        f"<dt>{escape(name.title())}</dt><dd>{escape(value)}</dd>" for name, value in known.attributes
    )
    near = "".join(_card(other) for other in asked(ask.seed, ask.now)[:5] if other.id != each.id)
    body = (
        f"<main>{inside}<dl><dt>Condition</dt><dd>{escape(each.condition)}</dd>{facts}</dl>"
        f"<p>Free shipping over {_money(15_000)}.</p><button>Add to basket</button></main>"
        f'<aside class="recommended"><h2>You may also like</h2><ul>{near}</ul></aside>'
    )
    return document(each.title, body, head=head)


def _json_ld(ask: WebRequest, each: Offer) -> str:
    known = dict(thing(each.thing).attributes)
    offer: dict[str, Any] = {
        "@type": "Offer",
        "price": f"{each.cents / 100:.2f}",
        "priceCurrency": "USD",
        "availability": f"https://schema.org/{'SoldOut' if each.sold else 'InStock'}",
        "itemCondition": f"https://schema.org/{'New' if each.condition == 'new' else 'Used'}Condition",
        "shippingDetails": {
            "@type": "OfferShippingDetails",
            "shippingRate": {
                "@type": "MonetaryAmount",
                "value": f"{each.shipping / 100:.2f}",
                "currency": "USD",
            },
        },
    }
    if each.was:
        offer["priceSpecification"] = {
            "@type": "UnitPriceSpecification",
            "priceType": "https://schema.org/ListPrice",
            "price": f"{each.was / 100:.2f}",
            "priceCurrency": "USD",
        }
    if each.role is Role.VARIANTS and each.low is not None:
        offer = {
            "@type": "AggregateOffer",
            "lowPrice": f"{each.low / 100:.2f}",
            "highPrice": f"{each.cents / 100:.2f}",
            "priceCurrency": "USD",
            "offerCount": 4,
        }
    product = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": each.title,
        "url": f"https://{ask.host}{each.path}",
        "sku": str(each.id),
        "offers": offer,
    }
    product |= {name: known[name] for name in ("gtin", "model") if name in known}
    if "brand" in known:
        product["brand"] = {"@type": "Brand", "name": known["brand"]}
    beside = [
        {
            "@type": "Product",
            "name": other.title,
            "url": f"https://{ask.host}{other.path}",
            "offers": {"@type": "Offer", "price": f"{other.cents / 100:.2f}", "priceCurrency": "USD"},
        }
        for other in asked(ask.seed, ask.now)[:3]
        if other.id != each.id
    ]
    return ld({**product, "isRelatedTo": beside})


def _open_graph(ask: WebRequest, each: Offer) -> str:
    price = (
        ""
        if each.role is Role.VARIANTS
        else (
            f'<meta property="product:price:amount" content="{each.cents / 100:.2f}">'
            '<meta property="product:price:currency" content="USD">'
        )
    )
    stock = "out of stock" if each.sold else "in stock"
    return (
        f'<meta property="og:type" content="product"><meta property="og:title" content="{escape(each.title)}">'
        f'<meta property="og:url" content="https://{ask.host}{each.path}">{price}'
        f'<meta property="product:availability" content="{stock}">'
    )


def _microdata(each: Offer, was: str, shipping: str, stock: str) -> str:
    state = "SoldOut" if each.sold else "InStock"
    if each.role is Role.VARIANTS and each.low is not None:
        price = (
            f'<span itemprop="offers" itemscope itemtype="https://schema.org/AggregateOffer">from <span itemprop="lowPrice" content="{each.low / 100:.2f}">'
            f'{_money(each.low)}</span> to <span itemprop="highPrice" content="{each.cents / 100:.2f}">{_money(each.cents)}</span>'
            '<meta itemprop="priceCurrency" content="USD"></span>'
        )
    else:
        price = (
            '<span itemprop="offers" itemscope itemtype="https://schema.org/Offer">'
            f'<span itemprop="price" content="{each.cents / 100:.2f}">{_money(each.cents)}</span>'
            f'<meta itemprop="priceCurrency" content="USD"><link itemprop="availability" href="https://schema.org/{state}"></span>'
        )
    return (
        f'<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">{escape(each.title)}</h1>'
        f'<p>{was}{price} {shipping}</p><p class="stock">{stock}</p></div>'
    )


# Results


def _results(ask: WebRequest) -> str:
    query, number = ask.query.get("q", ""), max(1, ask.number("page", 1))
    words = query.lower().replace("-", " ").split()
    fitting = tuple(
        each
        for each in asked(ask.seed, ask.now)
        if set(words) <= set(each.title.lower().replace("-", " ").split())
    )
    shown = window(ask, fitting, (number - 1) * PAGE, PAGE)
    if not shown.total or not words:
        near = "".join(map(_card, shown.recommended or asked(ask.seed, ask.now)[:5]))
        body = (
            f'<h1>0 results for “{escape(query)}”</h1><h2>You may also like</h2><ul class="near">{near}</ul>'
        )
        return document(f"0 results for {query}", body)
    advert = (
        '<li class="card sponsored"><span>Sponsored</span><a href="/promo/albums">Coin albums and camera bags</a> '
        f'<span class="price">{_money(1_999)}</span></li>'
    )
    cards = [_card(each) for each in shown.rows]
    rows = [advert, *cards[:5], advert, *cards[5:]]
    body = f'<h1>{escape(query)}</h1><p class="count">{shown.total} results</p><ul class="results">{"".join(rows)}</ul>{_pager(ask, shown, query, number)}'
    return document(f"{query} | Marketplace", body)


def _pager(ask: WebRequest, shown: ListWindow[Offer], query: str, number: int) -> str:
    if number * PAGE >= shown.total:
        return ""
    kept = escape(query).replace(" ", "+")
    return f'<nav class="pagination"><a rel="next" href="{ask.path}?q={kept}&amp;page={number + 1}">Next</a></nav>'


def _card(each: Offer) -> str:
    was = f"<s>{_money(each.was)}</s> " if each.was else ""
    shipping = (
        f'<span class="shipping">+{_money(each.shipping)} shipping</span>'
        if each.shipping
        else '<span class="shipping">Free shipping</span>'
    )
    price = _money(each.cents) if each.low is None else f"{_money(each.low)} to {_money(each.cents)}"
    return (
        f'<li class="card"><a href="{each.path}">{escape(each.title)}</a> {was}<span class="price">{price}</span> '
        f'{shipping} <span class="condition">{escape(each.condition)}</span></li>'
    )


def _front(ask: WebRequest) -> str:
    cards = "".join(map(_card, asked(ask.seed, ask.now)[:20]))
    return document(
        "Marketplace",
        f'<h1>Welcome</h1><p>Sold in the last {HISTORY} days, and more.</p><ul class="results">{cards}</ul>',
    )


def _money(cents: int) -> str:
    return f"${cents / 100:,.2f}"
