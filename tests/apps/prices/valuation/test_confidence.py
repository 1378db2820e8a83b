"""Each part of the confidence brings what the rules say, and the limit for asks comes last."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.prices.valuation.points import asks, item, part, sold, valued
from thresher.apps.prices.model import Bands, PricePoint
from thresher.apps.prices.valuation.confidence import ConfidenceInputs, confidence
from thresher.apps.prices.valuation.options import ConfidenceOptions


def evidence(comps: int = 10, **others: object) -> ConfidenceInputs:
    said = {
        "comps": comps,
        "sold": comps,
        "strength": 1_000 * comps,
        "reputation": 800 * comps,
        "bands": bands(100, 100, 100),
        "flags": (),
        "shows_spread": True,
    }
    return ConfidenceInputs(**(said | others))  # type: ignore[arg-type]


def bands(p10: int, median: int, p90: int) -> Bands:
    return Bands(p10, p10, median, median, median, p90, p90, median)


def points_of(found: ConfidenceInputs, name: str) -> float:
    return next(each.points for each in confidence(found, ConfidenceOptions())[1] if each.name == name)


@pytest.mark.parametrize(
    ("comps", "points"), [(1, 0), (4, 0), (5, 1), (9, 1), (10, 2), (19, 2), (20, 3), (900, 3)]
)
def test_comps(comps: int, points: int) -> None:
    assert points_of(evidence(comps), "comps") == points


@given(st.integers(1, 500), st.integers(0, 500))
def test_more_evidence_never_lowers_the_part_of_the_comps(comps: int, more: int) -> None:
    assert points_of(evidence(comps), "comps") <= points_of(evidence(comps + more), "comps")


@pytest.mark.parametrize(("strength", "points"), [(1_000, 2), (500, 1), (750, 1.5), (1, 0.002)])
def test_match_strength(strength: int, points: float) -> None:
    assert points_of(evidence(strength=strength * 10), "match") == points


@pytest.mark.parametrize(("reputation", "points"), [(1_000, 1), (0, 0), (800, 0.8)])
def test_reputation(reputation: int, points: float) -> None:
    assert points_of(evidence(reputation=reputation * 10), "reputation") == points


@pytest.mark.parametrize(("sales", "points"), [(0, 0), (49, 0), (50, 1), (79, 1), (80, 2), (100, 2)])
def test_sold_share(sales: int, points: int) -> None:
    assert points_of(evidence(100, sold=sales), "sold share") == points


@pytest.mark.parametrize(
    ("p90", "points"), [(100, 3), (119, 3), (120, 2), (139, 2), (140, 1), (159, 1), (160, 0), (900, 0)]
)
def test_spread(p90: int, points: int) -> None:
    assert points_of(evidence(bands=bands(100, 100, p90)), "spread") == points


def test_a_single_price_shows_no_spread() -> None:
    found = valued(sold(4_500))
    assert part(found, "spread") == 0
    assert part(valued(sold(4_500, 4_500, 4_500, 4_500)), "spread") == 3


@pytest.mark.parametrize(
    ("flags", "points"),
    [
        ({}, 0),
        ({"toning": "yes"}, 0),
        ({"cleaned": "yes"}, -1),
        ({"cleaned": "no", "scratches": "yes", "toning": "yes"}, -1),
        ({"cleaned": "yes", "scratches": "yes", "rim_damage": "yes", "harsh_cleaning": "yes"}, -3),
    ],
)
def test_each_damage_costs_a_point_and_toning_none(flags: dict[str, str], points: int) -> None:
    assert part(valued(sold(4_500), item(**flags)), "condition") == points


def test_the_confidence_is_from_1_to_10() -> None:
    best = evidence(100, strength=100_000, reputation=100_000)
    assert confidence(best, ConfidenceOptions())[0] == 10
    worst = evidence(1, sold=0, strength=1, reputation=1, shows_spread=False, flags=("a", "b", "c"))
    assert confidence(worst, ConfidenceOptions())[0] == 1


@given(
    st.integers(1, 100).flatmap(lambda comps: st.tuples(st.just(comps), st.integers(0, comps))),
    st.integers(1, 1_000),
    st.integers(1, 1_000),
    st.integers(1, 500),
    st.integers(0, 5),
    st.integers(1, 10),
)
def test_the_parts_add_up_and_nothing_lifts_asks_over_their_limit(
    counts: tuple[int, int], strength: int, reputation: int, p90: int, flags: int, cap: int
) -> None:
    comps, sales = counts
    found = evidence(
        comps,
        sold=sales,
        strength=strength * comps,
        reputation=reputation * comps,
        bands=bands(1, p90, p90),
        flags=("damage",) * flags,
    )
    made, parts = confidence(found, ConfidenceOptions(ask_only_cap=cap))
    assert abs(sum(each.points for each in parts) - made) < 1e-9
    assert 1 <= made <= (10 if sales else cap)
    assert all(each.because for each in parts)


def old_confidence(found: list[PricePoint]) -> int:
    """As the first system had it: the limit for asks stands before the points of the spread."""
    comps = len(found)
    score = 3 if comps >= 20 else 2 if comps >= 10 else 1 if comps >= 5 else 0
    score += 2 * sum(each.match_strength for each in found) // (1_000 * comps) + 1
    score = min(score, 7)
    return min(score + 3, 10)  # they are all at one price


def test_asks_only_cannot_pass_their_limit_by_a_narrow_spread() -> None:
    found = asks(*[4_500] * 30)
    assert old_confidence(found) == 9
    made = valued(found, reputations={1: 1.0})
    assert made.confidence == 7
    assert made.parts[-1].name == "asks only"
    assert made.parts[-1].points < 0
    assert valued([*found, *sold(4_500)], reputations={1: 1.0}).confidence == 9
