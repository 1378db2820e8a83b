"""Years that are asked for, and years that are not."""

import pytest

from thresher.hiring.experience import read_experience
from thresher.hiring.finding import flat
from thresher.hiring.opening import Experience


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("5+ years of experience", 5, None),
        ("3-5 years experience in Python", 3, 5),
        ("1–2 years of experience", 1, 2),
        ("at least 4 years in a similar role", 4, None),
        ("five (5) years of professional experience", 5, None),
        ("three to five years of experience", 3, 5),
        ("Experience: 5 years", 5, None),
        ("minimum of 7 years' experience", 7, None),
        ("Mindestens 3 Jahre Berufserfahrung", 3, None),
        ("0-2 years of experience", 0, 2),
        ("5 or more years of relevant work experience", 5, None),
        ("You have **8+** years of experience with Go", 8, None),
        ("6+ yrs building web services", 6, None),
        ("Founded 10 years ago, we ask for 4 years of experience.", 4, None),
        ("5+ years of experience overall\n2+ years of experience with Rust", 5, None),
    ],
)
def test_years_that_are_asked_for(text: str, low: int, high: int | None):
    found = read_experience(flat(text))
    assert found is not None
    assert found.value == Experience(low, high)


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "text",
    [
        "25 years in business",
        "We have 15 years of experience in logistics.",
        "With 20 years of experience, we are leaders in our field.",
        "Our 30 years of experience speak for themselves.",
        "founded 10 years ago",
        "401k after 1 year",
        "401(k) match after 2 years of service",
        "must be 18 years of age",
        "Over the past 10 years we have grown",
        "a 2 year contract",
        "a 4 year degree",
        "vesting over 4 years",
        "99 years of experience",
        "more than 12 years old",
        "",
    ],
)
def test_years_of_others_do_not_count(text: str):
    assert read_experience(flat(text)) is None


def test_what_would_only_be_nice_counts_only_where_nothing_is_demanded():
    demanded = read_experience(flat("3 years of experience required.\nIdeally 8 years of experience."))
    assert demanded is not None
    assert demanded.value.low == 3
    wished = read_experience(flat("8 years of experience preferred"))
    assert wished is not None
    assert wished.value.low == 8
