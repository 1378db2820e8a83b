"""Products of a page: what it declares, else the thing it is about with the price beside it, else its rows
with prices.

"Recently viewed" and "you may also like" carry names and prices too. They are what the shop would like to
sell, not what was asked for, so they are left out.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from thresher.reading.html.document import Document
from thresher.reading.html.labels import headline_of, labelled
from thresher.reading.html.parser import Node
from thresher.reading.lists.find_lists import ListGroup, ListRow
from thresher.reading.lists.shapes import same_thing
from thresher.reading.structured.facts import Facts
from thresher.reading.structured.schema_org import Product, availability, price_in, schema_product
from thresher.reading.text.vocabulary import words
from thresher.reading.values.money import Price, read_price

MAX_NODES = 200
MAX_LEVELS = 40
MAX_PRICES = 3_000
MAX_PRICE = 80
SHORT_PRICE = 25
ENOUGH_ROWS = 3
MAIN = 0.45  # of a list's share: a fifth of the page's text
ALIKE = 0.5
MANY = 6  # rows: as many are a list, even where some price stands outside of them
_PRICE_NAMES = re.compile(
    r"price|preis|prix|precio|prezzo|prijs|preco|cena|pris\b|amount|msrp", re.IGNORECASE
)
_WORD = re.compile(r"[A-Z]?[a-z]+")
_TEXT_TAGS = frozenset({"b", "strong", "span", "td", "p", "div", "font", "dd", "ins", "em"})
_NOT_THE_PRICE = frozenset(
    {
        "old",
        "was",
        "list",
        "strike",
        "strikethrough",
        "original",
        "before",
        "save",
        "saving",
        "savings",
        "saved",
        "discount",
        "shipping",
        "delivery",
        "unit",
        "tax",
        "filter",
        "slider",
        "crossed",
        "regular",
        "retail",
        "logistics",
    }
)
_STRUCK_TAGS = frozenset({"s", "del", "strike"})
_STRUCK = frozenset({"old", "was", "strike", "strikethrough", "before", "crossed"})
_PRICED = (
    "[class*=price], [class*=Price], [id*=price], [id*=Price], [itemprop=price], [class*=preis], [class*=prix], [class*=precio], "
    "[class*=prezzo]"
)
_PRICED_OR_STRUCK = (
    "[class*=price], [class*=Price], [id*=price], [id*=Price], [itemprop=price], [class*=preis], [class*=prix], [class*=precio], "
    "[class*=prezzo], s, del, strike"
)
_STOCK = re.compile(
    r"\b(?:in stock|out of stock|sold out|available|unavailable|auf lager|ausverkauft|lieferbar|en stock|épuisé|disponible|agotado"
    r"|disponibile|op voorraad)\b",
    re.IGNORECASE,
)


def declared_products(things: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Product]:
    """Products that the page declares, from pairs of (where, properties)."""
    return _distinct(product for where, data in things if (product := schema_product(data, where=where)))


def shared_product(meta: Mapping[str, str]) -> Product | None:
    """What the page tells those who share it: OpenGraph's product."""
    name, amount = meta.get("og:title"), meta.get("product:price:amount") or meta.get("og:price:amount")
    if not name or not amount:
        return None
    price = price_in(amount, meta.get("product:price:currency") or meta.get("og:price:currency"))
    stock = availability(meta.get("product:availability") or meta.get("og:availability"))
    return Product(name, price, stock, meta.get("og:url"), "OpenGraph")


def shown_products(facts: Facts) -> list[Product]:
    """What the page shows without declaring it: the one thing it is about, or its rows with prices."""
    lists = _priced_lists(facts)
    main, rows = lists[0] if lists else (None, [])
    single = _single(facts.document, [row for _, rows in lists for row in rows])
    is_main = main is not None and main.share >= MAIN
    if single is not None and (len(rows) < MANY or not single[1] or not is_main):
        return [single[0]]
    return _distinct(product for product, _ in rows)


def with_shown(declared: list[Product], facts: Facts) -> list[Product]:
    """What a page declares, among the rows that it shows: a list for machines often leaves out the places
    that were paid for, and has its own order.
    """
    known = {_key(product.url, product.name): product for product in declared}
    hint = _one_currency(declared)
    for group in facts.lists:
        keys = {_key(row.url, row.title): row for row in group.rows if not row.aside}
        if len(declared) >= ENOUGH_ROWS and len(keys) > len(declared) and _covers(keys.keys(), known.keys()):
            return [_agreed(known.get(key), _shown(row, hint)) for key, row in keys.items()]
    return declared


def _one_currency(products: Iterable[Product]) -> str | None:
    """The currency of all products that have one; a "kr" beside them means it."""
    found = {product.price.currency for product in products if product.price}
    return found.pop() if len(found) == 1 else None


def _agreed(declared: Product | None, shown: Product) -> Product:
    """A declared product. What only the page says is that its price is for a month, or for a kilogram."""
    if declared is None:
        return shown
    said, price = declared.price, shown.price
    if said is None or price is None or price.per is None or price.amount_minor != said.amount_minor:
        return declared
    return replace(declared, price=replace(said, per=price.per))


def _shown(row: ListRow, hint: str | None) -> Product:
    """A row beside declared ones, with the price that it shows without naming it."""
    product = _row(row, hint)
    if product.price is not None:
        return product
    found = {price.amount_minor: price for price in _bare_prices(row.node, hint)}
    return replace(product, price=next(iter(found.values()))) if len(found) == 1 else product


def _bare_prices(card: Node, hint: str | None) -> Iterator[Price]:
    """The elements of a row that hold a price with its sign and nothing else."""
    for node in islice(card.walk(), MAX_NODES):
        text = node.line if node.tag in _TEXT_TAGS else ""
        if 2 <= len(text) <= SHORT_PRICE and not _is_struck(node) and _price(text) is not None:
            found = read_price(text, currency_hint=hint)
            if isinstance(found, Price):
                yield found


def _key(url: str | None, name: str) -> str:
    return same_thing(url) if url else name


def _covers(shown: Collection[str], declared: Collection[str]) -> bool:
    return sum(key in shown for key in declared) * 10 >= 8 * len(declared)


def _single(document: Document, rows: list[tuple[Product, Node]]) -> tuple[Product, bool] | None:
    """The thing of the first headline with the price beside it, and whether rows stand between the two."""
    headline = headline_of(document)
    if headline is None:
        return None
    found = _price_after(document, headline, {node for _, node in rows}) or _bare_price(
        document, {node for _, node in rows}
    )
    if found is None:
        said = labelled(document)
        price = _price(said["price"]) if "price" in said else None
        return (
            (
                Product(headline.line, price, said.get("availability"), document.url or None, headline.path),
                True,
            )
            if price
            else None
        )
    price, node = found
    around = set(islice(headline.ancestors, MAX_LEVELS))
    shared = next((each for each in islice(node.ancestors, MAX_LEVELS) if each in around), None)
    apart = any(each == shared for _, row in rows[:3] for each in islice(row.ancestors, MAX_LEVELS))
    return Product(headline.line, price, _stock(document, node), document.url or None, node.path), apart


def _priced_lists(facts: Facts) -> list[tuple[ListGroup, list[tuple[Product, Node]]]]:
    """The lists of a page whose rows have a price, at least half of them, as products."""
    found = []
    for group in facts.lists:
        own = [row for row in group.rows if not row.aside]
        products = [(_row(row), row.node) for row in own]
        priced = sum(product.price is not None for product, _ in products)
        if priced * 2 >= len(own) and priced >= ENOUGH_ROWS and group.alike >= ALIKE:
            found.append((group, products))
    return found


def _row(row: ListRow, hint: str | None = None) -> Product:
    """A row as a product; one among priced rows that has no price is one that is sold out, or to be asked
    for. What it cost before is no price, even where the row shows no other.
    """
    named = next((found for node in row.nodes for found in _prices(node)), None)
    price = (
        _widened(*named) if named else _price(row.fields["price"], hint) if "price" in row.fields else None
    )
    if price is not None and not named and price.amount_minor in _struck(row):
        price = None
    return Product(row.title, price, None, row.url, row.node.path)


def _widened(price: Price, node: Node) -> Price:
    """A price, or the range that it is the lower end of: the upper end often stands in an element of its
    own.
    """
    parent = node.parent
    line = parent.line if parent is not None else ""
    whole = _price(line) if len(line) <= MAX_PRICE else None
    if whole is None or whole.high is None or whole.amount_minor != price.amount_minor:
        return price
    return whole


def _struck(row: ListRow) -> set[int]:
    """What the row says that it cost before."""
    nodes = [each for node in row.nodes for each in node.css(_PRICED_OR_STRUCK)[:MAX_NODES]]
    struck = [each for each in nodes if _is_struck(each) or not _STRUCK.isdisjoint(_name_words(each))]
    prices = (_price(text) for each in struck if len(text := each.own_text) <= MAX_PRICE)
    return {price.amount_minor for price in prices if price is not None}


def _name_words(node: Node) -> set[str]:
    """The words that an element is called by."""
    names = (node.attribute("class"), node.attribute("id"), node.attribute("itemprop"))
    return {word.lower() for name in names if name for word in _WORD.findall(name)}


def _price_after(document: Document, headline: Node, rows: set[Node]) -> tuple[Price, Node] | None:
    """The first price behind the headline in the order of the page, outside of rows and of blocks about other
    things.
    """
    named = set(document.root.css(_PRICED))
    behind = (node for node in chain(headline.walk(), headline.following) if node in named)
    for node in islice(behind, MAX_PRICES):
        if (
            not _is_aside(node)
            and rows.isdisjoint((node, *islice(node.ancestors, MAX_LEVELS)))
            and (price := _priced(node))
        ):
            return price, node
    return None


def _bare_price(document: Document, rows: set[Node]) -> tuple[Price, Node] | None:
    """A price without a name, on a page where something can be bought: the first element that holds a price
    and nothing else.
    """
    if not any(words("button", "buy").is_one(text) for text in _buttons(document)):
        return None
    body = document.root.css_first("body") or document.root
    for node in islice(
        body.walk("b", "strong", "span", "td", "p", "div", "font", "dd", "ins", "em", "h2", "h3"), MAX_PRICES
    ):
        own = " ".join(node.own_text.split())
        if (
            not 2 <= len(own) <= SHORT_PRICE
            or not any(char.isdigit() for char in own)
            or _is_struck(node)
            or _is_aside(node)
        ):
            continue
        if rows.isdisjoint(islice(node.ancestors, MAX_LEVELS)) and (price := _price(own)):
            return price, node
    return None


def _buttons(document: Document) -> Iterator[str]:
    for node in document.root.css(
        "button, input[type=submit], input[type=button], input[type=image], a, img[alt]"
    )[:MAX_PRICES]:
        yield node.attribute("value") or node.attribute("alt") or node.attribute("title") or node.line


def _is_struck(node: Node) -> bool:
    return any(each.tag in _STRUCK_TAGS for each in (node, *islice(node.ancestors, 3)))


def _prices(card: Node) -> Iterator[tuple[Price, Node]]:
    for node in card.css(_PRICED)[:MAX_NODES]:
        if price := _priced(node):
            yield price, node


def _priced(node: Node) -> Price | None:
    names = f"{node.attribute('class') or ''} {node.attribute('id') or ''} {node.attribute('itemprop') or ''}"
    if not _PRICE_NAMES.search(names) or not _NOT_THE_PRICE.isdisjoint(_name_words(node)):
        return None
    text = node.attribute("content") or node.line
    return _price(_unstruck(node, text)) if len(text) <= MAX_PRICE else None


def _unstruck(node: Node, text: str) -> str:
    """The text of an element without what it says that the thing cost before."""
    for each in node.css(_PRICED_OR_STRUCK)[:MAX_NODES]:
        if each != node and (each.tag in _STRUCK_TAGS or not _STRUCK.isdisjoint(_name_words(each))):
            text = text.replace(each.line, " ", 1) if each.line else text
    return text


def _price(text: str, hint: str | None = None) -> Price | None:
    found = read_price(text, currency_hint=hint)
    return found if isinstance(found, Price) and (found.currency or found.symbol) else None


def _is_aside(node: Node) -> bool:
    for level, each in enumerate((node, *islice(node.ancestors, MAX_LEVELS))):
        if each.tag in ("aside", "nav", "footer"):
            return True
        heading = each.previous if level else None
        if (
            heading is not None
            and heading.tag in ("h2", "h3", "h4", "header")
            and words("recommended").names(heading.line)
        ):
            return True
        if each.tag in ("main", "body"):
            break
    return False


def _stock(document: Document, price: Node) -> str | None:
    """What stands near the price about stock, else what a label says."""
    for each in islice(price.ancestors, 3):
        found = each.css_first("[class*=availab], [class*=stock], [itemprop=availability]")
        if found and (
            text := found.line or availability(found.attribute("href") or found.attribute("content"))
        ):
            return text[:MAX_PRICE]
    said = labelled(document).get("availability")
    return said if said and _STOCK.search(said) else None


def _distinct(products: Iterable[Product]) -> list[Product]:
    found: dict[tuple[str, str, int | None], Product] = {}
    for product in products:
        found.setdefault(
            (product.name, product.url or "", product.price.amount_minor if product.price else None), product
        )
    return list(found.values())
