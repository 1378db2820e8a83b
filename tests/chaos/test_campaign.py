"""A short campaign on each store; the long one is `make chaos`. The seed is in the failure, to play it
again."""

import pytest

from tests.chaos.campaign import Orders, run
from tests.chaos.plan import ADVERSITY, doom, make_plan

SECONDS = 7.0
SEED = 20_240


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(6)
@pytest.mark.promise(8)
@pytest.mark.promise(19)
@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_nothing_is_lost_and_nothing_happens_twice_whatever_is_killed(store):
    summary = run(Orders(store, SEED, SECONDS, workers=3, tasks=30))
    assert summary.violations == [], f"seed {SEED}: {summary.as_json()}"
    assert summary.endings["crashed"] > 0, "nothing was killed in the middle of its work"
    assert summary.endings["done"] > 100
    assert summary.refusals["invalid"] > 0


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_a_plan_is_the_same_for_the_same_seed_and_leaves_nothing_out(store):
    plan = make_plan(SEED, 30.0, store)
    assert plan == make_plan(SEED, 30.0, store)
    assert plan != make_plan(SEED + 1, 30.0, store)
    assert {step.what for step in plan} >= ADVERSITY[store].keys()
    assert [doom(SEED, number) for number in range(9)] == [doom(SEED, number) for number in range(9)]
