"""Weighted percentiles, the weighted mean, and the fence around outliers: whole numbers throughout,
so that no database and no machine rounds differently.

A percentile is always a price that stands among the prices. Where all weights are equal it is the element at
floor(p * (n - 1)).
"""

from collections.abc import Sequence
from typing import NamedTuple

from thresher.apps.prices.model import Bands

PERCENTS = (10, 20, 40, 50, 60, 80, 90)


class Weighed(NamedTuple):
    """A price and how much it counts. The weight is a whole number above 0."""

    price: int
    weight: int


def bands_of(prices: Sequence[Weighed]) -> Bands:
    """The percentiles and the mean of prices in ascending order; there must be one at least."""
    p10, p20, p40, median, p60, p80, p90 = percentiles(prices, PERCENTS)
    return Bands(p10, p20, p40, median, p60, p80, p90, mean(prices))


def percentiles(prices: Sequence[Weighed], percents: Sequence[int]) -> list[int]:
    """The prices at these percents, both in ascending order.

    The price at p is the first one up to which more than p percent of the weight lies, where the weight of
    one average price is left out of the whole, as n - 1 leaves one element out of n.
    """
    number = len(prices)
    whole = (number - 1) * sum(weight for _, weight in prices)
    found, reached, at = [], prices[0].weight, 0
    for percent in percents:
        while at < number - 1 and 100 * number * reached <= percent * whole:
            at += 1
            reached += prices[at].weight
        found.append(prices[at].price)
    return found


def mean(prices: Sequence[Weighed]) -> int:
    """The weighted mean, halves rounded up."""
    total = sum(weight for _, weight in prices)
    return (2 * sum(price * weight for price, weight in prices) + total) // (2 * total)


def fence(prices: Sequence[int], factor: int, least: int) -> tuple[int, int]:
    """The lowest and the highest price that is no outlier, of prices in ascending order.

    `factor` is in thousandths of the distance between the quartiles; `least` is in percent of the median,
    because half of all prices may be equal, and the next one is no outlier for that. The quartiles are plain
    ones: an outlier lies far from the other listings, however much each of them counts. With weighted ones a
    single heavy sale would make outliers of all the rest.
    """
    last = len(prices) - 1
    low, median, high = (prices[last * percent // 100] for percent in (25, 50, 75))
    reach = max(factor * (high - low), 0)
    near = least * median
    # -(-a // b) rounds up: a price is inside if it is not below the exact fence.
    bottom = min(-(-(1_000 * low - reach) // 1_000), -(-(100 * median - near) // 100))
    top = max((1_000 * high + reach) // 1_000, (100 * median + near) // 100)
    return bottom, top
