"""Price strings: amount and currency sign exactly as labelled, and nothing where there is no price; and the
things on pages of results with their prices.
"""

import csv
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

from evaluate.manifest import entries, plain, share
from evaluate.score import Score
from thresher.reading.structured.schema_org import Product
from thresher.reading.values.money import NoPrice, Price, read_price


def scores(corpus: Path) -> list[Score]:
    cases = list(_cases(corpus))
    misses = [
        f"{line['price_text']!r} ({line['currency_hint']!r}): {_said(found)}"
        for line, found in cases
        if not _right(line, found)
    ]
    signed = [
        (line, found)
        for line, found in cases
        if isinstance(found, Price) and line["currency"] and _right(line, found)
    ]
    nameless = [
        f"{line['price_text']!r}: {line['currency']}"
        for line, found in signed
        if getattr(found, "currency", "") is None
    ]
    none = [(line, found) for line, found in cases if not line["amount"]]
    invented = [f"{line['price_text']!r}: {_said(found)}" for line, found in none if isinstance(found, Price)]
    wrong: list[str] = [
        f"{line['price_text']!r} ({line['currency_hint']!r}): {_said(found)}"
        for line, found in cases
        if isinstance(found, Price) and not _right(line, found)
    ]
    return [
        Score(
            "prices", "wrong", _share_of(wrong, cases), len(cases), aim=0.01, lower=True, misses=tuple(wrong)
        ),
        Score("prices", "exact or abstained", _share(wrong, cases), len(cases), aim=0.97),
        *_listed(corpus),
        Score(
            "prices", "amount and currency", _share(misses, cases), len(cases), aim=0.95, misses=tuple(misses)
        ),
        Score(
            "prices",
            "nothing where there is nothing",
            _share(invented, none),
            len(none),
            aim=1.0,
            misses=tuple(invented),
        ),
        Score(
            "prices", "sign means one currency", _share(nameless, signed), len(signed), misses=tuple(nameless)
        ),
    ]


def _listed(corpus: Path) -> list[Score]:
    """The pages of results: as many things as there are, adverts left out, and the first as it is."""
    cases = [entry for entry in entries(corpus, "prices/") if isinstance(entry.truth.get("items"), int)]
    counted: list[str] = []
    first: list[str] = []
    for entry in cases:
        products = entry.inspected().products
        if len(products) != entry.truth["items"]:
            counted.append(f"{entry.file}: {entry.truth['items']} things, read {len(products)}")
        title, price = entry.truth.get("first_title"), entry.truth.get("first_price")
        if title and (not products or not _is_first(products[0], title, price)):
            first.append(f"{entry.file}: {title} {price}, read {products[:1]}")
    return [
        Score(
            "prices",
            "things on a page",
            share(len(cases) - len(counted), len(cases)),
            len(cases),
            1.0,
            misses=tuple(counted),
        ),
        Score(
            "prices",
            "first thing on a page",
            share(len(cases) - len(first), len(cases)),
            len(cases),
            1.0,
            misses=tuple(first),
        ),
    ]


def _is_first(product: Product, title: str, price: dict[str, str] | None) -> bool:
    if plain(product.name) != plain(title):
        return False
    if price is None:
        return True
    found = product.price
    return (
        found is not None
        and found.amount == Decimal(price["__value__"])
        and found.currency == price["@currencyId"]
    )


def _cases(corpus: Path) -> Iterator[tuple[dict[str, str], Price | NoPrice]]:
    for entry in entries(corpus, "prices/price-strings/"):
        with entry.path.open(newline="", encoding="utf-8") as table:
            for line in csv.DictReader(table):
                yield line, read_price(line["price_text"], currency_hint=line["currency_hint"] or None)


def _right(line: dict[str, str], found: Price | NoPrice) -> bool:
    if isinstance(found, NoPrice) or not line["amount"]:
        return isinstance(found, NoPrice) and not line["amount"]
    return found.amount == Decimal(line["amount"]) and _bare(found.symbol or "") == _bare(line["currency"])


def _bare(sign: str) -> str:
    return sign.replace(".", "").replace(" ", "").casefold()


def _said(found: Price | NoPrice) -> str:
    return found.reason if isinstance(found, NoPrice) else f"{found.amount} {found.symbol} ({found.currency})"


def _share_of(misses: list[str], cases: Sequence[object]) -> float:
    return len(misses) / len(cases) if cases else 0.0


def _share(misses: list[str], cases: Sequence[object]) -> float:
    return 1 - len(misses) / len(cases) if cases else 1.0
