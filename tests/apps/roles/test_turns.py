"""What becomes of a turn and of a platform: only a find or a proof ends a look."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.ours import OURS
from thresher.apps.roles.turns import SETTINGS, TAG, Ended, Health, Pace, Verdict, after_look, after_platform
from thresher.config.settings import Settings
from thresher.core.clock import HOUR, MINUTE, SECOND

PACE = Pace.of(Settings(catalogue=OURS))
NOW = 1_700_000_000 * SECOND
WELL = Health()
verdicts = st.sampled_from(Verdict)


def test_the_settings_make_a_pace():
    assert Pace(60 * SECOND, 4 * HOUR, 5, 30 * MINUTE, 4 * HOUR) == PACE
    assert Pace.of({name: Settings(catalogue=OURS)[name] for name in SETTINGS}) == PACE


@pytest.mark.promise(7)
@given(verdicts, st.integers(0, 10**6), st.integers(0, 10**12), st.integers(0, 10**12))
def test_only_a_find_or_a_proof_ends_a_turn(verdict, failures, took, every):
    ended = after_look(verdict, failures, NOW - took, every, NOW, PACE)
    assert ended.done == (verdict in ("found", "empty"))
    assert ended.failures == (0 if ended.done else failures + 1)
    assert ended.done or NOW <= ended.due_at <= NOW + PACE.retry_cap_us


def test_a_setting_ends_a_turn_that_proves_nothing_and_no_other():
    lax = replace(PACE, any_post_completes=True)
    done = {each: after_look(each, 0, NOW, 0, NOW, lax).done for each in Verdict}
    assert [each.value for each, is_done in done.items() if is_done] == ["found", "empty", "unknown"]


@pytest.mark.parametrize("verdict", [Verdict.FOUND, Verdict.EMPTY])
def test_the_next_look_is_counted_from_the_start_of_this_one(verdict):
    assert after_look(verdict, 3, NOW - HOUR, 6 * HOUR, NOW, PACE) == Ended(True, NOW + 5 * HOUR, 0)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 60), (2, 120), (3, 240), (8, 7_680), (9, 14_400), (500, 14_400)]
)
@pytest.mark.parametrize("verdict", [Verdict.BLOCKED, Verdict.FAILED, Verdict.UNKNOWN])
def test_the_first_failure_goes_back_at_once_and_each_further_one_waits_twice_as_long(
    verdict, failures, seconds
):
    assert after_look(verdict, failures, NOW, 0, NOW, PACE).due_at == NOW + seconds * SECOND


def test_a_session_that_ran_out_of_time_has_waited_enough():
    assert after_look(Verdict.TIMEOUT, 7, NOW - HOUR, 0, NOW, PACE) == Ended(False, NOW, 8)


def failing(times, health=WELL, verdict=Verdict.FAILED, now=NOW):
    for _ in range(times):
        health = after_platform(health, verdict, now, PACE)
    return health


@pytest.mark.promise(10)
@pytest.mark.parametrize("verdict", [Verdict.FAILED, Verdict.BLOCKED])
def test_five_failures_in_a_row_pause_a_platform(verdict):
    assert failing(4, verdict=verdict) == Health(4)
    paused = failing(5, verdict=verdict)
    assert (paused.failures, paused.paused_until, paused.tag) == (5, NOW + 30 * MINUTE, TAG)
    assert str(verdict) in (paused.reason or "")


@pytest.mark.promise(10)
def test_a_platform_that_fails_after_its_rest_rests_twice_as_long_up_to_a_cap():
    health, now, rests = failing(5), NOW, []
    for _ in range(5):
        rests.append(health.paused_until - now)
        now = health.paused_until
        health = failing(1, health, now=now)
    assert rests == [30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 4 * HOUR]


def test_sessions_that_were_under_way_when_a_platform_was_paused_do_not_lengthen_its_rest():
    paused = failing(5)
    assert failing(50, paused) == paused


def test_a_find_opens_a_platform_that_was_paused_for_its_failures():
    assert after_platform(failing(5), Verdict.FOUND, NOW, PACE) == WELL


def test_only_a_person_ends_a_pause_that_a_person_made():
    paused = Health(3, NOW + HOUR, "person", "they asked us to")
    assert after_platform(paused, Verdict.FOUND, NOW, PACE) == Health(
        0, NOW + HOUR, "person", "they asked us to"
    )


@pytest.mark.parametrize("verdict", [Verdict.EMPTY, Verdict.UNKNOWN, Verdict.TIMEOUT])
@given(st.integers(0, 9))
def test_a_look_that_says_nothing_about_its_platform_changes_nothing_there(verdict, failures):
    assert after_platform(Health(failures), verdict, NOW, PACE) == Health(failures)
