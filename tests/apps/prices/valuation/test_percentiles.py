"""Percentiles are prices of the set, move with the prices, and are plain ones where all weights are equal."""

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.prices.valuation.percentiles import PERCENTS, Weighed, bands_of, fence, mean, percentiles

prices = st.integers(1, 10**12)
weights = st.integers(1, 10**12)
weighed = st.lists(st.builds(Weighed, prices, weights), min_size=1, max_size=60).map(sorted)


@given(st.lists(prices, min_size=1, max_size=200).map(sorted), weights)
def test_with_equal_weights_a_percentile_is_the_element_at_the_floor(found: list[int], weight: int) -> None:
    same = [Weighed(each, weight) for each in found]
    assert percentiles(same, PERCENTS) == [found[each * (len(found) - 1) // 100] for each in PERCENTS]


@given(weighed)
def test_percentiles_are_prices_of_the_set_in_ascending_order(found: list[Weighed]) -> None:
    said = percentiles(found, PERCENTS)
    assert said == sorted(said)
    assert set(said) <= {each.price for each in found}
    assert found[0].price <= mean(found) <= found[-1].price


@given(st.lists(st.tuples(prices, weights, st.integers(0, 10**12)), min_size=1, max_size=60))
def test_raising_prices_lowers_no_band(found: list[tuple[int, int, int]]) -> None:
    before = bands_of(sorted(Weighed(price, weight) for price, weight, _ in found))
    after = bands_of(sorted(Weighed(price + more, weight) for price, weight, more in found))
    assert all(old <= new for old, new in zip(astuple(before), astuple(after), strict=True))


@given(weighed, st.integers(1, 1_000))
def test_scaled_prices_have_scaled_bands(found: list[Weighed], factor: int) -> None:
    scaled = [Weighed(factor * each.price, each.weight) for each in found]
    assert percentiles(scaled, PERCENTS) == [factor * each for each in percentiles(found, PERCENTS)]
    assert abs(mean(scaled) - factor * mean(found)) <= (factor + 1) / 2  # both are rounded


@given(weighed, weights)
def test_scaled_weights_change_nothing(found: list[Weighed], factor: int) -> None:
    assert bands_of([Weighed(each.price, factor * each.weight) for each in found]) == bands_of(found)


@given(weighed, st.integers(0, 10**6))
def test_a_price_at_the_median_leaves_the_median(found: list[Weighed], more: int) -> None:
    (median,) = percentiles(found, [50])
    average = -(-sum(each.weight for each in found) // len(found))
    added = sorted([*found, Weighed(median, average + more)])
    assert percentiles(added, [50]) == [median]


@given(st.lists(prices, min_size=4, max_size=60).map(sorted), st.integers(1, 1_000))
def test_the_fence_scales_with_the_prices(found: list[int], factor: int) -> None:
    low, high = fence(found, 1_500, 10)
    scaled_low, scaled_high = fence([factor * each for each in found], 1_500, 10)
    inside = [low <= each <= high for each in found]
    assert [scaled_low <= factor * each <= scaled_high for each in found] == inside


@given(st.lists(prices, min_size=4, max_size=60).map(sorted))
def test_what_lies_between_the_quartiles_is_no_outlier(found: list[int]) -> None:
    low, high = fence(found, 0, 0)
    last = len(found) - 1
    assert low <= found[last * 25 // 100] <= found[last * 75 // 100] <= high


@pytest.mark.parametrize(
    ("found", "inside"),
    [
        ([10, 11, 12, 13], [10, 11, 12, 13]),
        ([10, 11, 12, 13, 900], [10, 11, 12, 13]),
        ([1, 110, 111, 112, 113, 114], [110, 111, 112, 113, 114]),
        # Half of the prices are equal, and the quartiles too: what is close is still no outlier.
        ([100, 100, 100, 100, 105, 110, 111], [100, 100, 100, 100, 105, 110, 111]),
        ([100, 100, 100, 100, 100, 110, 111], [100, 100, 100, 100, 100, 110]),
    ],
)
def test_the_fence_at_its_edges(found: list[int], inside: list[int]) -> None:
    low, high = fence(found, 1_500, 10)
    assert [each for each in found if low <= each <= high] == inside
