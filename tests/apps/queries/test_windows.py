"""Which days a run asks for, and what its looks prove, played against sources that misbehave."""

from dataclasses import dataclass, field
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.queries.clients.search import Reach, WindowKind
from thresher.apps.queries.coverage import Coverage, Span
from thresher.apps.queries.model import StopReason
from thresher.apps.queries.windows import (
    Plan,
    Purpose,
    Walked,
    Window,
    after,
    may_stop,
    processed_date,
    proven,
    updated_since,
    windows,
)
from thresher.core.clock import DAY as DAY_US

FIRST = date(2026, 1, 1)
RANGE = Reach(WindowKind.RANGE)
SINCE = Reach(WindowKind.SINCE, newest_first=True)
BUCKETS = Reach(WindowKind.BUCKETS, buckets=(1, 7, 15), any=False, newest_first=True)
FEED = Reach(WindowKind.NONE, newest_first=True)
WHOLE = Reach(WindowKind.NONE, whole=True)


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def plan(today: int, *, start: int = 0, lag: int = 3, step: int = 1) -> Plan:
    return Plan(day(start), day(today), lag, step, today * DAY_US)


def asked(coverage: Coverage, reach: Reach, wants: Plan) -> list[tuple[int, int, str]]:
    return [
        ((each.span.first - FIRST).days, (each.span.last - FIRST).days, each.purpose.value)
        for each in windows(coverage, reach, wants)
    ]


def test_the_first_run_looks_at_the_last_days_and_then_back_day_by_day():
    assert asked(Coverage(), RANGE, plan(10, start=4)) == [
        (7, 10, "forward"),
        (6, 6, "seed"),
        (5, 5, "seed"),
        (4, 4, "seed"),
    ]
    assert asked(Coverage(), RANGE, plan(10, start=4, step=2)) == [
        (7, 10, "forward"),
        (5, 6, "seed"),
        (4, 4, "seed"),
    ]


def test_after_seeding_every_run_looks_at_what_is_new_and_at_the_lag_again():
    seeded = Coverage().with_seen(Span(day(0), day(6)))
    assert asked(seeded, RANGE, plan(10)) == [(7, 10, "forward")]
    assert asked(seeded, RANGE, plan(20)) == [(7, 20, "forward")], "a pause of ten days is made up for"
    assert asked(Coverage().with_seen(Span(day(0), day(9))), RANGE, plan(10, lag=0)) == [(10, 10, "forward")]


def test_a_source_that_cannot_be_asked_to_stop_is_asked_once_from_the_oldest_day_on():
    assert asked(Coverage(), SINCE, plan(10, start=4)) == [(7, 10, "forward"), (4, 10, "seed")]


def test_nothing_is_asked_for_that_the_source_does_not_keep():
    assert asked(Coverage(), BUCKETS, plan(100)) == [(97, 100, "forward"), (86, 100, "seed")]
    far = Reach(WindowKind.RANGE, max_days=5)
    assert asked(Coverage(), far, plan(100))[-1] == (96, 96, "seed")


def test_a_list_that_cannot_be_kept_to_a_time_is_one_window():
    assert asked(Coverage(), FEED, plan(10)) == [(0, 10, "forward")]


def test_a_day_that_was_cut_short_is_tried_again_later_and_later():
    cut = Coverage().with_seen(Span(day(0), day(3))).with_seen(Span(day(5), day(8)))
    cut = cut.with_partial(Span(day(4), day(4)), "max_offers", 10 * DAY_US)
    at = Plan(day(0), day(10), 3, 1, 10 * DAY_US + 1)
    assert asked(cut, RANGE, at) == [(7, 10, "forward")]
    assert asked(cut, RANGE, Plan(day(0), day(11), 3, 1, 11 * DAY_US)) == [(8, 11, "forward"), (4, 4, "seed")]
    again = cut.with_partial(Span(day(4), day(4)), "max_offers", 11 * DAY_US)
    assert asked(again, RANGE, Plan(day(0), day(12), 3, 1, 12 * DAY_US)) == [(9, 12, "forward")]


@pytest.mark.promise(11)
@pytest.mark.parametrize(
    ("reach", "walked", "seen"),
    [
        (RANGE, Walked(StopReason.WINDOW_EXHAUSTED), (5, 9)),
        (RANGE, Walked(StopReason.MAX_PAGES, day(7)), None),
        (SINCE, Walked(StopReason.MAX_PAGES, day(7)), (8, 9)),
        (SINCE, Walked(StopReason.MAX_PAGES, day(7), in_order=False), None),
        (SINCE, Walked(StopReason.RATE_LIMIT, day(10)), None),
        (SINCE, Walked(StopReason.ERROR), None),
        (FEED, Walked(StopReason.WINDOW_EXHAUSTED, day(7)), (8, 9)),
        (FEED, Walked(StopReason.WINDOW_EXHAUSTED, day(2)), (5, 9)),
        (Reach(WindowKind.NONE), Walked(StopReason.WINDOW_EXHAUSTED, day(2)), None),
        (WHOLE, Walked(StopReason.WINDOW_EXHAUSTED), (5, 9)),
        (WHOLE, Walked(StopReason.MAX_OFFERS, day(7)), None),
    ],
)
def test_a_look_proves_only_the_days_it_has_seen_to_their_end(reach, walked, seen):
    found = proven(Window(Span(day(5), day(10)), Purpose.FORWARD), reach, walked, plan(10, lag=0))
    assert found == (None if seen is None else Span(day(seen[0]), day(seen[1]))), "today is not over"
    late = proven(Window(Span(day(5), day(10)), Purpose.FORWARD), reach, walked, plan(10, lag=2))
    assert late == (None if seen is None or seen[0] > 7 else Span(day(seen[0]), day(7)))


@pytest.mark.promise(11)
def test_a_window_that_was_cut_short_is_partial_and_never_done():
    window = Window(Span(day(5), day(10)), Purpose.FORWARD)
    found = after(Coverage(), window, SINCE, Walked(StopReason.RATE_LIMIT, day(8)), plan(10, lag=0))
    assert found.seen == (Span(day(9), day(9)),)
    assert [(each.span, each.reason) for each in found.partial] == [(Span(day(5), day(8)), "rate_limit")]
    assert found.watermark(day(0)) is None
    whole = after(found, window, SINCE, Walked(StopReason.WINDOW_EXHAUSTED), plan(10, lag=3))
    assert whole.partial == ()
    assert whole.watermark(day(5)) == day(6), "days for which offers may come late are looked at again"


def test_a_look_may_end_among_known_offers_only_where_all_that_follows_was_seen():
    window, seen = Window(Span(day(0), day(10)), Purpose.FORWARD), Coverage().with_seen(Span(day(0), day(9)))
    assert may_stop(window, seen, plan(10), day(5))
    assert not may_stop(window, seen, plan(10), day(8)), "late offers may follow"
    assert not may_stop(window, Coverage().with_seen(Span(day(4), day(9))), plan(10), day(5))
    assert not may_stop(window, seen, plan(10), None)


def test_the_processed_date_goes_back_while_seeding_and_then_forward():
    seeding = Coverage().with_seen(Span(day(6), day(9)))
    assert processed_date(seeding, day(0)) == day(6)
    assert processed_date(seeding.with_seen(Span(day(0), day(5))), day(0)) == day(9)
    assert processed_date(Coverage(), day(0)) is None
    assert updated_since(seeding, RANGE, plan(10)) == day(7)
    assert updated_since(seeding, WHOLE, plan(10)) is None


# A source, its offers and its moods, and a query that follows it.


@dataclass
class Source:
    """`offers` are (the day it is dated, the day from which it is shown). A look shows at most `cap` rows."""

    reach: Reach
    offers: set[tuple[int, int]]
    cap: int
    found: set[tuple[int, int]] = field(default_factory=set)

    def look(self, window: Window, today: int) -> Walked:
        first = 0 if self.reach.window is WindowKind.NONE else (window.span.first - FIRST).days
        last = (window.span.last - FIRST).days if self.reach.window is WindowKind.RANGE else today
        there = [each for each in self.offers if each[1] <= today and first <= each[0] <= last]
        rows = sorted(there, reverse=True)[: self.cap]
        self.found |= set(rows)
        ended = StopReason.WINDOW_EXHAUSTED if len(there) <= self.cap else StopReason.MAX_OFFERS
        return Walked(ended, day(rows[-1][0]) if rows else None)


@pytest.mark.promise(11)
@given(
    st.sampled_from([RANGE, SINCE, FEED, WHOLE, Reach(WindowKind.SINCE)]),
    st.sets(st.tuples(st.integers(0, 25), st.integers(0, 3)), max_size=60),
    st.integers(1, 20),
    st.lists(st.integers(1, 5), min_size=3, max_size=25),
)
def test_everything_up_to_the_watermark_was_found_whatever_the_source_does(reach, offers, cap, pauses):
    """Offers come up to three days late, which is the lag; looks are cut short at random; runs are missed."""
    source = Source(reach, {(at, at + late) for at, late in offers}, cap)
    coverage, today, marks = Coverage(), 5, [date.min]
    for pause in pauses:
        today += pause
        wants = plan(today)
        for window in list(windows(coverage, reach, wants))[:10]:
            coverage = after(coverage, window, reach, source.look(window, today), wants)
        mark = coverage.watermark(day(0))
        assert mark is None or mark < day(today - 3), "offers dated later may still come"
        missed = {each for each in source.offers if mark is not None and day(each[0]) <= mark} - source.found
        assert not missed
        marks.append(mark or date.min)
    assert marks == sorted(marks)
