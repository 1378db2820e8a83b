import pytest

from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.tasks import change, claim, done, entry, events, put, settle
from thresher.core.clock import SECOND
from thresher.store import permits, sources
from thresher.store.repair import repair


@pytest.fixture
def busy(store):
    gate(store, "source:a", slots=2)
    gate(store, "source:b", slots=5)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(5)))
    put(store, *(entry(gates=["source:b"]) for _ in range(3)))
    return store


def test_a_queue_in_order_needs_no_repair(busy):
    held = claim(busy, 50)
    assert repair(busy) == []
    settle(busy, *(done(task) for task in held))
    assert (repair(busy), events(busy)) == ([], [])


@pytest.mark.promise(3)
@pytest.mark.parametrize("wrong", [0, 1, 7])
def test_a_counter_that_drifted_is_counted_anew_and_reported(busy, wrong):
    claim(busy, 50)
    change(busy, "update gates set in_flight = :wrong where name = 'source:a'", wrong=wrong)
    (sentence,) = repair(busy)
    assert f"counted {wrong} in flight; 2 are running" in sentence
    assert gate_row(busy, "source:a")["in_flight"] == 2
    assert [kind for kind, _, _ in events(busy)] == ["gate_repaired"]
    assert repair(busy) == []


@pytest.mark.promise(3)
@pytest.mark.parametrize("wrong", [0, 2, 9])
def test_requests_outside_their_lane_are_counted_with_the_running_tasks(busy, wrong):
    claim(busy, 50)
    permit = permits.reserve(busy, ["source:b"], claim=None, holder=None, expires_us=SECOND)
    assert repair(busy) == []
    change(busy, "update gates set in_flight = :wrong where name = 'source:b'", wrong=wrong)
    (sentence,) = repair(busy)
    assert f"counted {wrong} in flight; 4 are running" in sentence
    permits.release(busy, permit)
    assert (gate_row(busy, "source:b")["in_flight"], repair(busy)) == (3, [])


@pytest.mark.promise(1)
def test_a_counter_that_drifted_upwards_no_longer_keeps_work_asleep(busy):
    held = claim(busy, 50)
    change(busy, "update gates set in_flight = 9 where name = 'source:a'")
    settle(busy, *(done(task) for task in held))
    assert claim(busy, 50) == []
    repair(busy)
    assert len(claim(busy, 50)) == 2


@pytest.mark.promise(1)
@pytest.mark.parametrize("timer", [None, 2**52])
def test_a_timer_that_was_lost_or_is_late_is_set_anew(store, clock, timer):
    gate(store, "source:a")
    put(store, entry(gates=["source:a"]))
    sources.pause(store, "source:a", SECOND, "maintenance")
    assert claim(store) == []
    change(store, "update gates set wake_at = :timer", timer=timer)
    assert len(repair(store)) == 1
    clock.advance(SECOND)
    assert len(claim(store)) == 1


@pytest.mark.promise(1)
def test_a_lane_that_sleeps_on_work_is_woken(store):
    gate(store, "source:a")
    put(store, entry(gates=["source:a"]))
    change(store, "update lanes set status = 'idle'")
    assert claim(store) == []
    assert "slept although it had work" in repair(store)[0]
    assert lane_status(store, "source:a") == "ready"
    assert len(claim(store)) == 1


@pytest.mark.promise(1)
def test_lanes_parked_at_an_open_gate_that_nobody_will_knock_at_are_woken(store):
    gate(store, "source:a", slots=1)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(3)))
    (held,) = claim(store, 5)
    settle(store, done(held))
    change(store, "update lanes set status = 'parked', parked_on = (select id from gates where name = 'source:a') where status = 'ready'")
    assert claim(store, 5) == []
    assert len(repair(store)) == 1
    assert len(claim(store, 5)) == 1


def test_many_gates_are_looked_at_in_batches(store):
    for n in range(450):
        gate(store, f"source:{n}", slots=1)
    change(store, "update gates set in_flight = 1 where id % 100 = 0")
    assert len(repair(store)) == 4
