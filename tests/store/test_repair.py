import pytest

from tests.harness.costs import plans, scans
from tests.harness.databases import memory_database
from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.tasks import change, claim, claim_one, done, entry, events, put, rows, settle
from thresher.core.clock import HOUR, MINUTE, SECOND
from thresher.engine.chores import repair_counters
from thresher.store import permits, sources
from thresher.store.repair import repair, repair_active
from thresher.store.workers import begin_round


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
    assert f"counted {wrong} tasks in flight, but 2 are running" in sentence
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
    assert f"counted {wrong} tasks in flight, but 4 are running" in sentence
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
    assert "was asleep although it had work" in repair(store)[0]
    assert lane_status(store, "source:a") == "ready"
    assert len(claim(store)) == 1


@pytest.mark.promise(1)
def test_lanes_parked_at_an_open_gate_that_nobody_will_knock_at_are_woken(store):
    gate(store, "source:a", slots=1)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(3)))
    (held,) = claim(store, 5)
    settle(store, done(held))
    change(
        store,
        "update lanes set status = 'parked', parked_on = (select id from gates where name = 'source:a') where status = 'ready'",
    )
    assert claim(store, 5) == []
    assert len(repair(store)) == 1
    assert len(claim(store, 5)) == 1


def test_many_gates_are_looked_at_in_batches(store):
    for n in range(450):
        gate(store, f"source:{n}", slots=1)
    change(store, "update gates set in_flight = 1 where id % 100 = 0")
    assert len(repair(store)) == 4


@pytest.mark.promise(1)
def test_where_something_runs_or_waits_no_full_look_is_needed(busy):
    held = claim(busy, 50)
    assert repair_active(busy) == []
    change(busy, "update gates set in_flight = 9 where name = 'source:a'")  # lanes are parked there
    change(busy, "update gates set in_flight = 0 where name = 'source:b'")  # tasks run behind it
    assert len(repair_active(busy)) == 2
    change(busy, "update gates set in_flight = 9 where name = 'source:a'")
    settle(busy, *(done(task) for task in held))
    assert claim(busy, 50) == []
    assert len(repair_active(busy)) == 1
    assert len(claim(busy, 50)) == 2


@pytest.mark.promise(4)
def test_a_repair_does_not_read_what_is_idle(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    gate(store, "source:a", slots=1)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(3)))
    claim(store, 5)
    found = plans(store, monkeypatch, lambda: repair_active(store))
    assert scans(found, but=("permits",)) == {}
    database.close()


@pytest.mark.promise(4)
def test_one_worker_repairs_for_all(make_store, clock):
    stores = [make_store() for _ in range(3)]
    gate(stores[0], "source:a", slots=1)

    def rounds():
        change(stores[0], "update gates set in_flight = 1")
        found = [repair_counters(store) for store in stores]
        change(stores[0], "update gates set in_flight = 0")
        return [bool(each) for each in found]

    assert rounds() == [True, False, False]  # everything, once
    assert rounds() == [False, False, False]
    clock.advance(11 * MINUTE)
    assert rounds() == [True, False, False]
    clock.advance(-HOUR)
    assert rounds() == [True, False, False]  # a clock that was set back delays no repair


def test_a_round_is_had_by_one_and_comes_again(make_store, clock):
    one, two = make_store(), make_store()
    assert [begin_round(each, "sweep", MINUTE) for each in (one, two, one)] == [True, False, False]
    clock.advance(MINUTE)
    assert [begin_round(each, "sweep", MINUTE) for each in (two, one)] == [True, False]


@pytest.mark.promise(5)
@pytest.mark.parametrize("served", [True, False])
def test_a_clock_that_goes_back_an_hour_starves_no_lane(store, clock, served):
    gate(store, "source:old")
    gate(store, "source:new")
    put(store, *(entry(gates=["source:old"]) for _ in range(3)))
    if served:
        settle(store, done(claim_one(store)))
    clock.advance(-HOUR)
    put(store, *(entry(gates=["source:new"]) for _ in range(20)))
    repair_counters(store)
    served_lanes = []
    for _ in range(4):
        tasks = claim(store, 4)
        served_lanes += [task.lane for task in tasks]
        settle(store, *(done(task) for task in tasks))
        clock.advance(SECOND)
    assert ("source:old",) in served_lanes
    assert "gate_repaired" in [kind for kind, _, _ in events(store)]


@pytest.mark.promise(5)
def test_a_low_priority_is_no_clock_that_was_set_back(store, clock):
    gate(store, "source:low")
    put(store, entry(gates=["source:low"], priority=-100))
    before = rows(store, "select position from lanes where key = 'source:low'")
    assert repair(store) == []
    assert rows(store, "select position from lanes where key = 'source:low'") == before
