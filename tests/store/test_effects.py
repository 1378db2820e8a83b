"""A settlement's effects are made with it or not at all, and only behind its fence."""

import pytest

from tests.harness.tasks import done, fields_of, filing, rows, running, settle
from thresher.core.outcome import CheckedEffect
from thresher.core.settlement import Settlement
from thresher.store.settle import read_result

NOTED = "select name from role_names order by key"


def note(key):
    """An effect that writes a row."""

    def make(session, data, now):
        session.run(
            "insert into role_names (key, name, role_id) values (:key, :key, :now) on conflict do nothing",
            {**data, "now": now},
        )

    return CheckedEffect("note", {"key": key}, make)


def stumble(key):
    """An effect that fails after writing."""

    def make(session, data, now):
        note(key).make(session, data, now)
        session.run("insert into role_names (key, name, role_id) values ('x', null, 1)")

    return CheckedEffect("stumble", {"key": key}, make)


@pytest.mark.promise(2)
def test_an_effect_is_made_with_the_settlement_and_never_on_the_plain_path(store):
    task = running(store)
    settlement = done(task, effects=(note("a"), note("b")))
    assert not settlement.is_plain
    turn = store.turn([settlement], 0, 1)
    assert turn.stale == []
    assert rows(store, NOTED) == [("a",), ("b",)]
    assert fields_of(store, task.id)["state"] == "succeeded"


def counting(**counts):
    """An effect that has something to tell."""
    return CheckedEffect("counting", counts, lambda _session, data, _now: data)


def test_what_effects_count_is_in_the_result_of_a_task_that_is_done(store):
    task, other, waiting = running(store), running(store), running(store)
    effects = (counting(reset=2, kept=1), note("a"), counting(reset=3))
    settle(
        store,
        done(task, effects=effects),
        done(other, effects=effects, result='{"kept": 7, "more": [1]}'),
        Settlement.hand_back(waiting, reason="stopping"),
    )
    with store.read() as session:
        assert [read_result(session, each.id) for each in (task, other, waiting)] == [
            {"reset": 5, "kept": 1},
            {"reset": 5, "kept": 7, "more": [1]},
            None,
        ]


def test_a_result_that_is_no_object_is_left_as_it_is(store):
    task = running(store)
    settle(store, done(task, effects=(counting(reset=2),), result="[1]"))
    with store.read() as session:
        assert read_result(session, task.id) == [1]


@pytest.mark.promise(2)
def test_the_effects_of_a_worker_that_lost_its_claim_are_not_made(store):
    task = running(store)
    settle(store, Settlement.hand_back(task, reason="stopping"))
    assert len(store.settle([done(task, effects=(note("a"),))])) == 1
    assert rows(store, NOTED) == []


@pytest.mark.promise(2)
def test_an_effect_that_fails_takes_the_whole_settlement_with_it(store):
    task = running(store)
    with pytest.raises(Exception, match=r"(?i)null"):
        store.settle([done(task, records=(filing("a"),), effects=(stumble("a"),))])
    assert fields_of(store, task.id)["state"] == "running"
    assert rows(store, NOTED) == []
    assert rows(store, "select count(*) from records") == [(0,)]
    settle(store, done(task))
