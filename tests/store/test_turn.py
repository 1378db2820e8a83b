import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import (
    SOMEBODY,
    claim,
    claim_one,
    done,
    entry,
    filing,
    put,
    retry,
    rows,
    running,
    state_of,
)


@pytest.mark.promise(3)
def test_a_slot_given_back_is_used_in_the_same_visit(store):
    gate(store, "source:a", slots=1)
    put(store, entry(gates=["source:a"]), entry(gates=["source:a"]))
    first = claim_one(store)
    turn = store.turn([done(first)], 5, SOMEBODY)
    assert len(turn.tasks) == 1
    assert gate_row(store, "source:a")["in_flight"] == 1


@pytest.mark.promise(2)
def test_settle_and_claim_are_one_transaction(store, monkeypatch):
    """When the claim breaks, the settlement before it must not have happened."""
    task = running(store)
    put(store)
    with store.write() as session:
        session.run("alter table lanes rename to lanes_away")
    with pytest.raises(Exception, match="lanes"):
        store.turn([retry(task)], 5, SOMEBODY)
    with store.write() as session:
        session.run("alter table lanes_away rename to lanes")
    assert state_of(store, task.id) == "running"
    assert store.turn([done(task)], 5, SOMEBODY).stale == []


def test_rich_and_plain_settlements_travel_together(store):
    put(store, entry(), entry(), entry())
    one, two, three = claim(store, 3)
    turn = store.turn(
        [done(one), done(two, records=(filing(),)), done(three, children=(entry(key="child"),))], 5, SOMEBODY
    )
    assert turn.stale == []
    assert [task.parent_id for task in turn.tasks] == [three.id]
    assert rows(store, "select count(*) from records") == [(1,)]


def test_a_task_that_comes_back_at_once_can_be_claimed_in_the_same_visit(store):
    task = running(store)
    turn = store.turn([retry(task)], 5, SOMEBODY)
    assert [(again.id, again.claim) for again in turn.tasks] == [(task.id, 2)]


def test_a_visit_that_could_bring_more_says_so(store):
    put(store, *(entry() for _ in range(10)))
    assert store.turn([], 5, SOMEBODY).more
    claim(store, 100)
    assert not store.turn([], 5, SOMEBODY).more


def test_what_a_worker_gets_names_the_gates_it_went_through(store):
    gate(store, "source:a")
    put(store, entry(), entry(gates=["source:a"]))
    assert sorted(task.lane for task in claim(store, 5)) == [(), ("source:a",)]
