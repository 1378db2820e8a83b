"""The five parts of a match, number by number as they are documented, and that each says why with words of
the posting."""

from dataclasses import replace
from typing import Any

import pytest

from tests.apps.roles.people import USUAL, fit, offer, part, posting, seeker
from thresher.apps.roles.matching.skill import alike, skill_key

ASKS = "Requirements: at least {} years of experience in software development."


@pytest.mark.parametrize(
    ("own", "theirs", "share"),
    [
        (["Python", "Django"], ["python", "django"], 100),
        (["Python"], ["python", "django"], 50),
        (["JS", "K8s", "Postgres"], ["JavaScript", "Kubernetes", "PostgreSQL"], 100),
        (["Kubernets", "Comunication"], ["Kubernetes", "Communication"], 100),
        (["Java"], ["JavaScript"], 0),
        (["C"], ["C++"], 0),
        (["OAuth1"], ["OAuth2"], 0),
        (["MySQL"], ["MSSQL"], 0),
        (["Microsoft Excel", "Problem-Solving"], ["Excel", "problem solving"], 100),
        (["5 years of Python and Django development"], ["Django"], 100),
        ([], ["Python"], 50),
        (["Python"], [], 50),
    ],
)
def test_skills_count_by_the_share_that_the_candidate_has(
    own: list[str], theirs: list[str], share: float
) -> None:
    assert part("skills", {"skills": tuple(own)}, {"skills": theirs}) == share


def test_the_tools_and_specialisations_of_a_candidate_are_skills_too() -> None:
    own = {"skills": ("Python",), "tech_stack": ("Redis",), "specializations": ("Accounting",)}
    assert part("skills", own, {"skills": ["python", "redis", "accounting"]}) == 100


def test_skills_that_only_the_text_names_are_asked_for_as_well() -> None:
    found = fit(
        {"skills": ("Python",)},
        {"skills": ["Python"], "description": "You write Python and Kubernetes manifests every day."},
    )
    assert [each.asked.key for each in found.matched] == ["python"]
    assert [each.key for each in found.missing] == ["kubernetes"]


@pytest.mark.parametrize(
    ("one", "other"), [("java", "javascript"), ("c", "c++"), ("angular", "angularjs"), ("react", "redact")]
)
def test_names_that_are_known_to_be_different_are_never_alike(one: str, other: str) -> None:
    assert alike(skill_key(one), skill_key(other), USUAL.fuzzy) == (skill_key(one) == skill_key(other))


@pytest.mark.parametrize(
    ("own", "asked", "counts"),
    [
        (5, 5, 100),
        (9, 5, 100),
        (4, 5, 85),
        (4.5, 5, 85),
        (3, 5, 70),
        (2, 5, 55),
        (1, 5, 40),
        (0, 5, 40),
        (None, 5, 50),
        (5, None, 50),
    ],
)
def test_experience_that_is_short_counts_less_by_the_year(
    own: float | None, asked: int | None, counts: float
) -> None:
    theirs = {"description": ASKS.format(asked)} if asked is not None else {}
    assert part("experience", {"experience_years": own}, theirs) == counts


@pytest.mark.parametrize(
    ("own", "counts"), [(3, 100), (5, 100), (6, 95), (7, 95), (8, 85), (10, 85), (11, 70), (15, 70), (16, 60)]
)
def test_experience_beyond_a_stated_range_counts_less(own: float, counts: float) -> None:
    assert part("experience", {"experience_years": own}, {"experience": {"low": 3, "high": 5}}) == counts


REMOTE = {"remote": "remote"}


@pytest.mark.parametrize(
    ("own", "theirs", "counts"),
    [
        ({"remote": True}, REMOTE, 100),
        ({}, REMOTE, 90),
        ({"locations": ("Austin, TX",)}, {"location": "Austin, TX"}, 100),
        ({"locations": ("Boston, MA", "Austin, TX")}, {"location": "Austin, TX"}, 100),
        ({"locations": ("Texas",)}, {"location": "Austin, TX"}, 100),
        ({"locations": ("Germany",)}, {"location": "Berlin, Germany"}, 100),
        ({"locations": ("Houston, TX",)}, {"location": "Austin, TX"}, 75),
        ({"locations": ("Portland, OR",)}, {"location": "Portland, ME"}, 30),
        ({"locations": ("Boston, MA",)}, {"location": "Austin, TX"}, 30),
        ({"remote": True}, {"location": "Austin, TX"}, 40),
        ({"remote": True, "locations": ("Austin, TX",)}, {"location": "Austin, TX"}, 100),
        ({"locations": ("Berlin, Germany",), "remote": True}, {"location": "Remote - US"}, 30),
        ({"locations": ("Austin, TX",), "remote": True}, {"location": "Remote - US"}, 100),
        ({}, {"location": "Austin, TX"}, 50),
        ({"locations": ("Austin, TX",)}, {}, 50),
        ({"remote": True}, {}, 50),
        ({"locations": ("Austin, TX",)}, {"location": "United States"}, 50),
    ],
)
def test_the_place_of_work_counts_by_how_near_it_is(
    own: dict[str, Any], theirs: dict[str, Any], counts: float
) -> None:
    assert part("location", own, theirs) == counts


@pytest.mark.parametrize(
    ("wish", "salary", "counts"),
    [
        (100_000, {"low": 90_000, "high": 110_000}, 100),
        (None, {"low": 90_000, "high": 110_000}, 80),
        (None, None, 80),
        (100_000, None, 50),
        (100_000, {"low": 80_000, "high": 91_000}, 75),
        (100_000, {"low": 80_000, "high": 90_000}, 60),
        (100_000, {"low": 70_000, "high": 75_000}, 45),
        (100_000, {"low": 60_000, "high": 70_000}, 30),
        (100_000, {"low": 120_000, "high": None}, 100),
    ],
)
def test_a_salary_counts_by_how_far_it_is_from_the_wish(
    wish: int | None, salary: dict[str, Any] | None, counts: float
) -> None:
    said = {"salary": {"text": "a year", "currency": "USD", "period": "year", **salary}} if salary else {}
    assert part("salary", {"salary_min": wish}, said) == counts


def test_two_currencies_cannot_be_compared_so_the_salary_is_unknown() -> None:
    said = {"salary": {"text": "x", "low": 90_000, "high": 110_000, "currency": "EUR", "period": "year"}}
    assert part("salary", {"salary_min": 100_000, "currency": "USD"}, said) == 50


@pytest.mark.promise(13)
def test_nobody_who_says_nothing_is_refused_for_it() -> None:
    found = fit({}, {"title": "Clerk"})
    assert [each.points for each in found.parts] == [5_000, 5_000, 5_000, 8_000, 5_000]
    assert all(each.reason for each in found.parts)


@pytest.mark.parametrize(
    ("score", "grade"), [(9_000, "A+"), (8_999, "A"), (7_999, "B"), (6_999, "C"), (5_999, "D"), (4_999, "F")]
)
def test_grades_begin_where_the_settings_say(score: int, grade: str) -> None:
    assert USUAL.grade(score) == grade


def test_the_whole_is_the_weighted_mean_of_its_parts() -> None:
    found = fit(
        {"skills": ("Python",), "experience_years": 5},
        {"skills": ["Python"], "experience": {"low": 5, "high": None}},
    )
    assert found.score == (40 * 10_000 + 25 * 10_000 + 15 * 5_000 + 10 * 8_000 + 10 * 5_000) // 100
    assert (found.grade, found.recommended) == ("A", True)


def test_without_any_weight_nothing_matches() -> None:
    weightless = replace(USUAL, skills=0, experience=0, location=0, salary=0, semantic=0)
    assert fit({"skills": ("Python",)}, {"skills": ["Python"]}, weightless).score == 0


TEXT = """Senior Developer at a small company.
We look for at least 4 years of experience in software development.
You know Python, Django and PostgreSQL. The salary is $100,000 - $120,000 per year. You may work fully remote."""


@pytest.mark.promise(13)
@pytest.mark.promise(14)
def test_every_quote_stands_in_the_posting() -> None:
    found = posting(
        title="Django Developer", location="Austin, TX", description=TEXT, skills=["REST", "Python"]
    )
    pair = fit(
        {"skills": ("Python", "Go"), "experience_years": 2, "salary_min": 90_000},
        dict(found.data) | {"facts": None},
    )
    quoted = [each.place for each in pair.parts if each.place] + [each.asked.place for each in pair.matched]
    quoted += [each.place for each in pair.missing]
    assert len(quoted) >= 7
    for place in quoted:
        assert place is not None
        if place.path is None:
            assert TEXT[place.start : place.end] == place.quote
        else:
            value: Any = found.data
            for step in place.path.split("."):
                value = value[int(step)] if isinstance(value, list) else value[step]
            assert place.quote in str(value)


@pytest.mark.promise(18)
def test_a_hostile_record_is_read_as_far_as_it_makes_sense() -> None:
    wild = {
        "skills": ["x" * 10_000, 7, None, *(f"skill {at}" for at in range(5_000))],
        "experience": {"low": "many", "high": float("nan")},
        "salary": {"low": -1, "high": 10**40, "text": "\x00"},
        "location": "," * 5_000,
        "description": "years " * 5_000,
    }
    theirs = offer(**wild)
    own = seeker(
        skills=tuple("y" * at for at in range(2_000)),
        experience_years=-3,
        salary_min=10**30,
        locations=tuple("abc" * 99),
    )
    assert len(theirs.skills) <= 100
    assert len(own.skills) <= 100
    assert (own.years, own.salary) == (None, None)
    assert fit({}, wild).score > 0
