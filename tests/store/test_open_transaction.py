"""A caller's transaction that has enqueued and stays open: nobody waits for it, and nothing it brings is
lost."""

import pytest

from tests.harness.databases import only_postgres
from tests.harness.gates import gate
from tests.harness.hand import hands
from tests.harness.image import look
from tests.harness.tasks import SOMEBODY, claim, claim_one, done, entry, put, rows, running
from tests.store.schedules import lane_of
from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem
from thresher.store.store import Transaction

GATES = ["source:a"]
MANY = 40  # more than there are lanes for tasks without gates


def enqueue_and_stay(hand, *entries):
    """Enqueue in a transaction that stays open."""
    with hand.store.write() as session:
        return Transaction(hand.store, session).enqueue(entries)


@pytest.mark.promise(4)
@only_postgres
def test_an_open_transaction_that_enqueued_holds_up_no_claim(database, store):
    gate(store, *GATES)
    put(store, *(entry() for _ in range(MANY)), entry(gates=GATES))
    with hands(database, store, 1) as (caller,):
        enqueue_and_stay(caller, *(entry() for _ in range(MANY)), entry(gates=GATES))
        assert len(claim(store, 2 * MANY)) == MANY + 1


@pytest.mark.promise(4)
@only_postgres
def test_an_open_transaction_that_enqueued_holds_up_no_other_enqueue(database, store):
    gate(store, *GATES)
    wanted = [*(entry() for _ in range(MANY)), entry(gates=GATES), entry(gates=["host:new.example"])]
    with hands(database, store, 2) as (caller, other):
        enqueue_and_stay(caller, *wanted)
        other.begin(lambda store: put(store, *wanted))
        assert not other.waits()
        other.finish()
        assert len(claim(store, 3 * MANY)) == MANY + 2


@pytest.mark.promise(4)
@only_postgres
def test_enqueueing_waits_for_no_claim_that_holds_the_lane(database, store):
    gate(store, *GATES)
    put(store, entry(gates=GATES), *(entry() for _ in range(MANY)))
    with hands(database, store, 2) as (claimer, enqueuer):
        assert len(claimer.store.turn([], 2 * MANY, SOMEBODY).tasks) == MANY + 1
        enqueuer.begin(lambda store: put(store, entry(gates=GATES), entry()))
        assert not enqueuer.waits()
        enqueuer.finish()
        claimer.commit()
    assert len(claim(store, 5)) == 2


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize(
    "gates", [[], GATES, ["host:new.example"]], ids=["no gate", "a known lane", "a new lane"]
)
def test_what_an_open_transaction_enqueued_is_found_after_its_commit_and_not_before(database, store, gates):
    gate(store, *GATES)
    with hands(database, store, 1) as (caller,):
        (task_id,) = enqueue_and_stay(caller, entry(gates=gates))
        assert claim(store, 5) == []
        caller.commit()
    assert [task.id for task in claim(store, 5)] == [task_id]
    assert list(look(store).wrongs()) == []


@pytest.mark.promise(1)
@only_postgres
def test_a_claim_that_finds_the_lane_of_a_new_task_in_other_hands_is_told_to_come_back_at_once(
    database, store
):
    gate(store, *GATES)
    with store.transaction() as transaction:
        transaction.enqueue([entry(gates=GATES)])
    with hands(database, store, 1) as (holder,):
        holder.hold("lanes", lane_of(store, *GATES))
        turn = store.turn([], 5, SOMEBODY)
        assert turn.tasks == []
        assert turn.next_at is not None
        assert turn.next_at <= turn.now
        holder.commit()  # a connection that is merely closed may hold its locks a moment longer
    assert claim_one(store)


@pytest.mark.promise(1)
@only_postgres
def test_children_wait_for_no_lane_and_are_found(database, store):
    gate(store, *GATES)
    parent = running(store)
    put(store, entry(gates=GATES))
    with hands(database, store, 2) as (claimer, settler):
        assert len(claimer.store.turn([], 5, SOMEBODY).tasks) == 1
        settler.begin(lambda store: store.settle([done(parent, children=(entry(gates=GATES, key="child"),))]))
        assert not settler.waits()
        settler.finish()
        claimer.commit()
    assert [task.parent_id for task in claim(store, 5)] == [parent.id]


@pytest.mark.promise(4)
def test_a_transaction_that_enqueued_wakes_the_workers(store):
    store.backend.listen(0)
    store.backend.listen(0)
    with store.transaction() as transaction:
        transaction.enqueue([entry()])
    assert store.backend.listen(5)
    assert rows(store, "select count(*) from tasks") == [(1,)]


def write_and_idle(store, number):
    """Write rows in a transaction, and do nothing more until its connection is gone."""
    deadline = monotonic() + 30
    with store.write() as session:
        session.run("set local idle_in_transaction_session_timeout = '100ms'")
        session.many(
            "insert into events (at, kind, detail) values (:at, 'test', '{}')",
            [{"at": n} for n in range(number)],
        )
        pid = session.connection.info.backend_pid
        while rows(store, f"select 1 from pg_stat_activity where pid = {pid}"):
            assert monotonic() < deadline, "it holds what it has locked for as long as its client likes"


@pytest.mark.promise(1)
@only_postgres
@pytest.mark.parametrize("number", [1, 3])
def test_a_transaction_that_idles_after_many_rows_is_ended_by_the_server(store, number):
    with pytest.raises(DatabaseProblem):
        write_and_idle(store, number)
    assert rows(store, "select count(*) from events where kind = 'test'") == [(0,)]
