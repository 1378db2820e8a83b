"""The valuation is that of a slow reference implementation, whatever the points are."""

from dataclasses import astuple
from datetime import timedelta
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.valuation.points import (
    NOW,
    OPTIONS,
    REPUTATIONS,
    TODAY,
    DailyRates,
    item,
    point,
    valued,
)
from tests.apps.prices.valuation.reference import expected
from thresher.apps.prices.model import PricePoint, PriceType
from thresher.core.clock import DAY

FLAGS = ("cleaned", "scratches", "rim_damage", "details_damaged", "harsh_cleaning")
RATES = {"USD": Fraction(1), "EUR": Fraction(5, 4)}
EUR = DailyRates({("EUR", "USD"): "1.25"}, TODAY - timedelta(days=100_000))

amounts = st.one_of(st.integers(1, 120), st.integers(4_000, 6_000), st.integers(0, 10**12))


@st.composite
def points(draw: st.DrawFn) -> PricePoint:
    age = draw(st.one_of(st.integers(0, 30), st.integers(0, 4_000)))
    seen = NOW - age * DAY
    kind = draw(st.sampled_from([*PriceType, PriceType.SOLD, PriceType.SOLD]))
    counts = draw(st.sampled_from([True, True, True, False]))
    said: dict[str, Any] = {
        "source_id": draw(st.sampled_from([1, 1, 2, 3, 9])),
        "currency": draw(st.sampled_from(["USD", "USD", "USD", "EUR", "JPY"])),
        "match_strength": draw(st.integers(0, 1_000)),
        "counts": counts,
        "reason": None if counts else draw(st.sampled_from([None, "a lot of unknown size"])),
        "grade": draw(st.sampled_from([None, None, "raw", "MS-65", "ms65", "AU 58"])),
        "listing_date": draw(
            st.one_of(st.none(), st.integers(-5, 900).map(lambda age: TODAY - timedelta(age)))
        ),
        "observed_at": NOW - draw(st.integers(0, age)) * DAY,
        "first_seen": seen,
        "ended_at": draw(st.sampled_from([0, 0, 0, NOW])),
    }
    return point(draw(amounts), kind, **said)


@st.composite
def markets(draw: st.DrawFn) -> list[PricePoint]:
    """Many prices of one thing, close together, and a few that lie about the fence: all of them may count."""
    middle = draw(st.integers(20, 6_000))
    near = st.integers(-middle // 20, middle // 20)
    far = st.sampled_from([-50, -30, -11, -10, -9, 9, 10, 11, 30, 50]).map(
        lambda share: middle * share // 100
    )
    offsets = draw(st.lists(st.one_of(near, near, far), min_size=3, max_size=24))
    strengths = draw(st.sampled_from([(1_000,), (600, 800, 1_000)]))
    kinds = draw(st.sampled_from([(PriceType.SOLD,), (PriceType.SOLD, PriceType.ASK)]))
    return [
        point(
            middle + offset,
            draw(st.sampled_from(kinds)),
            match_strength=draw(st.sampled_from(strengths)),
            age=draw(st.sampled_from([0, 0, 90])),
        )
        for offset in offsets
    ]


def check(found: list[PricePoint], grade: str | None, flags: set[str]) -> None:
    """Value an item by these points, and compare every figure with the reference."""
    said = dict.fromkeys(flags, "yes") | ({"grade": grade} if grade else {})
    made = valued(found, item(toning="yes", **said), rates=EUR)
    wanted = expected(found, grade, len(flags), RATES, REPUTATIONS, OPTIONS, NOW // DAY)
    figures = None if made.bands is None else astuple(made.bands)
    assert figures == (None if wanted.prices is None else tuple(wanted.prices.values()))
    assert made.confidence == wanted.confidence
    assert (made.comp_count, made.sold_count, made.source_count) == (
        wanted.comps,
        wanted.sold,
        wanted.sources,
    )
    assert sum(made.left_out.values()) == wanted.left_out
    assert made.ask_count == made.comp_count - made.sold_count
    if made.confidence is not None:
        assert abs(sum(each.points for each in made.parts) - made.confidence) < 1e-9


@given(
    st.lists(points(), max_size=40),
    st.sampled_from([None, None, "MS 65", "raw", "XF40"]),
    st.sets(st.sampled_from(FLAGS)),
)
def test_a_valuation_is_that_of_the_reference(
    found: list[PricePoint], grade: str | None, flags: set[str]
) -> None:
    check(found, grade, flags)


@given(markets(), st.sets(st.sampled_from(FLAGS), max_size=1))
def test_many_prices_of_one_thing_are_fenced_and_weighed_as_in_the_reference(
    found: list[PricePoint], flags: set[str]
) -> None:
    check(found, None, flags)


@given(
    st.lists(points(), max_size=25).flatmap(lambda found: st.tuples(st.just(found), st.permutations(found)))
)
def test_the_order_of_the_points_changes_nothing(both: tuple[list[PricePoint], list[PricePoint]]) -> None:
    first, second = both
    assert valued(first, rates=EUR) == valued(second, rates=EUR)
