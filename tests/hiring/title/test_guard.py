"""The guard: vectors that lie side by side do not make one role of two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.hiring.title.guard import Nearness, apart, choose, keeps_tools, unexplained

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
    doubt = unexplained(core_of(left), core_of(right))
    assert doubt is not None
    assert why in doubt.reason
    assert apart(core_of(left), core_of(right), meaning=False)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Salesperson", "Salesman"),
        ("Veterinary Technologist", "Veterinary Technologists and Technicians"),
        ("Java Programmer", "Java Developer"),
        ("Sales Manger", "Sales Manager"),
    ],
)
def test_words_that_mean_the_same_leave_nothing_unexplained(left: str, right: str):
    assert unexplained(core_of(left), core_of(right)) is None


LEAST = Nearness(0.85, 1.0, 0.05)


@pytest.mark.parametrize(
    ("title", "found", "role"),
    [
        # a further word in the title: the farther off, the clearer the lead has to be
        ("Hospital Pharmacist", [("Pharmacist", 0.87), ("Cashier", 0.5)], "Pharmacist"),
        ("Hospital Pharmacist", [("Pharmacist", 0.87), ("Clinical Pharmacist", 0.8)], None),
        ("Hospital Pharmacist", [("Pharmacist", 0.95), ("Clinical Pharmacist", 0.89)], "Pharmacist"),
        ("Hospital Pharmacist", [("Pharmacist", 0.99), ("Clinical Pharmacist", 0.96)], None),
        ("Hospital Pharmacist", [("Pharmacist", 0.84), ("Cashier", 0.2)], None),
        # the title says less: which of the sorts of the role is meant is open
        ("Laboratory Technician", [("Medical Laboratory Technician", 0.97)], None),
        # each has its own word, and a role that is the only one has no lead to show
        ("Wood Shop Teacher", [("Wood Class Teacher", 0.89)], None),
        ("Wood Shop Teacher", [("Wood Class Teacher", 0.93)], "Wood Class Teacher"),
        (
            "Import Export Manager in Textiles",
            [("Import Export Manager in Meat", 0.93), ("Import Export Manager in Fish", 0.91)],
            None,
        ),
        # another head in the same field
        (
            "Wind Energy Engineering Consultant",
            [("Wind Energy Engineer", 0.92), ("Solar Energy Engineer", 0.8)],
            "Wind Energy Engineer",
        ),
        ("Network Specialist", [("Network Engineer", 0.95), ("Cook", 0.2)], None),
        ("Puppet Designer and Puppeteer", [("Puppet Designer", 0.97), ("Cook", 0.2)], None),
        # what lies nearly as near counts, though words keep it apart
        ("Hospital Pharmacist", [("Pharmacist", 0.87), ("Assistant Pharmacist", 0.86)], None),
        # one that says the same is taken before one that is nearer
        ("Java Programmer", [("Java Craft Programmer", 0.95), ("Java Developer", 0.9)], "Java Developer"),
    ],
)
def test_what_cannot_be_explained_has_to_be_nearer_and_clearly_so(
    title: str, found: list[tuple[str, float]], role: str | None
):
    choice = choose(core_of(title), near(*found), LEAST)
    assert (choice.role.name if choice.role else None) == role
    assert choice.reason


def near(*found: tuple[str, float]) -> list[Neighbour]:
    return [Neighbour(at, name, score) for at, (name, score) in enumerate(found, 1)]


def test_the_nearest_that_is_the_same_work_is_chosen_though_another_is_nearer():
    choice = choose("java engineer", near(("JavaScript Developer", 0.95), ("Java Developer", 0.88)), LEAST)
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
    choice = choose("java engineer", near(*found), LEAST)
    assert choice.role is None
    assert reason in choice.reason


def test_a_name_that_is_given_keeps_the_technology():
    assert keeps_tools("java developer", "java engineer")
    assert not keeps_tools("java developer", "software developer")
    assert not keeps_tools("java developer", "javascript developer")
    assert not keeps_tools("sales manager", "java developer")
