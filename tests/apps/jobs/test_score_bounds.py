"""The score as a whole: its bounds, what a model may move, and the hours between two places."""

from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.judging import COUNTRY, openings, said_by
from tests.apps.jobs.opening import POINTS, PORTLAND, RULES, TEXT, TODAY, ago, opening, profile
from tests.apps.jobs.scoring import found, scored
from thresher.ai.prompt import Library
from thresher.apps.jobs.app import app as jobs
from thresher.apps.jobs.filtering.case import case_of
from thresher.apps.jobs.filtering.filter import judge, weigh
from thresher.apps.jobs.person.profile import Profile
from thresher.apps.jobs.person.wants import Size
from thresher.apps.jobs.scoring import zones
from thresher.apps.jobs.scoring.judgement import PROMPT, intake, judgement_inputs, judgement_schema
from thresher.apps.jobs.scoring.points import Employer
from thresher.apps.jobs.scoring.score import Priority, rate, score, with_judgement
from thresher.apps.jobs.scoring.zones import hours_between, zone_of
from thresher.core.evidence import Material
from thresher.hiring.opening import Level, Opening, Spot, Workplace

pytestmark = pytest.mark.promise(13)


# --- the whole


def test_a_good_match_passes_and_a_stranger_does_not():
    good = {
        "skills": ("python", "postgresql"),
        "level": Level.SENIOR,
        "workplace": Workplace.REMOTE,
        "posted": ago(1),
    }
    whole = scored(**good)
    assert (whole.total, whole.passed, whole.priority) == (85, True, Priority.HIGH)
    assert not scored(title="Account Executive", skills=()).passed


def test_the_bounds_of_priority_and_need():
    for total, priority in (
        (85, Priority.HIGH),
        (84, Priority.MEDIUM),
        (70, Priority.MEDIUM),
        (69, Priority.LOW),
    ):
        empty = scored(points=replace(POINTS, start=0)).total
        assert scored(points=replace(POINTS, start=total - empty)).priority is priority
    empty = scored(points=replace(POINTS, start=0)).total
    assert scored(points=replace(POINTS, start=80 - empty)).passed
    assert not scored(points=replace(POINTS, start=79 - empty)).passed


def test_a_score_stays_between_0_and_100_and_still_adds_up():
    for start in (0, 100):
        whole = scored(points=replace(POINTS, start=start, title=-90 if start == 0 else 90))
        assert whole.total == start
        assert sum(each.points for each in whole.components) == whole.total


def test_a_case_that_was_made_once_is_judged_and_scored_the_same():
    said, who = opening(posted=ago(2), skills=("java",)), profile()
    case = case_of(said, who, TODAY)
    assert weigh(case, RULES) == judge(said, who, RULES, TODAY)
    assert rate(case, Employer(), RULES, POINTS) == score(said, Employer(), who, RULES, POINTS, TODAY)


PEOPLE = st.sampled_from([Profile(), profile(), profile(size=Size.SMALL, titles=(), skills={})])


@given(openings(), PEOPLE, st.sampled_from(["S", None, "D"]))
def test_any_opening_has_a_score_that_adds_up_and_quotes_what_stands_there(
    posting: Opening, who: Profile, tier: str | None
):
    whole = score(posting, Employer(Size.LARGE, tier, True, None, "Portland, OR"), who, RULES, POINTS, TODAY)
    assert 0 <= whole.total <= 100
    assert sum(each.points for each in whole.components) == whole.total
    for each in whole.components:
        assert each.reason
        assert each.quote is None or each.quote in said_by(posting)


@given(openings())
def test_what_is_not_known_brings_nothing_and_costs_nothing(posting: Opening):
    bare = replace(
        posting,
        pay=None,
        posted=None,
        workplace=None,
        level=None,
        spots=(),
        text="",
        title="Engineer",
        skills=(),
    )
    whole = score(bare, Employer(), profile(), RULES, POINTS, TODAY)
    assert {each.name for each in whole.components if each.points} <= {"start", "title"}


# --- a model's opinion


def test_a_model_moves_the_score_by_no_more_than_it_may():
    whole = scored()
    for said, moved in (
        (10, 10),
        (15, 15),
        (10_000, 15),
        (-10_000, -15),
        (None, 0),
        (True, 0),
        ("15", 0),
        (0, 0),
    ):
        after = with_judgement(whole, {"score_change": said, "reasons": ["because"]}, POINTS)
        assert after.total == min(max(whole.total + moved, 0), 100)
        assert found(after, "judgement").reason == "because"
        assert sum(each.points for each in after.components) == after.total


def test_a_second_opinion_replaces_the_first():
    once = with_judgement(scored(), {"score_change": 15}, POINTS)
    assert with_judgement(once, {"score_change": 15}, POINTS) == once
    assert with_judgement(once, {}, POINTS).total == scored().total


def test_an_opinion_changes_the_priority_but_not_what_is_needed():
    whole = scored(level=Level.SENIOR, workplace=Workplace.REMOTE)
    after = with_judgement(whole, {"score_change": 15}, POINTS)
    assert (whole.priority, after.priority, after.needed) == (Priority.MEDIUM, Priority.HIGH, whole.needed)


def test_the_question_fits_its_schema_and_shows_the_posting_as_a_page():
    schema, asked = judgement_schema(), judgement_inputs(opening(), profile(), scored())
    assert [each.name for each in schema.fields if not each.judged] == []
    assert isinstance(asked["posting"], Material)
    assert TEXT in asked["posting"].text
    answer = {"score_change": 5, "reasons": ["fits"], "summary": "Builds harbours."}
    assert schema.complaints(answer) == []
    assert intake(answer)["summary"] == "Builds harbours."


def test_the_prompt_is_there_and_is_for_the_strong_tier():
    assert Library(apps=[jobs])[PROMPT].tier == "strong"


# --- time zones


def test_every_zone_in_the_tables_exists():
    tables = (zones._REGIONS, zones._COUNTRIES, zones._CITIES, zones._NAMED)
    assert [ZoneInfo(zone).key for table in tables for zone in table.values()]
    assert [ZoneInfo(f"Etc/GMT{sign}{hours}") for sign in "+-" for hours in range(13)]


def test_a_country_with_several_times_has_none():
    assert zone_of(COUNTRY) is None
    assert zone_of(PORTLAND) == "America/Los_Angeles"
    assert zone_of(Spot("?")) is None


def test_hours_are_counted_on_the_day_and_the_short_way_round():
    assert hours_between("America/Los_Angeles", "Europe/Berlin", date(2026, 2, 10)) == 9
    # One has changed its clocks, the other not yet.
    assert hours_between("America/Los_Angeles", "Europe/Berlin", date(2026, 3, 20)) == 8
    assert hours_between("America/Los_Angeles", "Pacific/Auckland", date(2026, 2, 10)) == 3
    assert hours_between("Asia/Kolkata", "Etc/UTC", date(2026, 2, 10)) == 5.5
