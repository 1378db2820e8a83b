import pytest

from tests.harness.gates import gate
from tests.harness.tasks import SOMEBODY, claim, done, entry, put, rows, settle


def lanes_of(store, number, tasks):
    names = [gate(store, f"source:{n}") for n in range(number)]
    put(store, *(entry(gates=[name], payload={"lane": name}) for name in names for _ in range(tasks)))
    return names


def served(store, clock, limit=1):
    clock.advance(1)
    return [task.payload["lane"] for task in claim(store, limit)]


@pytest.mark.promise(5)
def test_no_lane_is_served_twice_before_every_other_is_served_once(make_store, clock):
    store = make_store(queue__quantum=1)
    names = lanes_of(store, 7, 12)
    order = [served(store, clock)[0] for _ in range(7 * 12)]
    for start in range(len(order) - 7):
        assert set(order[start : start + 7]) == set(names)


@pytest.mark.promise(5)
def test_a_newcomer_is_served_in_the_next_round_however_long_the_others_queue(make_store, clock):
    store = make_store(queue__quantum=1)
    lanes_of(store, 5, 50)
    for _ in range(20):
        served(store, clock)
    gate(store, "source:new")
    put(store, entry(gates=["source:new"], payload={"lane": "source:new"}))
    assert "source:new" in [served(store, clock)[0] for _ in range(6)]


@pytest.mark.promise(5)
def test_a_lane_that_went_idle_gains_nothing_by_coming_back(make_store, clock):
    store = make_store(queue__quantum=1)
    lanes_of(store, 2, 20)
    gate(store, "source:c")
    order = []
    for _ in range(12):
        put(store, entry(gates=["source:c"], payload={"lane": "source:c"}, priority=5))
        order += served(store, clock)
    assert all(order.count(name) == 4 for name in ("source:0", "source:1", "source:c"))


def test_a_lane_may_start_a_quantum_before_the_next_has_its_turn(make_store, clock):
    store = make_store(queue__quantum=3)
    lanes_of(store, 4, 10)
    assert served(store, clock, 6) == ["source:0"] * 3 + ["source:1"] * 3
    assert served(store, clock, 6) == ["source:2"] * 3 + ["source:3"] * 3


def test_a_lone_lane_fills_the_whole_hand(make_store, clock):
    store = make_store(queue__quantum=2)
    lanes_of(store, 1, 30)
    assert len(store.turn([], 20, SOMEBODY).tasks) == 20


@pytest.mark.parametrize("limit", [1, 2, 7, 40])
def test_a_claim_never_brings_more_than_was_asked_for(store, limit):
    lanes_of(store, 5, 6)
    put(store, *(entry() for _ in range(20)))
    assert len(store.turn([], limit, SOMEBODY).tasks) == limit


def test_nothing_is_claimed_when_nothing_is_wanted(store):
    put(store)
    assert store.turn([], 0, SOMEBODY).tasks == []


@pytest.mark.promise(5)
def test_however_many_tasks_need_no_gate_a_lane_behind_one_has_its_turn_in_the_next_visit(make_store, clock):
    store = make_store(queue__quantum=1)
    put(store, *(entry() for _ in range(600)))
    claim(store, 40)
    gate(store, "source:new")
    put(store, entry(gates=["source:new"], payload={"lane": "source:new"}))
    clock.advance(1)
    seen = [task.payload.get("lane") for _ in range(8) for task in claim(store, 40)]
    assert "source:new" in seen


def test_a_lane_without_gates_fills_the_hand_and_the_next_claim_finds_another(make_store, clock):
    store = make_store(queue__quantum=1)
    put(store, *(entry() for _ in range(64)))  # eight in each of the eight lanes that such tasks are dealt to
    assert len(claim(store, 4)) == 4
    assert len({row[0] for row in rows(store, "select lane_id from tasks where state = 'running'")}) == 1


@pytest.mark.promise(5)
def test_a_slow_gate_with_many_lanes_serves_them_in_turn(make_store, clock):
    store = make_store(queue__quantum=1)
    gate(store, "source:slow", slots=1)
    names = [gate(store, f"source:{n}") for n in range(5)]
    put(
        store,
        *(entry(gates=["source:slow", name], payload={"lane": name}) for name in names for _ in range(4)),
    )
    order = []
    for _ in range(20):
        clock.advance(1)
        (task,) = claim(store, 1)
        order.append(task.payload["lane"])
        settle(store, done(task))
    for start in range(15):
        assert set(order[start : start + 5]) == set(names)
