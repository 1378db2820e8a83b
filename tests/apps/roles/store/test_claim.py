"""Who is given which role: in what order, how many at once, for how long, and behind which fence."""

import pytest

from tests.apps.roles.store.queueing import (
    ANNA,
    BEN,
    LEASE,
    claim,
    end,
    expire,
    look,
    nothing,
    person,
    problems,
    reset,
    role,
    turns,
    want,
)
from tests.harness.databases import only_sqlite
from tests.harness.tasks import change, rows
from thresher.apps.roles.store.queue import Claimed, Empty, claim_role
from thresher.apps.roles.store.rows import find_scrape, open_scrapes
from thresher.apps.roles.store.scrapes import extend_scrape, is_held
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND


def held(store, scrape):
    with store.write() as session:
        return is_held(session, scrape, store.backend.now(session), store.backend.dialect.lock)


def serve_all(store):
    found = []
    while isinstance(claimed := claim_role(store, ANNA, None, LEASE), Claimed):
        found.append(claimed.role.name)
    return found


def test_an_empty_queue_gives_nothing(store):
    assert nothing(store) == Empty(None)


def test_a_claimed_role_comes_with_its_names_its_demand_and_a_session(store, clock):
    wanted = role(store, "Python Developer", 3, aliases=["Python Dev", "Django Developer"])
    claimed = claim(store)
    assert (claimed.role.id, claimed.role.name, claimed.role.candidates) == (wanted, "Python Developer", 3)
    assert claimed.role.aliases == ("Django Developer", "Python Dev")
    assert claimed.platforms == claimed.scrape.platforms == ()
    with store.read() as session:
        found = find_scrape(session, claimed.scrape.session_id)
    assert found == claimed.scrape
    assert (found.key_id, found.scraper_name, found.role_name, found.lease_until) == (
        1,
        "anna",
        "Python Developer",
        clock.now() + LEASE,
    )
    assert look(store, wanted) == claimed.role
    assert problems(store) == []


def test_fresh_roles_are_served_by_priority_then_by_demand(store):
    for name, priority, wanted in [
        ("low and wanted", "low", 9),
        ("normal", "normal", 0),
        ("urgent", "urgent", 0),
        ("high", "high", 1),
        ("normal and wanted", "normal", 4),
    ]:
        role(store, name, wanted, priority=priority)
    assert serve_all(store) == ["urgent", "high", "normal and wanted", "normal", "low and wanted"]


@pytest.mark.promise(2)
def test_a_role_is_held_by_one_session_at_a_time(store):
    role(store, "cook")
    claim(store)
    assert nothing(store, BEN) == Empty(None)
    assert problems(store) == []


@pytest.mark.promise(5)
@only_sqlite
def test_a_small_role_is_served_in_the_end_however_many_large_ones_keep_coming_back(store, clock):
    """Three roles that many want are wanted anew every day, and one scraper looks for one role a day."""
    role(store, "small")
    large = [role(store, f"large {n}", 60) for n in range(3)]
    served = []
    for day in range(40):
        clock.advance(DAY)
        claimed = claim(store)
        served.append(claimed.role.name)
        end(store, claimed.scrape)
        for each in large:
            want(store, each, person(store, f"{day}/{each}"))
        if "small" in served:
            break
    assert "small" in served
    assert len(served) > 3  # they had their head start
    assert problems(store) == []


@pytest.mark.promise(1)
def test_a_session_that_ran_out_gives_its_role_to_the_next_who_asks(store, clock):
    wanted = role(store, "cook")
    first = claim(store).scrape
    clock.advance(LEASE)
    second = claim(store, BEN).scrape
    assert (second.role_id, second.claim) == (wanted, first.claim + 1)
    with store.read() as session:
        over = find_scrape(session, first.session_id)
    assert (over.status, over.verdict, over.completed_at) == ("timeout", "timeout", clock.now())
    assert over.error_message == "No jobs posted within 60 minutes"
    assert problems(store) == []


@pytest.mark.promise(2)
def test_the_fence_refuses_whoever_came_late(store, clock):
    role(store, "cook")
    first = claim(store).scrape
    clock.advance(LEASE - 1)
    assert held(store, first)
    clock.advance(1)
    assert not held(store, first)  # its time is over, and nobody has noticed yet
    second = claim(store, BEN).scrape
    assert not held(store, first)
    assert held(store, second)


@pytest.mark.promise(2)
def test_a_session_that_lost_its_role_completes_nothing(store, clock):
    wanted = role(store, "cook")
    first = claim(store).scrape
    clock.advance(LEASE)
    claim(store, BEN)
    assert end(store, first) == "processing"
    assert look(store, wanted).scraped_at is None
    assert problems(store) == []


@pytest.mark.promise(2)
def test_the_same_session_ended_twice_ends_once(store):
    wanted = role(store, "cook")
    scrape = claim(store).scrape
    assert end(store, scrape) == "completed"
    want(store, wanted, person(store, "somebody new"))
    assert end(store, scrape) == "pending"
    assert problems(store) == []


def test_a_sign_of_life_makes_a_session_last_and_never_shorter(store, clock):
    role(store, "cook")
    scrape = claim(store).scrape
    clock.advance(30 * MINUTE)
    with store.write() as session:
        longer = extend_scrape(session, scrape, LEASE, clock.now())
        assert extend_scrape(session, scrape, SECOND, clock.now()).lease_until == longer.lease_until
    clock.advance(45 * MINUTE)
    assert expire(store) == 0
    assert held(store, longer)
    assert (longer.lease_until, longer.duration_s(clock.now())) == (scrape.started_at + 90 * MINUTE, 75 * 60)


@pytest.mark.promise(2)
@pytest.mark.parametrize("how", ["ended", "out of time"])
def test_a_session_that_is_over_is_not_extended(store, clock, how):
    role(store, "cook")
    scrape = claim(store).scrape
    if how == "ended":
        end(store, scrape)
    else:
        clock.advance(LEASE)
    with store.write() as session:
        assert extend_scrape(session, scrape, LEASE, clock.now()) == scrape
    assert not held(store, scrape)


def test_a_key_finds_its_sessions_again(store):
    for name in ("cook", "baker", "smith"):
        role(store, name)
    one, two = claim(store).scrape, claim(store).scrape
    claim(store, BEN)
    end(store, one)
    with store.read() as session:
        assert open_scrapes(session, ANNA.key_id) == [two]


@pytest.mark.promise(7)
@pytest.mark.parametrize("verdict", [each for each in Verdict if not each.is_final])
def test_nothing_but_a_find_or_a_proof_completes_a_role(store, verdict):
    wanted = role(store, "cook")
    assert end(store, claim(store).scrape, verdict) == "pending"
    assert look(store, wanted).scraped_at is None
    assert problems(store) == []


@pytest.mark.parametrize("verdict", [Verdict.FOUND, Verdict.EMPTY])
def test_a_find_and_a_proof_complete_a_role(store, clock, verdict):
    wanted = role(store, "cook", 1)
    assert end(store, claim(store).scrape, verdict) == "completed"
    assert (look(store, wanted).scraped_at, look(store, wanted).session_id) == (clock.now(), None)
    assert nothing(store) == Empty(None)
    assert problems(store) == []


@pytest.mark.promise(10)
def test_a_role_that_keeps_failing_waits_longer_each_time_and_burns_no_sessions(store, clock):
    role(store, "cook")
    end(store, claim(store).scrape, Verdict.FAILED)
    end(store, claim(store).scrape, Verdict.BLOCKED)  # the first failure comes back at once
    assert nothing(store) == Empty(clock.now() + 60 * SECOND)
    clock.advance(60 * SECOND)
    end(store, claim(store).scrape, Verdict.UNKNOWN)
    assert nothing(store) == Empty(clock.now() + 120 * SECOND)
    clock.advance(120 * SECOND - 1)
    assert isinstance(nothing(store), Empty)
    clock.advance(1)
    end(store, claim(store).scrape, Verdict.FOUND)
    assert problems(store) == []


def test_a_role_that_goes_back_keeps_its_place(store, clock):
    role(store, "early")
    clock.advance(HOUR)
    role(store, "late")
    end(store, claim(store).scrape, Verdict.FAILED)
    assert claim(store).role.name == "early"


def test_a_completed_role_comes_back_when_somebody_new_wants_it(store, clock):
    wanted = role(store, "cook", 1)
    end(store, claim(store).scrape)
    clock.advance(HOUR)
    known = rows(store, "select record_id from links where name = 'wants'")[0][0]
    assert want(store, wanted, known) == []
    assert look(store, wanted).status == "completed"
    assert want(store, wanted, known, person(store, "new"), person(store, "new")) == [person(store, "new")]
    assert (
        look(store, wanted).status,
        look(store, wanted).waiting_since,
        look(store, wanted).candidates,
    ) == ("pending", clock.now(), 2)
    assert claim(store).role.id == wanted
    assert problems(store) == []


def test_the_daily_reset_brings_back_what_has_rested_and_is_still_wanted(store, clock):
    wanted, unwanted, fresh = role(store, "cook", 1), role(store, "smith"), role(store, "baker", 1)
    for _ in (wanted, fresh, unwanted):
        end(store, claim(store).scrape)
    change(store, "update roles set scraped_at = scraped_at + 1 where id = :id", id=fresh)
    clock.advance(DAY)
    assert reset(store, look(store, fresh).scraped_at) == 1
    assert [look(store, each).status for each in (wanted, unwanted, fresh)] == [
        "pending",
        "completed",
        "completed",
    ]
    assert turns(store, wanted) == {"": "waiting"}
    assert reset(store, look(store, fresh).scraped_at) == 0
    assert problems(store) == []


def test_stale_sessions_are_ended_a_few_at_a_time(store, clock):
    for n in range(4):
        role(store, f"role {n}")
        claim(store)
    clock.advance(LEASE)
    assert expire(store) == 4
    assert expire(store) == 0
    assert rows(store, "select count(*) from roles where status = 'pending'") == [(4,)]
    assert problems(store) == []
