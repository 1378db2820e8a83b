import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import (
    claim,
    claim_one,
    done,
    entry,
    fields_of,
    filing,
    put,
    refusals_of,
    retry,
    rows,
    running,
    settle,
    state_of,
    worker,
)
from thresher.core.clock import SECOND
from thresher.core.settlement import Settlement
from thresher.store.tasks import cancel
from thresher.store.workers import renew


def test_a_waiting_task_is_cancelled_at_once(store, clock):
    due, delayed = put(store, entry(), entry(delay_us=SECOND))
    assert cancel(store, [due, delayed], "not needed").cancelled == [due, delayed]
    fields = fields_of(store, due)
    assert (fields["state"], fields["reason"], fields["finished_at"]) == (
        "cancelled",
        "not needed",
        clock.now(),
    )
    clock.advance(SECOND)
    assert claim(store, 5) == []


def test_a_running_task_is_asked_to_stop_by_its_workers_heartbeat(store):
    anna = worker(store)
    task = running(store, worker=anna)
    assert renew(store, anna).cancelling == frozenset()
    assert cancel(store, [task.id], "not needed").asked == [task.id]
    assert renew(store, anna).cancelling == {(task.id, task.claim)}
    settle(store, Settlement.cancelled(task, reason="not needed"))
    assert state_of(store, task.id) == "cancelled"


def test_a_running_task_that_would_come_back_is_cancelled_instead(store):
    gate(store, "source:a", slots=1)
    task = running(store, entry(gates=["source:a"]))
    cancel(store, [task.id], "not needed")
    settle(store, retry(task))
    assert (state_of(store, task.id), gate_row(store, "source:a")["in_flight"]) == ("cancelled", 0)
    assert claim(store, 5) == []


def test_a_running_task_that_finishes_first_has_finished(store):
    task = running(store)
    cancel(store, [task.id], "not needed")
    settle(store, done(task, records=(filing(),)))
    assert state_of(store, task.id) == "succeeded"


@pytest.mark.promise(19)
def test_a_cancelled_task_stays_at_the_stage_where_it_was_stopped_and_bears_nothing(store):
    task = running(store)
    cancel(store, [task.id], "not needed")
    settle(
        store,
        Settlement.advance(
            task, stage="extract", gates=(), checkpoint='{"page":7}', children=(entry(key="child"),)
        ),
    )
    fields = fields_of(store, task.id)
    assert (fields["state"], fields["stage"], fields["checkpoint"]) == ("cancelled", "fetch", None)
    assert rows(store, "select count(*) from tasks") == [(1,)]
    assert [(each["kind"], each["rule"]) for each in refusals_of(store, task.id)] == [("page", "cancelled")]


def test_what_has_ended_stays_as_it_is(store):
    task = running(store)
    settle(store, done(task))
    found = cancel(store, [task.id], "too late")
    assert (found.cancelled, found.asked, state_of(store, task.id)) == ([], [], "succeeded")


def test_cancelling_the_only_task_of_a_lane_does_not_hold_up_its_neighbours(store):
    gate(store, "source:a", slots=1)
    held = running(store, entry(gates=["source:a"]))
    (first,) = put(store, entry(gates=["source:a", "host:1.example"]))
    (second,) = put(store, entry(gates=["source:a", "host:2.example"]))
    assert claim(store, 5) == []
    cancel(store, [first], "not needed")
    settle(store, done(held))
    assert claim_one(store).id == second


def test_a_task_cancelled_while_it_waits_for_another_try_no_longer_shows_the_error(store):
    (task_id,) = put(store, entry())
    settle(store, retry(claim_one(store)))
    cancel(store, [task_id], "not needed")
    fields = fields_of(store, task_id)
    assert (fields["reason"], fields["error"]) == ("not needed", None)
