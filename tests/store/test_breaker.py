import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import claim, claim_one, done, entry, events, failed, put, settle, troubled
from thresher.core.clock import SECOND
from thresher.core.gate import GateLimits
from thresher.core.settlement import Settlement
from thresher.store import sources

COOLDOWN = 60 * SECOND


@pytest.fixture
def fragile(store):
    gate(store, "source:a", trip_after=3, cooldown_us=COOLDOWN)
    put(store, *(entry(gates=["source:a"]) for _ in range(20)))
    return store


def trip(store):
    for task in claim(store, 3):
        settle(store, troubled(task))


def kinds(store):
    return [kind for kind, _, _ in events(store)]


@pytest.mark.promise(10)
def test_failures_in_a_row_close_the_gate_for_its_cooldown(fragile, clock):
    trip(fragile)
    assert kinds(fragile) == ["gate_tripped"]
    assert claim(fragile, 5) == []
    clock.advance(COOLDOWN - 1)
    assert claim(fragile, 5) == []


@pytest.mark.promise(10)
def test_a_success_in_between_starts_the_count_anew(fragile):
    for ending in (troubled, troubled, done, troubled, troubled):
        settle(fragile, ending(claim_one(fragile)))
    assert kinds(fragile) == []
    assert gate_row(fragile, "source:a")["failures"] == 2


@pytest.mark.promise(10)
def test_after_the_cooldown_exactly_one_trial_may_pass(fragile, clock):
    trip(fragile)
    clock.advance(COOLDOWN)
    assert len(claim(fragile, 10)) == 1
    assert claim(fragile, 10) == []
    clock.advance(COOLDOWN - 1)
    assert claim(fragile, 10) == []


@pytest.mark.promise(3)
def test_of_several_machines_only_one_gets_the_trial(make_store, clock):
    one, other = make_store(), make_store()
    gate(one, "source:a", trip_after=1, cooldown_us=COOLDOWN)
    put(one, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(5)))
    settle(one, troubled(claim_one(one)))
    clock.advance(COOLDOWN)
    assert len(claim(one, 5)) + len(claim(other, 5)) == 1


@pytest.mark.promise(10)
def test_a_trial_that_succeeds_opens_the_gate_wide(fragile, clock):
    trip(fragile)
    clock.advance(COOLDOWN)
    settle(fragile, done(claim_one(fragile)))
    assert kinds(fragile) == ["gate_tripped", "gate_recovered"]
    assert len(claim(fragile, 10)) == 10


@pytest.mark.promise(10)
def test_a_trial_that_fails_closes_the_gate_for_another_cooldown(fragile, clock):
    trip(fragile)
    clock.advance(COOLDOWN)
    settle(fragile, troubled(claim_one(fragile)))
    clock.advance(COOLDOWN - 1)
    assert claim(fragile, 10) == []
    clock.advance(1)
    assert len(claim(fragile, 10)) == 1


@pytest.mark.promise(10)
@pytest.mark.parametrize(
    "neither",
    [failed, lambda task: Settlement.hand_back(task, reason="stopping")],
    ids=["404", "handed back"],
)
def test_a_trial_that_says_nothing_of_the_source_is_followed_by_another(fragile, clock, neither):
    trip(fragile)
    clock.advance(COOLDOWN)
    settle(fragile, neither(claim_one(fragile)))
    clock.advance(COOLDOWN)
    assert len(claim(fragile, 10)) == 1


@pytest.mark.promise(10)
def test_a_task_that_is_simply_gone_does_not_count_against_the_source(fragile):
    for _ in range(5):
        settle(fragile, failed(claim_one(fragile)))
    assert gate_row(fragile, "source:a")["failures"] == 0


def test_recovery_wakes_the_lanes_that_slept(store, clock):
    gate(store, "source:a", trip_after=1, cooldown_us=COOLDOWN)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(30)))
    settle(store, troubled(claim_one(store)))
    assert claim(store, 50) == []
    clock.advance(COOLDOWN)
    settle(store, done(claim_one(store)))
    assert len(claim(store, 50)) == 28 + 1


def test_a_test_by_hand_may_trip_or_mend_the_breaker(fragile):
    for _ in range(3):
        sources.judge_source(fragile, "source:a", "no answer")
    assert claim(fragile, 5) == []
    sources.judge_source(fragile, "source:a", None)
    assert len(claim(fragile, 5)) == 5


def test_resuming_forgets_the_failures(fragile):
    trip(fragile)
    sources.resume(fragile, "source:a")
    assert len(claim(fragile, 10)) == 10


@pytest.mark.promise(4)
def test_a_breaker_that_lets_go_leaves_no_late_timer_behind(store, clock):
    gate(store, "source:a", slots=5, interval_us=SECOND, burst=2, trip_after=1, cooldown_us=COOLDOWN)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(5)))
    bad, good = claim(store, 5)
    settle(store, troubled(bad))
    assert claim(store, 5) == []
    store.turn([done(good)], 0, 1)
    clock.advance(SECOND)
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(5)
@pytest.mark.parametrize("trip_after", [4, None])
def test_raising_the_number_of_failures_wakes_who_may_go(fragile, trip_after):
    trip(fragile)
    assert claim(fragile, 5) == []
    sources.set_limits(fragile, "source:a", GateLimits(trip_after=trip_after, cooldown_us=COOLDOWN))
    assert len(claim(fragile, 5)) == 5


@pytest.mark.promise(10)
def test_a_breaker_that_would_have_tripped_anyway_stays_closed(fragile):
    trip(fragile)
    sources.set_limits(fragile, "source:a", GateLimits(trip_after=2, cooldown_us=COOLDOWN))
    assert claim(fragile, 5) == []
