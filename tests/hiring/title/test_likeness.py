"""Which of the roles near a title is chosen, and what is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.hiring.title.likeness import LOOKED_AT, Nearness, choose, lead, likelihood, signs

LEAST = Nearness(0.85, 0.8, 0.87)


@pytest.mark.parametrize(
    ("title", "found", "role"),
    [
        # a further word in the title: the farther off, the clearer the lead has to be
        ("Hospital Pharmacist", [("Pharmacist", 0.87), ("Cashier", 0.5)], "Pharmacist"),
        ("Hospital Pharmacist", [("Pharmacist", 0.87), ("Clinical Pharmacist", 0.8)], None),
        ("Hospital Pharmacist", [("Pharmacist", 0.95), ("Clinical Pharmacist", 0.82)], "Pharmacist"),
        ("Hospital Pharmacist", [("Pharmacist", 0.99), ("Clinical Pharmacist", 0.96)], None),
        ("Hospital Pharmacist", [("Pharmacist", 0.79), ("Cashier", 0.2)], None),
        # the title says less: which of the sorts of the role is meant is open
        ("Laboratory Technician", [("Medical Laboratory Technician", 0.97)], None),
        # each has its own word, and a role that is the only one has no lead to show
        ("Wood Shop Teacher", [("Wood Class Teacher", 0.89)], None),
        ("Wood Shop Teacher", [("Wood Class Teacher", 0.97), ("Cook", 0.3)], "Wood Class Teacher"),
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
        # heads that often name one work, and the same words before them
        (
            "Sewing Machine Worker",
            [("Sewing Machine Operator", 0.86), ("Knitting Machine Operator", 0.7)],
            "Sewing Machine Operator",
        ),
        (
            "Sewing Machine Worker",
            [("Sewing Machine Operator", 0.86), ("Machine Operator", 0.85)],
            None,
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


NAMES = st.lists(
    st.sampled_from(
        [
            "nurse",
            "hospital",
            "pharmacist",
            "clinical",
            "sewing",
            "machine",
            "operator",
            "worker",
            "of",
            "and",
            "sales",
        ]
    ),
    min_size=1,
    max_size=5,
).map(" ".join)
SCORES = st.floats(-1, 1)


@given(NAMES, st.lists(st.tuples(NAMES, SCORES), max_size=LOOKED_AT))
def test_whatever_is_near_a_likelihood_is_a_share_and_a_choice_has_a_reason(
    title: str, found: list[tuple[str, float]]
):
    some = near(*sorted(found, key=lambda each: -each[1]))
    assert all(0 <= likelihood(core_of(title), some, at) <= 1 for at in range(len(some)))
    assert choose(core_of(title), some, LEAST).reason


def test_the_reason_says_how_likely_it_is_and_what_differs():
    some = near(("Pharmacist", 0.87), ("Cashier", 0.5))
    assert (
        "only the title says hospital, and 94% of such titles"
        in choose("hospital pharmacist", some, LEAST).reason
    )
    close = near(("Pharmacist", 0.87), ("Clinical Pharmacist", 0.86))
    assert "at least 87% needed" in choose("hospital pharmacist", close, LEAST).reason


def test_a_role_that_another_one_covers_better_is_less_likely():
    alone = near(("Machine Operator", 0.9), ("Cook", 0.6))
    beside = near(("Machine Operator", 0.9), ("Sewing Machine Operator and Cutter", 0.6))
    title = "sewing machine operator"
    assert likelihood(title, beside, 0) < likelihood(title, alone, 0)
    assert signs(title, alone, 0)[-1] > signs(title, beside, 0)[-1]


def test_a_lead_counts_only_so_far_and_a_role_that_is_alone_has_little_of_it():
    far, alone = near(("Pharmacist", 0.9), ("Cook", 0.1)), near(("Pharmacist", 0.9))
    assert lead(far, 0) == pytest.approx(0.2)
    assert lead(alone, 0) == pytest.approx(0.05)
    assert lead(near(("A", 0.9), ("B", 0.8)), 1) == pytest.approx(-0.1)


@given(NAMES, st.lists(st.tuples(NAMES, SCORES), max_size=LOOKED_AT), st.floats(0, 1), st.floats(0, 1))
def test_a_lower_threshold_takes_more_titles_and_never_another_role(
    title: str, found: list[tuple[str, float]], one: float, other: float
):
    some = near(*sorted(found, key=lambda each: -each[1]))
    strict, loose = (
        choose(core_of(title), some, Nearness(0.75, 0.8, sure)) for sure in sorted((one, other), reverse=True)
    )
    assert strict.role is None or (loose.role, loose.chance) == (strict.role, strict.chance)


def test_a_choice_says_how_likely_it_is():
    some = near(("Pharmacist", 0.87), ("Cashier", 0.5))
    assert choose("hospital pharmacist", some, LEAST).chance == likelihood("hospital pharmacist", some, 0)
    assert choose("pharmacists", some, LEAST).chance == 1
