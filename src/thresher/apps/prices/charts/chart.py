"""The chart of an item: its price points and the bands of its valuations, over time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from thresher.apps.prices.charts.axes import Scale, day_steps, round_steps
from thresher.apps.prices.charts.drawing import Area, Drawing, Line, Mark, Shape, Words
from thresher.apps.prices.model import PriceType
from thresher.apps.prices.money import decimal_of, money
from thresher.core.clock import DAY

WIDTH, HEIGHT = 720, 300
RIGHT, TOP, BOTTOM = 14, 30, 30  # around the prices; on the left as much as the amounts need
LETTER, GAP = 7, 16  # the width of a letter, and the room beside a text
VALUES, DAYS = 5, 6  # steps on the axes
ROOM = 0.05  # of the range, above and below
MAX_DOTS = 2_000
FAINT = 0.35
_SHAPES: dict[PriceType, Literal["dot", "ring", "triangle"]] = {
    PriceType.SOLD: "dot",
    PriceType.ASK: "ring",
    PriceType.BID: "triangle",
}


@dataclass(frozen=True, slots=True)
class Dot:
    """One price: when, how much in the item's smallest unit, and what it is. One that does not count is a
    faint cross.
    """

    at: int
    value: int
    price_type: PriceType
    counts: bool
    says: str


@dataclass(frozen=True, slots=True)
class BandAt:
    """What the valuation said at a time: quick sale, median, premium."""

    at: int
    low: int
    median: int
    high: int


def price_chart(
    name: str, currency: str, dots: Sequence[Dot], bands: Sequence[BandAt], now: int
) -> Drawing | None:
    """Draw prices and bands; None if there are none. The last band goes on until now. Prices that do not
    count are left out where they are far from those that do.
    """
    dots = dots[-MAX_DOTS:]
    says = _says(name, currency, dots, bands)
    bands = [*bands, BandAt(max(now, bands[-1].at), *_values(bands[-1]))] if bands else []
    times = [dot.at for dot in dots] + [band.at for band in bands]
    if not times:
        return None
    values = [dot.value for dot in dots if dot.counts] + [each for band in bands for each in _values(band)]
    values = values or [dot.value for dot in dots]
    amounts = _amounts(round_steps(min(values), max(values), VALUES), currency)
    across, up = _scales(times, amounts)
    # What does not count must not make what counts small.
    dots = [dot for dot in dots if up.low <= dot.value <= up.high]
    shapes = chain(
        _axes(across, up, amounts),
        _bands(bands, across, up),
        _dots(dots, across, up),
        _legend(across.start, currency, dots, bands),
    )
    return Drawing(WIDTH, HEIGHT, says, tuple(shapes))


def _values(band: BandAt) -> tuple[int, int, int]:
    return band.low, band.median, band.high


def _amounts(steps: Sequence[int], currency: str) -> list[tuple[int, str]]:
    """The amounts that the axis names, without cents where none of them has any."""
    written = [decimal_of(value, currency) for value in steps]
    if all(each == each.to_integral_value() for each in written):
        written = [each.to_integral_value() for each in written]
    return [(value, f"{each:,}") for value, each in zip(steps, written, strict=True)]


def _scales(times: Sequence[int], amounts: Sequence[tuple[int, str]]) -> tuple[Scale, Scale]:
    first, last = min(times), max(times)
    if last - first < DAY:
        first, last = first - DAY, last + DAY
    edge = (last - first) * ROOM
    left = max(len(said) for _, said in amounts) * LETTER + GAP
    return (
        Scale(first - edge, last + edge, left, WIDTH - RIGHT),
        Scale(amounts[0][0], amounts[-1][0], HEIGHT - BOTTOM, TOP),
    )


def _axes(across: Scale, up: Scale, amounts: Sequence[tuple[int, str]]) -> Iterator[Shape]:
    for value, said in amounts:
        y = up(value)
        yield Line(((across.start, y), (WIDTH - RIGHT, y)), "soft", 0.5, FAINT)
        yield Words((across.start - GAP / 2, y + 4), said, "end")
    for at, said in day_steps(int(across.low), int(across.high), DAYS):
        x, half = across(at), len(said) * LETTER / 2
        yield Line(((x, HEIGHT - BOTTOM), (x, HEIGHT - BOTTOM + 4)), "soft", 0.5)
        fits = x + half <= WIDTH
        yield Words((x if fits else WIDTH, HEIGHT - BOTTOM + 18), said, "middle" if fits else "end")


def _bands(bands: Sequence[BandAt], across: Scale, up: Scale) -> Iterator[Shape]:
    """A band holds until the next one, so it is drawn in steps."""
    if not bands:
        return
    tops = tuple(_stepped([(across(each.at), up(each.high)) for each in bands]))
    bottoms = tuple(_stepped([(across(each.at), up(each.low)) for each in bands]))
    yield Area((*tops, *reversed(bottoms)), 0.15, "from a quick sale to a premium price")
    yield Line(tuple(_stepped([(across(each.at), up(each.median)) for each in bands])), "ink", 1.8)


def _stepped(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    before: float | None = None
    for x, y in points:
        if before is not None:
            yield x, before
        yield x, y
        before = y


def _dots(dots: Sequence[Dot], across: Scale, up: Scale) -> Iterator[Shape]:
    for each in sorted(dots, key=lambda dot: dot.counts):  # what counts is drawn above what does not
        place = across(each.at), up(each.value)
        if each.counts:
            yield Mark(place, _SHAPES[each.price_type], each.says)
        else:
            yield Mark(place, "cross", each.says, FAINT)


def _legend(x: float, currency: str, dots: Sequence[Dot], bands: Sequence[BandAt]) -> Iterator[Shape]:
    used = [each for each in PriceType if any(dot.counts and dot.price_type is each for dot in dots)]
    for price_type in used:
        yield Mark((x + 4, 13), _SHAPES[price_type], price_type.value)
        yield Words((x + 14, 17), price_type.value)
        x += 62
    if any(not dot.counts for dot in dots):
        yield Mark((x + 4, 13), "cross", "does not count", FAINT)
        yield Words((x + 14, 17), "does not count")
        x += 124
    if bands:
        yield Line(((x, 13), (x + 22, 13)), "ink", 1.8)
        yield Words((x + 28, 17), "median, quick sale to premium")
    yield Words((WIDTH - RIGHT, 17), currency, "end")


def _says(name: str, currency: str, dots: Sequence[Dot], bands: Sequence[BandAt]) -> str:
    counted = sum(dot.counts for dot in dots)
    said = f"{name}: {_number(counted, 'price that counts', 'prices that count')}"
    if others := len(dots) - counted:
        said += f" and {_number(others, 'that does not', 'that do not')}"
    if not bands:
        return f"{said}; no valuation yet"
    low, median, high = (money(value, currency) for value in _values(bands[-1]))
    return f"{said}; the valuation is {median}, from {low} to {high}"


def _number(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
