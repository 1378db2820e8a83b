"""Which days of a query were seen: the watermark, as a few spans of days that do not grow with the history.

A day counts as seen when a look that covered it reached its end, so long after the day that nothing comes
late for it. Everything else is missing; a look that was cut short leaves its days partial, with the reason.
The watermark never passes a day that is not seen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum

MAX_SPANS = 60  # of either sort; where there are more, the oldest are forgotten and looked at again

DAY = timedelta(days=1)


class DayState(StrEnum):
    """What is known of one day."""

    SEEN = "seen"
    PARTIAL = "partial"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Days from `first` to `last`, both included."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError(f"a span ends before it begins: {self.first} to {self.last}")

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    def has(self, day: date) -> bool:
        return self.first <= day <= self.last

    def within(self, other: "Span") -> "Span | None":
        """The days that both have."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        return Span(first, last) if first <= last else None

    def without(self, other: "Span | None") -> Iterator["Span"]:
        """The days that the other has not, oldest first."""
        return _without(self, () if other is None else (other,))

    def halves(self) -> tuple["Span", "Span"]:
        """The newer half and the older half of more than one day."""
        middle = self.first + timedelta(days=self.days // 2)
        return Span(middle, self.last), Span(self.first, middle - DAY)

    def __iter__(self) -> Iterator[date]:
        return (self.first + timedelta(days=at) for at in range(self.days))


@dataclass(frozen=True, slots=True)
class PartialSpan:
    """Days that a look did not see to their end: why, how often it was tried, and when last."""

    span: Span
    reason: str
    tries: int = 1
    tried_at: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """The days that were seen, and those that were looked at in part. Both oldest first, without overlap.
    `caught_up`: the last run, whose limits were too low for the last days, began with the oldest ones.
    """

    seen: tuple[Span, ...] = ()
    partial: tuple[PartialSpan, ...] = ()
    caught_up: bool = False

    def with_seen(self, span: Span) -> "Coverage":
        """These days were seen to their end."""
        seen = _bounded(_joined((*self.seen, span)))
        return replace(self, seen=seen, partial=tuple(_less(self.partial, span)))

    def with_partial(self, span: Span, reason: str, now: int) -> "Coverage":
        """A look at these days was cut short. What was seen before stays seen."""
        gaps = tuple(_without(span, self.seen))
        tries = 1 + max((each.tries for each in self.partial if each.span.within(span)), default=0)
        kept = self.partial
        for gap in gaps:
            kept = tuple(_less(kept, gap))
        fresh = (PartialSpan(gap, reason, tries, now) for gap in gaps)
        found = sorted((*kept, *fresh), key=lambda each: each.span)
        return replace(self, partial=tuple(found[-MAX_SPANS:]))

    def without_partial(self, span: Span) -> "Coverage":
        """A look at these days was not cut short."""
        return replace(self, partial=tuple(_less(self.partial, span)))

    def state(self, day: date) -> DayState:
        """What is known of a day."""
        if any(span.has(day) for span in self.seen):
            return DayState.SEEN
        partial = any(each.span.has(day) for each in self.partial)
        return DayState.PARTIAL if partial else DayState.MISSING

    def missing(self, span: Span) -> tuple[Span, ...]:
        """The days of a span that were not seen, partial ones included, the newest first."""
        return tuple(reversed(list(_without(span, self.seen))))

    @property
    def newest(self) -> Span | None:
        """The newest days that were seen without a gap."""
        return self.seen[-1] if self.seen else None

    def watermark(self, start: date) -> date | None:
        """The last day up to which every day since `start` was seen; None while `start` itself was not."""
        return next((span.last for span in self.seen if span.has(start)), None)

    def oldest_proven(self) -> date | None:
        """The oldest day from which on every day up to the newest was seen."""
        return self.newest.first if self.newest else None


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The same days in as few spans as can be."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.first <= found[-1].last + DAY:
            found[-1] = Span(found[-1].first, max(found[-1].last, span.last))
        else:
            found.append(span)
    return found


def _bounded(spans: list[Span]) -> tuple[Span, ...]:
    """To forget that a day was seen costs a request. To take one for seen that was not would cost offers."""
    return tuple(spans[-MAX_SPANS:])


def _without(span: Span, seen: Iterable[Span]) -> Iterator[Span]:
    """What is left of a span, oldest first. `seen` is in order."""
    first = span.first
    for each in seen:
        if each.last < first or each.first > span.last:
            continue
        if first < each.first:
            yield Span(first, each.first - DAY)
        first = each.last + DAY
    if first <= span.last:
        yield Span(first, span.last)


def _less(partial: Iterable[PartialSpan], span: Span) -> Iterator[PartialSpan]:
    for each in partial:
        for left in _without(each.span, (span,)):
            yield replace(each, span=left)
