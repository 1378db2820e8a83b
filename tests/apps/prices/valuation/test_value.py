"""Which prices count, how much, and what people are told of it; and the mistakes of the first system."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.valuation.points import (
    NO_RATES,
    NOW,
    OPTIONS,
    TODAY,
    DailyRates,
    asks,
    item,
    part,
    point,
    sold,
    valued,
)
from tests.house.paper import ROOT
from thresher.apps.prices.model import Bands, Item, ItemSpec, ItemStatus, PricePoint, PriceType, Valuation
from thresher.apps.prices.valuation.comps import MIN_RECENCY, choose, grade_key, recency
from thresher.core.clock import DAY


def median(found: Valuation) -> int:
    assert found.bands is not None
    return found.bands.median


def old_median(found: list[PricePoint]) -> int:
    """As the first system had it: every price counts the same, whatever its grade, match and source."""
    prices = sorted(each.unit for each in found)
    return prices[(len(prices) - 1) // 2]


# What counts


def test_without_points_there_is_no_value() -> None:
    found = valued([])
    assert (found.bands, found.confidence, found.comp_count, found.parts) == (None, None, 0, ())
    assert found.explanation == "No price has been found yet."


def test_without_a_point_that_counts_there_is_no_value_and_the_reason_stands_there() -> None:
    found = valued(
        [
            *sold(4_500, counts=False, reason="a lot of unknown size"),
            *asks(4_500, ended_at=NOW),
            point(4_000, PriceType.BID),
            *sold(4_500, source_id=3),
            *sold(0),
            *sold(4_000, 4_100, currency="EUR"),
        ]
    )
    assert (found.bands, found.confidence) == (None, None)
    assert found.explanation == (
        "No price counts; left out: no exchange rate from EUR (2), a lot of unknown size (1), "
        "asks that are no longer listed (1), bids (1), sources with reputation 0 (1), without a price (1)."
    )


def test_an_item_with_a_grade_that_nobody_offers_has_no_value() -> None:
    found = valued([*sold(9_000, grade="MS64"), *sold(4_500)], item(grade="MS-65"))
    assert found.bands is None
    assert found.explanation == (
        "No price counts: none was found for grade MS65; left out: grade MS64 (1), no grade stated (1)."
    )


def test_the_explanation_says_what_a_value_rests_on() -> None:
    points = [
        *sold(*range(4_400, 4_520, 10), age=100),
        *asks(4_600, 4_610, 4_700, source_id=2),
        *sold(9_000, 9_100, 9_200, grade="MS65"),
        *sold(4_500, counts=False, reason="a lot of unknown size"),
        *sold(1, 90_000),
    ]
    found = valued(points)
    assert found.explanation == (
        "12 sales and 3 asks from 2 sources since 2023-08-07, all with no grade stated, the largest group of equal grade; "
        "the middle price is 44.60 USD, and about three in five lie between 44.20 USD and 44.90 USD; left out: "
        "grade MS65 (3), outliers (2), a lot of unknown size (1)."
    )
    assert found.left_out == {"a lot of unknown size": 1, "grade MS65": 3, "outliers": 2}


def test_asks_alone_are_said_to_be_no_sales() -> None:
    found = valued(asks(4_500))
    assert found.explanation == (
        "1 ask from 1 source since 2023-11-15, and nobody is known to have paid a price; most of them are at "
        "45.00 USD."
    )


def test_many_reasons_are_cut() -> None:
    found = valued(
        [*sold(1), *(each for at in range(12) for each in sold(1, counts=False, reason=f"reason {at}"))]
    )
    assert "other reasons (4)" in found.explanation


def test_as_many_reasons_as_points_are_cut_too_and_all_are_counted() -> None:
    found = valued([each for at in range(500) for each in sold(1, counts=False, reason=f"{at}" * 90)])
    assert len(found.left_out) == 51
    assert sum(found.left_out.values()) == 500
    assert "other reasons (492)" in found.explanation
    assert len(found.explanation) < 1_000


def test_a_currency_without_decimals_is_written_without_them() -> None:
    of = item()
    of = replace(of, spec=replace(of.spec, currency="JPY"))
    assert "12,000 JPY" in valued(sold(12_000, currency="JPY"), of).explanation


def test_prices_are_converted_at_the_rate_of_their_day() -> None:
    rates = DailyRates({("EUR", "USD"): "1.25"}, day=date(2023, 11, 10))
    found = valued(
        [*sold(4_000, currency="EUR"), *sold(8_000, currency="EUR", age=30), *sold(5_100)], rates=rates
    )
    assert found.bands is not None
    assert (found.bands.p10, found.bands.p90, found.comp_count) == (5_000, 5_000, 2)
    assert found.left_out == {"no exchange rate from EUR": 1}


# Grades


@pytest.mark.parametrize("text", ["MS65", "MS-65", "ms 65", "Ms65 "])
def test_a_grade_is_one_however_it_is_written(text: str) -> None:
    assert grade_key(text) == "ms65"


def test_a_plus_is_another_grade() -> None:
    assert grade_key("MS65+") != grade_key("MS65")


def test_the_largest_group_of_one_grade_counts_whatever_the_others_cost() -> None:
    found = valued([*sold(4_000, 4_100, 4_200, grade="raw"), *sold(20_000, 21_000, grade="MS65")])
    assert (median(found), found.left_out) == (4_100, {"grade MS65": 2})
    assert "all with grade raw, the largest group of equal grade" in found.explanation


def test_of_two_groups_of_one_size_the_one_with_sales_counts() -> None:
    found = valued([*asks(4_000, 4_100, grade="AU58"), *sold(9_000, 9_100, grade="MS65")])
    assert median(found) == 9_000


def test_what_cannot_be_converted_does_not_make_its_grade_the_largest() -> None:
    found = valued([*sold(1, 2, 3, grade="raw", currency="EUR"), *sold(9_000, grade="MS65")])
    assert median(found) == 9_000


def test_grades_are_not_pooled() -> None:
    raw, slabbed = sold(4_000, 4_100, 4_200, grade="raw"), sold(20_000, 21_000, 22_000, 23_000, grade="MS65")
    pooled = [*raw, *slabbed]
    assert old_median(pooled) == 20_000
    assert median(valued(pooled, item(grade="raw"))) == 4_100
    assert median(valued(pooled, item(grade="MS65"))) == 21_000


def test_an_item_that_is_raw_is_compared_with_what_nobody_has_graded() -> None:
    points = [*sold(4_000, grade="raw"), *sold(4_100), *sold(4_200, grade="AU")]
    found = valued([*points, *sold(9_000, grade="AU58"), *sold(3_000, grade="AU details")], item(grade="Raw"))
    assert found.left_out == {"grade AU58": 1, "grade AU DETAILS": 1}
    assert found.comp_count == 3


def test_a_proof_is_one_grade_however_it_is_abbreviated() -> None:
    assert valued(sold(4_000, grade="PR65"), item(grade="PF 65")).comp_count == 1


def test_a_kind_without_grades_has_none() -> None:
    of = Item(1, ItemSpec("phone", "product", {"model": "X1", "grade": "MS65"}), ItemStatus.ATTRIBUTED)
    found = valued(sold(4_000), of)
    assert found.comp_count == 1
    assert "grade" not in found.explanation


# Weights


def test_a_stronger_match_moves_the_price() -> None:
    found = [*sold(4_000, 4_100, match_strength=600), *sold(9_000, match_strength=1_000)]
    weak = [*sold(4_000, 4_100, match_strength=100), *sold(9_000, match_strength=1_000)]
    assert old_median(found) == old_median(weak) == 4_100
    assert median(valued(found)) == 4_100
    assert median(valued(weak)) == 9_000


def test_a_better_source_moves_the_price() -> None:
    found = [*sold(4_000, 4_100), *sold(9_000, source_id=2)]
    assert old_median(found) == 4_100
    assert median(valued(found, reputations={1: 0.5, 2: 0.5})) == 4_100
    assert median(valued(found, reputations={1: 0.1, 2: 1.0})) == 9_000


def test_a_sale_counts_more_than_an_ask() -> None:
    found = [*asks(9_000, 9_100), *sold(4_000)]
    assert median(valued(found)) == 4_000
    assert median(valued(found, options=replace(OPTIONS, ask_weight=1_000))) == 9_000
    assert valued(asks(9_000), options=replace(OPTIONS, ask_weight=0)).left_out == {"of no weight": 1}


def test_a_new_sale_counts_more_than_old_ones() -> None:
    found = [*sold(9_000), *sold(4_000, 4_100, age=3 * OPTIONS.half_life)]
    assert median(valued(found)) == 9_000
    assert median(valued(found, options=replace(OPTIONS, half_life=36_500))) == 4_100


def test_an_ask_is_as_old_as_the_last_look_at_it() -> None:
    listed = point(9_000, PriceType.ASK, listing_date=date(2020, 1, 1), first_seen=NOW - 900 * DAY)
    assert median(valued([listed, *asks(4_000, age=400)])) == 9_000


@given(st.integers(0, 40_000), st.integers(0, 40_000), st.integers(1, 36_500))
def test_an_older_price_never_counts_more(days: int, more: int, half_life: int) -> None:
    assert MIN_RECENCY <= recency(days + more, half_life) <= recency(days, half_life) <= 1_000
    assert recency(-more, half_life) == 1_000


@given(st.integers(1, 36_500), st.integers(0, 5))
def test_the_weight_halves_with_each_half_life(half_life: int, times: int) -> None:
    assert recency(half_life * times, half_life) == max(1_000 >> times, MIN_RECENCY)


# Outliers


def test_sold_count_counts_what_the_figures_rest_on() -> None:
    found = valued(sold(4_000, 4_100, 4_200, 4_300, 900_000))
    assert (found.comp_count, found.sold_count, found.left_out) == (4, 4, {"outliers": 1})


def test_a_sale_that_is_an_outlier_does_not_lift_the_limit_of_asks() -> None:
    # The first system counted the sale although it had dropped its price.
    found = valued([*asks(*[4_500] * 30), *sold(900_000)], reputations={1: 1.0})
    assert (found.sold_count, found.ask_count, found.confidence) == (0, 30, 7)
    assert part(found, "sold share") == 0


def test_three_prices_have_no_outlier() -> None:
    assert valued(sold(1, 4_500, 900_000)).comp_count == 3


def test_a_heavy_sale_makes_no_outliers_of_the_others() -> None:
    light = asks(*range(4_000, 5_000, 100), match_strength=600, age=900)
    assert valued([*light, *sold(4_200)]).left_out == {}


# The example of docs/explanation/valuation.md


def test_the_example_of_the_documentation_is_right() -> None:
    points = [
        *sold(4_800, age=180),
        *sold(5_000),
        *sold(5_200, age=90),
        *sold(5_500, age=20, match_strength=800),
        *asks(6_000, 6_500, 24_000, source_id=2),
        *sold(18_000, grade="MS65"),
        *sold(9_000, counts=False, reason="it is a lot of unknown size"),
    ]
    reputations = {1: 0.8, 2: 0.5}
    chosen = choose(item(), points, NO_RATES, reputations, OPTIONS, TODAY)
    assert [round(each.weight / 10**9) for each in chosen.comps] == [400, 800, 600, 604, 200, 200]
    found = valued(points, reputations=reputations)
    assert found.bands == Bands(4_800, 5_000, 5_000, 5_000, 5_200, 5_500, 5_500, 5_300)
    assert found.confidence == 8
    assert [each.points for each in found.parts] == [1.0, 1.932, 0.7, 1.0, 3.0, 0.0, 0.368]
    assert found.explanation in " ".join(
        (ROOT / "docs/explanation/valuation.md").read_text().replace("\n> ", " ").split()
    )


# The basis


def test_the_same_evidence_has_the_same_basis_and_other_evidence_another() -> None:
    points = [*sold(4_000, 4_100), *asks(5_000)]
    basis = valued(points).basis
    assert valued(points, now=NOW + DAY // 4).basis == basis
    assert len(basis) == 64
    others = [
        valued(points[:-1]),
        valued([*points, *sold(1, counts=False, reason="no")]),
        valued(points, reputations={1: 0.81}),
        valued(points, options=replace(OPTIONS, fence_min=11)),
        valued(points, item(cleaned="yes")),
        valued(points, now=NOW + 9 * DAY),
    ]
    assert len({basis, *(each.basis for each in others)}) == 7


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=40), st.integers(1, 50))
def test_prices_times_a_factor_have_values_times_the_factor(prices: list[int], factor: int) -> None:
    plain, scaled = valued(sold(*prices)), valued(sold(*(factor * each for each in prices)))
    assert plain.bands is not None
    assert scaled.bands is not None
    for name in ("p10", "p20", "p40", "median", "p60", "p80", "p90"):
        assert getattr(scaled.bands, name) == factor * getattr(plain.bands, name)
    assert (scaled.comp_count, scaled.confidence) == (plain.comp_count, plain.confidence)
