"""The chart of an item, from its price points and the values that it has had."""

from collections.abc import Sequence
from datetime import date

from thresher.apps.prices.charts.chart import MAX_DOTS, BandAt, Dot, price_chart
from thresher.apps.prices.charts.drawing import Drawing
from thresher.apps.prices.model import PricePoint
from thresher.apps.prices.money import money
from thresher.apps.prices.service.items import item_named
from thresher.apps.prices.store.points import live_points
from thresher.apps.prices.store.valuations import PastValuation, rates_of, valuation_history
from thresher.apps.prices.valuation.comps import Converter
from thresher.core.clock import SECOND, day_of
from thresher.store.store import Store

MAX_VALUES = 1_000
MAX_TITLE = 80  # characters


def item_chart(store: Store, name: str) -> Drawing | None:
    """Draw the prices of an item and its bands over time, in its currency; None if there is nothing to draw.
    A price whose currency has no rate on its day is left out.
    """
    with store.read() as session:
        item = item_named(session, name)
        points = live_points(session, item.id)
        history = valuation_history(session, item.id, MAX_VALUES)
        rates = rates_of(session, item, points, int(store.settings["prices.rates_max_age"]))
        now = store.backend.now(session)
    currency = item.spec.currency
    found = (_dot(each, currency, rates) for each in points)
    dots = sorted((dot for dot in found if dot is not None), key=lambda dot: dot.at)
    return price_chart(item.name, currency, dots[-MAX_DOTS:], _bands(history, currency), now)


def _dot(point: PricePoint, currency: str, rates: Converter) -> Dot | None:
    day = point.listing_date or day_of(point.observed_at)
    value = (
        point.unit if point.currency == currency else rates.convert(point.unit, point.currency, currency, day)
    )
    if value is None:
        return None
    counts = point.counts and not point.ended_at
    why = "" if counts else f"; {point.reason or 'no longer listed'}"
    said = f"{money(value, currency)} {point.price_type}, {day.isoformat()}: {point.title[:MAX_TITLE]}{why}"
    return Dot(_at(day), value, point.price_type, counts, said)


def _at(day: date) -> int:
    return (day - date(1970, 1, 1)).days * 86_400 * SECOND


def _bands(history: Sequence[PastValuation], currency: str) -> list[BandAt]:
    """The values that the item has had in this currency, the oldest first."""
    return [
        BandAt(each.computed_at, each.p20, each.median, each.p80)
        for each in reversed(history)
        if each.currency == currency
        and each.p20 is not None
        and each.median is not None
        and each.p80 is not None
    ]
