"""What is shown of the queue is what there is."""

from tests.apps.roles.store.queueing import ANNA, BEN, LEASE, claim, end, role
from thresher.apps.roles.store.figures import (
    Totals,
    active_scrapers,
    per_scraper,
    queue,
    scrapes_since,
    status_counts,
    totals_since,
)
from thresher.apps.roles.store.scrapes import count_scrape
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import MINUTE


def read(store, fn, *args, **kwargs):
    with store.read() as session:
        return fn(session, *args, **kwargs)


def work(store, clock, holder, *, imported, minutes, verdict=Verdict.FOUND):
    scrape = claim(store, holder).scrape
    clock.advance(minutes * MINUTE)
    with store.write() as session:
        count_scrape(
            session, scrape, {"found": imported + 1, "imported": imported, "skipped": 1}, clock.now()
        )
    end(store, scrape, verdict)
    return scrape


def test_roles_and_candidates_are_counted_by_status(store):
    role(store, "a", 2)
    role(store, "b", 1)
    role(store, "c", 3, approved=False)
    claim(store)
    assert read(store, status_counts) == {"pending": (1, 1), "processing": (1, 2), "proposed": (1, 3)}


def test_totals_are_of_completed_sessions_since_a_time(store, clock):
    assert read(store, totals_since, 0) == Totals(0, 0, 0, 0, 0, 0, 0.0)
    for name in "abcd":
        role(store, name)
    work(store, clock, ANNA, imported=100, minutes=1)
    since = clock.advance(1)
    work(store, clock, ANNA, imported=5, minutes=1)
    work(store, clock, BEN, imported=2, minutes=4)
    work(store, clock, BEN, imported=7, minutes=1, verdict=Verdict.FAILED)
    assert read(store, totals_since, since) == Totals(2, 9, 7, 0, 0, 2, 150.0)
    assert read(store, totals_since, since, key_id=BEN.key_id).sessions == 1


def test_a_scrapers_last_role_is_that_of_its_latest_session_not_the_last_of_the_alphabet(store, clock):
    for name, priority in (("zoologist", "urgent"), ("baker", "high"), ("cook", "normal")):
        role(store, name, priority=priority)
    for _ in range(2):
        work(store, clock, ANNA, imported=2, minutes=1)
    work(store, clock, BEN, imported=1, minutes=1)
    found = read(store, per_scraper, 0)
    assert [(each.name, each.sessions, each.imported, each.last_role) for each in found] == [
        ("ben", 1, 1, "cook"),
        ("anna", 2, 4, "baker"),
    ]
    assert found[0].last_activity == clock.now()


def test_a_scraper_is_active_while_its_session_lasts_however_long_it_is_silent(store, clock):
    for name in "abc":
        role(store, name)
    claim(store), claim(store)
    claim(store, BEN)
    clock.advance(LEASE - 1)
    assert read(store, active_scrapers, clock.now()) == 2
    clock.advance(1)
    assert read(store, active_scrapers, clock.now()) == 0


def test_sessions_are_listed_latest_first_by_key_and_status(store, clock):
    for name in "abcd":
        role(store, name)
    one = work(store, clock, ANNA, imported=1, minutes=1)
    two = work(store, clock, BEN, imported=1, minutes=1, verdict=Verdict.FAILED)
    three = claim(store).scrape
    ids = {each.id: name for each, name in ((one, 1), (two, 2), (three, 3))}

    def listed(since=0, **asked):
        return [ids[each.id] for each in read(store, scrapes_since, since, **asked)]

    assert listed() == [3, 2, 1]
    assert listed(limit=1) == [3]
    assert listed(one.started_at + 1) == [3, 2]
    assert listed(key_id=ANNA.key_id) == [3, 1]
    assert listed(status="failed") == [2]
    assert listed(key_id=ANNA.key_id, status="in_progress") == [3]


def test_the_queue_is_shown_in_the_order_in_which_it_is_served(store):
    for name, wanted, priority in (
        ("a", 0, "low"),
        ("b", 1, "normal"),
        ("c", 0, "urgent"),
        ("d", 5, "normal"),
    ):
        role(store, name, wanted, priority=priority)
    claim(store)
    assert [(each.name, each.status) for each in read(store, queue)] == [
        ("c", "processing"),
        ("d", "pending"),
        ("b", "pending"),
        ("a", "pending"),
    ]
    assert len(read(store, queue, 2)) == 2
