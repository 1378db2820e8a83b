import contextlib
from contextlib import closing

import pytest

from tests.harness.databases import Database, only_files, only_postgres, only_sqlite
from tests.harness.gates import gate
from tests.harness.tasks import SOMEBODY, change, claim, done, entry, put, rows, settle
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.store import Store

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


@only_postgres
@pytest.mark.promise(1)
@pytest.mark.parametrize("step", [1_100, 1_300, 1_500, 1_800, 2_200, 3_000])
def test_a_gate_that_opens_while_a_claim_looks_at_it_does_not_strand_its_lane(database: Database, step: int):
    # A clock that moves by a step at every look: what a claim finds closed may be open before its timer is
    # set.
    database.open()
    with closing(Store(PostgresBackend(database.url))) as store:
        name = gate(store, "host:slow", 1, interval_us=10_000)
        change(store, f"create sequence ticks increment by {step}")
        change(
            store,
            """create or replace function now_us() returns bigint language sql volatile
            as 'select 1700000000000000 + nextval(''ticks'')'""",
        )
        for _ in range(20):
            put(store, entry(gates=(name,)))
            for _ in range(50):
                found = store.turn([], 1, SOMEBODY).tasks
                assert rows(store, "select name from stranded") == []
                if found:
                    break
            settle(store, done(*found))


@only_postgres
@pytest.mark.promise(1)
@pytest.mark.parametrize(
    ("step", "slots"), [(700, None), (1_100, 2), (1_800, None), (2_600, 2), (2_600, None), (4_900, 2)]
)
def test_tokens_that_come_in_while_a_claim_works_do_not_strand_who_found_none(
    database: Database, step: int, slots: int | None
):
    database.open()
    with closing(Store(PostgresBackend(database.url))) as store:
        name = gate(store, "host:bursts", slots, interval_us=10_000, burst=3)
        change(store, f"create sequence ticks increment by {step}")
        change(
            store,
            """create or replace function now_us() returns bigint language sql volatile
            as 'select 1700000000000000 + nextval(''ticks'')'""",
        )
        put(store, *(entry(gates=(name,)) for _ in range(40)))
        finished = 0
        for visit in range(600):
            if visit % 7 == 0:
                put(store, entry(gates=(name,)))
            found = store.turn([], 1 + visit % 4, SOMEBODY).tasks
            assert rows(store, "select name from stranded") == []
            if found:
                settle(store, *map(done, found))
                finished += len(found)
                assert rows(store, "select name from stranded") == []
        assert finished >= 40
