"""Postings are closed when they are gone, and only then: no outage, no wall, no half of a list and no
renumbering closes one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.hiring.lifecycle import CLOSED, OPEN, Known, LifecycleRules, Lifecycles, lives

pytestmark = pytest.mark.promise(7)


def board(number: int, **marks: int) -> dict[str, Known]:
    return {f"p{each}": Known(OPEN, marks.get(f"p{each}", 0), f"row {each}") for each in range(number)}


def rows(*numbers: int) -> dict[str, str]:
    return {f"p{each}": f"row {each}" for each in numbers}


def after(known: dict[str, Known], seen: dict[str, str], found: Lifecycles) -> dict[str, Known]:
    """The board as it is written down after a look."""
    kept = dict(known)
    for key in (*found.new, *found.changed, *found.relisted, *found.back):
        listed = next(row for name, row in seen.items() if found.same.get(name, name) == key)
        kept[key] = Known(OPEN, 0, listed)
    for key, count in found.missed.items():
        kept[key] = Known(OPEN, count, kept[key].listed)
    for key in found.closed:
        kept[key] = Known(CLOSED, 0, kept[key].listed)
    return kept


def test_a_posting_that_was_never_seen_is_new():
    found = lives({}, rows(1, 2), complete=True)
    assert (found.new, found.is_quiet) == (("p1", "p2"), False)


def test_a_board_that_reads_as_before_leaves_nothing_to_write():
    found = lives(board(3), rows(0, 1, 2), complete=True)
    assert (found.unchanged, found.is_quiet, found.alarms) == (("p0", "p1", "p2"), True, ())


def test_a_row_that_reads_differently_has_changed():
    found = lives(board(3), {**rows(0, 1), "p2": "other words"}, complete=True)
    assert found.changed == ("p2",)


def test_a_posting_is_closed_after_two_complete_looks_without_it():
    known = board(20)
    seen = rows(*range(1, 20))
    first = lives(known, seen, complete=True)
    assert (first.missed, first.closed) == ({"p0": 1}, ())
    second = lives(after(known, seen, first), seen, complete=True)
    assert (second.missed, second.closed) == ({}, ("p0",))


def test_a_look_that_is_not_complete_counts_nothing():
    known = board(20, p0=1)
    found = lives(known, rows(1, 2), complete=False)
    assert (found.missed, found.closed, found.is_quiet) == ({}, (), True)


def test_a_posting_that_is_back_starts_to_count_anew():
    known = board(20, p0=1)
    found = lives(known, rows(*range(20)), complete=True)
    assert found.back == ("p0",)
    assert after(known, rows(*range(20)), found)["p0"].missed == 0


def test_a_closed_posting_that_is_listed_again_is_relisted():
    known = {**board(3), "p9": Known(CLOSED, 0, "row 9")}
    found = lives(known, rows(0, 1, 2, 9), complete=False)
    assert (found.relisted, found.new) == (("p9",), ())


def test_a_closed_posting_is_not_closed_again():
    known = {**board(3), "p9": Known(CLOSED, 0, "row 9")}
    assert lives(known, rows(0, 1, 2), complete=True).is_quiet


def test_a_look_that_would_close_most_of_a_board_is_doubted_until_a_third_says_the_same():
    known, seen = board(20), rows(0, 1, 2)
    first = lives(known, seen, complete=True)
    known = after(known, seen, first)
    second = lives(known, seen, complete=True)
    assert second.closed == ()
    assert second.alarms == (
        "17 of 20 open postings would be closed: 17 stay open until another complete look confirms it",
    )
    known = after(known, seen, second)
    assert len(lives(known, seen, complete=True).closed) == 17


def test_a_board_that_shows_nothing_at_all_is_doubted_however_small():
    known = board(1, p0=1)
    second = lives(known, {}, complete=True)
    assert (second.closed, second.missed) == ((), {"p0": 2})
    assert second.alarms[0].startswith("the board shows nothing, and all 1 open postings would be closed")
    assert lives(after(known, {}, second), {}, complete=True).closed == ("p0",)


def test_what_was_held_and_comes_back_was_never_closed():
    known, everything = board(30), rows(*range(30))
    for seen in ({}, {}, everything):
        known = after(known, seen, lives(known, seen, complete=True))
    assert all(each.is_open and each.missed == 0 for each in known.values())


def test_a_few_that_close_together_on_a_board_that_lives_are_believed():
    known, seen = board(6, p0=1, p1=1, p2=1, p3=1), rows(4, 5)
    assert lives(known, seen, complete=True).closed == ("p0", "p1", "p2", "p3")


def test_new_numbers_for_the_same_rows_are_neither_closings_nor_openings():
    known = board(12)
    for look in range(3):
        seen = {f"p{each}-{look}": f"row {each}" for each in range(12)}
        found = lives(known, seen, complete=True)
        assert (found.new, found.closed, found.missed) == ((), (), {})
        assert len(found.same) == 12
        assert "with other ids" in found.alarms[0]
        known = after(known, seen, found)
    assert len(known) == 12


def test_a_board_that_numbers_anew_still_loses_and_gains_postings():
    known = board(12)
    for look in range(2):
        seen = {f"p{each}-{look}": f"row {each}" for each in range(1, 13)}
        found = lives(known, seen, complete=True)
        known = after(known, seen, found)
    assert known["p0"].state == CLOSED
    assert sum(each.is_open for each in known.values()) == 12


def test_rows_that_read_alike_are_paired_one_to_one_under_new_numbers():
    known = {f"p{each}": Known(OPEN, 0, "the same words") for each in range(5)}
    found = lives(known, {f"q{each}": "the same words" for each in range(6)}, complete=True)
    assert sorted(found.same.values()) == ["p0", "p1", "p2", "p3", "p4"]
    assert len(found.new) == 1


def test_one_posting_listed_anew_under_another_number_is_a_new_posting():
    found = lives(board(12), {**rows(*range(11)), "q": "row 11"}, complete=True)
    assert (found.new, found.missed, found.same) == (("q",), {"p11": 1}, {})


def test_a_board_of_one_posting_that_is_listed_anew_has_a_new_posting():
    found = lives(board(1), {"q": "row 0"}, complete=True)
    assert (found.new, found.missed, found.same) == (("q",), {"p0": 1}, {})


def test_half_of_a_board_under_new_numbers_is_not_enough_to_speak_of_new_numbers():
    seen = {**rows(*range(6)), **{f"q{each}": f"row {each}" for each in range(6, 12)}}
    assert lives(board(12), seen, complete=True).same == {}


def test_a_row_that_leads_elsewhere_has_moved_and_not_changed():
    known = {
        "a": Known(OPEN, 0, "row.p1.q1.n"),
        "b": Known(OPEN, 0, "row.p2.q2.n"),
        "c": Known(OPEN, 0, "row.p3.q3.n"),
    }
    found = lives(known, {"a": "row.p9.q1.n", "b": "row.p2.q9.n", "c": "row.p3.q3.n"}, complete=True)
    assert (found.moved, found.changed, found.is_quiet) == (("a", "b"), (), False)


def test_queries_that_differ_all_over_a_board_are_no_moves():
    known = {f"p{each}": Known(OPEN, 0, f"row {each}.p{each}.q.") for each in range(8)}
    assert lives(
        known, {f"p{each}": f"row {each}.p{each}.x{each}." for each in range(8)}, complete=True
    ).is_quiet


def test_an_address_of_which_nothing_is_kept_has_not_moved():
    assert lives(
        board(3), {key: f"{row}.p.q.n" for key, row in rows(0, 1, 2).items()}, complete=True
    ).is_quiet


def test_the_same_number_in_another_address_is_the_same_posting_only_if_nobody_else_has_it():
    known = {"url/a": Known(OPEN, 0, "r.p..n"), "url/b": Known(OPEN, 0, "s.q..m")}
    found = lives(known, {"url/c": "t.x..n", "url/b": "s.q..m"}, complete=True)
    assert (found.same, found.changed, found.new, found.missed) == ({"url/c": "url/a"}, ("url/a",), (), {})
    both = lives(known, {"url/a": "r.p..n", "url/c": "t.x..n", "url/b": "s.q..m"}, complete=True)
    assert (both.same, both.new) == ({}, ("url/c",))
    two = lives(known, {"url/c": "t.x..n", "url/d": "t.y..n", "url/b": "s.q..m"}, complete=True)
    assert (two.same, two.new) == ({}, ("url/c", "url/d"))
    closed = lives({**known, "url/a": Known(CLOSED, 0, "r.p..n")}, {"url/c": "t.x..n"}, complete=False)
    assert (closed.same, closed.new) == ({}, ("url/c",))


def test_rows_that_their_board_numbers_are_not_paired_by_their_addresses():
    known = {"board/1": Known(OPEN, 0, "r.p..n")}
    assert lives(known, {"board/2": "t.x..n"}, complete=True).new == ("board/2",)


KEYS = st.integers(0, 25)
LOOKS = st.lists(st.tuples(st.frozensets(KEYS), st.booleans()), max_size=12)


@given(st.frozensets(KEYS), LOOKS)
def test_nothing_is_closed_that_two_complete_looks_in_a_row_did_not_miss(first, looks):
    seen = rows(*first)
    known = after({}, seen, lives({}, seen, complete=True))
    misses = dict.fromkeys(known, 0)
    for numbers, complete in looks:
        seen = rows(*numbers)
        found = lives(known, seen, complete=complete)
        for key in known:
            misses[key] = 0 if key in seen else misses.get(key, 0) + complete
        assert all(misses[key] >= 2 for key in found.closed)
        # Gone for three complete looks, however implausible, is gone.
        still = after(known, seen, found)
        assert all(still[key].state == CLOSED for key in known if misses[key] >= 3)
        known = still


@given(st.frozensets(KEYS, min_size=1), st.integers(1, 6))
def test_no_number_of_looks_that_are_not_complete_closes_anything(first, number):
    known = {key: Known(OPEN, 1, row) for key, row in rows(*first).items()}
    for _ in range(number):
        found = lives(known, {}, complete=False)
        known = after(known, {}, found)
    assert all(each.is_open and each.missed == 1 for each in known.values())


@given(st.frozensets(KEYS), st.frozensets(KEYS), st.booleans())
def test_every_posting_has_exactly_one_fate(was, is_there, complete):
    known, seen = {key: Known(OPEN, 0, row) for key, row in rows(*was).items()}, rows(*is_there)
    found = lives(known, seen, complete=complete)
    fates = [
        *found.new,
        *found.changed,
        *found.relisted,
        *found.back,
        *found.missed,
        *found.closed,
        *found.unchanged,
    ]
    assert len(fates) == len(set(fates))
    assert set(fates) >= {found.same.get(key, key) for key in seen}
    if complete:
        assert set(fates) >= set(known)


def test_the_rules_are_numbers():
    known = board(20, **{f"p{each}": 3 for each in range(20)})
    assert lives(known, rows(0), complete=True, rules=LifecycleRules(looks=4, few=20)).closed
    assert not lives(known, rows(0), complete=True, rules=LifecycleRules(looks=5)).closed


PARTS = st.sampled_from(["", "1", "2", "3"])
MARKED = st.builds(lambda *parts: ".".join(parts), st.sampled_from("abc"), PARTS, PARTS, PARTS)
NAMES = st.sampled_from([*(f"url/{each}" for each in range(6)), *(f"board/{each}" for each in range(3))])


@given(
    st.dictionaries(NAMES, st.builds(Known, st.sampled_from([OPEN, CLOSED]), st.integers(0, 3), MARKED)),
    st.dictionaries(NAMES, MARKED),
    st.booleans(),
)
def test_every_row_is_one_posting_and_every_posting_has_one_fate(known, seen, complete):
    found = lives(known, seen, complete=complete)
    assert len(set(found.same.values())) == len(found.same)
    assert not set(found.same.values()) & set(seen)
    assert set(found.same) <= set(seen) - set(known)
    kept = {found.same.get(key, key) for key in seen}
    assert len(kept) == len(seen)
    fates = [
        *found.new,
        *found.changed,
        *found.relisted,
        *found.back,
        *found.unchanged,
        *found.missed,
        *found.closed,
    ]
    assert len(fates) == len(set(fates))
    assert kept == {*found.new, *found.changed, *found.relisted, *found.back, *found.unchanged}
    assert {*found.moved, *found.rotated} <= {*found.unchanged, *found.back}
    assert not set(found.moved) & set(found.rotated)
