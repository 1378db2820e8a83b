"""What the schedules ask for, as effects: stale sessions end, rested roles come back, and doing it twice does
no harm."""

from dataclasses import asdict

import pytest

from tests.apps.roles.store.queueing import (
    DEMAND,
    LEASE,
    PACE,
    claim,
    end,
    look,
    platform,
    problems,
    role,
    turns,
)
from tests.harness.tasks import rows
from thresher.apps.roles.store.platforms import pause_platform
from thresher.apps.roles.store.upkeep import expire_sessions, reset_rested
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import DAY, HOUR

NUMBERS = {"pace": asdict(PACE), "demand": asdict(DEMAND)}


EFFECTS = {"scrapes.expire": expire_sessions, "roles.reset": reset_rested}


def do(store, name, rest=DAY):
    with store.write() as session:
        now = store.backend.now(session)
        EFFECTS[name](session, NUMBERS | {"before": now - rest}, now)


@pytest.mark.promise(1)
def test_sessions_that_are_over_end_and_their_roles_wait_again(store, clock):
    ids = [role(store, name) for name in "abc"]
    for _ in ids:
        claim(store)
    clock.advance(LEASE)
    for _ in range(2):
        do(store, "scrapes.expire")
        assert [look(store, each).status for each in ids] == ["pending"] * 3
        assert rows(store, "select distinct status from scrape_sessions") == [("timeout",)]
    assert rows(store, "select kind, count(*) from events group by kind order by kind") == [
        ("session_expired", 3),
        ("sessions_ended", 1),
    ]
    assert problems(store) == []


def test_a_session_that_still_lasts_is_left_alone(store, clock):
    role(store, "a")
    claim(store)
    clock.advance(LEASE - 1)
    do(store, "scrapes.expire")
    assert rows(store, "select status from scrape_sessions") == [("in_progress",)]


def test_a_role_comes_back_after_it_has_rested(store, clock):
    cook = role(store, "cook", 1)
    end(store, claim(store).scrape)
    clock.advance(DAY)
    do(store, "roles.reset")
    assert look(store, cook).status == "completed"  # for a day, and not a moment less
    clock.advance(1)
    do(store, "roles.reset")
    assert look(store, cook).status == "pending"
    do(store, "roles.reset")
    assert problems(store) == []


def test_a_role_rests_as_long_as_the_stage_says(store, clock):
    cook = role(store, "cook", 1)
    end(store, claim(store).scrape)
    clock.advance(HOUR + 1)
    do(store, "roles.reset", rest=HOUR)
    assert look(store, cook).status == "pending"


@pytest.mark.promise(5)
def test_a_platform_that_is_paused_for_long_does_not_keep_a_role_from_the_others(store, clock):
    for name in ("dice", "indeed"):
        platform(store, name)
    cook = role(store, "cook", 1)
    with store.write() as session:
        pause_platform(session, "indeed")
    assert end(store, claim(store).scrape, Verdict.FOUND) == "pending"
    clock.advance(DAY + 1)
    do(store, "roles.reset")
    assert turns(store, cook) == {"dice": "waiting", "indeed": "waiting"}
    assert claim(store).scrape.platforms == ("dice",)
    do(store, "roles.reset")
    assert problems(store) == []
