"""A settlement's deeds are done with it or not at all, and only behind its fence."""

import pytest

from tests.harness.tasks import done, fields_of, filing, rows, running, settle
from thresher.core.deed import Deed
from thresher.core.settlement import Settlement
from thresher.store import deeds

NOTED = "select name from role_names order by key"


@pytest.fixture
def noting(monkeypatch):
    """A deed that writes a row, and one that fails after writing."""

    def note(backend, session, data, now):
        session.run("insert into role_names (key, name, role_id) values (:key, :key, :now) on conflict do nothing", {**data, "now": now})

    def stumble(backend, session, data, now):
        note(backend, session, data, now)
        session.run("insert into role_names (key, name, role_id) values ('x', null, 1)")

    monkeypatch.setitem(deeds.DEEDS, "note", note)
    monkeypatch.setitem(deeds.DEEDS, "stumble", stumble)


@pytest.mark.promise(2)
@pytest.mark.usefixtures("noting")
def test_a_deed_is_done_with_the_settlement_and_never_on_the_plain_path(store):
    task = running(store)
    settlement = done(task, deeds=(Deed("note", {"key": "a"}), Deed("note", {"key": "b"})))
    assert not settlement.is_plain
    turn = store.turn([settlement], 0, 1)
    assert turn.stale == []
    assert rows(store, NOTED) == [("a",), ("b",)]
    assert fields_of(store, task.id)["state"] == "succeeded"


@pytest.mark.promise(2)
@pytest.mark.usefixtures("noting")
def test_the_deeds_of_a_worker_that_lost_its_claim_are_not_done(store):
    task = running(store)
    settle(store, Settlement.hand_back(task, reason="stopping"))
    assert len(store.settle([done(task, deeds=(Deed("note", {"key": "a"}),))])) == 1
    assert rows(store, NOTED) == []


@pytest.mark.promise(2)
@pytest.mark.usefixtures("noting")
def test_a_deed_that_fails_takes_the_whole_settlement_with_it(store):
    task = running(store)
    with pytest.raises(Exception, match=r"(?i)null"):
        store.settle([done(task, records=(filing("a"),), deeds=(Deed("stumble", {"key": "a"}),))])
    assert fields_of(store, task.id)["state"] == "running"
    assert rows(store, NOTED) == []
    assert rows(store, "select count(*) from records") == [(0,)]
    settle(store, done(task))
