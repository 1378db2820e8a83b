"""Products in data that nobody described to us: rows of an answer of a marketplace or a shop that have a name
and a price with its currency.

A number alone is no price. It needs a currency, inside the price itself (`{"value": "9.50", "currency":
"USD"}`) or beside it in the row; what shipping costs, what it cost before and what it would cost elsewhere
are other numbers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from thresher.reading.structured.schema_org import Product, availability, price_in
from thresher.reading.text.plain import described
from thresher.reading.values.currency import Currency, minor_digits, of_word
from thresher.reading.values.money import NoPrice, Price, read_price

ROOT = "$"  # where the one thing stands that an answer is about
MAX_DEPTH = 12
MAX_VALUES = 200_000
MAX_ROWS = 5_000
MAX_NESTED = 500  # rows that are searched for rows of their own
MAX_NAME = 300
MAX_UNWRAPPED = 3
MAX_AMOUNT = 30  # characters

_LETTERS = re.compile(r"[^a-z]")
_INDEX = re.compile(r"\[\d+\]")
_MACHINE_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,6})?")
_NAMES = (
    "title",
    "name",
    "itemtitle",
    "itemname",
    "producttitle",
    "productname",
    "displayname",
    "heading",
    "label",
)
_INNER = ("product", "item", "listing", "ad", "offer", "attributes", "node", "productinfo")
_CURRENCIES = ("currency", "currencycode", "currencyid", "pricecurrency", "currencyisocode", "isocode")
_AMOUNTS = ("value", "amount", "price", "currentprice", "priceamount", "raw", "decimal")
_CENTS = (
    "cents",
    "amountcents",
    "pricecents",
    "centamount",
    "amountminor",
    "minor",
    "minorunits",
    "amountinminor",
)
# The names of a price, the surest first. What somebody paid and what is asked now come before the list price.
_PRICES = (
    "lastsoldprice",
    "soldprice",
    "finalprice",
    "saleprice",
    "currentprice",
    "sellingprice",
    "price",
    "currentbidprice",
    "currentbid",
    "buyitnowprice",
    "itemprice",
    "unitsaleprice",
    "listingprice",
    "askingprice",
    "startingprice",
    "offers",
    "offer",
    "prices",
    "pricing",
    "priceinfo",
    "amount",
    "preis",
    "prix",
    "precio",
    "prezzo",
    "pris",
    "prijs",
    "totalprice",
)
_HOLDERS = (
    "sellingstatus",
    "listinginfo",
    "offers",
    "offer",
    "pricing",
    "prices",
    "priceinfo",
    "price",
    "listingdetails",
)
_LINKS = (
    "itemweburl",
    "viewitemurl",
    "producturl",
    "itemurl",
    "weburl",
    "canonicalurl",
    "permalink",
    "url",
    "link",
    "weblink",
    "href",
)
_STOCK = (
    "availability",
    "estimatedavailabilitystatus",
    "availabilitystatus",
    "stockstatus",
    "instock",
    "available",
)


def products_in(data: Any) -> list[Product]:
    """The products of the list in `data` that has most of them, else of the one thing that it is about. Lists
    of one shape count as one: those of each category.
    """
    found: dict[str, list[Product]] = {}
    for path, rows in _arrays(data):
        inside = any(path.startswith(f"{_plain(known)}[") for known in found)
        if inside:
            continue
        products = _products(rows, path)
        if products:
            found.setdefault(_plain(path), []).extend(products)
    if found:
        return _distinct(max(found.values(), key=len))
    single = _product(_unwrapped(data), ROOT)
    return [single] if single is not None else []


def _plain(path: str) -> str:
    return _INDEX.sub("[]", path)


def _arrays(data: Any) -> Iterator[tuple[str, Sequence[Any]]]:
    """Every list of objects with its place, the outer ones first."""
    left = MAX_VALUES
    queue: list[tuple[Any, str, int]] = [(data, ROOT, 0)]
    while queue and left > 0:
        deeper: list[tuple[Any, str, int]] = []
        for value, path, depth in queue:
            left -= 1
            if left <= 0:
                return
            if isinstance(value, list):
                if any(isinstance(each, Mapping) for each in value):
                    yield path, value[:MAX_ROWS]
                inner = [(each, f"{path}[{at}]", depth + 1) for at, each in enumerate(value[:MAX_NESTED])]
            elif isinstance(value, Mapping):
                inner = [(each, f"{path}.{key}", depth + 1) for key, each in value.items()]
            else:
                continue
            deeper += [each for each in inner if depth < MAX_DEPTH and isinstance(each[0], Mapping | list)]
        queue = deeper


def _products(rows: Sequence[Any], path: str) -> list[Product]:
    """The rows as products, if at least half of them have a name and a price. The others are kept without
    one: they are sold out, or their price is given on request.
    """
    objects = [(at, row) for at, row in enumerate(rows) if isinstance(row, Mapping)]
    found = [_product(row, f"{path}[{at}]") or _nameless(row, f"{path}[{at}]") for at, row in objects]
    named = [each for each in found if each is not None]
    priced = sum(each.price is not None for each in named)
    return named if priced and priced * 2 >= len(objects) else []


def _product(row: Any, where: str) -> Product | None:
    """A row as a product; None where it lacks a name or a price with its currency."""
    if not isinstance(row, Mapping):
        return None
    name, price = _name(row), _price(row)
    if name is None or price is None:
        return None
    return Product(name, price, _stock(row), _link(row), where)


def _nameless(row: Mapping[str, Any], where: str) -> Product | None:
    """A row without a price, among rows that have one."""
    name = _name(row)
    return Product(name, None, _stock(row), _link(row), where) if name is not None else None


def _name(row: Mapping[str, Any]) -> str | None:
    for fields in _levels(row):
        for key in _NAMES:
            value = fields.get(key)
            if isinstance(value, str) and (name := " ".join((described(value[:2_000]) or "").split())):
                return name[:MAX_NAME]
    return None


def _levels(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The fields of a row by their plain names, and those of the thing that it holds."""
    fields = _fields(row)
    yield fields
    for key in _INNER:
        inner = fields.get(key)
        if isinstance(inner, Mapping):
            yield _fields(inner)


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object by plain names, without lists around single values."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        found.setdefault(_LETTERS.sub("", str(key)[:80].lower()), _unwrapped(value))
    return found


def _unwrapped(value: Any) -> Any:
    for _ in range(MAX_UNWRAPPED):
        if not isinstance(value, list) or len(value) != 1:
            break
        value = value[0]
    return value


def _price(row: Mapping[str, Any]) -> Price | None:
    """The price of a row, from its surest name; in the row itself before what it holds."""
    for fields in _levels(row):
        currency = _currency(fields)
        if (price := _best(fields, currency)) is not None:
            return price
        for key in _HOLDERS:
            holder = fields.get(key)
            if isinstance(holder, list):
                holder = next((each for each in holder if isinstance(each, Mapping)), None)
            if isinstance(holder, Mapping):
                inner = _fields(holder)
                if (price := _best(inner, _currency(inner) or currency)) is not None:
                    return price
    return None


def _best(fields: Mapping[str, Any], currency: Currency | None) -> Price | None:
    for key in _PRICES:
        if key in fields and (price := _amount(fields[key], currency)) is not None:
            return price
    cents = next((fields[key] for key in _CENTS if key in fields), None)
    return _in_cents(cents, currency) if cents is not None else None


def _amount(value: Any, currency: Currency | None) -> Price | None:
    """A price: an object with amount and currency, a number beside a currency, or a text with its sign."""
    if isinstance(value, Mapping):
        fields = _fields(value)
        own = _currency(fields) or currency
        cents = next((fields[key] for key in _CENTS if key in fields), None)
        if cents is not None:
            return _in_cents(cents, own)
        amount = next(
            (fields[key] for key in _AMOUNTS if not isinstance(fields.get(key), Mapping | list | None)), None
        )
        return _amount(amount, own) if amount is not None else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    if not text or len(text) > MAX_AMOUNT or text.startswith("-"):
        return None
    if _MACHINE_NUMBER.fullmatch(text):
        return _exact(text, currency, is_number=not isinstance(value, str))
    found = price_in(text, currency.code) if currency and currency.code else read_price(text)
    if found is None or isinstance(found, NoPrice) or found.currency is None or found.high is not None:
        return None
    return found if found.amount_minor > 0 else None


def _exact(text: str, currency: Currency | None, *, is_number: bool) -> Price | None:
    """A plain number with its currency. A text such as "1.234" may be a thousand: it is left out."""
    if currency is None or currency.code is None:
        return None
    whole, _, fraction = text.partition(".")
    digits = minor_digits(currency.code)
    if not is_number and len(fraction) == 3 and digits != 3 and len(whole) <= 3:
        return None
    amount = Decimal(text)
    minor = int((amount * 10**digits).quantize(Decimal(1), ROUND_HALF_UP))
    if minor <= 0:
        return None
    return Price(minor, currency.code, text, amount, currency.sign, certain=currency.certain)


def _in_cents(value: Any, currency: Currency | None) -> Price | None:
    """An amount that is counted in the smallest unit, as its name says."""
    if (
        currency is None
        or currency.code is None
        or isinstance(value, bool)
        or not isinstance(value, int | str)
    ):
        return None
    text = str(value)
    try:
        minor = int(text) if len(text) <= MAX_AMOUNT and text.isascii() else 0
        amount = Decimal(minor) / 10 ** minor_digits(currency.code)
    except (ValueError, InvalidOperation):
        return None
    if minor <= 0:
        return None
    return Price(minor, currency.code, text, amount, currency.sign, certain=currency.certain)


def _currency(fields: Mapping[str, Any]) -> Currency | None:
    for key in _CURRENCIES:
        value = fields.get(key)
        if isinstance(value, str) and len(value) <= 16 and (found := of_word(value.strip())) is not None:
            return found if found.code is not None else None
    return None


def _link(row: Mapping[str, Any]) -> str | None:
    for fields in _levels(row):
        for key in _LINKS:
            value = fields.get(key)
            if isinstance(value, str) and value.startswith(("https://", "http://")) and len(value) <= 2_000:
                return value
    return None


def _stock(row: Mapping[str, Any]) -> str | None:
    fields = _fields(row)
    for key in _STOCK:
        value = fields.get(key)
        if isinstance(value, bool):
            return "in stock" if value else "out of stock"
        if isinstance(value, str) and value:
            return (availability(value[:80]) or value[:80]).replace("_", " ").lower()
    return None


def _distinct(products: Sequence[Product]) -> list[Product]:
    """Each once: a row that is listed twice, as the first of a list and in it, is one product."""
    found: dict[tuple[str, str, int | None], Product] = {}
    for each in products:
        key = (each.url or each.where, each.name, each.price.amount_minor if each.price else None)
        found.setdefault(key, each)
    return list(found.values())
