import pytest

from tests.harness.tasks import (
    attempts_of,
    claim,
    claim_one,
    done,
    endings_of,
    entry,
    failed,
    fields_of,
    put,
    retry,
    running,
    settle,
    state_of,
)
from thresher.core.settlement import Settlement
from thresher.store.tasks import cancel, revive


@pytest.mark.promise(20)
def test_a_failed_task_can_be_sent_back_with_a_fresh_budget_and_keeps_its_history(store):
    task = running(store)
    settle(store, retry(task))
    settle(store, failed(claim_one(store)))
    assert revive(store, [task.id]) == [task.id]

    again = claim_one(store)
    assert (again.id, again.claim, again.failures, again.crashes) == (task.id, 3, 0, 0)
    settle(store, done(again))
    assert endings_of(store, task.id) == ["retry", "failed", "done"]


@pytest.mark.promise(20)
@pytest.mark.parametrize(
    ("ending", "said"),
    [("failed", ("404", "Gone")), ("filtered", ("too far", None)), ("skipped", ("no need", None))],
)
def test_the_attempt_a_task_ended_by_is_told_before_and_after_it_is_sent_back(store, ending, said):
    task = running(store)
    answer = {
        "failed": failed(task),
        "filtered": Settlement.filtered(task, reason="too far"),
        "skipped": Settlement.skipped(task, reason="no need"),
    }
    settle(store, answer[ending])
    (before,) = attempts_of(store, task.id)
    assert (before["claim"], before["stage"], before["ending"], before["reason"], before["error"]) == (
        1,
        task.stage,
        ending,
        *said,
    )
    assert before["started_at"] <= before["ended_at"]
    revive(store, [task.id])
    assert attempts_of(store, task.id) == [before]
    settle(store, done(claim_one(store)))
    assert attempts_of(store, task.id)[0] == before
    assert endings_of(store, task.id) == [ending, "done"]


def test_a_task_that_stays_ended_keeps_its_attempt_once(store):
    task = running(store, entry(key="a"))
    settle(store, failed(task))
    put(store, entry(key="a"))
    assert revive(store, [task.id]) == []
    assert endings_of(store, task.id) == ["failed"]


def test_a_task_that_was_handed_back_and_then_cancelled_has_one_attempt(store):
    task = running(store)
    settle(store, Settlement.hand_back(task, reason="stopped"))
    cancel(store, [task.id], "not needed")
    assert endings_of(store, task.id) == ["handed_back"]


def test_a_cancelled_task_that_is_revived_is_no_longer_being_cancelled(store):
    task = running(store)
    cancel(store, [task.id], "not needed")
    settle(store, Settlement.cancelled(task, reason="not needed"))
    revive(store, [task.id])
    settle(store, retry(claim_one(store)))
    assert state_of(store, task.id) == "retryable"


def test_what_succeeded_or_still_lives_is_not_revived(store):
    ended = running(store)
    settle(store, done(ended))
    (waiting,) = put(store)
    assert revive(store, [ended.id, waiting]) == []


def test_a_task_whose_key_is_taken_stays_ended(store):
    task = running(store, entry(key="a"))
    settle(store, failed(task))
    put(store, entry(key="a"))
    assert revive(store, [task.id]) == []
    assert fields_of(store, task.id)["state"] == "failed"


def test_of_two_ended_tasks_with_one_key_the_newer_is_revived(store):
    ids = []
    for _ in range(3):
        task = running(store, entry(key="a"))
        settle(store, failed(task))
        ids.append(task.id)
    assert revive(store, ids) == [ids[-1]]
    assert len(claim(store, 5)) == 1
