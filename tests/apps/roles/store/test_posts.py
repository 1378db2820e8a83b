"""Answers that are given again, and bodies that came too late: kept once, decided once."""

import pytest

from tests.apps.roles.store.queueing import claim, role
from thresher.apps.roles.store.posts import (
    answer_of,
    decide_late,
    find_late,
    keep_answer,
    keep_late,
    list_late,
)
from thresher.core.errors import UsageError

pytestmark = [pytest.mark.promise(1), pytest.mark.promise(2)]


@pytest.fixture
def scrape(store):
    role(store, "Cook")
    return claim(store).scrape


def test_the_first_answer_to_a_body_stands(store, scrape):
    with store.write() as session:
        assert answer_of(session, scrape.id, "abc") is None
        keep_answer(session, scrape.id, "abc", "first", 1)
        keep_answer(session, scrape.id, "abc", "second", 2)
        assert answer_of(session, scrape.id, "abc") == "first"
        assert answer_of(session, scrape.id, "abd") is None
        assert answer_of(session, scrape.id + 1, "abc") is None


def test_a_late_body_is_kept_once_and_says_where_it_belongs(store, scrape):
    with store.write() as session:
        first = keep_late(session, scrape, "abc", "blob", 12, "too late\0", 5)
        assert keep_late(session, scrape, "abc", "blob", 12, "again", 6) == first
        (late,) = list_late(session)
    assert (late.id, late.token, late.role_id, late.scraper_name, late.hash) == (
        first,
        scrape.session_id,
        scrape.role_id,
        "anna",
        "blob",
    )
    assert (late.postings, late.reason, late.created_at, late.decision) == (
        12,
        "too late\N{REPLACEMENT CHARACTER}",
        5,
        None,
    )


def test_a_late_body_is_decided_once(store, scrape):
    with store.write() as session:
        ids = [keep_late(session, scrape, digest, "blob", 1, "late", 5) for digest in ("a", "b", "c")]
        assert decide_late(session, ids[0], "imported", 7)
        assert not decide_late(session, ids[0], "dropped", 8)
        assert not decide_late(session, 99, "dropped", 8)
        with pytest.raises(UsageError, match="imported or dropped"):
            decide_late(session, ids[1], "maybe", 8)
        assert [each.id for each in list_late(session)] == ids[1:]
        assert [each.id for each in list_late(session, decided=True)] == ids[:1]
        assert [each.id for each in list_late(session, decided=None, after=ids[0], limit=1)] == [ids[1]]
        done = find_late(session, ids[0], store.backend.dialect.lock)
        assert (done.decision, done.decided_at) == ("imported", 7)
        assert find_late(session, 99, store.backend.dialect.lock) is None
