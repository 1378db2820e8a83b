"""Sorts of contract."""

import pytest

from thresher.hiring.facts import in_text, in_title, of_field
from thresher.hiring.finding import flat


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("FULL_TIME", ["full_time"]),
        ("Full-time", ["full_time"]),
        ("permanent / full-time", ["full_time"]),
        ("Vollzeit oder Teilzeit", ["full_time", "part_time"]),
        ("CONTRACTOR", ["contract"]),
        ("Temporary", ["temporary"]),
        ("INTERN", ["internship"]),
        ("PER_DIEM", ["temporary"]),
        ("Volunteer", ["volunteer"]),
        ("International", []),
        ("Other", []),
    ],
)
def test_a_field_of_its_own_is_read_word_by_word(text: str, meant: list[str]):
    assert list(of_field(text)) == meant


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("Nurse (Part-Time)", ["part_time"]),
        ("Developer - Contract", ["contract"]),
        ("Developer, 6 month contract", ["contract"]),
        ("Contract Manager", []),
        ("Marketing Intern", ["internship"]),
        ("Werkstudent Controlling", ["internship"]),
        ("Internal Auditor", []),
        ("Buchhalter 60 %", ["part_time"]),
        ("Buchhalter 100 %", []),
    ],
)
def test_a_title_may_say_it(title: str, meant: list[str]):
    assert [each.value for each in in_title(title)] == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("This is a full-time position.", ["full_time"]),
        ("Employment type: Full-time", ["full_time"]),
        ("Job type: Part-time\n", ["part_time"]),
        ("This is a 12-month contract role.", []),
        ("We offer benefits to full-time employees.", []),
        ("You lead contract negotiations.", []),
        ("This is not a contract position.", []),
        ("This is a full-time, permanent role.", ["full_time"]),
        ("You work full time with customers in the field", []),
    ],
)
def test_a_description_says_it_only_of_the_opening(text: str, meant: list[str]):
    assert [each.value for each in in_text(flat(text))] == meant
