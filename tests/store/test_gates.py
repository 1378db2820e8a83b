import pytest

from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.tasks import (
    SOMEBODY,
    claim,
    claim_one,
    done,
    entry,
    failed,
    filing,
    put,
    running,
    settle,
    troubled,
)
from thresher.core.clock import SECOND
from thresher.core.gate import NEWS_US
from thresher.store.repair import repair


@pytest.mark.promise(3)
def test_no_more_run_behind_a_gate_than_it_has_slots(store):
    gate(store, "source:a", slots=3)
    put(store, *(entry(gates=["source:a"]) for _ in range(10)))
    held = claim(store, 10)
    assert (len(held), claim(store, 10)) == (3, [])

    settle(store, done(held[0]), done(held[1]))
    assert len(claim(store, 10)) == 2
    assert gate_row(store, "source:a")["in_flight"] == 3


@pytest.mark.promise(3)
def test_slots_hold_across_machines_and_lanes(make_store):
    one, other = make_store(), make_store()
    gate(one, "source:a", slots=3)
    put(one, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(10)))
    assert len(claim(one, 2)) + len(claim(other, 10)) == 3
    assert claim(one, 10) == []


@pytest.mark.promise(3)
def test_a_rate_lets_a_burst_pass_and_then_one_per_interval(store, clock):
    gate(store, "source:a", interval_us=SECOND, burst=3)
    put(store, *(entry(gates=["source:a"]) for _ in range(10)))
    assert len(claim(store, 10)) == 3
    clock.advance(SECOND - 1)
    assert claim(store, 10) == []
    clock.advance(1)
    assert len(claim(store, 10)) == 1
    clock.advance(5 * SECOND)
    assert len(claim(store, 10)) == 3


@pytest.mark.promise(3)
def test_a_task_passes_only_when_all_its_gates_are_open(store, clock):
    gate(store, "source:slots", slots=1)
    gate(store, "source:rate", interval_us=SECOND)
    put(store, *(entry(gates=["source:slots", "source:rate"]) for _ in range(3)))

    first = claim_one(store)
    clock.advance(SECOND)
    assert claim(store) == []  # the rate would allow it, the slot does not
    settle(store, done(first))
    second = claim_one(store)
    settle(store, done(second))
    assert claim(store) == []  # the slot would allow it, the rate does not
    clock.advance(SECOND)
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(4)
def test_a_blocked_lane_does_not_block_those_behind_it(store):
    gate(store, "source:full", slots=1)
    gate(store, "source:free")
    put(store, *(entry(gates=["source:full"]) for _ in range(50)))
    put(store, *(entry(gates=["source:free"]) for _ in range(5)))
    assert len(claim(store, 20)) == 6


@pytest.mark.promise(4)
def test_a_visit_leaves_blocked_lanes_parked_and_does_not_meet_them_again(store):
    gate(store, "source:full", slots=1)
    for n in range(20):
        put(store, entry(gates=["source:full", f"host:{n}.example"]))
    held = claim_one(store)
    assert claim(store, 5) == []
    assert [lane_status(store, "source:full", f"host:{n}.example") for n in range(20)].count("parked") == 19
    turn = store.turn([], 5, SOMEBODY)
    assert (turn.more, turn.next_at) == (False, None)
    settle(store, done(held))
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(4)
def test_a_gate_that_frees_one_slot_wakes_one_lane(store):
    gate(store, "source:full", slots=1)
    for n in range(20):
        put(store, entry(gates=["source:full", f"host:{n}.example"]))
    held = claim_one(store)
    assert claim(store, 5) == []
    settle(store, done(held))
    statuses = [lane_status(store, "source:full", f"host:{n}.example") for n in range(20)]
    assert (statuses.count("ready"), statuses.count("parked")) == (1, 18)


@pytest.mark.promise(1)
def test_a_freed_slot_is_passed_on_when_the_lane_it_woke_cannot_use_it(store):
    """The baton: a lane woken for one gate may find another closed; the next one in line must not sleep for
    it."""
    gate(store, "source:shared", slots=1)
    gate(store, "source:a", slots=1)
    gate(store, "source:b")
    put(store, entry(gates=["source:a"]))
    put(store, entry(gates=["source:shared"]))
    held_a, held_shared = claim(store, 2)
    put(store, entry(gates=["source:shared", "source:a"]))
    assert claim(store, 5) == []
    put(store, entry(gates=["source:shared", "source:b"], payload={"lane": "b"}))
    assert claim(store, 5) == []

    settle(store, done(held_shared))
    assert [task.payload["lane"] for task in claim(store, 5)] == ["b"]
    settle(store, done(held_a))


@pytest.mark.promise(4)
def test_tasks_without_gates_wait_for_nothing(store):
    put(store, *(entry() for _ in range(100)))
    assert len(claim(store, 100)) == 100


def test_a_gate_without_slots_is_not_counted(store):
    gate(store, "source:a", interval_us=1)
    put(store, entry(gates=["source:a"]))
    task = claim_one(store)
    assert gate_row(store, "source:a")["in_flight"] == 0
    settle(store, done(task))
    assert gate_row(store, "source:a")["in_flight"] == 0


@pytest.mark.promise(20)
@pytest.mark.parametrize("limits", [{"slots": 1}, {"interval_us": 1}, {}])
@pytest.mark.parametrize("brings", [{}, {"records": (filing(),)}])  # the fast way to settle, and the other
def test_a_gate_knows_when_a_task_last_went_well_behind_it(store, clock, limits, brings):
    gate(store, "source:a", trip_after=5, **limits)
    assert gate_row(store, "source:a")["last_success"] == 0
    settle(store, done(running(store, entry(gates=["source:a"])), **brings))
    first = gate_row(store, "source:a")["last_success"]
    assert first == clock.now()
    for end in (failed, troubled):
        clock.advance(NEWS_US)
        settle(store, end(running(store, entry(gates=["source:a"]))))
        assert gate_row(store, "source:a")["last_success"] == first
    clock.advance(NEWS_US)
    settle(store, done(running(store, entry(gates=["source:a"])), **brings))
    assert gate_row(store, "source:a")["last_success"] == clock.now()


@pytest.mark.promise(20)
def test_a_gate_that_is_not_counted_is_written_once_a_minute_and_not_for_every_success(store, clock):
    gate(store, "source:a")
    settle(store, done(running(store, entry(gates=["source:a"]))))
    first = clock.now()
    clock.advance(NEWS_US - 1)
    settle(store, done(running(store, entry(gates=["source:a"]))))
    assert gate_row(store, "source:a")["last_success"] == first
    clock.advance(-NEWS_US)  # the clock was set back: what is in the future is no news
    settle(store, done(running(store, entry(gates=["source:a"]))))
    assert gate_row(store, "source:a")["last_success"] == clock.now()


@pytest.mark.promise(3)
def test_a_clock_set_back_closes_a_rate_no_longer_than_a_full_bucket(store, clock):
    gate(store, "source:a", interval_us=SECOND, burst=2)
    put(store, *(entry(gates=["source:a"]) for _ in range(10)))
    assert len(claim(store, 10)) == 2
    clock.advance(-3_600 * SECOND)
    assert claim(store, 10) == []
    repair(store)  # the timer was set by the old clock; the safety net moves it to the new one
    clock.advance(2 * SECOND)
    assert len(claim(store, 10)) == 2


@pytest.mark.promise(3)
def test_a_clock_set_back_while_nobody_waits_does_not_keep_the_rate_shut_either(store, clock):
    gate(store, "source:a", interval_us=SECOND, burst=2)
    put(store, entry(gates=["source:a"]), entry(gates=["source:a"]))
    assert len(claim(store, 10)) == 2
    clock.advance(-3_600 * SECOND)
    put(store, *(entry(gates=["source:a"]) for _ in range(10)))
    started = 0
    for _ in range(6):
        started += len(claim(store, 10))
        clock.advance(SECOND)
    assert 3 <= started <= 5
