"""The turn of the boards: whoever waits longest comes first, tiers are head starts, and nobody starves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.jobs.scraping.pace import TIERS, Pace, turn
from thresher.core.clock import DAY, HOUR
from thresher.hiring.records import BoardRecord

NOW = 400 * DAY


def board(key: str, *, waits: float = 0, tier: str | None = None, never: bool = False) -> BoardRecord:
    """A board that has been due for so many hours."""
    due = NOW - round(waits * HOUR)
    if never:
        return BoardRecord(key, tier=tier, discovered_at=due)
    return BoardRecord(key, tier=tier, due_at=due, scraped_at=due - DAY)


def order(*boards: BoardRecord, number: int = 100) -> list[str]:
    return [each.key for each in turn(boards, Pace(), number)]


def test_the_longest_waiting_comes_first():
    assert order(board("a", waits=1), board("b", waits=3), board("c", waits=2)) == ["b", "c", "a"]


def test_a_board_that_was_never_looked_at_comes_before_those_that_were():
    assert order(board("old", waits=100), board("new", never=True)) == ["new", "old"]


@pytest.mark.promise(5)
def test_a_stream_of_new_boards_does_not_hold_back_one_that_waits_for_weeks():
    assert order(
        board("old", waits=24 * 14), *(board(f"new{each}", never=True) for each in range(9)), number=1
    ) == ["old"]


def test_a_better_tier_is_a_head_start_of_some_hours():
    assert order(board("d", waits=5, tier="D"), board("s", waits=0, tier="S")) == ["s", "d"]


@pytest.mark.promise(5)
def test_a_better_tier_is_no_wall():
    assert order(board("d", waits=25, tier="D"), board("s", waits=0, tier="S")) == ["d", "s"]


def test_no_more_are_chosen_than_asked_for_and_none_twice():
    assert order(board("a", waits=2), board("a", waits=2), board("b", waits=1), board("c"), number=2) == [
        "a",
        "b",
    ]


def test_a_tier_nobody_knows_counts_as_the_last():
    assert order(board("x", waits=1, tier="Z"), board("d", waits=2)) == ["d", "x"]
    assert Pace().interval("Z") == Pace().interval(None) == 24 * HOUR


@pytest.mark.promise(5)
@given(st.lists(st.sampled_from(TIERS), min_size=2, max_size=12), st.integers(1, 3))
def test_every_board_has_its_turn_however_the_tiers_are(tiers, number):
    """Round after round, whoever was looked at is due again at once: the worst that others can do to a
    board."""
    pace = Pace()
    due = {f"b{at}": NOW for at in range(len(tiers))}
    waited = dict.fromkeys(due, 0)
    # A head start of four steps is a day; after that many rounds of an hour everybody else has used theirs
    # up.
    most = 4 * round(pace.head_start) + len(tiers)
    for hour in range(3 * most):
        boards = [BoardRecord(key, due_at=due[key], scraped_at=1, tier=tiers[int(key[1:])]) for key in due]
        chosen = {each.key for each in turn(boards, pace, number)}
        for key in due:
            waited[key] = 0 if key in chosen else waited[key] + 1
            if key in chosen:
                due[key] = NOW + (hour + 1) * HOUR
        assert max(waited.values()) <= most
