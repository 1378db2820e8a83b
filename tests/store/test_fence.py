import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import (
    LEASE_US,
    attempts_of,
    claim_one,
    done,
    endings_of,
    entry,
    events,
    fields_of,
    filing,
    put,
    retry,
    rows,
    running,
    settle,
    state_of,
    told_to_wait,
    worker,
)
from thresher.core.settlement import Settlement
from thresher.store.workers import reap


@pytest.fixture
def zombie(store, clock):
    """A task whose first worker was lost and whose second one runs: (the old claim, the new claim)."""
    gate(store, "source:a", slots=1)
    put(store, entry(gates=["source:a"]))
    old = claim_one(store, worker(store))
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 1
    return old, claim_one(store)


@pytest.mark.promise(2)
@pytest.mark.parametrize(
    "ending",
    [
        done,
        retry,
        lambda task: Settlement.hand_back(task, reason="stopping"),
        lambda task: done(task, records=(filing(),), children=(entry(key="child"),)),
        lambda task: told_to_wait(task, 1_000_000),
    ],
    ids=["done", "retry", "hand back", "records and children", "429"],
)
def test_a_worker_that_lost_its_claim_writes_nothing(store, zombie, ending):
    old, new = zombie
    before = (fields_of(store, new.id), attempts_of(store, new.id), gate_row(store, "source:a"))

    stale = ending(old)
    assert store.settle([stale]) == [stale]

    assert (fields_of(store, new.id), attempts_of(store, new.id), gate_row(store, "source:a")) == before
    assert rows(store, "select count(*) from records") == [(0,)]
    assert rows(store, "select count(*) from tasks") == [(1,)]
    assert events(store)[-1] == ("stale_settlement", new.id, None)


@pytest.mark.promise(2)
def test_the_hot_path_refuses_a_lost_claim_too(store, zombie):
    old, new = zombie
    turn = store.turn([done(old)], 5, 1)
    assert (turn.tasks, turn.stale) == ([], [done(old)])
    assert (state_of(store, new.id), gate_row(store, "source:a")["in_flight"]) == ("running", 1)
    assert events(store)[-1] == ("stale_settlement", new.id, None)


@pytest.mark.promise(2)
def test_the_new_owner_settles_as_if_nothing_had_been(store, zombie):
    old, new = zombie
    store.settle([done(old)])
    settle(store, done(new))
    assert (state_of(store, new.id), endings_of(store, new.id)) == ("succeeded", ["crashed", "done"])
    assert gate_row(store, "source:a")["in_flight"] == 0


@pytest.mark.promise(2)
def test_a_settlement_delivered_twice_counts_once(store):
    task = running(store)
    settle(store, done(task))
    assert store.settle([done(task)]) == [done(task)]
    assert endings_of(store, task.id) == ["done"]


@pytest.mark.promise(2)
def test_the_slots_of_a_gate_come_back_once_however_often_a_settlement_is_sent(store):
    gate(store, "source:a", slots=2)
    put(store, entry(gates=["source:a"]), entry(gates=["source:a"]))
    one, _ = claim_one(store), claim_one(store)
    for _ in range(3):
        store.turn([done(one)], 0, 1)
    assert gate_row(store, "source:a")["in_flight"] == 1


@pytest.mark.promise(2)
def test_a_stale_settlement_does_not_take_its_neighbours_with_it(store, zombie):
    old, _ = zombie
    other = running(store, entry(key="other"))
    assert store.settle([done(old), done(other)]) == [done(old)]
    assert state_of(store, other.id) == "succeeded"


@pytest.mark.promise(2)
def test_the_fence_rises_with_every_claim(store):
    task = running(store)
    claims = []
    for _ in range(5):
        claims.append(task.claim)
        settle(store, retry(task))
        task = claim_one(store)
    assert claims == [1, 2, 3, 4, 5]


@pytest.mark.promise(20)
def test_every_attempt_is_a_row_with_its_worker_times_and_reason(store, clock):
    anna = worker(store)
    began = clock.now()
    task = running(store, worker=anna)
    clock.advance(7)
    settle(store, retry(task))
    (attempt,) = attempts_of(store, task.id)
    assert attempt == {
        "claim": 1,
        "stage": "fetch",
        "worker_id": anna,
        "started_at": began,
        "ended_at": began + 7,
        "ending": "retry",
        "reason": "no answer",
        "error": "TimedOut",
    }
