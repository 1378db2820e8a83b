"""Strikes: what each costs from its bound on, and when they are too many."""

from dataclasses import replace
from typing import Any

import pytest

from tests.apps.jobs.judging import MAINE, judged
from tests.apps.jobs.opening import RULES, TEXT, TODAY, ago, pay, profile
from thresher.apps.jobs.filtering.rejection import Rules, spoken_rejection
from thresher.apps.jobs.model import RulePlace, SpokenRule
from thresher.apps.jobs.person.wants import Levels, Profile, Rank, Skill
from thresher.core import stored
from thresher.hiring.facts import read_facts
from thresher.hiring.opening import Experience, Level, Opening, Workplace
from thresher.hiring.records import PostingRecord

pytestmark = pytest.mark.promise(13)


def struck(who: Profile | None = None, rules: Rules = RULES, **facts: Any) -> dict[str, int]:
    found = judged(who=who, rules=rules, **facts)
    assert found.hard is None
    return {each.name: each.points for each in found.strikes}


# --- strikes, each at its bound


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"pay": pay(120_000, 149_999)}, {"salary_target": 2}),
        ({"pay": pay(120_000, 150_000)}, {}),
        ({"pay": pay(120_000, 140_000, "EUR")}, {}),
        ({"experience": Experience(5)}, {"little_experience": 1}),
        ({"experience": Experience(6)}, {}),
        ({"experience": Experience(3, 5)}, {"little_experience": 1}),
        ({"experience": Experience(4, 6)}, {}),
        ({"title": "Mid-Level Engineer"}, {"unwanted_level": 2}),
        ({"title": "Engineer II", "level": Level.MID}, {"unwanted_level": 2}),
        ({"title": "Principal Engineer"}, {"unwanted_level": 1}),
        ({"title": "Director of Engineering"}, {"unwanted_level": 1}),
        ({"title": "Engineering Manager"}, {"unwanted_level": 1}),
        ({"title": "Principal Engineering Manager and Director"}, {"unwanted_level": 1}),
        ({"title": "Management Engineer"}, {}),
        ({"skills": ("python", "java")}, {"disliked_technology": 2}),
        ({"skills": ("rust",)}, {"no_required_technology": 1}),
        ({"skills": ()}, {"no_required_technology": 1}),
        ({"text": "x" * 199}, {"short_description": 1}),
        ({"text": "x" * 200}, {}),
        ({"text": " " * 500}, {"short_description": 1}),
        ({"text": "We want a rockstar and a ninja. " + TEXT}, {"buzzword": 1}),
        ({"title": "Guru Engineer"}, {"buzzword": 1}),
        ({"text": "We do not look for rockstars or a ninja. " + TEXT}, {}),
        ({"posted": ago(1)}, {}),
        ({"posted": ago(2)}, {"not_fresh": 1}),
        ({"posted": ago(-1)}, {}),
    ],
)
def test_a_strike_costs_its_points_from_its_bound_on(facts: dict[str, Any], expected: dict[str, int]):
    assert struck(**facts) == expected


def test_each_disliked_technology_costs_its_points():
    who = profile(
        skills={"python": Skill(Rank.REQUIRED), "java": Skill(Rank.STRIKE), "php": Skill(Rank.STRIKE)}
    )
    assert judged(who=who, skills=("python", "java", "php")).total == 4


def test_without_required_technologies_none_can_be_missing():
    assert struck(who=profile(skills={"java": Skill(Rank.STRIKE)}), skills=("rust",)) == {}


def test_a_description_too_short_to_name_a_technology_is_not_blamed_for_naming_none():
    assert struck(text="Short.", skills=()) == {"short_description": 1}


def test_a_skill_that_is_no_technology_is_looked_for_in_the_text():
    who = profile(skills={"welding": Skill(Rank.REQUIRED)})
    assert struck(who=who, text="You know welding well. " + TEXT) == {}
    assert struck(who=who) == {"no_required_technology": 1}


def test_unwanted_levels_without_points_cost_what_the_setting_says():
    who = profile(levels=Levels(unwanted={"principal": None}))
    assert struck(who=who, title="Principal Engineer") == {"unwanted_level": 1}
    assert struck(who=who, rules=replace(RULES, level_points=3), title="Principal Engineer") == {
        "unwanted_level": 3
    }


def test_three_mild_findings_reach_the_threshold_as_they_always_did():
    found = judged(posted=ago(2), pay=pay(120_000, 140_000), skills=("python", "java"))
    assert [each.points for each in found.strikes] == [2, 2, 1]
    assert (found.total, found.threshold, found.passed) == (5, 5, False)


def test_one_point_below_the_threshold_passes():
    found = judged(posted=TODAY, pay=pay(120_000, 140_000), skills=("python", "java"))
    assert (found.total, found.passed) == (4, True)
    assert judged(
        posted=ago(2), pay=pay(120_000, 140_000), skills=("python", "java"), rules=replace(RULES, threshold=6)
    ).passed


def test_a_rejection_is_kept_with_its_words_and_its_place():
    for each in (
        *judged(posted=ago(2), skills=("java",), pay=pay(1, 120_000)).strikes,
        judged(title="Sales").hard,
    ):
        assert each is not None
        kept = stored.read(SpokenRule, stored.written(spoken_rejection(each)))
        assert (kept.category, kept.name, kept.reason, kept.severity, kept.points) == (
            each.category,
            each.name,
            each.reason,
            each.severity,
            each.points,
        )
        assert each.place is None or (kept.quote, kept.place) == (
            each.place.quote,
            RulePlace(each.place.start, each.place.end, each.place.path),
        )


# --- the weaknesses of old


def read(text: str, **data: Any) -> Opening:
    said = {"title": "Senior Software Engineer", "description": f"{text}\n{TEXT}", **data}
    return read_facts(stored.read(PostingRecord, said, key="k"), today=TODAY)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (read("Our 401k is matched. Salary: $160,000 - $180,000."), "401k is no salary"),
        (
            read("We have been in business for 25 years. You bring 7+ years of experience."),
            "25 years in business are no experience",
        ),
        (read("This role does not require relocation."), "relocation is taken back"),
        (read("No clearance required."), "clearance is taken back"),
        (read("Fully remote.", location="Remote - US"), "a country alone is no office"),
        (
            read("Work from anywhere in the country.", location="United States"),
            "a country alone is no office",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_used_to_be_misread_speaks_against_nobody(said: Opening, why: str):
    found = judged(said)
    assert (found.hard, found.strikes) == (None, ()), why


def test_twenty_five_years_in_business_do_not_make_up_for_little_experience():
    said = read("In business for 25 years. You have 2 years of experience.")
    assert [each.name for each in judged(said).strikes] == ["little_experience"]


def test_the_word_or_is_not_oregon():
    said = read("Hybrid.", location="Portland or Boston (Hybrid)")
    maine = replace(said, spots=(MAINE,), workplace=Workplace.HYBRID)
    assert judged(maine).hard is not None
