"""Which pages are looked at as samples, and what a few of them say about all."""

from collections.abc import Sequence
from typing import TypeVar

from thresher.apps.extractions.detection.report import Confidence, Estimate

T = TypeVar("T")


def spread(things: Sequence[T]) -> list[T]:
    """All of these, ordered so that the first few lie far apart: both ends, the middle, the quarters. The
    order depends on nothing but their number, so a repeated attempt looks at the same pages.
    """
    last = len(things) - 1
    if last < 1:
        return list(things)
    places: dict[int, None] = {0: None, last: None}
    parts = 2
    while len(places) <= last:
        for each in range(1, parts, 2):
            places[round(each * last / parts)] = None
        parts *= 2
        if parts > 2 * (last + 1):
            places |= dict.fromkeys(range(last + 1))
    return [things[place] for place in places]


def interleaved(groups: Sequence[Sequence[T]]) -> list[T]:
    """One of each group in turn, each group spread, so that a sample has some of all."""
    ordered = [spread(group) for group in groups]
    longest = max(map(len, ordered), default=0)
    turns = [group[at] for at in range(longest) for group in ordered if at < len(group)]
    return list(dict.fromkeys(turns))


def times(number: Estimate, each: Sequence[Estimate]) -> Estimate:
    """So many pages, a few of which have so many links each. Where all were looked at, it is a sum."""
    known = [one for one in each if one.likely is not None]
    if number.likely is None or not known or len(known) < len(each):
        return Estimate(low=sum(one.low or 0 for one in each))
    if number.likely <= len(each):
        found = known[0]
        for one in known[1:]:
            found = plus(found, one)
        return found
    likely = [one.likely or 0 for one in known]
    mean = sum(likely) / len(likely)
    low, high = number.low or number.likely, number.high or number.likely
    return Estimate(round(mean * number.likely), min(likely) * low, max(likely) * high, Confidence.SAMPLED)


def plus(one: Estimate, other: Estimate) -> Estimate:
    """The sum of two estimates, as uncertain as the less certain of them."""
    if one.likely is None or other.likely is None:
        return Estimate(low=(one.low or 0) + (other.low or 0))
    order = list(Confidence)
    worst = max(one.confidence, other.confidence, key=order.index)
    high = None if one.high is None or other.high is None else one.high + other.high
    return Estimate(one.likely + other.likely, (one.low or 0) + (other.low or 0), high, worst)


def exactly(number: int, confidence: Confidence = Confidence.COUNTED) -> Estimate:
    """A number that is known."""
    return Estimate(number, number, number, confidence)
