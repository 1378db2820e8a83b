"""Many scrapers at once, on threads and on several machines: no role twice, none lost, no limit broken,
nobody stuck."""

import threading
from collections import Counter

import pytest

from tests.apps.roles.store.queueing import (
    DEMAND,
    LEASE,
    PACE,
    look,
    person,
    platform,
    posting,
    problems,
    role,
)
from tests.harness.databases import only_postgres, with_processes
from tests.harness.tasks import rows
from thresher.apps.roles.store.queue import Claimed, Holder, claim_role
from thresher.apps.roles.store.roles import add_role, link_candidates, lock_names, merge_roles
from thresher.apps.roles.store.scrapes import end_scrape, expire_scrapes
from thresher.apps.roles.turns import Verdict
from thresher.core.errors import UnknownName
from thresher.store.transaction import in_transaction

SCRAPERS, ROLES = 20, 200


def together(work, number):
    """Run it on so many threads at the same time; whatever any of them raised is raised here."""
    start, wrong = threading.Barrier(number), []

    def one(at):
        start.wait()
        try:
            work(at)
        except BaseException as problem:
            wrong.append(problem)

    threads = [threading.Thread(target=one, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def add_many(store, number):
    with store.write() as session:
        for n in range(number):
            add_role(session, f"role {n}", f"role {n}", now=store.backend.now(session), demand=DEMAND)


def finish(store, scrape, verdict=Verdict.FOUND):
    def work(session):
        now = store.backend.now(session)
        return end_scrape(
            session, scrape, status="completed", verdict=verdict, now=now, pace=PACE, demand=DEMAND
        )

    return in_transaction(store, work)


def drain(store, holder, claimed):
    """Claim until nothing is left. On a server a role that another is just claiming is passed over, so an
    empty answer is asked again."""
    misses = 0
    while misses < 3:
        found = claim_role(store, holder, None, LEASE)
        if isinstance(found, Claimed):
            claimed.append(found)
        else:
            misses += 1


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@with_processes
def test_twenty_scrapers_claim_two_hundred_roles_none_twice_and_none_lost(make_store):
    stores = [make_store(), make_store()]
    add_many(stores[0], ROLES)
    claimed = []
    together(lambda at: drain(stores[at % 2], Holder(at, f"scraper {at}"), claimed), SCRAPERS)
    assert Counter(each.role.id for each in claimed) == Counter(
        {row[0]: 1 for row in rows(stores[0], "select id from roles")}
    )
    assert len({each.scrape.session_id for each in claimed}) == len(claimed) == ROLES
    assert problems(stores[0]) == []


@pytest.mark.promise(3)
@with_processes
def test_a_limit_of_a_platform_holds_however_many_ask_at_once(make_store):
    stores = [make_store(), make_store()]
    platform(stores[0], "dice", in_flight=3)
    platform(stores[0], "indeed", in_flight=5)
    add_many(stores[0], 30)
    claimed = []
    together(lambda at: drain(stores[at % 2], Holder(at, "x"), claimed), 10)
    assert Counter(name for each in claimed for name in each.scrape.platforms) == {"dice": 3, "indeed": 5}
    assert problems(stores[0]) == []


@pytest.mark.promise(2)
@with_processes
def test_a_session_that_is_ended_by_its_scraper_and_by_the_clock_at_once_ends_once(make_store, clock):
    stores = [make_store(), make_store()]
    add_many(stores[0], 20)
    claimed = []
    drain(stores[0], Holder(1, "x"), claimed)
    clock.advance(LEASE)

    def work(at):
        store = stores[at % 2]
        if at < 4:
            for each in claimed[at::4]:
                finish(store, each.scrape)
        else:
            in_transaction(
                store,
                lambda session: expire_scrapes(
                    session, clock.now(), PACE, DEMAND, 5, store.backend.dialect.skip
                ),
            )

    together(work, 8)
    ended = Counter(row[0] for row in rows(stores[0], "select status from scrape_sessions"))
    roles = Counter(row[0] for row in rows(stores[0], "select status from roles"))
    assert (ended["completed"], ended["timeout"]) == (roles["completed"], roles["pending"])
    assert ended.total() == 20
    assert problems(stores[0]) == []


def link(store, some, wanted, otherwise, now):
    """Whoever finds its role merged away asks by name, and finds the other."""
    for each in some:
        try:
            in_transaction(
                store, lambda session, each=each: link_candidates(session, {wanted: [each]}, now, DEMAND)
            )
        except UnknownName:
            in_transaction(
                store, lambda session, each=each: link_candidates(session, {otherwise: [each]}, now, DEMAND)
            )


def merge(store, some, into, now):
    for each in some:
        in_transaction(store, lambda session, each=each: merge_roles(session, each, into, now, DEMAND))


def scrape(store, at):
    for _ in range(10):
        found = claim_role(store, Holder(at, "x"), None, LEASE)
        if isinstance(found, Claimed):
            finish(store, found.scrape, Verdict.FOUND if at % 2 else Verdict.FAILED)


@pytest.mark.promise(9)
@with_processes
def test_candidates_that_come_while_roles_are_merged_and_scraped_are_all_counted(make_store, clock):
    stores = [make_store(), make_store()]
    first = stores[0]
    into = role(first, "stays")
    others = [role(first, f"goes {n}") for n in range(6)]
    for n, each in enumerate(others):
        posting(first, f"posting {n}", each)
    people = [person(first, f"person {n}") for n in range(24)]

    def work(at):
        store = stores[at % 2]
        if at < 6:
            link(store, people[at * 4 : at * 4 + 4], others[at], into, clock.now())
        elif at < 9:
            merge(store, others[at - 6 :: 3], into, clock.now())
        else:
            scrape(store, at)

    together(work, 12)
    assert look(first, into).candidates == 24
    assert rows(
        first, "select count(*) from links where name = 'role' and target = :into", into=str(into)
    ) == [(6,)]
    assert rows(first, "select count(*) from roles") == [(1,)]
    assert problems(first) == []


@pytest.mark.promise(2)
@with_processes
def test_a_name_that_many_bring_at_once_makes_one_role(make_store, clock):
    stores = [make_store(), make_store()]
    made = []

    def work(at):
        def add(session):
            names = {f"alias {n}": f"Alias {n}" for n in range(at % 3)}
            made.append(add_role(session, "Cook", "cook", aliases=names, now=clock.now(), demand=DEMAND))

        in_transaction(stores[at % 2], add)

    together(work, 10)
    assert rows(stores[0], "select count(*) from roles") == [(1,)]
    assert len(set(made)) == 1
    assert problems(stores[0]) == []


@only_postgres
def test_whoever_makes_roles_waits_for_whoever_is_making_one(make_store):
    one, two = make_store(), make_store()
    order = []

    def second():
        with two.write() as session:
            waiting.set()
            lock_names(two, session)
            order.append("second")

    waiting = threading.Event()
    thread = threading.Thread(target=second)
    with one.write() as session:
        lock_names(one, session)
        thread.start()
        waiting.wait()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
