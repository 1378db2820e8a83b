"""Items, price points and rates as the tests of valuations make them, and the old rules of the first system
that valued coins: what must not come back.
"""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from thresher.apps.prices.model import Item, ItemSpec, ItemStatus, PricePoint, PriceType, Valuation
from thresher.apps.prices.valuation.options import ValuationOptions
from thresher.apps.prices.valuation.value import value
from thresher.core.clock import DAY, SECOND

NOW = 1_700_049_600 * SECOND  # 2023-11-15, 12:00 in UTC
TODAY = date(2023, 11, 15)
OPTIONS = ValuationOptions()
REPUTATIONS = {1: 0.8, 2: 0.5, 3: 0.0}


class DailyRates:
    """Rates of one day; what is not among them cannot be converted."""

    def __init__(self, rates: Mapping[tuple[str, str], str], day: date = TODAY) -> None:
        self._rates, self._day = {pair: Decimal(rate) for pair, rate in rates.items()}, day

    def convert(self, minor: int, currency: str, into: str, on: date) -> int | None:
        rate = self._rates.get((currency, into))
        return None if rate is None or on < self._day else int(minor * rate)


NO_RATES = DailyRates({})


def item(kind: str = "coin", **attributes: str) -> Item:
    said = {"denomination": "dollar", "year": "1921", **attributes}
    return Item(1, ItemSpec("1921-D Morgan", kind, said), ItemStatus.ATTRIBUTED)


def point(price: int = 4_500, kind: PriceType = PriceType.SOLD, *, age: int = 0, **others: Any) -> PricePoint:
    """A price point that counts, seen `age` days ago."""
    at = NOW - age * DAY
    said: dict[str, Any] = {
        "id": 1,
        "item_id": 1,
        "source_id": 1,
        "dedupe_key": "ext_1",
        "price": price,
        "currency": "USD",
        "price_type": kind,
        "unit": price,
        "quantity": 1,
        "match_strength": 1_000,
        "counts": True,
        "reason": None,
        "title": "1921-D Morgan dollar",
        "url": None,
        "external_id": "1",
        "condition": None,
        "grade": None,
        "listing_date": None,
        "first_seen": at,
        "observed_at": at,
    }
    return PricePoint(**(said | others))


def sold(*prices: int, **others: Any) -> list[PricePoint]:
    return [point(each, **others) for each in prices]


def asks(*prices: int, **others: Any) -> list[PricePoint]:
    return [point(each, PriceType.ASK, **others) for each in prices]


def valued(points: list[PricePoint], of: Item | None = None, **others: Any) -> Valuation:
    said: dict[str, Any] = {"rates": NO_RATES, "reputations": REPUTATIONS, "options": OPTIONS, "now": NOW}
    return value(of or item(), points, **(said | others))


def part(found: Valuation, name: str) -> float:
    return next(each.points for each in found.parts if each.name == name)
