"""The order of the queue: priority and demand are head starts, age has the last word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.ours import OURS
from thresher.apps.roles.demand import PRIORITIES, SETTINGS, Demand
from thresher.config.settings import Settings
from thresher.core.clock import HOUR
from thresher.core.errors import UsageError

DEMAND = Demand.of(Settings(catalogue=OURS))
NOW = 1_700_000_000_000_000
people = st.integers(0, 1_000_000)


def test_the_settings_make_a_demand():
    assert Demand(168 * HOUR, 50.0) == DEMAND
    assert Demand.of({name: Settings(catalogue=OURS)[name] for name in SETTINGS}) == DEMAND


@given(st.sampled_from(range(3)), people, people)
def test_fresh_roles_are_served_by_priority_whatever_the_demand(at, few, many):
    assert DEMAND.rank(NOW, PRIORITIES[at + 1], few) < DEMAND.rank(NOW, PRIORITIES[at], many)


@given(st.sampled_from(PRIORITIES), people)
def test_one_candidate_more_is_served_earlier(priority, count):
    assert DEMAND.rank(NOW, priority, count + 1) < DEMAND.rank(NOW, priority, count)


@pytest.mark.promise(5)
@given(st.sampled_from(PRIORITIES), people, st.sampled_from(PRIORITIES), people)
def test_whoever_waits_four_steps_longer_is_served_first_whoever_else_comes(low, few, high, many):
    assert DEMAND.rank(NOW - 4 * DEMAND.step_us, low, few) < DEMAND.rank(NOW, high, many)


@given(st.integers(0, 10**9), st.integers(0, 2**70), st.floats(0.001, 1e6))
def test_demand_is_worth_less_than_one_step_for_any_settings(step, count, half):
    rank = Demand(step, half).rank(0, "low", count)
    assert -step <= rank <= 0
    assert rank > -step or step == 0


def test_without_a_step_the_queue_is_first_come_first_served():
    plain = Demand(0, 50.0)
    assert plain.rank(1, "low", 0) < plain.rank(2, "urgent", 10**6)


@pytest.mark.parametrize("word", ["", "URGENT", "highest", "normal "])
def test_a_word_that_is_no_priority_is_refused_with_those_that_are(word):
    with pytest.raises(UsageError, match="urgent, high, normal, low"):
        DEMAND.rank(NOW, word, 1)
