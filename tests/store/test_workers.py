import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import (
    LEASE_US,
    claim,
    claim_one,
    done,
    endings_of,
    entry,
    events,
    fields_of,
    put,
    rows,
    running,
    settle,
    state_of,
    worker,
)
from thresher.core.clock import HOUR, MINUTE
from thresher.core.settlement import Settlement
from thresher.store import workers
from thresher.store.workers import held, reap, renew, stop


@pytest.mark.promise(1)
def test_the_tasks_of_a_lost_worker_go_back_to_waiting(store, clock):
    gate(store, "source:a", slots=3)
    put(store, *(entry(gates=["source:a"]) for _ in range(3)))
    held_by_anna = claim(store, 3, worker(store))
    clock.advance(LEASE_US + 1)

    assert reap(store, 100) == 3
    assert [kind for kind, _, _ in events(store)] == ["worker_lost"]
    assert gate_row(store, "source:a")["in_flight"] == 0
    again = claim(store, 5)
    assert {task.id for task in again} == {task.id for task in held_by_anna}
    assert all((task.crashes, task.failures) == (1, 0) for task in again)


def test_a_worker_that_renews_in_time_keeps_its_tasks(store, clock):
    anna = worker(store)
    running(store, worker=anna)
    for _ in range(5):
        clock.advance(LEASE_US - 1)
        assert renew(store, anna).alive
        assert reap(store, 100) == 0


def test_a_lease_ends_after_its_length_and_not_before(store, clock):
    running(store, worker=worker(store))
    clock.advance(LEASE_US)
    assert reap(store, 100) == 0
    clock.advance(1)
    assert reap(store, 100) == 1


@pytest.mark.promise(2)
def test_a_lost_worker_cannot_come_back(store, clock):
    anna = worker(store)
    clock.advance(LEASE_US + 1)
    reap(store, 100)
    assert not renew(store, anna).alive
    clock.advance(-LEASE_US)
    assert not renew(store, anna).alive


def test_reaping_is_bounded_and_finishes_over_several_calls(store, clock):
    put(store, *(entry() for _ in range(7)))
    claim(store, 7, worker(store))
    clock.advance(LEASE_US + 1)
    assert [reap(store, 3) for _ in range(4)] == [3, 3, 1, 0]
    assert rows(store, "select count(*) from tasks where state = 'running'") == [(0,)]
    assert [kind for kind, _, _ in events(store)] == ["worker_lost"]


@pytest.mark.promise(2)
def test_a_task_that_was_settled_while_the_reaper_looked_stays_settled(store, clock, monkeypatch):
    anna = worker(store)
    put(store, entry(), entry())
    quick, slow = claim(store, 2, anna)
    clock.advance(LEASE_US + 1)
    crash = Settlement.crash

    def settled_in_between(task_id, *args, **kwargs):
        if task_id == quick.id:
            settle(store, done(quick))
        return crash(task_id, *args, **kwargs)

    monkeypatch.setattr(workers.Settlement, "crash", settled_in_between)
    assert reap(store, 100) == 1
    assert (state_of(store, quick.id), state_of(store, slow.id)) == ("succeeded", "pending")
    assert endings_of(store, quick.id) == ["done"]


@pytest.mark.promise(8)
def test_a_task_that_lost_its_worker_three_times_is_quarantined(store, clock):
    (task_id,) = put(store)
    for _ in range(3):
        assert claim_one(store, worker(store)).id == task_id
        clock.advance(LEASE_US + 1)
        assert reap(store, 10) == 1
        clock.advance(MINUTE)
    fields = fields_of(store, task_id)
    assert (fields["state"], fields["error"], fields["crashes"], fields["failures"]) == (
        "failed",
        "Quarantined",
        3,
        0,
    )
    assert events(store)[-1] == ("task_quarantined", task_id, None)
    assert endings_of(store, task_id) == ["crashed"] * 3
    assert claim(store) == []


@pytest.mark.promise(1)
def test_a_quarantined_task_gives_its_slot_back(store, clock):
    gate(store, "source:a", slots=1)
    put(store, entry(gates=["source:a"]), entry(gates=["source:a"]))
    for _ in range(3):
        claim_one(store, worker(store))
        clock.advance(LEASE_US + 1)
        reap(store, 10)
        clock.advance(MINUTE)
    assert gate_row(store, "source:a")["in_flight"] == 0


@pytest.mark.promise(1)
def test_a_worker_that_was_given_up_claims_nothing_and_is_told_so(store, clock):
    """It slept through its lease, woke, and wanted to claim before its heartbeat could tell it."""
    anna = worker(store)
    put(store)
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 0
    turn = store.turn([], 5, anna)
    assert (turn.tasks, turn.lost) == ([], True)
    assert len(claim(store)) == 1


@pytest.mark.promise(1)
def test_a_claim_that_crossed_with_the_loss_of_its_worker_does_not_stay_in_the_grave(store, clock):
    anna = worker(store)
    task = running(store, worker=anna)
    with store.write() as session:
        # As if the claim had been under way when the worker was given up and closed.
        session.run(
            "update workers set lost_at = :now, stopped_at = :now where id = :id",
            {"now": clock.now(), "id": anna},
        )
    assert reap(store, 10) == 1
    assert state_of(store, task.id) == "pending"


@pytest.mark.promise(1)
def test_a_worker_that_went_home_with_a_task_in_hand_does_not_keep_it(store, clock):
    anna = worker(store)
    task = running(store, worker=anna)
    stop(store, anna)
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 1
    assert state_of(store, task.id) == "pending"


@pytest.mark.promise(1)
def test_a_clock_set_back_costs_no_living_worker_its_tasks(store, clock):
    anna = worker(store)
    running(store, worker=anna)
    clock.advance(-HOUR)
    assert reap(store, 10) == 0
    assert renew(store, anna).alive


@pytest.mark.promise(1)
def test_a_worker_lost_before_the_clock_was_set_back_is_missed_within_one_lease(store, clock):
    running(store, worker=worker(store))
    clock.advance(-HOUR)
    assert reap(store, 10) == 0
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 1


def test_a_worker_can_ask_what_it_holds(store):
    anna, bert = worker(store, "anna"), worker(store, "bert")
    mine = running(store, worker=anna)
    running(store, worker=bert)
    assert held(store, anna) == {mine.id: mine.claim}


def test_a_worker_that_went_home_is_not_missed(store, clock):
    anna = worker(store)
    stop(store, anna)
    clock.advance(LEASE_US + 1)
    assert reap(store, 10) == 0
    assert events(store) == []
    assert not renew(store, anna).alive


@pytest.mark.promise(1)
def test_only_one_of_two_reapers_gives_a_task_back(make_store, clock):
    one, other = make_store(), make_store()
    put(one, *(entry() for _ in range(4)))
    claim(one, 4, worker(one))
    clock.advance(LEASE_US + 1)
    assert reap(one, 2) + reap(other, 100) + reap(one, 100) == 4
    assert rows(one, "select sum(crashes), count(*) from tasks") == [(4, 4)]
