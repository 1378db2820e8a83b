import pytest

from tests.harness.tasks import SOMEBODY, claim, claim_one, entry, put, retry, running, settle, state_of
from thresher.core.clock import SECOND
from thresher.core.settlement import Settlement


def test_a_delayed_task_is_claimed_at_its_time_and_not_before(store, clock):
    (task_id,) = put(store, entry(delay_us=10 * SECOND))

    clock.advance(10 * SECOND - 1)
    assert claim(store) == []
    clock.advance(1)
    assert claim_one(store).id == task_id


def test_an_empty_visit_says_when_to_come_back(store, clock):
    put(store, entry(delay_us=10 * SECOND), entry(delay_us=5 * SECOND))
    turn = store.turn([], 5, SOMEBODY)
    assert (turn.tasks, turn.more, turn.next_at) == ([], False, clock.now() + 5 * SECOND)


def test_a_delayed_task_does_not_hold_up_those_behind_it(store):
    put(store, entry(gates=["host:a.example"], delay_us=SECOND))
    (second,) = put(store, entry(gates=["host:a.example"]))
    assert claim_one(store).id == second


@pytest.mark.promise(8)
def test_a_retry_waits_for_its_delay_and_spends_a_failure(store, clock):
    task = running(store)
    settle(store, retry(task, delay_us=60 * SECOND))

    assert state_of(store, task.id) == "retryable"
    clock.advance(60 * SECOND - 1)
    assert claim(store) == []
    clock.advance(1)
    again = claim_one(store)
    assert (again.id, again.claim, again.failures) == (task.id, 2, 1)


@pytest.mark.promise(8)
def test_waiting_is_free(store, clock):
    task = running(store)
    for _ in range(10):
        settle(store, Settlement.snooze(task, delay_us=SECOND, reason="not yet"))
        clock.advance(SECOND)
        task = claim_one(store)
    assert (task.claim, task.failures, task.crashes) == (11, 0, 0)


def test_many_delayed_tasks_that_come_due_together_are_all_served(store, clock):
    put(store, *(entry(delay_us=SECOND) for _ in range(450)))
    clock.advance(SECOND)
    served = 0
    for _ in range(10):  # each visit lets a bounded number into their lanes
        served += len(claim(store, 1_000))
    assert served == 450
