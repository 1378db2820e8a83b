import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.clock import DAY, FOREVER, SECOND
from thresher.core.errors import UsageError
from thresher.core.gate import CLOCK_SLACK_US, UNLIMITED, Gate, GateLimits, interval_us

NOW = 1_000_000 * SECOND
STEPS = st.lists(st.tuples(st.integers(0, 3 * SECOND), st.integers(1, 9)), max_size=60)


def starts(gate, steps):
    """Play claims against a gate: the times at which something started."""
    now, found = NOW, []
    for waited, wanted in steps:
        now += waited
        taken = min(wanted, gate.allowance(now))
        if taken:
            gate.take(taken, now)
            found += [now] * taken
    return found


@pytest.mark.promise(3)
@given(interval=st.integers(1, 2 * SECOND), burst=st.integers(1, 6), steps=STEPS)
def test_in_any_window_no_more_start_than_the_burst_and_the_rate_allow(interval, burst, steps):
    times = starts(Gate(1, interval_us=interval, burst=burst), steps)
    for first, begin in enumerate(times):
        for last in range(first, len(times)):
            assert last - first + 1 <= burst + (times[last] - begin) // interval


@given(interval=st.integers(1, 2 * SECOND), burst=st.integers(1, 6), steps=STEPS)
def test_a_closed_rate_opens_at_the_time_it_says_and_not_before(interval, burst, steps):
    gate = Gate(1, interval_us=interval, burst=burst)
    now = (starts(gate, steps) or [NOW])[-1]
    while gate.allowance(now):
        gate.take(1, now)
    opens = gate.opens_at(now)
    assert gate.allowance(opens - 1) == 0
    assert gate.allowance(opens) >= 1


@pytest.mark.promise(3)
@given(slots=st.integers(1, 9), steps=st.lists(st.integers(-5, 5), max_size=50))
def test_slots_are_never_overdrawn(slots, steps):
    gate = Gate(1, max_in_flight=slots)
    for step in steps:
        if step > 0:
            gate.take(min(step, gate.allowance(NOW)), NOW)
        else:
            gate.release(-step)
        assert 0 <= gate.in_flight <= slots


@pytest.mark.promise(10)
@given(trip_after=st.integers(1, 6), cooldown=st.integers(1, DAY))
def test_a_tripped_breaker_lets_exactly_one_trial_pass_per_cooldown(trip_after, cooldown):
    gate = Gate(1, trip_after=trip_after, cooldown_us=cooldown)
    trips = [gate.fail(NOW) for _ in range(trip_after)]
    assert trips == [False] * (trip_after - 1) + [True]
    assert (gate.allowance(NOW), gate.opens_at(NOW)) == (0, NOW + cooldown)
    later = NOW + cooldown
    assert (gate.allowance(later - 1), gate.allowance(later)) == (0, 1)
    gate.take(1, later)
    assert (
        gate.allowance(later),
        gate.allowance(later + cooldown - 1),
        gate.allowance(later + cooldown),
    ) == (0, 0, 1)
    assert gate.succeed()
    assert gate.allowance(later) == UNLIMITED


def test_success_before_the_breaker_trips_only_clears_the_count():
    gate = Gate(1, trip_after=2)
    gate.fail(NOW)
    assert not gate.succeed()
    assert gate.failures == 0


def test_without_a_breaker_failures_close_nothing():
    gate = Gate(1)
    assert not any(gate.fail(NOW) for _ in range(100))
    assert gate.allowance(NOW) == UNLIMITED


@pytest.mark.promise(3)
@given(
    interval=st.integers(1, 2 * SECOND),
    burst=st.integers(1, 6),
    steps=STEPS,
    back=st.integers(0, 10 * DAY),
    cooldown=st.integers(0, SECOND),
    tripped=st.booleans(),
)
def test_a_clock_set_back_never_closes_longer_than_a_full_bucket_or_one_cooldown(
    interval, burst, steps, back, cooldown, tripped
):
    gate = Gate(1, interval_us=interval, burst=burst, trip_after=1, cooldown_us=cooldown)
    now = (starts(gate, steps) or [NOW])[-1]
    if tripped:
        gate.fail(now)
    now -= back
    gate.clamp(now)
    assert gate.allowance(now + max(burst * interval, cooldown) + CLOCK_SLACK_US) >= 1
    assert not gate.clamp(now)
    gate.clamp(now, slack=0)
    assert gate.allowance(now + max(burst * interval, cooldown)) >= 1


@given(interval=st.integers(1, 2 * SECOND), burst=st.integers(1, 6), steps=STEPS)
def test_while_the_clock_goes_forward_there_is_nothing_to_clamp(interval, burst, steps):
    gate = Gate(1, interval_us=interval, burst=burst)
    now = (starts(gate, steps) or [NOW])[-1]
    assert not gate.clamp(now)


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        (Gate(1), None),
        (Gate(1, open_after=FOREVER), "disabled"),
        (Gate(1, open_after=NOW + 1), "paused"),
        (Gate(1, open_after=NOW), None),
        (Gate(1, trip_after=1, failures=1, tripped_until=NOW + 1), "tripped"),
        (Gate(1, max_in_flight=2, in_flight=2), "full"),
        (Gate(1, max_in_flight=2, in_flight=5), "full"),
        (Gate(1, interval_us=SECOND, tat=NOW + SECOND), "rate"),
    ],
)
def test_a_closed_gate_says_why(gate, why):
    assert gate.why_closed(NOW) == why
    assert (gate.allowance(NOW) == 0) is (why is not None)


def test_lowering_a_limit_below_what_runs_closes_and_never_goes_negative():
    assert Gate(1, max_in_flight=2, in_flight=7).allowance(NOW) == 0


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"max_in_flight": 0}, "max_in_flight must be between 1 and 1,000,000, got 0"),
        ({"max_in_flight": 2**31}, "max_in_flight must be between 1 and"),
        ({"interval_us": -1}, "interval_us must be between 0 and"),
        ({"interval_us": 2**60}, "interval_us must be between 0 and"),
        ({"burst": 0}, "burst must be between 1 and"),
        ({"burst": 2**31}, "burst must be between 1 and"),
        ({"trip_after": 0}, "trip_after must be between 1 and"),
        ({"cooldown_us": -1}, "cooldown_us must be between 0 and"),
    ],
)
def test_limits_that_no_database_could_keep_are_refused(limits, says):
    with pytest.raises(UsageError, match=says):
        GateLimits(**limits)


@pytest.mark.parametrize(
    ("rate", "interval"), [(None, 0), (1, SECOND), (0.5, 2 * SECOND), (3, 333_333), (SECOND, 1)]
)
def test_a_rate_is_a_time_between_starts(rate, interval):
    assert interval_us(rate) == interval


@pytest.mark.parametrize("rate", [0, -1, SECOND + 1, float("nan")])
def test_a_rate_that_is_none_is_refused(rate):
    with pytest.raises(UsageError, match="a rate must be above 0"):
        interval_us(rate)
