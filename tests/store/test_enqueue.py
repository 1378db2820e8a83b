from dataclasses import replace
from threading import Event, Thread

import pytest

from tests.harness.databases import only_sqlite
from tests.harness.tasks import change, claim, claim_one, done, entry, fields_of, put, rows, settle, state_of
from thresher.core.errors import PartlyEnqueued


def test_an_accepted_task_waits_visibly_until_it_is_claimed(store):
    (task_id,) = put(store, entry("page", payload={"n": 1}))

    assert state_of(store, task_id) == "pending"
    task = claim_one(store)
    assert (task.id, task.kind, task.stage, dict(task.payload), task.claim) == (
        task_id,
        "page",
        "fetch",
        {"n": 1},
        1,
    )
    assert state_of(store, task_id) == "running"


def test_a_claimed_task_is_not_claimed_again(store):
    put(store)
    assert len(claim(store, 5)) == 1
    assert claim(store, 5) == []


def test_many_tasks_are_accepted_in_one_call_in_the_order_given(store):
    ids = put(store, *(entry(key=f"k{n}") for n in range(300)))
    assert len(set(ids)) == 300
    assert [fields_of(store, ids[n])["dedupe_key"] for n in (0, 150, 299)] == ["k0", "k150", "k299"]
    assert len(claim(store, 1_000)) == 300


@pytest.mark.promise(1)
def test_more_tasks_than_are_accepted_at_once_go_in_portions_and_come_back_in_the_order_given(
    store, monkeypatch
):
    monkeypatch.setattr("thresher.store.store.ENQUEUE_AT_ONCE", 4)
    ids = put(store, *(entry(key=f"k{9 - n}") for n in range(10)))
    assert [fields_of(store, task_id)["dedupe_key"] for task_id in ids] == [f"k{9 - n}" for n in range(10)]
    assert len(claim(store, 20)) == 10


@pytest.mark.promise(1)
def test_whoever_enqueues_too_much_for_one_portion_learns_which_tasks_were_accepted(store, monkeypatch):
    monkeypatch.setattr("thresher.store.store.ENQUEUE_AT_ONCE", 4)
    cannot_be_written = replace(entry(), payload=None)
    with pytest.raises(PartlyEnqueued, match="8 of 10 tasks were accepted") as caught:
        store.enqueue([entry() for _ in range(9)] + [cannot_be_written])
    assert caught.value.ids == [row[0] for row in rows(store, "select id from tasks order by id")]
    assert len(caught.value.ids) == 8


@pytest.mark.promise(1)
def test_a_portion_that_cannot_be_accepted_whole_is_not_accepted_at_all(store):
    with pytest.raises(Exception, match="payload"):
        store.enqueue([entry(), replace(entry(), payload=None)])
    assert rows(store, "select count(*) from tasks") == [(0,)]


@pytest.mark.promise(5)
@only_sqlite
def test_others_write_between_the_portions_of_a_large_enqueue(make_store, monkeypatch):
    monkeypatch.setattr("thresher.store.store.ENQUEUE_AT_ONCE", 500)
    one, other = make_store(), make_store()
    put(one)  # the lanes are met
    change(one, "create table seen (tasks integer)")
    enqueued = Event()

    def look():
        while not enqueued.is_set():
            change(other, "insert into seen select count(*) from tasks")

    watcher = Thread(target=look)
    watcher.start()
    put(one, *(entry() for _ in range(20_000)))
    enqueued.set()
    watcher.join()
    assert rows(one, "select count(*) from seen where tasks > 1 and tasks < 20001") != [(0,)]


def test_nothing_asked_for_is_nothing_done(store):
    assert store.enqueue([]) == []


@pytest.mark.promise(1)
def test_a_bulk_that_cannot_be_accepted_whole_is_not_accepted_at_all(store):
    with pytest.raises(Exception, match="no source"):
        store.enqueue([entry(), entry(gates=["source:nobody"])])
    assert rows(store, "select count(*) from tasks") == [(0,)]


@pytest.mark.promise(1)
def test_a_task_is_accepted_together_with_what_the_caller_writes(store):
    with store.write() as session:
        session.run("create table orders (name text)")

    with store.transaction() as transaction:
        transaction.execute("insert into orders (name) values (:name)", {"name": "pears"})
        (task_id,) = transaction.enqueue([entry()])

    assert rows(store, "select name from orders") == [("pears",)]
    assert state_of(store, task_id) == "pending"
    assert claim_one(store).id == task_id


@pytest.mark.promise(1)
def test_a_rolled_back_caller_leaves_neither_task_nor_row(store):
    with store.write() as session:
        session.run("create table orders (name text)")

    def write_and_regret():
        with store.transaction() as transaction:
            transaction.execute("insert into orders (name) values (:name)", {"name": "pears"})
            transaction.enqueue([entry(gates=["host:new.example"])])
            raise RuntimeError("changed my mind")

    with pytest.raises(RuntimeError, match="changed my mind"):
        write_and_regret()

    assert rows(store, "select count(*) from orders") == [(0,)]
    assert rows(store, "select count(*) from tasks") == [(0,)]
    put(store, entry(gates=["host:new.example"]))
    assert len(claim(store, 5)) == 1


def test_an_open_transaction_sees_what_it_wrote(store):
    with store.transaction() as transaction:
        transaction.enqueue([entry(), entry()])
        assert transaction.execute("select count(*) from tasks") == [(2,)]


def test_a_host_met_for_the_first_time_gets_polite_limits(store):
    put(store, entry(gates=["host:acme.example"]), entry(gates=["host:acme.example"]))
    assert rows(store, "select max_in_flight, interval_us, burst, trip_after from gates") == [
        (1, 1_000_000, 1, 5)
    ]
    assert len(claim(store, 5)) == 1


def test_a_lane_cannot_name_the_same_gate_twice(store):
    with pytest.raises(Exception, match="same gate twice"):
        put(store, entry(gates=["host:a.example", "host:a.example"]))


def test_the_lanes_of_one_machine_are_those_of_another(make_store):
    one, other = make_store(), make_store()
    put(one, entry(gates=["host:a.example"]))
    put(other, entry(gates=["host:a.example"]))
    assert rows(one, "select count(*) from lanes where key = 'host:a.example'") == [(1,)]


def test_a_machine_that_has_met_too_many_lanes_forgets_them_and_still_settles(store, monkeypatch):
    monkeypatch.setattr("thresher.store.store.LANES_REMEMBERED", 12)
    for n in range(12):
        put(store, entry(gates=[f"host:{n}.example"]))
        children = (
            entry(gates=[f"host:{n}.example"], key=f"known {n}"),
            entry(gates=[f"host:new-{n}.example"], key=f"new {n}"),
        )
        settle(store, done(claim_one(store), children=children))
    assert rows(store, "select count(*) from tasks") == [(36,)]


def test_more_new_hosts_than_fit_into_one_statement_are_met_in_one_call(store):
    put(store, *(entry(gates=[f"host:{n}.example"]) for n in range(1_200)))
    assert rows(store, "select count(*), count(distinct name) from gates") == [(1_200, 1_200)]
    assert len(claim(store, 2_000)) == 1_200
