"""A list page of a practice catalogue: what it is to a careful reader, and how it is written as HTML.

The lists of two catalogues need a script to be whole, as they do on the web: one behind a button, one because
the page comes empty.
"""

from dataclasses import dataclass
from enum import StrEnum
from html import escape

from thresher.practice.web.answer import Json
from thresher.practice.web.draw import token
from thresher.practice.web.planted import CatalogueEntry, CatalogueSite, Item, ListStyle, address, item
from thresher.practice.web.sites.item_pages import framed

API = "/api/courses"
ADVERTISER = "https://offers.partner.example"
# After so many entries comes an advertisement, in the same class as the entries.
ADVERT_EVERY = 5

_LOAD_MORE = """
const button = document.querySelector("button.load-more");
if (button) button.addEventListener("click", async () => {
  const batch = await (await fetch(button.dataset.url)).json();
  document.querySelector(".grid").insertAdjacentHTML("beforeend", batch.html);
  if (batch.next) button.dataset.url = batch.next; else button.remove();
});
"""
_SHELL = """
const root = document.getElementById("catalogue"), more = document.createElement("button");
let page = 0, shown = 0;
async function load() {
  const found = await (await fetch("/api/courses?page=" + (page += 1))).json();
  for (const each of found.items) {
    const row = document.createElement("li"), link = document.createElement("a");
    link.href = each.url;
    link.textContent = each.name;
    row.append(link, " " + each.code);
    root.append(row);
  }
  shown += found.items.length;
  if (shown >= found.total || !found.items.length) more.remove();
}
more.textContent = "Show more";
more.onclick = load;
root.after(more);
load();
"""


class PageType(StrEnum):
    """What a page of a catalogue is for."""

    DETAIL = "DETAIL"
    DETAIL_LINKS = "DETAIL_LINKS"
    CATEGORY_LINKS = "CATEGORY_LINKS"


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """What one page is to a careful reader. All addresses are paths.

    `rows` are the entries of a list, `categories` those of a list of lists: (path, name). `following` is the
    next page, and `pages` are others by their label, None for the one that is shown. `beside` are categories
    that stand next to a list, `featured` entries above it, `recommended` ones below a list that
    found nothing.
    """

    type: PageType
    title: str
    item: Item | None = None
    rows: tuple[CatalogueEntry, ...] = ()
    categories: tuple[tuple[str, str], ...] = ()
    count: str = ""
    following: str | None = None
    pages: tuple[tuple[str, str | None], ...] = ()
    beside: tuple[tuple[str, str], ...] = ()
    featured: tuple[CatalogueEntry, ...] = ()
    recommended: tuple[CatalogueEntry, ...] = ()


def list_page(of: CatalogueSite, seed: int, day: int, found: CataloguePage) -> str:
    """A page that leads to items or to categories."""
    if of.listing is ListStyle.API:
        return _shell(of)
    beside = f'<nav class="categories">{_category_list(found.beside)}</nav>' if found.beside else ""
    count = f'<p class="count">{escape(found.count)}</p>' if found.count else ""
    listed = _category_list(found.categories) if found.categories else entries(of, seed, day, found)
    body = (
        f"{beside}<main><h1>{escape(found.title)}</h1>{count}{_sorting(of)}{_featured(of, seed, day, found)}"
        f"{listed}{_pager(of, found)}{_recommended(of, seed, day, found)}</main>"
    )
    declares = found.following and of.listing is not ListStyle.MORE
    head = f'<link rel="next" href="{escape(found.following or "")}">' if declares else ""
    return framed(of, found.title, body, head=head)


def batch(of: CatalogueSite, seed: int, day: int, found: CataloguePage) -> Json:
    """What the button of a catalogue gets: more cards, and where the next ones are."""
    cards = "".join(_card(of, path, each) for path, each in _shown(of, seed, day, found.rows))
    return {"html": cards, "next": found.following}


def api_page(of: CatalogueSite, seed: int, day: int, found: CataloguePage, total: int, number: int) -> Json:
    """What the script of a catalogue gets: every field of the items of one page."""
    items = [api_item(path, each) for path, each in _shown(of, seed, day, found.rows)]
    return {"total": total, "page": number, "per_page": of.per_page, "items": items}


def api_item(path: str, each: Item) -> Json:
    return {"id": each.id, "url": path, **each.fields}


def entries(of: CatalogueSite, seed: int, day: int, found: CataloguePage) -> str:
    """The entries of a list, in the markup of the site."""
    shown = _shown(of, seed, day, found.rows)
    match of.listing:
        case ListStyle.OFFSET | ListStyle.ZERO:
            lines = "\n".join(_table_row(of, path, each) for path, each in shown)
            return f'<table class="entries">{lines}</table>'
        case ListStyle.NEXT | ListStyle.LYING | ListStyle.TREE:
            return f'<ul class="entries">{"".join(_list_item(of, path, each) for path, each in shown)}</ul>'
        case ListStyle.DOUBLED:
            return f'<div class="grid">{"".join(_linked_often(of, seed, shown))}</div>'
        case ListStyle.NUMBERED | ListStyle.MORE | ListStyle.API:
            return f'<div class="grid">{"".join(_card(of, path, each) for path, each in shown)}</div>'


def _shown(
    of: CatalogueSite, seed: int, day: int, rows: tuple[CatalogueEntry, ...]
) -> list[tuple[str, Item]]:
    return [(address(of, seed, row), item(of, seed, row.number, day)) for row in rows]


def _name(of: CatalogueSite, each: Item) -> str:
    return escape(each.fields[of.title] or "")


def _notes(of: CatalogueSite, each: Item) -> str:
    return " · ".join(escape(value) for name in of.noted if (value := each.fields[name]))


def _table_row(of: CatalogueSite, path: str, each: Item) -> str:
    cells = "".join(f"<td>{escape(each.fields[name] or '')}</td>" for name in of.noted)
    return f'<tr><td><a href="{escape(path)}">{_name(of, each)}</a></td>{cells}</tr>'


def _list_item(of: CatalogueSite, path: str, each: Item) -> str:
    return (
        f'<li class="entry"><h3><a href="{escape(path)}">{_name(of, each)}</a></h3>'
        f"<p>{_notes(of, each)}</p></li>\n"
    )


def _card(of: CatalogueSite, path: str, each: Item) -> str:
    return (
        f'<article class="card"><h2><a href="{escape(path)}">{_name(of, each)}</a></h2>'
        f'<p class="meta">{_notes(of, each)}</p></article>\n'
    )


def variants(of: CatalogueSite, seed: int, path: str, number: int) -> list[str]:
    """Three to five ways of writing the address of one entry: tracked, with a slash, with a fragment, with
    the host, and without the s of https.
    """
    mark = token(seed, "campaign", number, size=6)
    found = [
        f"{path}?utm_source=list&utm_campaign={mark}",
        path,
        f"{path}#reviews",
        f"{path}/?ref=card-{number}",
        f"http://{of.host}{path}",
    ]
    return found[: 3 + number % 3]


def _linked_often(of: CatalogueSite, seed: int, shown: list[tuple[str, Item]]) -> list[str]:
    cards = []
    for place, (path, each) in enumerate(shown, 1):
        cards.append(_card_of_many(of, each, variants(of, seed, path, each.id)))
        if place % ADVERT_EVERY == 0:
            cards.append(_advertisement(seed, place))
    return cards


def _card_of_many(of: CatalogueSite, each: Item, ways: list[str]) -> str:
    """A picture, the name, and what else a shop makes clickable."""
    name, words = _name(of, each), ("Reviews", "Add to list", "Details")
    image = f'<a class="image" href="{escape(ways[0])}"><img src="/images/{each.id}.jpg" alt="{name}"></a>'
    rest = " ".join(f'<a href="{escape(way)}">{word}</a>' for way, word in zip(ways[2:], words, strict=False))
    return (
        f'<article class="card">{image}<h2><a href="{escape(ways[1])}">{name}</a></h2>'
        f'<p class="meta">{_notes(of, each)}</p><p>{rest}</p></article>\n'
    )


def _advertisement(seed: int, place: int) -> str:
    target = f"{ADVERTISER}/click?id={token(seed, 'advertisement', place, size=8)}"
    return (
        f'<article class="card"><a class="image" href="{target}"><img src="/images/offer.jpg" alt=""></a>'
        f'<h2><a href="{target}">Garden sheds from €299</a></h2><p class="meta">€299.00</p></article>\n'
    )


def _featured(of: CatalogueSite, seed: int, day: int, found: CataloguePage) -> str:
    if not found.featured:
        return ""
    cards = "".join(
        _card_of_many(of, each, variants(of, seed, path, each.id))
        for path, each in _shown(of, seed, day, found.featured)
    )
    return f'<section class="featured"><h2>Featured</h2>{cards}</section>'


def _recommended(of: CatalogueSite, seed: int, day: int, found: CataloguePage) -> str:
    if not found.recommended:
        return ""
    cards = "".join(_card(of, path, each) for path, each in _shown(of, seed, day, found.recommended))
    return f'<section class="recommended"><h2>Recommended for you</h2>{cards}</section>'


def _category_list(categories: tuple[tuple[str, str], ...]) -> str:
    links = "".join(
        f'<li class="category"><a href="{escape(path)}">{escape(name)}</a></li>' for path, name in categories
    )
    return f'<ul class="categories">{links}</ul>'


def _sorting(of: CatalogueSite) -> str:
    """Lists in another order are the same items again; robots.txt disallows them."""
    if of.listing is not ListStyle.NUMBERED:
        return ""
    return f'<p class="sort">Sort by <a href="{of.start}?sort=name">name</a></p>'


def _pager(of: CatalogueSite, found: CataloguePage) -> str:
    if of.listing is ListStyle.MORE:
        return _button(found)
    links = [
        f'<span aria-current="page">{text}</span>' if path is None else f'<a href="{escape(path)}">{text}</a>'
        for text, path in found.pages
    ]
    if found.following:
        word = "Weiter" if of.language == "de" else "Next ›"
        links.append(f'<a rel="next" href="{escape(found.following)}">{word}</a>')
    return f'<nav class="pagination">{" ".join(links)}</nav>' if links else ""


def _button(found: CataloguePage) -> str:
    if not found.following:
        return ""
    return (
        f'<button class="load-more" data-url="{escape(found.following)}">Load more</button>'
        f"<script>{_LOAD_MORE}</script>"
    )


def _shell(of: CatalogueSite) -> str:
    body = (
        f'<main><h1>{escape(of.owner)}</h1><ul id="catalogue" data-api="{API}?page=1"></ul>'
        f"<noscript>You need to enable JavaScript to see our courses.</noscript></main><script>{_SHELL}</script>"
    )
    return framed(of, of.owner, body)
