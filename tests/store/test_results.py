"""What a task hands back is written with its settlement, waited for with a limit, and forgotten with its
task."""

import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import claim_one, done, entry, failed, filing, put, rows, running, settle
from thresher.admin.tasks import Waiter, show_task, status_of
from thresher.config.settings import Settings
from thresher.core.app import App
from thresher.core.clock import DAY
from thresher.core.context import Context
from thresher.core.decide import settle_outcome
from thresher.core.errors import InvalidPayload, UnknownName
from thresher.core.outcome import Done, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.settlement import Settlement
from thresher.core.task import State
from thresher.engine.registry import Registry
from thresher.store.prune import prune
from thresher.store.tasks import cancel

SOON = 30.0


async def fetch(ctx: Context) -> Outcome:
    return Done()


REGISTRY = Registry(
    [App("test", pipelines=(Pipeline("page", Stage(fetch)),))], Settings({"queue.result_limit": 256})
)


def settled(task, result) -> Settlement:
    return settle_outcome(task, Done(result=result), REGISTRY)


@pytest.mark.promise(2)
@pytest.mark.parametrize("result", [{"pages": 3, "title": "“Grüße”"}, [1, 2.5, None], "text", 0, False, {}])
def test_whatever_json_a_task_returns_is_what_its_caller_gets(store, result):
    task = running(store)
    settle(store, settled(task, result))
    found = status_of(store, task.id)
    assert (found.state, found.result, found.ended, found.succeeded) == (State.SUCCEEDED, result, True, True)
    assert show_task(store, task.id).result == result


def test_a_task_without_a_result_is_settled_as_plainly_as_before(store):
    task = running(store)
    plain = settled(task, None)
    assert plain.is_plain
    assert not settled(task, 0).is_plain
    settle(store, plain)
    assert rows(store, "select * from results") == []
    assert status_of(store, task.id).result is None


@pytest.mark.promise(2)
def test_a_result_behind_a_fence_that_was_missed_is_not_written(store):
    task = running(store)
    settle(store, Settlement.hand_back(task, reason="its worker was stopped"))
    again = claim_one(store)
    assert store.settle([settled(task, "stale")]) != []
    settle(store, settled(again, "fresh"))
    assert rows(store, "select task_id, value from results") == [(task.id, '"fresh"')]


def test_a_result_and_records_of_many_tasks_are_settled_together(store):
    tasks = [running(store) for _ in range(3)]
    settle(store, *(done(task, result=str(n), records=(filing(f"r{n}"),)) for n, task in enumerate(tasks)))
    assert [status_of(store, task.id).result for task in tasks] == [0, 1, 2]
    assert len(rows(store, "select 1 from records")) == 3


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("x" * 300, r"302 bytes; the limit is 256 .setting queue.result_limit"),
        ({1: "a"}, "not JSON"),
        (2**80, "not JSON"),
        ("\ud800", "not JSON"),
    ],
)
def test_a_result_that_cannot_be_kept_is_refused_with_the_reason(store, result, says):
    with pytest.raises(InvalidPayload, match=rf"result of page\.fetch .*{says}"):
        settled(running(store), result)


@pytest.mark.promise(18)
def test_a_result_goes_with_its_task(store, clock):
    settle(store, settled(running(store), "old"))
    clock.advance(20 * DAY)
    kept = running(store)
    settle(store, settled(kept, "recent"))
    clock.advance(20 * DAY)
    prune(store)
    assert rows(store, "select task_id from results") == [(kept.id,)]


def test_waiting_for_a_task_that_has_ended_takes_one_look(store):
    for end, state in ((done, "succeeded"), (failed, "failed")):
        task = running(store)
        settle(store, end(task))
        assert Waiter(store).wait(task.id, 0).state == state
    (task_id,) = put(store)
    cancel(store, [task_id], "not wanted")
    found = Waiter(store).wait(task_id, 0)
    assert (found.state, found.reason, found.succeeded) == ("cancelled", "not wanted", False)


def test_waiting_has_a_limit_and_says_how_the_task_stands(store):
    (task_id,) = put(store, entry(delay_us=DAY))
    with pytest.raises(TimeoutError, match=f"task {task_id} is still pending"):
        Waiter(store).wait(task_id, 0.02)
    with pytest.raises(UnknownName, match="no task 4711"):
        Waiter(store).wait(4711, 0)


@with_processes
@pytest.mark.promise(20)
def test_many_wait_at_once_and_all_hear_of_the_end(make_store):
    worker, asker = make_store(), make_store()
    tasks = [running(worker) for _ in range(4)]
    waiter, found = Waiter(asker), {}

    def wait(task_id: int) -> None:
        found[task_id] = waiter.wait(task_id, SOON).result

    threads = [threading.Thread(target=wait, args=(task.id,)) for task in tasks]
    for thread in threads:
        thread.start()
    for task in reversed(tasks):
        settle(worker, settled(task, f"result of {task.id}"))
    for thread in threads:
        thread.join(SOON)
    assert found == {task.id: f"result of {task.id}" for task in tasks}


@with_processes
def test_a_result_is_announced_to_who_listens(make_store):
    worker, asker = make_store(), make_store()
    task = running(worker)
    asker.backend.listen(0.001)
    while asker.backend.listen(0.2):
        pass
    settle(worker, settled(task, "here"))
    assert asker.backend.listen(SOON if asker.backend.dialect.name == "postgres" else 0.001)


def test_a_transaction_that_committed_wakes_workers(store):
    while store.backend.listen(0.1):
        pass
    with store.transaction() as transaction:
        transaction.enqueue([entry()])
    assert store.backend.listen(SOON)
