"""Which days a run asks for, and which days it has proven to be seen.

First what is new since the last run, with a few days again for offers that come late. Then what is missing
before that, newest first, day by day, back to the start: gaps that an earlier run left, and the history.
Where the limits of a run are too low for the last days, every second run begins with the oldest ones instead.

A look proves the days it covered only when it reached their end. A client that lists the newest first has
shown everything down to where the look ended; a whole list, everything that is open. A day is settled by a
look after the lag, when nothing comes late for it any more: until then every run looks at it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from thresher.apps.queries.clients.search import Reach, WindowKind
from thresher.apps.queries.coverage import DAY, Coverage, PartialSpan, Span
from thresher.apps.queries.model import StopReason
from thresher.core.clock import HOUR

MAX_BACKOFF = 6  # doublings of the time until a day that was cut short is tried again
RETRY_PARTIAL = 24 * HOUR
LIMITS = (StopReason.MAX_PAGES.value, StopReason.MAX_OFFERS.value)


class Purpose(StrEnum):
    """Why days are asked for."""

    FORWARD = "forward"
    SEED = "seed"


@dataclass(frozen=True, slots=True)
class Window:
    """Days that are asked for at once."""

    span: Span
    purpose: Purpose


@dataclass(frozen=True, slots=True)
class Plan:
    """What a query wants: days from `start` on, `step` days of history at a time. Offers may come `lag` days
    late. `now` is in microseconds since 1970.
    """

    start: date
    today: date
    lag: int
    step: int
    now: int


@dataclass(frozen=True, slots=True)
class Walked:
    """What a look at a window saw: how it ended, the oldest day that its rows reached, and whether they came
    in the order of their days.
    """

    ended: StopReason
    oldest: date | None = None
    in_order: bool = True


def windows(coverage: Coverage, reach: Reach, plan: Plan) -> Iterator[Window]:
    """The windows of a run, in the order in which they are looked at."""
    first = max(plan.start, earliest(reach, plan.today))
    if reach.window is WindowKind.NONE:
        yield Window(Span(min(first, plan.today), plan.today), Purpose.FORWARD)
        return
    forward = Span(min(max(first, _forward_from(coverage, plan)), plan.today), plan.today)
    yield Window(forward, Purpose.FORWARD)
    if first < forward.first:
        history = Span(first, forward.first - DAY)
        yield from (Window(span, Purpose.SEED) for span in _chunks(coverage, history, reach, plan))


def is_cut_short(coverage: Coverage, reach: Reach, plan: Plan) -> bool:
    """Whether the limits of a run were too low for the last days, which can be asked for one by one."""
    if reach.window is not WindowKind.RANGE:
        return False
    forward = next(windows(coverage, reach, plan)).span
    return any(each.reason in LIMITS and each.span.within(forward) for each in coverage.partial)


def catching_up(coverage: Coverage, reach: Reach, plan: Plan) -> Iterator[Window]:
    """The days that were not seen, one by one, the oldest first; one that was cut short more often than the
    others comes after them. What a run finishes so stays finished, however much the last days hold.
    """
    first = min(max(plan.start, earliest(reach, plan.today)), plan.today)
    days = [day for gap in coverage.missing(Span(first, plan.today)) for day in gap]
    for day in sorted(days, key=lambda day: (_tries(coverage, day), day)):
        late = day >= plan.today - timedelta(days=plan.lag)
        yield Window(Span(day, day), Purpose.FORWARD if late else Purpose.SEED)


def _tries(coverage: Coverage, day: date) -> int:
    return next((each.tries for each in coverage.partial if each.span.has(day)), 0)


def earliest(reach: Reach, today: date) -> date:
    """The oldest day that the client can be asked for."""
    days = reach.max_days
    if reach.window is WindowKind.BUCKETS and not reach.any:
        days = min(days or reach.buckets[-1], reach.buckets[-1])
    return date.min if days is None else today - timedelta(days=max(days - 1, 0))


def _forward_from(coverage: Coverage, plan: Plan) -> date:
    """The first day that is not settled; without any that is, the first of the last few."""
    recent = plan.today - timedelta(days=plan.lag)
    return recent if coverage.newest is None else min(recent, coverage.newest.last + DAY)


def _chunks(coverage: Coverage, history: Span, reach: Reach, plan: Plan) -> Iterator[Span]:
    """The missing days of the history that are due to be tried, in portions, the newest first."""
    due = [gap for missing in coverage.missing(history) for gap in _due(coverage, missing, plan.now)]
    if not due:
        return
    if reach.window is not WindowKind.RANGE:  # it cannot be asked to stop: one look from the oldest day on
        yield Span(due[-1].first, plan.today)
        return
    for gap in due:
        last = gap.last
        while last >= gap.first:
            first = max(gap.first, last - timedelta(days=plan.step - 1))
            yield Span(first, last)
            last = first - DAY


def _due(coverage: Coverage, missing: Span, now: int) -> Iterator[Span]:
    """The days of a gap without those that were cut short a short while ago, the newest first."""
    waits = sorted(
        (inside for each in coverage.partial if _waits(each, now) and (inside := each.span.within(missing))),
        reverse=True,
    )
    last = missing.last
    for each in waits:
        if each.last < last:
            yield Span(each.last + DAY, last)
        last = each.first - DAY
    if missing.first <= last:
        yield Span(missing.first, last)


def _waits(partial: PartialSpan, now: int) -> bool:
    doublings = min(partial.tries - 1, MAX_BACKOFF)
    return now < partial.tried_at + (RETRY_PARTIAL << doublings)


def reached(window: Window, reach: Reach, walked: Walked) -> Span | None:
    """The days of a window that a look has seen to their end; None where it proved nothing."""
    complete = reach.window is not WindowKind.NONE or reach.whole
    if walked.ended is StopReason.ALL_KNOWN or (walked.ended is StopReason.WINDOW_EXHAUSTED and complete):
        return window.span
    if not (reach.newest_first and walked.in_order and walked.oldest):
        return None
    first = max(walked.oldest + DAY, window.span.first)  # the oldest day that rows reached may go on
    return Span(first, window.span.last) if first <= window.span.last else None


def proven(window: Window, reach: Reach, walked: Walked, plan: Plan) -> Span | None:
    """The days that a look has settled: seen to their end, and so long ago that nothing comes late for them.
    A day is looked at until then, however many runs are missed.
    """
    seen = reached(window, reach, walked)
    return seen and seen.within(Span(date.min, plan.today - timedelta(days=plan.lag + 1)))


def after(coverage: Coverage, window: Window, reach: Reach, walked: Walked, plan: Plan) -> Coverage:
    """The coverage after a look. The days that it did not see to their end are partial, with the reason."""
    seen, settled = reached(window, reach, walked), proven(window, reach, walked, plan)
    if settled is not None:
        coverage = coverage.with_seen(settled)
    if seen is not None:
        coverage = coverage.without_partial(seen)
    for left in window.span.without(seen):
        coverage = coverage.with_partial(left, walked.ended.value, plan.now)
    return coverage


def may_stop(window: Window, coverage: Coverage, plan: Plan, oldest: date | None) -> bool:
    """Whether a look whose last page had nothing new may end there: all that follows was seen before, and is
    too old to change.
    """
    if oldest is None or oldest >= plan.today - timedelta(days=plan.lag):
        return False
    rest = Span(window.span.first, oldest) if window.span.first <= oldest else None
    return rest is None or not coverage.missing(rest)


def processed_date(coverage: Coverage, start: date) -> date | None:
    """`lastProcessedDate`: the oldest proven day while the history is being seeded, then the last day up to
    which everything was seen.
    """
    return coverage.watermark(start) or coverage.oldest_proven()


def updated_since(coverage: Coverage, reach: Reach, plan: Plan) -> date | None:
    """The first day that the next run will ask for; None where the client cannot be kept to a time."""
    if reach.window is WindowKind.NONE:
        return None
    return next(iter(windows(coverage, reach, plan))).span.first
