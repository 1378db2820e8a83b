import pytest

from tests.harness.tasks import claim_one, done, entry, failed, put, retry, running, settle
from thresher.store import tasks


@pytest.mark.promise(2)
def test_a_key_is_unique_among_live_tasks_of_its_kind(store):
    (first,) = put(store, entry("page", key="a"))
    assert store.enqueue([entry("page", key="a")]) == [None]
    assert store.enqueue([entry("other", key="a"), entry("page", key="b")]) != [None, None]
    assert claim_one(store).id == first


def test_of_two_with_one_key_in_one_call_the_first_is_accepted(store):
    accepted = store.enqueue([entry(key="a"), entry(key="b"), entry(key="a")])
    assert [task_id is not None for task_id in accepted] == [True, True, False]


def test_a_running_or_retrying_task_keeps_its_key(store):
    task = running(store, entry(key="a"))
    assert store.enqueue([entry(key="a")]) == [None]
    settle(store, retry(task, delay_us=1_000_000))
    assert store.enqueue([entry(key="a")]) == [None]


@pytest.mark.parametrize("ending", [done, failed])
def test_a_key_is_free_again_once_its_task_has_ended(store, ending):
    settle(store, ending(running(store, entry(key="a"))))
    put(store, entry(key="a"))


def test_cancelling_frees_the_key(store):
    (task_id,) = put(store, entry(key="a"))
    tasks.cancel(store, [task_id], "not needed")
    put(store, entry(key="a"))


def test_tasks_without_a_key_are_never_the_same(store):
    assert len(set(put(store, entry(), entry(), entry()))) == 3
