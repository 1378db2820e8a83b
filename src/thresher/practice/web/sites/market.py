"""A marketplace for coins in four countries: what is asked, what was paid, and the noise around both.

Each locale writes money and dates its own way. Among the listings are lots of several coins, copies,
advertisements, shipping prices and prices struck out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from html import escape
from types import MappingProxyType

from thresher.practice.web.answer import WebRequest, WebResponse, page, plain
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import Draw
from thresher.practice.web.prose import document, ld
from thresher.practice.web.window import ListWindow, named, window

PAGE = 24
LISTINGS = 600
COINS = (
    "1889 Crown",
    "1921 Silver Dollar",
    "1936 Penny",
    "1804 Half Thaler",
    "1872 20 Kronor",
    "1914 20 Francs",
    "1965 Florin",
    "1702 Ducat",
    "1850 Five Cents",
    "1799 Farthing",
)
GRADES = ("VF", "XF", "AU", "MS-62", "MS-65", "Fine", "ungraded")
WORTH = (4_500, 8_200, 1_100, 26_000, 31_500, 38_900, 650, 91_000, 15_400, 2_300)


@dataclass(frozen=True, slots=True)
class Locale:
    """How one country's site speaks. `money` writes an amount in cents."""

    language: str
    currency: str
    rate: int  # percent of a dollar's cents that the same coin costs here
    money: Callable[[int], str]
    day: str
    sold: str
    shipping: str
    none: str
    next: str
    similar: str


def _dollars(cents: int) -> str:
    return f"${cents / 100:,.2f}"


def _euros(cents: int) -> str:
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,")) + " €"


def _euros_fr(cents: int) -> str:
    return f"{cents / 100:,.2f}".replace(",", "\u202f").replace(".", ",") + "\u00a0€"


def _kronor(cents: int) -> str:
    return f"{round(cents / 100):,}".replace(",", "\u00a0") + " kr"


LOCALES = MappingProxyType(
    {
        "coins": Locale(
            "en",
            "USD",
            100,
            _dollars,
            "%b %d, %Y",
            "Sold",
            "+{} shipping",
            "0 results for",
            "Next",
            "Similar items",
        ),
        "muenzen": Locale(
            "de",
            "EUR",
            92,
            _euros,
            "%d.%m.%Y",
            "Verkauft",
            "+ {} Versand",
            "0 Ergebnisse für",
            "Weiter",
            "Ähnliche Artikel",
        ),
        "monnaies": Locale(
            "fr",
            "EUR",
            92,
            _euros_fr,
            "%d/%m/%Y",
            "Vendu",
            "+ {} de port",
            "0 résultat pour",
            "Suivant",
            "Objets similaires",
        ),
        "mynt": Locale(
            "sv",
            "SEK",
            1_050,
            _kronor,
            "%Y-%m-%d",
            "Såld",
            "+ {} frakt",
            "0 träffar för",
            "Nästa",
            "Liknande annonser",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class CoinListing:
    """One listing. `cents` is what is asked, or what was paid when `sold` has a time; `was` is struck out
    beside it.
    """

    id: int
    coin: str
    title: str
    grade: str
    cents: int
    was: int | None
    shipping: int
    listed: datetime
    sold: datetime | None
    auction: bool


def site(ask: WebRequest) -> WebResponse:
    """`/search?q=&sold=1&page=N` and `/item/ID`."""
    locale = LOCALES.get(ask.host.partition(".")[0], LOCALES["coins"])
    rows = listings(ask.seed, locale.language, locale.rate, ask.now)
    match ask.parts:
        case ("search",):
            return page(_results(ask, locale, rows))
        case ("item", number) if row := named(rows, number):
            return page(_item(ask, locale, row))
        case ():
            links = "".join(
                f'<li><a href="/search?q={coin.replace(" ", "+")}">{coin}</a></li>' for coin in COINS
            )
            return page(document("Coins", f"<h1>Coins</h1><ul>{links}</ul>", language=locale.language))
        case ("robots.txt",):
            return plain("User-agent: *\nDisallow: /signin\nDisallow: /search?*sort=\n")
        case _:
            return page(document("Not found", "<h1>404</h1>", language=locale.language), 404)


@lru_cache(16)
def listings(seed: int, language: str, rate: int, now: datetime) -> tuple[CoinListing, ...]:
    """What is on sale or was sold by now, newest first."""
    rows = (
        each
        for number in range(LISTINGS)
        if (each := _listing(Draw(seed, "coin", language, number), number, rate, now)) is not None
    )
    return tuple(sorted(rows, key=lambda each: (each.sold or each.listed, each.id), reverse=True))


def _listing(draw: Draw, number: int, rate: int, now: datetime) -> CoinListing | None:
    listed = DAY_ZERO + timedelta(minutes=draw.between(-120 * 1_440, 60 * 1_440))
    sold: datetime | None = listed + timedelta(minutes=draw.between(300, 30 * 1_440))
    which = draw.below(len(COINS))
    grade, auction = draw.pick(GRADES), draw.chance(40)
    cents = WORTH[which] * (60 + 15 * GRADES.index(grade) + draw.below(40)) // 100 * rate // 100
    title, cents = _noise(draw, f"{COINS[which]} {grade}", cents)
    was = cents * 5 // 4 if draw.chance(12) else None
    shipping = 0 if draw.chance(30) else draw.between(2, 18) * rate
    if listed > now:
        return None
    # A third is never sold and stays on sale.
    if draw.chance(33) or (sold and sold > now):
        sold = None
    return CoinListing(
        300_000_000_000 + number * 7_919,
        COINS[which],
        title,
        grade,
        cents,
        was,
        shipping,
        listed,
        sold,
        auction,
    )


def _noise(draw: Draw, title: str, cents: int) -> tuple[str, int]:
    if draw.chance(6):
        return f"Lot of 5 x {title}", cents * 4
    if draw.chance(6):
        return f"{title} COPY replica", max(199, cents // 20)
    return (f"{title} rare!" if draw.chance(10) else title), cents


def _results(ask: WebRequest, locale: Locale, rows: tuple[CoinListing, ...]) -> str:
    asked = ask.query.get("q", "")
    sold, number = ask.query.get("sold") == "1", max(1, ask.number("page", 1))
    words = asked.lower().split()
    fitting = tuple(
        each
        for each in rows
        if (each.sold is not None) == sold and all(word in each.title.lower() for word in words)
    )
    shown = window(ask, fitting, (number - 1) * PAGE, PAGE)
    if not shown.total:
        near = shown.recommended or rows[:5]
        beside = f"<h2>{locale.similar}</h2><ul>{''.join(_card(locale, each) for each in near)}</ul>"
        return document(
            asked, f'<p class="count">{locale.none} “{escape(asked)}”</p>{beside}', language=locale.language
        )
    # The first two cards are paid for, and are not results.
    advert = (
        f'<li class="card sponsored"><span>Ad</span><a href="/promo">Coin albums</a> <span class="price">{locale.money(1_999)}</span></li>'
        * 2
    )
    cards = "\n".join(_card(locale, each) for each in shown.rows)
    body = f'<p class="count">{shown.total}</p><ul class="results">{advert}{cards}</ul>{_pager(ask, locale, shown, number)}'
    return document(f"{asked} | Coins", body, language=locale.language)


def _pager(ask: WebRequest, locale: Locale, shown: ListWindow[CoinListing], number: int) -> str:
    if number * PAGE >= shown.total:
        return ""
    kept = "&amp;".join(
        f"{name}={escape(value).replace(' ', '+')}" for name, value in ask.query.items() if name != "page"
    )
    return f'<nav class="pagination"><a rel="next" href="/search?{kept}&amp;page={number + 1}">{locale.next}</a></nav>'


def _card(locale: Locale, each: CoinListing) -> str:
    when = f'<span class="sold">{locale.sold} {each.sold.strftime(locale.day)}</span>' if each.sold else ""
    was = f"<s>{locale.money(each.was)}</s> " if each.was else ""
    carriage = (
        f'<span class="shipping">{locale.shipping.format(locale.money(each.shipping))}</span>'
        if each.shipping
        else ""
    )
    bids = "<span>12 bids</span>" if each.auction else ""
    return (
        f'<li class="card"><a href="/item/{each.id}">{escape(each.title)}</a> {when} {was}<span '
        f'class="price">{locale.money(each.cents)}</span> '
        f"{carriage} {bids}</li>"
    )


def _item(ask: WebRequest, locale: Locale, each: CoinListing) -> str:
    state = "SoldOut" if each.sold else "InStock"
    offer = {
        "@type": "Offer",
        "price": f"{each.cents / 100:.2f}",
        "priceCurrency": locale.currency,
        "availability": f"https://schema.org/{state}",
    }
    known = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": each.title,
        "url": f"https://{ask.host}/item/{each.id}",
        "offers": offer,
    }
    body = (
        f"<main><h1>{escape(each.title)}</h1>{_card(locale, each).replace('<li', '<div').replace('</li>', '</div>')}"
        f"<dl><dt>Grade</dt><dd>{each.grade}</dd></dl><p>Free shipping over {locale.money(5_000)}.</p></main>"
    )
    # Every third seller's page says nothing to machines.
    return document(each.title, body, head="" if each.id % 3 == 0 else ld(known), language=locale.language)
