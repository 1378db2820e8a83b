"""Every promise that this release makes has tests that try to break it."""

from tests.house.promises import attacks, kept, promises

KEPT = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20}


def test_the_page_promises_what_this_release_keeps():
    assert kept() == KEPT


def test_every_promise_of_this_release_is_attacked():
    found = attacks()
    assert [f"P{number}" for number in sorted(KEPT) if number not in found] == []


def test_no_test_is_marked_with_a_promise_that_nobody_made():
    assert set(attacks()) <= set(promises())
