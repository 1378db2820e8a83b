"""The days that were seen: a watermark of a few spans that passes nothing."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.queries.coverage import MAX_SPANS, Coverage, DayState, Span
from thresher.apps.queries.store.queries import read_coverage, written

FIRST = date(2026, 1, 1)


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


spans = st.tuples(st.integers(0, 60), st.integers(0, 8)).map(lambda at: Span(day(at[0]), day(at[0] + at[1])))
looks = st.lists(st.tuples(spans, st.booleans()), max_size=40)


@pytest.mark.promise(11)
@given(looks)
def test_a_day_is_seen_exactly_if_a_look_saw_it(done):
    coverage, seen, partial = Coverage(), set(), set()
    for span, whole in done:
        if whole:
            coverage = coverage.with_seen(span)
            seen |= set(span)
        else:
            coverage = coverage.with_partial(span, "max_pages", 0)
            partial |= set(span)
    for number in range(80):
        state = coverage.state(day(number))
        if day(number) in seen:
            assert state is DayState.SEEN
        else:
            assert state is (DayState.PARTIAL if day(number) in partial else DayState.MISSING)


@pytest.mark.promise(11)
@given(looks, st.integers(0, 60))
def test_the_watermark_never_passes_a_day_that_was_not_seen(done, start):
    coverage = Coverage()
    for span, whole in done:
        coverage = coverage.with_seen(span) if whole else coverage.with_partial(span, "error", 0)
    mark = coverage.watermark(day(start))
    if mark is None:
        assert coverage.state(day(start)) is not DayState.SEEN
    else:
        assert all(coverage.state(each) is DayState.SEEN for each in Span(day(start), mark))
        assert coverage.state(mark + timedelta(days=1)) is not DayState.SEEN


@pytest.mark.promise(18)
def test_however_long_the_history_its_state_stays_small():
    coverage = Coverage()
    for number in range(0, 4_000, 2):
        coverage = coverage.with_seen(Span(day(number), day(number)))
        coverage = coverage.with_partial(Span(day(number + 1), day(number + 1)), "max_offers", number)
    assert len(coverage.seen) <= MAX_SPANS
    assert len(coverage.partial) <= MAX_SPANS
    assert len(written(coverage)) < 10_000
    assert all(coverage.state(each.first) is DayState.SEEN for each in coverage.seen)


@given(looks)
def test_what_is_stored_is_read_back(done):
    coverage = Coverage()
    for at, (span, whole) in enumerate(done):
        coverage = coverage.with_seen(span) if whole else coverage.with_partial(span, "error", at)
    assert read_coverage(written(coverage)) == coverage


@pytest.mark.parametrize(
    "text", ["{}", '{"seen": 3}', '{"seen": [["2026-01-02", "2026-01-01"]]}', '{"seen": [["x", "y"]]}']
)
def test_what_cannot_be_read_counts_as_not_seen(text):
    assert read_coverage(text) == Coverage()


def test_a_day_that_is_cut_short_again_counts_its_tries():
    coverage = (
        Coverage()
        .with_partial(Span(day(1), day(3)), "error", 10)
        .with_partial(Span(day(2), day(2)), "error", 20)
    )
    assert [(each.span.days, each.tries, each.tried_at) for each in coverage.partial] == [
        (1, 1, 10),
        (1, 2, 20),
        (1, 1, 10),
    ]
    assert (
        Coverage().with_seen(Span(day(1), day(1))).with_partial(Span(day(1), day(1)), "error", 1).partial
        == ()
    )
