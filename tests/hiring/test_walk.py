"""A list is walked to its end, and is called complete only when it is. The lies are those that real sources
tell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hiring.model_source import ModelSource
from thresher.hiring.list_walk import MAX_IDS, Tally, Walk, WalkLimits, proves, split
from thresher.reading.platforms.platform import Paging
from thresher.reading.postings.posting import Listing, Posting

pytestmark = pytest.mark.promise(7)

USUAL = WalkLimits()


def walked(source: ModelSource, bounds: WalkLimits = USUAL, known: frozenset[int] = frozenset()) -> Tally:
    walk = Walk(source.paging, bounds)
    while walk.ask:
        listing, facets = source.answer(walk.ask)
        walk.take(listing, facets=facets, known=all(int(each.key or 0) in known for each in listing.postings))
    return walk.tally()


def rows_of(tally: Tally) -> set[int]:
    return {int(posting.key or 0) for posting in tally.postings}


def listing(
    *numbers: int,
    total: int | None = None,
    rows: int | None = None,
    following: str | None = None,
    proof: bool = True,
) -> Listing:
    postings = tuple(Posting(f"Post {number}", key=str(number)) for number in numbers)
    return Listing(
        postings,
        "the model",
        rows=len(numbers) if rows is None else rows,
        total=total,
        next=following,
        proof=proof,
    )


@pytest.mark.parametrize("kind", ["none", "offset", "page", "next"])
@pytest.mark.parametrize("number", [0, 1, 5, 12, 15])
def test_an_honest_list_is_walked_to_its_end_and_is_complete(kind, number):
    tally = walked(ModelSource(list(range(number)), kind=kind))
    assert (tally.found, tally.complete, tally.ended) == (number, True, f"{number} of {number}")


def test_a_short_last_page_that_fits_the_total_costs_no_further_request():
    source = ModelSource(list(range(12)))
    walked(source)
    assert source.asked == 3


def test_a_full_last_page_is_followed_by_one_more_request_because_totals_lie():
    source = ModelSource(list(range(15)), total_off=-5)
    tally = walked(source)
    assert (tally.found, tally.complete, tally.ended) == (15, False, "more rows than the total: 15 of 10")


def test_a_list_that_never_counts_itself_ends_at_an_empty_page():
    tally = walked(ModelSource(list(range(12)), says_total=False))
    assert (tally.found, tally.complete, tally.pages, tally.ended) == (
        12,
        True,
        4,
        "12, to the end of the list",
    )


def test_a_total_that_is_said_once_holds_for_all_pages():
    tally = walked(ModelSource(list(range(12)), total_once=True))
    assert (tally.complete, tally.total) == (True, 12)


def test_a_total_of_nothing_beside_rows_says_nothing():
    walk = Walk(Paging("offset", "offset", size=2), WalkLimits())
    walk.take(listing(1, 2, total=3))
    walk.take(listing(3, total=0))
    assert (walk.tally().complete, walk.tally().total) == (True, 3)


def test_an_empty_answer_with_a_total_is_not_an_empty_list():
    walk = Walk(Paging("none"), WalkLimits())
    walk.take(listing(total=18))
    assert (walk.tally().complete, walk.tally().ended) == (
        False,
        "fewer rows than the total: 18 counted, 0 shown",
    )


def test_an_empty_answer_proves_nothing_where_every_name_is_answered_so():
    for paging in (Paging("none"), Paging("offset", "offset", size=10)):
        walk = Walk(paging, WalkLimits())
        walk.take(listing(total=0, proof=False))
        assert not walk.tally().complete


def test_a_page_in_the_middle_that_is_short_is_not_the_end():
    tally = walked(ModelSource(list(range(23)), short=2))
    assert (tally.found, tally.complete) == (23, True)
    assert walked(ModelSource(list(range(23)), short=2, says_total=False)).found == 23


def test_offsets_that_wrap_never_complete_a_list_that_does_not_count_itself():
    tally = walked(ModelSource(list(range(10)), wraps=True, says_total=False))
    assert (tally.found, tally.complete, tally.ended) == (
        10,
        False,
        "offsets wrapped: page 3 is page 1 again: 10",
    )


def test_offsets_that_wrap_after_everything_was_shown_do_no_harm():
    assert walked(ModelSource(list(range(10)), wraps=True)).complete


def test_a_page_that_is_repeated_ends_the_walk():
    tally = walked(ModelSource(list(range(10)), kind="page", repeats=True, total_off=7))
    assert (tally.complete, tally.ended) == (False, "page 3 repeated page 2: 10 of 17")


def test_links_in_a_circle_end_the_walk():
    walk = Walk(Paging("next"), WalkLimits())
    for numbers, following in (((1, 2), "b"), ((3, 4), "c"), ((5, 6), "b")):
        walk.take(listing(*numbers, following=following))
    assert (walk.ask, walk.tally().complete, walk.tally().ended) == (
        None,
        False,
        "page 3 links back to an earlier page: 6",
    )


def test_a_page_without_rows_that_still_leads_on_is_no_end():
    walk = Walk(Paging("next"), WalkLimits())
    walk.take(listing(1, 2, following="b"))
    walk.take(listing(following="c"))
    assert (walk.tally().complete, walk.tally().ended) == (
        False,
        "2; page 2 is empty but links to a next page",
    )


def test_next_links_that_disagree_are_followed_but_prove_nothing():
    walk = Walk(Paging("next"), WalkLimits())
    walk.take(listing(1, 2, following="b"), doubt="two next-links disagree")
    walk.take(listing(3))
    assert (walk.tally().found, walk.tally().complete, walk.tally().ended) == (
        3,
        False,
        "3; two next-links disagree",
    )


def test_a_page_that_says_how_many_there_are_ends_the_walk_at_the_last_of_them():
    walk = Walk(Paging("page", "page", size=2), WalkLimits())
    walk.take(listing(1, 2), of_pages=2)
    assert walk.ask is not None
    walk.take(listing(3, 4), of_pages=2)
    assert (walk.ask, walk.tally().complete) == (None, True)


def test_a_page_that_speaks_of_others_and_leads_to_none_is_not_the_end():
    walk = Walk(Paging("next"), WalkLimits())
    walk.take(listing(1, 2), of_pages=3)
    assert (walk.tally().complete, walk.tally().ended) == (
        False,
        "2; page 1 of 3 has no link to the next page",
    )


def test_rows_that_come_again_on_a_later_page_do_not_count_towards_the_total():
    walk = Walk(Paging("offset", "offset", size=3), WalkLimits())
    walk.take(listing(1, 2, 3, total=6))
    walk.take(listing(3, 4, 5, total=6))  # an order that is not stable: one row twice, another not at all
    walk.take(listing(total=6))
    assert (walk.tally().complete, walk.tally().ended) == (
        False,
        "fewer rows than the total: 6 counted, 5 shown",
    )


def test_rows_that_come_again_in_a_list_that_does_not_count_itself_are_a_doubt():
    walk = Walk(Paging("page", "page", size=3), WalkLimits())
    walk.take(listing(1, 2, 3))
    walk.take(listing(3, 4, 5))
    walk.take(listing())
    assert (walk.tally().complete, walk.tally().ended) == (
        False,
        "5; page 2 repeats 1 rows of earlier pages",
    )


def test_one_answer_may_show_rows_twice_and_count_them_twice():
    tally = walked(ModelSource(list(range(9)), kind="none", doubled=3))
    assert (tally.found, tally.total, tally.complete) == (9, 12, True)


def test_a_total_that_moves_while_we_walk_proves_nothing():
    tally = walked(ModelSource(list(range(23)), moves={2: ("leaves", 0)}))
    assert not tally.complete
    assert "the total went from 23 to 22 on the way" in tally.ended


def test_a_walk_ends_at_the_bound_of_pages_and_of_rows():
    tally = walked(ModelSource(list(range(100))), WalkLimits(pages=3))
    assert (tally.found, tally.complete, tally.ended) == (15, False, "stopped at the limit of 3 pages")
    tally = walked(ModelSource(list(range(100))), WalkLimits(rows=20))
    assert (tally.found, tally.complete, tally.ended) == (20, False, "stopped at the limit of 20 rows")


def test_one_answer_with_as_many_rows_as_the_bound_may_have_been_cut_off():
    assert not walked(
        ModelSource(list(range(30)), kind="none", says_total=False), WalkLimits(rows=30)
    ).complete


def test_known_pages_end_a_walk_after_two_in_a_row_and_then_it_is_not_complete():
    rows = list(range(100))
    known = frozenset(rows) - {7}
    tally = walked(ModelSource(rows), WalkLimits(known_pages=2), known)
    assert (tally.found, tally.pages, tally.complete) == (20, 4, False)
    assert tally.ended == "stopped: 2 pages in a row with nothing new"


def test_known_pages_at_the_end_of_a_list_take_nothing_from_its_proof():
    tally = walked(ModelSource(list(range(9))), WalkLimits(known_pages=2), frozenset(range(9)))
    assert tally.complete


def test_a_list_past_its_cap_without_facets_says_that_it_is_capped():
    source = ModelSource(list(range(40)), cap=20, total_is_true=True)
    walk = Walk(source.paging, WalkLimits())
    while walk.ask:
        walk.take(source.answer(walk.ask)[0])
    assert (walk.tally().found, walk.tally().complete, walk.tally().ended) == (
        20,
        False,
        "capped at 20: 20 of 40",
    )


@pytest.mark.parametrize("size", [5, 6])
def test_a_list_with_exactly_as_many_rows_as_the_cap_may_have_more(size):
    source = ModelSource(list(range(20)), cap=20, size=size)
    walk = Walk(source.paging, WalkLimits())
    while walk.ask:
        walk.take(source.answer(walk.ask)[0])
    assert not walk.tally().complete


def test_a_list_past_its_cap_is_asked_for_in_parts_and_proven_by_another_facet():
    tally = walked(ModelSource(list(range(60)), cap=25))
    assert (tally.found, tally.total, tally.complete) == (60, 60, True)
    assert tally.ended.startswith("60 of 60, requested in parts by ")


def test_a_part_past_the_cap_is_parted_again():
    tally = walked(ModelSource(list(range(200)), cap=45))
    assert (tally.found, tally.complete) == (200, True)


def test_rows_without_a_value_of_the_facet_are_missed_and_the_sums_say_so():
    tally = walked(ModelSource(list(range(60)), cap=25, no_value={"family": 7, "town": 7, "time": 7}))
    assert tally.found < 60
    assert not tally.complete


def test_one_row_that_no_part_has_is_missed_by_every_count_but_that_of_another_facet():
    tally = walked(ModelSource(list(range(1, 61)), cap=25, no_value={"family": 59}))
    assert (tally.found, tally.complete) == (59, False)
    assert tally.ended.endswith("the source gives no total to prove that these are all")


def test_a_list_in_parts_is_not_proven_by_the_facet_that_parted_it():
    whole = {"town": {"a": 3, "b": 4}}
    assert not proves(whole, [{"town": {"a": 3}}, {"town": {"b": 4}}], ("town",))


def test_every_other_facet_has_to_count_the_same_value_by_value():
    whole = {"town": {"a": 3, "b": 4}, "time": {"full": 6, "part": 1}}
    assert proves(whole, [{"time": {"full": 3}}, {"time": {"full": 3, "part": 1}}], ("town",))
    assert not proves(whole, [{"time": {"full": 3}}, {"time": {"full": 4}}], ("town",))
    assert not proves(whole, [{"time": {"full": 3}}], ("town",))


def test_a_facet_with_several_values_a_row_counts_more_and_is_no_contradiction():
    tally = walked(ModelSource(list(range(60)), cap=25, many_values=frozenset({"town"})))
    assert (tally.found, tally.complete) == (60, True)


def test_no_part_has_more_values_than_platforms_accept():
    found = split({"town": {str(number): 1 for number in range(950)}}, (), 2_000)
    assert found is not None
    assert max(map(len, found.parts)) <= MAX_IDS
    assert sorted(value for part in found.parts for value in part) == sorted(map(str, range(950)))


SOURCES = st.builds(
    ModelSource,
    rows=st.integers(0, 60).map(lambda number: list(range(number))),
    size=st.integers(1, 9),
    kind=st.sampled_from(["none", "offset", "page", "next"]),
    wraps=st.booleans(),
    repeats=st.booleans(),
    short=st.integers(0, 4),
)


@given(SOURCES, st.integers(0, 70), st.integers(0, 5), st.booleans())
def test_a_list_that_hides_rows_is_never_called_complete(source, hidden_cap, doubled, once):
    """Whoever hides rows and counts them is found out, however the pages come."""
    source.hidden_cap, source.doubled, source.total_once = hidden_cap, doubled, once
    tally = walked(source)
    assert rows_of(tally) <= source.stayed
    if tally.complete:
        assert rows_of(tally) == source.stayed


@given(SOURCES, st.integers(-10, 30))
def test_a_total_that_is_off_never_completes_a_list_with_a_hole(source, off):
    source.total_off, source.short = off, 0
    tally = walked(source)
    if tally.complete:
        assert rows_of(tally) == source.stayed


@given(
    SOURCES,
    st.booleans(),
    st.dictionaries(
        st.integers(0, 12), st.tuples(st.sampled_from(["leaves"]), st.integers(0, 59)), max_size=3
    ),
)
def test_rows_that_leave_while_we_walk_never_hide_one_that_stays(source, once, moves):
    source.moves, source.total_once = moves, once
    tally = walked(source)
    if tally.complete:
        assert source.stayed <= rows_of(tally)


@given(
    SOURCES,
    st.booleans(),
    st.dictionaries(
        st.integers(0, 12), st.tuples(st.sampled_from(["comes"]), st.integers(0, 59)), max_size=3
    ),
)
def test_rows_that_come_while_we_walk_never_hide_one_that_stays(source, once, moves):
    source.moves, source.total_once = moves, once
    tally = walked(source)
    if tally.complete:
        assert source.stayed <= rows_of(tally)


@given(
    st.integers(0, 150),
    st.integers(2, 60),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.dictionaries(st.sampled_from(["family", "town"]), st.integers(2, 9)),
    st.frozensets(st.sampled_from(["family", "town", "time"])),
)
def test_a_list_past_its_cap_is_whole_or_says_so(
    number, cap, size, total_is_true, wraps, no_value, many_values
):
    source = ModelSource(
        list(range(number)),
        size=size,
        cap=cap,
        total_is_true=total_is_true,
        wraps=wraps,
        no_value=no_value,
        many_values=many_values,
    )
    tally = walked(source)
    if tally.complete:
        assert rows_of(tally) == source.stayed


@given(SOURCES, st.integers(1, 20), st.integers(1, 100))
def test_a_walk_never_goes_past_its_bounds(source, pages, rows):
    source.wraps = True
    walked(source, WalkLimits(pages=pages, rows=rows))
    assert source.asked <= pages
