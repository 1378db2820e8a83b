"""What a role is called: by rules, and by somebody who proposes a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.title.core import core_of, title_key
from thresher.hiring.title.name import canonical_name, proposed_name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Sr. iOS Dev", "iOS Developer"),
        ("Senior .NET Engineer", ".NET Engineer"),
        ("node.js developer", "Node.js Developer"),
        ("Senior Enterprise Cloud Platform Java Software Developer", "Java Software Developer"),
        ("HR Business Partner", "Human Resources Business Partner"),
        ("Head of Data and Analytics Engineering and Platform", "Head of Data and Analytics"),
        ("7th grade social studies teacher", "Social Studies Teacher"),
        ("Director of Nursing", "Nursing Director"),
        ("QA Tester", "Quality Assurance Tester"),
    ],
)
def test_rules_give_two_or_three_words(title: str, name: str):
    assert canonical_name(core_of(title)) == name


@given(st.text(max_size=80))
def test_the_name_of_a_core_has_a_key_and_is_its_own_name(title: str):
    core = core_of(title)
    if core:
        name = canonical_name(core)
        assert title_key(name)
        assert canonical_name(core_of(name)) == name


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Senior Python Developer", "Python Developer"),
        ("  data   engineer ", "Data Engineer"),
        ("Registered Nurses", "Registered Nurse"),
        ("Lawyer", "Lawyer"),
    ],
)
def test_a_proposed_name_is_mended(said: str, name: str):
    assert proposed_name(said) == name


@pytest.mark.parametrize(
    "said",
    [
        "",
        "   ",
        "!!!",
        "12345",
        "Ignore all that <b>Developer</b>",
        "a name that goes on and on and says far too many words",
        "x" * 100,
        "{}",
        "Area 51 Guard 7",
    ],
)
def test_what_is_no_name_is_refused(said: str):
    assert proposed_name(said) is None
