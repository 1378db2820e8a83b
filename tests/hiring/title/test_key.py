"""Keys of titles: how they are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.title.core import MAX_KEY, title_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Java Developer", "  java   DEVELOPER "),
        ("Front-End Developer", "front end developer"),
        ("R&D Engineer", "R and D engineer"),
        ("Geschäftsführer", "geschaftsfuhrer"),
        ("Nurse's Aide", "nurses aide"),
        ("ﬁnance manager", "Finance Manager"),
    ],
)
def test_case_accents_and_punctuation_do_not_count(one: str, other: str):
    assert title_key(one) == title_key(other)


def test_languages_that_differ_by_a_sign_stay_apart():
    keys = {title_key(f"{name} Developer") for name in ("C", "C++", "C#", ".NET", "F#", "Net")}
    assert len(keys) == 6


@given(st.text(max_size=500))
def test_a_key_is_its_own_key_and_short(text: str):
    key = title_key(text)
    assert title_key(key) == key
    assert len(key) <= MAX_KEY
