"""The guard: vectors that lie side by side do not make one role of two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.hiring.title.guard import apart, choose, keeps_tools

SEEN = "java go senior front back end data test web sales nurse developer engineer manager analyst of and"
CORES = st.lists(st.sampled_from(SEEN.split(" ")), min_size=1, max_size=5).map(" ".join)


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ("Java Developer", "JavaScript Developer", "technologies"),
        ("C# Developer", "C++ Developer", "technologies"),
        ("Python Developer", "Software Developer", "technologies"),
        ("Front End Developer", "Back End Developer", "front is not back"),
        ("Sales Manager", "Marketing Manager", "sales is not marketing"),
        ("Product Manager", "Production Manager", "product is not production"),
        ("Electrical Engineer", "Electronics Engineer", "electrical is not electronics"),
        ("Account Manager", "Accounting Manager", "account is not accounting"),
        ("Data Engineer", "Data Analyst", "engineer is not analyst"),
        ("Nurse", "Nurse Manager", "nurse is not manager"),
        ("Nuclear Technician", "Nuclear Worker Technician", "worker makes"),
        ("Software Engineer", "Software Test Engineer", "test makes"),
        ("Engineer", "Software Engineer", "too broad"),
        ("Assistant Manager", "Manager", "too broad"),
    ],
)
def test_other_work_stays_apart_and_the_reason_says_why(left: str, right: str, why: str):
    assert why in (apart(core_of(left), core_of(right)) or "")
    assert apart(core_of(right), core_of(left))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Software Developer", "Software Engineer"),
        ("Java Programmer", "Java Developer"),
        ("Copywriter", "Copy Writer"),
        ("Graphics Designer", "Graphic Designer"),
        ("Occupational Therapist Assistant", "Occupational Therapy Assistant"),
        ("Sales Manger", "Sales Manager"),
        ("Business Analyst", "Business Systems Analyst"),
        ("Attorney", "Lawyer"),
    ],
)
def test_where_words_do_not_decide_nearness_may(left: str, right: str):
    assert apart(core_of(left), core_of(right)) is None


def test_letters_alone_may_not_decide_about_a_further_word():
    assert apart("business analyst", "business systems analyst", meaning=False)
    assert apart("graphics designer", "graphic designer", meaning=False) is None


@given(CORES, CORES)
def test_the_guard_is_the_same_from_both_sides(left: str, right: str):
    assert (apart(left, right) is None) == (apart(right, left) is None)
    assert apart(left, left) is None


def near(*found: tuple[str, float]) -> list[Neighbour]:
    return [Neighbour(at, name, score) for at, (name, score) in enumerate(found, 1)]


def test_the_nearest_that_is_the_same_work_is_chosen_though_another_is_nearer():
    choice = choose("java engineer", near(("JavaScript Developer", 0.95), ("Java Developer", 0.88)), 0.85)
    assert choice.role is not None
    assert choice.role.name == "Java Developer"


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([], "known role is similar"),
        ([("Java Developer", 0.8)], "too different: 0.800"),
        ([("JavaScript Developer", 0.95)], "another role: the technologies"),
    ],
)
def test_where_nothing_is_chosen_the_reason_is_said(found: list[tuple[str, float]], reason: str):
    choice = choose("java engineer", near(*found), 0.85)
    assert choice.role is None
    assert reason in choice.reason


def test_a_name_that_is_given_keeps_the_technology():
    assert keeps_tools("java developer", "java engineer")
    assert not keeps_tools("java developer", "software developer")
    assert not keeps_tools("java developer", "javascript developer")
    assert not keeps_tools("sales manager", "java developer")
