"""The detail pages of the practice catalogues, and what stands around every page of theirs: menu,
breadcrumbs, related items, footer, cookie notice.

The same fields are written in five ways, because a reader that knows only one of them is none.
"""

from html import escape

from thresher.practice.web.answer import Json
from thresher.practice.web.entities import ENTITIES, label
from thresher.practice.web.planted import (
    CatalogueSite,
    Item,
    Markup,
    is_steady,
    item,
    path_of,
)
from thresher.practice.web.prose import document, ld

RELATED = 3
BOUND = 2 * RELATED + 2  # at most four of so many neighbours come or go
RELAUNCH = 14  # from this day on the mixed catalogue has one layout only
LONG = ("description", "summary")
_MENU = (("/about", "About"), ("/news", "News"), ("/contact", "Contact"), ("/account/login", "Sign in"))
_MENU_DE = (
    ("/about", "Über uns"),
    ("/news", "Aktuelles"),
    ("/contact", "Kontakt"),
    ("/account/login", "Anmelden"),
)
_COOKIES = "We use cookies to remember your choices and to count visits. Accept all Reject all Settings"
_COOKIES_DE = (
    "Wir verwenden Cookies, um Ihre Auswahl zu speichern und Besuche zu zählen. Alle annehmen Ablehnen"
)
_SCHEMA = {"course": "Course", "article": "Article", "product": "Product"}
_PROPERTIES = {"sku": "sku", "brand": "brand", "weight": "weight"}


def framed(of: CatalogueSite, title: str, body: str, *, head: str = "") -> str:
    """A whole page of a catalogue around its main part."""
    german = of.language == "de"
    menu = "".join(f'<li><a href="{path}">{text}</a></li>' for path, text in (_MENU_DE if german else _MENU))
    owner = escape(of.owner)
    text = (
        f'<div class="cookie-banner" role="dialog">{_COOKIES_DE if german else _COOKIES}</div>\n'
        f'<header><a class="logo" href="/">{owner}</a><nav class="main-menu"><ul><li><a href="{of.start}">'
        f"{'Angebot' if german else 'Catalogue'}</a></li>{menu}</ul></nav></header>\n{body}\n"
        f'<footer><p>© 2026 {owner}</p><ul><li><a href="/imprint">{"Impressum" if german else "Imprint"}</a></li>'
        f'<li><a href="/privacy">{"Datenschutz" if german else "Privacy"}</a></li></ul></footer>'
    )
    page = document(f"{title} | {of.owner}", text, head=head, language=of.language)
    # A legacy page says nothing about its charset, neither here nor in its header.
    return page if of.charset == "utf-8" else page.replace('<meta charset="utf-8">\n', "")


def detail(of: CatalogueSite, seed: int, shown: Item, day: int) -> str:
    """The page of one item."""
    name = shown.fields[of.title] or ""
    canonical = f'<link rel="canonical" href="{escape(shown.url)}">'
    known = ld(_structured(of, shown)) if _has_structured(of, shown) else ""
    crumbs = (
        f'<nav class="breadcrumb"><a href="/">Start</a> › <a href="{of.start}">{escape(of.owner)}</a> › '
        f"<span>{escape(name)}</span></nav>"
    )
    body = f"{crumbs}<main>{_written(of, shown, day)}</main>{_aside(of, seed, shown)}"
    return framed(of, name, body, head=canonical + known)


def printed(of: CatalogueSite, shown: Item) -> str:
    """The same for a printer: bare, and an address that robots.txt keeps crawlers from."""
    lines = "".join(f"<p>{label(of.language, name)}: {value}</p>" for name, value in _pairs(of, shown))
    return document(shown.fields[of.title] or "", f"<h1>{escape(shown.fields[of.title] or '')}</h1>{lines}")


def _written(of: CatalogueSite, shown: Item, day: int) -> str:
    match of.markup:
        case Markup.TABLE:
            return _table(of, shown)
        case Markup.LINES:
            return _lines(of, shown)
        case Markup.MICRODATA:
            return _microdata(of, shown)
        case Markup.MIXED if shown.id % 2 or day >= RELAUNCH:
            return _relaunched(of, shown)
        case Markup.TERMS | Markup.MIXED:
            return _terms(of, shown)


def _pairs(of: CatalogueSite, shown: Item) -> list[tuple[str, str]]:
    """The fields a block lists, in the order of the entity, ready for HTML."""
    rest = [each.name for each in ENTITIES[of.kind][1:] if each.name not in LONG]
    return [(name, escape(value)) for name in rest if (value := shown.fields[name]) is not None]


def _heading(of: CatalogueSite, shown: Item) -> str:
    return f"<h1>{escape(shown.fields[of.title] or '')}</h1>"


def _long(shown: Item) -> str:
    return escape(next(shown.fields[name] or "" for name in LONG if name in shown.fields))


def _terms(of: CatalogueSite, shown: Item) -> str:
    terms = "".join(
        f"<dt>{label(of.language, name)}</dt><dd>{value}</dd>" for name, value in _pairs(of, shown)
    )
    return f'{_heading(of, shown)}<p class="lead">{_long(shown)}</p><dl class="facts">{terms}</dl>'


def _table(of: CatalogueSite, shown: Item) -> str:
    lines = "\n".join(
        f'<tr><th scope="row">{label(of.language, name)}</th><td>{value}</td></tr>'
        for name, value in _pairs(of, shown)
    )
    return (
        f'{_heading(of, shown)}<table class="record"><caption>Entry {shown.id}</caption>{lines}</table>'
        f'<div class="text"><h2>Description</h2><p>{_long(shown)}</p></div>'
    )


def _lines(of: CatalogueSite, shown: Item) -> str:
    lines = "\n".join(
        f"<p><b>{label(of.language, name)}:</b> {value}</p>" for name, value in _pairs(of, shown)
    )
    return f'{_heading(of, shown)}<div class="inhalt"><p>{_long(shown)}</p>\n{lines}</div>'


def _relaunched(of: CatalogueSite, shown: Item) -> str:
    """Other classes, other tags, the fields from the last to the first and the description below them."""
    lines = "".join(
        f'<div class="c-fact"><span class="c-fact__label">{label(of.language, name)}:</span> '
        f'<span class="c-fact__value">{value}</span></div>'
        for name, value in reversed(_pairs(of, shown))
    )
    return (
        f'<div class="c-hero"><h1 class="c-hero__title">{escape(shown.fields[of.title] or "")}</h1></div>'
        f'<section class="c-facts">{lines}</section><section class="c-body"><p>{_long(shown)}</p></section>'
    )


def _microdata(of: CatalogueSite, shown: Item) -> str:
    """A schema.org Product in attributes; the amount for machines stands beside the one for people."""
    price, stock = shown.fields["price"] or "", shown.fields["availability"] or ""
    state = "OutOfStock" if stock == "Sold out" else "InStock"
    rows = "".join(
        f"<li>{label(of.language, name)}: <span{_property(name)}>{value}</span></li>"
        for name, value in _pairs(of, shown)
        if name not in ("price", "availability")
    )
    return (
        '<article itemscope itemtype="https://schema.org/Product">'
        f'<h1 itemprop="name">{escape(shown.fields[of.title] or "")}</h1><p itemprop="description">{_long(shown)}</p>'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="priceCurrency" content="EUR">'
        f'<p class="price" itemprop="price" content="{price.lstrip("€").replace(",", "")}">{price}</p>'
        f'<link itemprop="availability" href="https://schema.org/{state}"><p class="stock">{stock}</p></div>'
        f'<ul class="specification">{rows}</ul></article>'
    )


def _property(name: str) -> str:
    return f' itemprop="{_PROPERTIES[name]}"' if name in _PROPERTIES else ""


def _has_structured(of: CatalogueSite, shown: Item) -> bool:
    """Every third article was written before the site had any."""
    return of.structured and not (of.kind == "article" and shown.id % 3 == 0)


def _structured(of: CatalogueSite, shown: Item) -> Json:
    known = {"@context": "https://schema.org", "@type": _SCHEMA[of.kind], "url": shown.url}
    if of.kind == "article":
        author = {"@type": "Person", "name": shown.fields["author"]}
        return known | {
            "headline": shown.fields["title"],
            "author": author,
            "description": shown.fields["summary"],
        }
    provider = {"@type": "CollegeOrUniversity", "name": of.owner}
    return known | {
        "name": shown.fields["name"],
        "courseCode": shown.fields["code"],
        "description": shown.fields["description"],
        "provider": provider,
    }


def _aside(of: CatalogueSite, seed: int, shown: Item) -> str:
    """Related items and links into the part that robots.txt disallows."""
    near = (shown.id - of.first_id + step for step in range(1, BOUND))
    steady = [number % of.size for number in near if is_steady(seed, number % of.size)][:RELATED]
    links = "".join(
        f'<li><a href="{path_of(of, seed, number)}">{escape(item(of, seed, number, 0).fields[of.title] or "")}</a></li>'
        for number in steady
    )
    german = of.language == "de"
    return (
        f'<p class="tools"><a href="/print/{shown.id}" rel="nofollow">{"Druckansicht" if german else "Print version"}</a></p>'
        f'<aside class="related"><h2>{"Das könnte Sie auch interessieren" if german else "You may also like"}</h2>'
        f"<ul>{links}</ul></aside>"
    )
