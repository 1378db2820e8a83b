"""Price strings: amount and currency sign exactly as labelled, and nothing where there is no price."""

import csv
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from evaluate.manifest import entries
from evaluate.score import Score
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
    return [
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


def _share(misses: list[str], cases: list[tuple[dict[str, str], Price | NoPrice]]) -> float:
    return 1 - len(misses) / len(cases) if cases else 1.0
