import os

import pytest

from tests.harness.bodies import saved
from tests.harness.tasks import rows
from thresher.core.errors import TooLarge, UnknownName
from thresher.store import blobs
from thresher.store.pages import prune_pages

BODIES = {
    "empty": b"",
    "zeros": b"\x00" * 100_000,
    "text": "Größe \N{SNOWMAN}".encode(),
    "noise": os.urandom(50_000),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_comes_back_as_it_was(store, body):
    assert blobs.get(store, saved(store, body)) == body


@pytest.mark.promise(18)
def test_the_same_body_is_stored_once(store):
    assert saved(store, b"pears") == saved(store, b"pears")
    assert rows(store, "select count(*), min(size) from blobs") == [(1, 5)]


@pytest.mark.promise(18)
def test_a_body_over_the_limit_is_refused(store, monkeypatch):
    monkeypatch.setattr(blobs, "MAX_BODY", 10)
    with pytest.raises(TooLarge, match="the body has 11 bytes; the limit is 10"):
        saved(store, b"x" * 11)


def test_a_body_that_was_never_stored_is_not_found(store):
    with pytest.raises(UnknownName, match="no body is stored under abc"):
        blobs.get(store, "abc")


@pytest.mark.promise(1)
def test_a_body_that_was_lent_and_then_saved_by_a_stage_stays_when_it_is_given_back(store):
    packed = blobs.pack(b"pears")
    with store.write() as session:
        blobs.lend(session, packed, store.backend.now(session))
    name = saved(store, b"pears")
    with store.write() as session:
        blobs.give_back(session, name)
    prune_pages(store, 0)
    assert blobs.get(store, name) == b"pears"
