"""Sessions that ended long ago go, with what they were answered; what somebody still needs stays."""

import pytest

from tests.apps.roles.store.queueing import claim, end, role
from tests.harness.tasks import rows
from thresher.apps.roles.pipelines import PRUNE, PRUNE_SESSIONS
from thresher.apps.roles.store.posts import decide_late, keep_answer, keep_late
from thresher.apps.roles.store.retention import old_sessions, prune_sessions
from thresher.core.clock import DAY


def ended(store, name: str, late: str | None = None, decision: str | None = None) -> int:
    """A session of a role of this name that has ended, with one answer, and perhaps a late body."""
    role(store, name)
    scrape = claim(store).scrape
    end(store, scrape)
    with store.write() as session:
        now = store.backend.now(session)
        keep_answer(session, scrape.id, "answered", "{}", now)
        if late:
            number = keep_late(session, scrape, late, "blob", 1, "late", now)
            if decision:
                decide_late(session, number, decision, now)
    return scrape.id


def prune(store, before: int) -> dict[str, int]:
    with store.write() as session:
        now = store.backend.now(session)
        found = old_sessions(session, {"before": before, "limit": 100}, now)
        return prune_sessions(session, {"sessions": found, "before": before}, now)


def left(store, table: str) -> list[int]:
    column = "id" if table == "scrape_sessions" else "session_id"
    return sorted(row[0] for row in rows(store, f"select {column} from {table}"))


@pytest.mark.promise(18)
def test_sessions_that_ended_long_ago_go_and_what_is_needed_stays(store, clock):
    plain = ended(store, "a")
    decided = ended(store, "b", late="body", decision="dropped")
    undecided = ended(store, "c", late="body")
    role(store, "d")
    under_way = claim(store).scrape.id
    clock.advance(DAY)
    before = clock.now()
    recent = ended(store, "e")
    assert prune(store, before) == {"sessions_pruned": 2}
    assert left(store, "scrape_sessions") == sorted([undecided, under_way, recent])
    assert left(store, "scrape_posts") == sorted([undecided, recent])
    assert left(store, "late_posts") == [undecided]
    assert not {plain, decided} & set(left(store, "scrape_sessions"))
    assert prune(store, before) == {}


def test_a_session_that_is_needed_again_meanwhile_stays(store, clock):
    number = ended(store, "a")
    before = clock.now() + 1
    with store.write() as session:
        asked = {"sessions": [number], "before": before}
        session.run("update scrape_sessions set status = 'in_progress', completed_at = null")
        assert prune_sessions(session, asked, before) == {}
        session.run("update scrape_sessions set status = 'completed', completed_at = :now", {"now": before})
        assert prune_sessions(session, asked, before) == {}, "it ended later"
    assert left(store, "scrape_sessions") == [number]


def test_old_sessions_are_looked_for_every_night():
    assert (PRUNE_SESSIONS.task.kind, PRUNE_SESSIONS.cron) == (PRUNE, "30 3 * * *")
