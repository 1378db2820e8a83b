"""A board that is read less well than before says so, before somebody notices that postings are missing."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.coverage import MAX_YIELDS, CoverageLimits, coverage, health
from thresher.reading.postings.posting import Posting, Salary

pytestmark = pytest.mark.promise(10)


def postings(number: int, **says: object) -> list[Posting]:
    return [Posting(f"Post {each}", **says) for each in range(number)]


FULL = {
    "location": "Oslo",
    "posted_date": date(2026, 3, 2),
    "salary": Salary("€50,000"),
    "description": "What you do",
    "url": "https://acme.example/1",
}


def test_coverage_is_the_share_of_postings_that_say_a_field():
    found = coverage([*postings(3, **FULL), *postings(1)])
    assert found == {"location": 0.75, "posted": 0.75, "salary": 0.75, "description": 0.75, "url": 0.75}


def test_a_board_without_postings_covers_nothing_and_forgets_nothing():
    assert coverage([]) == {}
    assert health([], {"url": 1.0}, [5], complete=True).coverage == {"url": 1.0}


def test_a_board_as_it_always_was_raises_no_alarm():
    seen = postings(8, **FULL)
    assert health(seen, coverage(seen), [8, 8], complete=True).alarms == ()


def test_no_rows_after_some_is_an_alarm_even_where_the_source_confirms_it():
    assert health([], {}, [7, 8], complete=True).alarms == ("no rows, after 8 last time",)


def test_no_rows_twice_in_a_row_is_an_alarm_even_where_there_never_were_any():
    assert health([], {}, [], complete=True).alarms == ()
    assert health([], {}, [0], complete=True).alarms == ("no rows 2 times in a row",)
    assert health([], {}, [8, 0], complete=False).alarms == ("no rows 2 times in a row, after 8",)


def test_a_yield_that_falls_by_more_than_half_is_an_alarm():
    assert health(postings(9), {}, [20], complete=True).alarms == ("9 rows, after 20 last time: 55 % fewer",)
    assert health(postings(10), {}, [20], complete=True).alarms == ()


def test_a_small_board_may_halve_without_an_alarm():
    assert health(postings(1), {}, [4], complete=True).alarms == ()


def test_a_look_that_was_not_complete_says_nothing_about_how_many_there_are():
    found = health(postings(3), {}, [20], complete=False)
    assert (found.yields, found.alarms) == ((20,), ())


def test_a_field_that_is_gone_from_one_look_to_the_next_is_an_alarm():
    before = coverage(postings(8, **FULL))
    found = health(postings(8, **{**FULL, "description": None}), before, [8], complete=True)
    assert found.alarms == ("description is given by 0% of the rows, down from 100%",)


def test_a_field_that_was_always_rare_raises_no_alarm():
    assert health(postings(8), {"salary": 0.3}, [8], complete=True).alarms == ()


@given(st.lists(st.integers(0, 50), max_size=30), st.booleans())
def test_the_history_is_bounded_and_keeps_the_newest(numbers, complete):
    yields: tuple[int, ...] = ()
    for number in numbers:
        yields = health(postings(number), {}, yields, complete=complete, limits=CoverageLimits()).yields
    assert len(yields) <= MAX_YIELDS
    assert list(yields) == [number for number in numbers if complete or not number][-MAX_YIELDS:]
