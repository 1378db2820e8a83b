"""Whose page is asked for next: whoever has waited longest, a few at a time, and nobody is forgotten."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.scraping.page_checks import Terms, unread_since
from thresher.core.clock import DAY
from thresher.hiring.records import BoardRecord

pytestmark = pytest.mark.promise(5)


@given(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 40), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_whatever_comes_of_the_checks_everybody_is_asked_for_in_turn(seen: dict[str, int], batch: int):
    terms = Terms(recheck=3 * DAY, recheck_batch=batch, reread=7 * DAY, reread_batch=batch)
    marks: dict[str, dict[str, Any]] = {
        key: {"state": "open", "board": "b", "seen_at": day * DAY} for key, day in seen.items()
    }
    board, asked = BoardRecord("b"), []
    start = 50
    for day in range(start, start + 7 + len(seen)):
        found = unread_since(board, marks, terms, day * DAY)
        assert len(found.unread) <= batch
        assert all(
            day * DAY - max(marks[key]["seen_at"], marks[key].get("checked_at", 0)) >= terms.reread
            for key in found.unread
        )
        for key in found.unread:
            marks[key]["checked_at"] = day * DAY
        asked += found.unread
        late = [
            key
            for key, each in marks.items()
            if max(each["seen_at"], each.get("checked_at", 0)) + terms.reread <= day * DAY
        ]
        assert (found.due_at <= day * DAY) == bool(late)
    assert set(asked) == set(seen)


def test_what_is_closed_or_lives_on_another_board_is_not_checked():
    terms = Terms(recheck=1, recheck_batch=9, reread=1, reread_batch=9)
    marks: dict[str, dict[str, Any]] = {
        "gone": {"state": "closed", "board": "b"},
        "theirs": {"state": "open", "board": "c"},
    }
    assert unread_since(BoardRecord("b"), marks, terms, DAY).keys == ()
