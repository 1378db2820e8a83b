import contextlib

from tests.harness.databases import only_files, only_postgres, only_sqlite
from tests.harness.tasks import claim, entry, put

SOON = 5.0


@only_postgres
def test_a_machine_that_listens_hears_of_work_put_in_by_another(make_store):
    sleeper, busy = make_store(), make_store()
    sleeper.backend.listen(0.001)  # from now on it hears
    put(busy)
    assert sleeper.backend.listen(SOON)


@only_postgres
def test_the_last_of_many_announcements_is_not_swallowed(make_store):
    sleeper, busy = make_store(), make_store()
    sleeper.backend.listen(0.001)
    for _ in range(20):
        put(busy)
    (last,) = put(busy)
    heard = set()
    while last not in heard:
        assert sleeper.backend.listen(SOON), "nobody told us of the last one"
        heard |= {task.id for task in claim(sleeper, 50)}


@only_sqlite
def test_a_worker_hears_of_work_put_in_by_its_own_process(store):
    put(store)
    assert store.backend.listen(SOON)


@only_files
def test_a_process_that_looks_up_sees_that_another_has_written(make_store):
    sleeper, busy = make_store(), make_store()
    sleeper.backend.listen(0.001)
    assert not sleeper.backend.listen(0.001)
    put(busy)
    assert sleeper.backend.listen(0.001)
    assert not sleeper.backend.listen(0.001)


def test_work_that_was_never_committed_is_not_waited_for(store):
    with contextlib.suppress(RuntimeError), store.transaction() as transaction:
        transaction.enqueue([entry()])
        raise RuntimeError("changed my mind")
    assert store.turn([], 5, 1).tasks == []
