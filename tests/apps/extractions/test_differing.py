"""The part of two texts that differs is shown, whatever stands before it."""

import pytest

from thresher.apps.extractions.differing import differing

SAME = "Everything about the bench, told at length and with care for every detail of its making. "


@pytest.mark.promise(20)
def test_a_difference_behind_a_long_common_beginning_is_seen():
    was, is_ = differing(SAME + "It is made of oak.", SAME + "It is made of ash.", 48)
    assert "oak" in was
    assert "ash" in is_
    assert was.startswith("…")
    assert max(len(was), len(is_)) <= 48


def test_short_texts_stay_whole():
    assert differing("12 EUR", "13 EUR", 48) == ("12 EUR", "13 EUR")


def test_a_difference_at_the_front_cuts_the_end():
    was, is_ = differing("Oak " + SAME, "Ash " + SAME, 20)
    assert (was[:4], is_[:4]) == ("Oak ", "Ash ")
    assert was.endswith("…")


def test_a_text_that_only_goes_on_shows_where_the_other_ends():
    was, is_ = differing(SAME, SAME + "More.", 40)
    assert "More." in is_
    assert "More." not in was


def test_what_has_no_word_to_begin_with_is_cut_between_characters():
    was, is_ = differing("x" * 200 + "a", "x" * 200 + "b", 30)
    assert was.endswith("a")
    assert is_.endswith("b")
    assert len(was) <= 30
