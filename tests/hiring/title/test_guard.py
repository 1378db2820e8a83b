"""The guard: vectors that lie side by side do not make one role of two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.title.core import core_of
from thresher.hiring.title.guard import Difference, apart, difference, explained, keeps_tools

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
        ("Electrical Engineer", "Electronics Engineer", "electrical is not electronics"),
        ("Nurse", "Nurse Manager", "manager makes"),
        ("Assistant Store Manager", "Store Manager", "assistant makes"),
        ("Graduate Civil Engineer", "Civil Engineer", "graduate makes"),
        ("Trainee Accountant", "Accountant", "trainee makes"),
        ("Apprentice Plumber", "Plumber", "apprentice makes"),
        ("Marketing Intern", "Marketing Specialist", "intern makes"),
        ("Primary School Teacher", "Secondary School Teacher", "primary is not secondary"),
        ("Inbound Sales Manager", "Outbound Sales Manager", "inbound is not outbound"),
        ("7th Grade Teacher", "8th Grade Teacher", "7th is not 8th"),
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


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ("Product Manager", "Production Manager", "product is not production"),
        ("Account Manager", "Accounting Manager", "account is not accounting"),
        ("Data Engineer", "Data Analyst", "engineer is not analyst"),
        ("import export manager in textiles", "import export manager in meat", "textiles is not meat"),
        ("import export manager in textiles", "import export manager", "only the title says textiles"),
        ("import export manager", "import export manager in textiles", "only the role says textiles"),
    ],
)
def test_a_word_that_nobody_can_explain_is_a_difference(left: str, right: str, why: str):
    assert why in (explained(core_of(left), core_of(right)) or "")
    assert apart(core_of(left), core_of(right), meaning=False)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Salesperson", "Salesman"),
        ("Veterinary Technologist", "Veterinary Technologists and Technicians"),
        ("Java Programmer", "Java Developer"),
        ("Sales Manger", "Sales Manager"),
        # two spellings, one or two words, other forms and other words of one meaning
        ("Jewellery Repairer", "Jewelry Repairer"),
        ("Paediatric Nurse", "Pediatric Nurse"),
        ("Theatre Technician", "Theater Technician"),
        ("Colour Sampling Operator", "Color Sampling Operator"),
        ("Organisational Psychologist", "Organizational Psychologist"),
        ("Wiredrawing Machine Operator", "Wire Drawing Machine Operative"),
        ("Mine Surveyor", "Mining Surveyor"),
        ("Book Shop Manager", "Book Store Manager"),
        ("Aeroplane Mechanic", "Aircraft Repairer"),
    ],
)
def test_words_that_mean_the_same_leave_nothing_unexplained(left: str, right: str):
    assert explained(core_of(left), core_of(right)) is None


@pytest.mark.parametrize(
    ("title", "role", "found"),
    [
        ("Sewing Machine Worker", "Sewing Machine Operator", Difference.KIN),
        ("Industrial Sewing Machine Worker", "Sewing Machine Operator", Difference.KIN_BOTH),
        ("Wind Energy Engineering Consultant", "Wind Energy Engineer", Difference.FIELD),
        ("Network Specialist", "Network Engineer", Difference.HEAD),
        ("Account Manager", "Account Executive", Difference.HEAD),
        ("Puppet Designer and Artist", "Puppet Designer", Difference.HEAD),
        ("Boiler Operator", "Gas Boiler Operator", Difference.LESS),
    ],
)
def test_two_heads_are_akin_only_where_they_often_name_one_work(title: str, role: str, found: Difference):
    assert difference(core_of(title), core_of(role)) is found


def test_a_name_that_is_given_keeps_the_technology():
    assert keeps_tools("java developer", "java engineer")
    assert not keeps_tools("java developer", "software developer")
    assert not keeps_tools("java developer", "javascript developer")
    assert not keeps_tools("sales manager", "java developer")
