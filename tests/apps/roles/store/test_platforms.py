"""Turns per platform: who may look where, how often, how many at once, and what a platform in trouble does to
its roles."""

import pytest

from tests.apps.roles.store.queueing import (
    ANNA,
    BEN,
    DEMAND,
    LEASE,
    PACE,
    claim,
    end,
    look,
    nothing,
    person,
    platform,
    problems,
    role,
    turns,
    want,
)
from tests.harness.tasks import rows
from thresher.admin.events import list_events
from thresher.apps.roles.store.platforms import (
    Platform,
    find_platform,
    list_platforms,
    pause_platform,
    remove_platform,
    resume_platform,
    save_platform,
)
from thresher.apps.roles.store.queue import Empty, Holder
from thresher.apps.roles.store.scrapes import expire_scrapes, judge_turns
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import FOREVER, HOUR, MINUTE
from thresher.core.errors import UsageError

DICE_ONLY = Holder(3, "dora", ("dice",))


def does(store, fn, *args):
    with store.write() as session:
        return fn(session, *args)


def health(store, name="dice"):
    with store.read() as session:
        found = find_platform(session, name)
    return found.failures, found.paused_until, found.paused_tag


def test_a_session_covers_every_platform_that_waits(store):
    for name in ("indeed", "dice"):
        platform(store, name, per_minute=20)
    wanted = role(store, "cook")
    claimed = claim(store)
    assert claimed.scrape.platforms == ("dice", "indeed")
    assert [(each.name, each.per_minute) for each in claimed.platforms] == [("dice", 20), ("indeed", 20)]
    assert turns(store, wanted) == {"dice": "held", "indeed": "held"}
    assert problems(store) == []


def test_each_platform_gets_its_own_verdict_and_the_role_waits_for_the_rest(store):
    for name in ("dice", "indeed"):
        platform(store, name)
    wanted = role(store, "cook")
    assert end(store, claim(store).scrape, Verdict.FOUND, {"indeed": Verdict.BLOCKED}) == "pending"
    assert turns(store, wanted) == {"dice": "done", "indeed": "waiting"}
    claimed = claim(store)
    assert claimed.scrape.platforms == ("indeed",)
    assert end(store, claimed.scrape, Verdict.EMPTY) == "completed"
    assert problems(store) == []


def test_a_scraper_is_given_what_it_asked_for_and_what_its_key_may(store):
    for name in ("dice", "indeed", "monster"):
        platform(store, name)
    role(store, "cook")
    assert claim(store, DICE_ONLY, ["dice", "indeed"]).scrape.platforms == ("dice",)
    role(store, "smith")
    assert claim(store, ANNA, ["indeed", "nowhere"]).scrape.platforms == ("indeed",)
    assert nothing(store, DICE_ONLY, ["indeed"]) == Empty(None)
    assert problems(store) == []


@pytest.mark.promise(2)
def test_a_role_is_not_given_to_a_second_session_for_another_platform(store):
    for name in ("dice", "indeed"):
        platform(store, name)
    wanted = role(store, "cook")
    first = claim(store, ANNA, ["dice"])
    assert nothing(store, BEN, ["indeed"]) == Empty(None)
    assert problems(store) == []
    assert end(store, first.scrape) == "pending"
    assert turns(store, wanted) == {"dice": "done", "indeed": "waiting"}
    assert claim(store, BEN, ["indeed"]).role.id == wanted


def test_without_platforms_nobody_can_name_one(store):
    role(store, "cook")
    assert claim(store, DICE_ONLY, ["dice"]).scrape.platforms == ()


def test_the_best_role_of_all_open_platforms_comes_first(store, clock):
    for name in ("dice", "indeed"):
        platform(store, name)
    role(store, "early")
    clock.advance(HOUR)
    role(store, "late")
    end(store, claim(store, ANNA, ["dice"]).scrape)
    assert claim(store).role.name == "early"  # it is still first on the other one
    assert claim(store).role.name == "late"


def test_a_platform_is_looked_at_no_more_often_than_it_should(store, clock):
    platform(store, "dice", every_us=6 * HOUR)
    platform(store, "indeed")
    wanted = role(store, "cook", 1)
    began = clock.now()
    first = claim(store)
    clock.advance(HOUR // 2)
    end(store, first.scrape)
    want(store, wanted, person(store, "new"))
    assert turns(store, wanted) == {"dice": "later", "indeed": "waiting"}
    second = claim(store)
    assert second.scrape.platforms == ("indeed",)
    assert end(store, second.scrape) == "pending"
    assert nothing(store) == Empty(began + 6 * HOUR)
    clock.advance(6 * HOUR)
    assert claim(store).scrape.platforms == ("dice",)
    assert problems(store) == []


@pytest.mark.promise(3)
def test_a_platform_takes_no_more_sessions_at_a_time_than_it_may(store):
    platform(store, "dice", in_flight=1)
    platform(store, "indeed", in_flight=2)
    for n in range(3):
        role(store, f"role {n}")
    sessions = [claim(store).scrape for _ in range(2)]
    assert [each.platforms for each in sessions] == [("dice", "indeed"), ("indeed",)]
    assert nothing(store) == Empty(None)
    assert problems(store) == []
    end(store, sessions[0])
    assert claim(store).scrape.platforms == ("dice", "indeed")


@pytest.mark.promise(10)
def test_a_failing_platform_is_paused_and_its_roles_wait_for_it_alone(store, clock):
    platform(store, "dice")
    platform(store, "indeed")
    for n in range(6):
        role(store, f"role {n}")
    for _ in range(5):
        end(store, claim(store, ANNA, ["dice"]).scrape, Verdict.BLOCKED)
    assert health(store) == (5, clock.now() + 30 * MINUTE, "failures")
    assert isinstance(nothing(store, ANNA, ["dice"]).retry_at, int)
    assert claim(store).scrape.platforms == ("indeed",)
    clock.advance(30 * MINUTE)
    end(store, claim(store, ANNA, ["dice"]).scrape, Verdict.FOUND)
    assert health(store) == (0, 0, None)
    told = [(each["kind"], each["detail"]["platform"]) for each in list_events(store)]
    assert told == [("platform_resumed", "dice"), ("platform_paused", "dice")]
    assert problems(store) == []


def test_a_pause_by_hand_lasts_until_it_is_ended_by_hand(store, clock):
    platform(store, "dice")
    role(store, "cook")
    under_way = claim(store)
    assert does(store, pause_platform, "dice", FOREVER, "they asked us to")
    end(store, under_way.scrape)
    role(store, "smith")
    assert nothing(store) == Empty(None)
    clock.advance(1_000 * HOUR)
    assert nothing(store) == Empty(None)
    assert does(store, resume_platform, "dice")
    assert claim(store).role.name == "smith"
    assert not does(store, pause_platform, "nowhere")
    assert not does(store, resume_platform, "nowhere")


def test_platforms_are_answered_one_by_one_while_the_session_goes_on(store, clock):
    for name in ("dice", "indeed", "monster"):
        platform(store, name)
    wanted = role(store, "cook")
    scrape = claim(store).scrape
    with store.write() as session:
        judge_turns(
            session,
            scrape,
            {"dice": Verdict.FOUND, "indeed": Verdict.FAILED, "nowhere": Verdict.FOUND},
            clock.now(),
            PACE,
        )
    assert turns(store, wanted) == {"dice": "done", "indeed": "later", "monster": "held"}
    assert nothing(store) == Empty(None)  # what failed comes back only when the session is over
    assert problems(store) == []
    assert end(store, scrape, Verdict.FOUND, {"dice": Verdict.FAILED}) == "pending"
    assert turns(store, wanted) == {
        "dice": "done",
        "indeed": "waiting",
        "monster": "done",
    }  # what was said of it stands
    assert problems(store) == []


@pytest.mark.promise(2)
def test_a_session_that_is_over_judges_nothing(store, clock):
    platform(store, "dice")
    wanted = role(store, "cook")
    first = claim(store).scrape
    clock.advance(LEASE)
    claim(store, BEN)
    with store.write() as session:
        judge_turns(session, first, {"dice": Verdict.FOUND}, clock.now(), PACE)
    assert turns(store, wanted) == {"dice": "held"}


def test_the_first_platform_takes_over_all_turns_and_the_last_gives_them_back(store, clock):
    role(store, "done", 1)
    end(store, claim(store).scrape)
    held = role(store, "held")
    scrape = claim(store).scrape
    waiting = role(store, "waiting")
    role(store, "proposed", approved=False)
    platform(store, "dice", every_us=HOUR)
    assert rows(store, "select distinct platform from role_turns") == [("dice",)]
    assert problems(store) == []
    platform(store, "indeed")
    assert turns(store, held) == {"dice": "held", "indeed": "later"}
    assert turns(store, waiting) == {"dice": "waiting", "indeed": "waiting"}
    assert problems(store) == []
    assert end(store, scrape) == "pending"
    assert does(store, remove_platform, "indeed", clock.now())
    assert look(store, held).status == "completed"  # it waited for nothing else
    assert problems(store) == []
    assert does(store, remove_platform, "dice", clock.now())
    assert rows(store, "select distinct platform from role_turns") == [("",)]
    assert not does(store, remove_platform, "dice", clock.now())
    assert problems(store) == []
    assert claim(store).role.name == "waiting"


def test_a_change_of_a_platform_leaves_its_trouble_alone(store, clock):
    platform(store, "dice")
    does(store, pause_platform, "dice", clock.now() + HOUR, "why")
    assert not does(store, save_platform, Platform("dice", HOUR, 5, 2), clock.now())
    with store.read() as session:
        assert list_platforms(session) == [
            Platform("dice", HOUR, 5, 2, 0, clock.now() + HOUR, "person", "why")
        ]


@pytest.mark.parametrize(
    "wrong",
    [
        Platform(""),
        Platform("x" * 81),
        Platform("a b"),
        Platform("a,b"),
        Platform("a\0"),
        Platform("dice", -1),
        Platform("dice", 0, 0),
        Platform("dice", 0, None, 0),
    ],
    ids=repr,
)
def test_a_platform_that_cannot_be_is_refused(store, clock, wrong):
    with pytest.raises(UsageError):
        does(store, save_platform, wrong, clock.now())


def test_a_session_that_ran_out_says_nothing_about_its_platforms(store, clock):
    platform(store, "dice")
    for n in range(6):
        role(store, f"role {n}")
        claim(store)
    clock.advance(LEASE)
    assert does(store, expire_scrapes, clock.now(), PACE, DEMAND) == 6
    assert health(store) == (0, 0, None)
