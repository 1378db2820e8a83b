"""The practice web's own time. It stands still until somebody moves it, so that the same question gets the
same answer.

Day 0 is a fixed Monday. Only what the worlds tell of themselves follows this clock; the `Date` header and the
log follow the machine's, because clients reckon with that one.
"""

from datetime import UTC, datetime, timedelta

DAY_ZERO = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
# Further than this the worlds would have to live through millions of postings to know today's.
MAX_DAYS = 3_650


class Calendar:
    """What day it is in the practice web."""

    def __init__(self, day: float = 0) -> None:
        self._first = day
        self._now = DAY_ZERO
        self.set_day(day)

    @property
    def now(self) -> datetime:
        return self._now

    @property
    def day(self) -> float:
        return (self._now - DAY_ZERO) / timedelta(days=1)

    def set_day(self, day: float) -> None:
        if not -MAX_DAYS <= day <= MAX_DAYS:
            raise ValueError(f"day {day} is out of reach: choose one from -{MAX_DAYS} to {MAX_DAYS}")
        self._now = DAY_ZERO + timedelta(days=day)

    def set_time(self, at: datetime) -> None:
        if at.tzinfo is None:
            raise ValueError(f"{at.isoformat()} has no time zone: write 2026-03-02T09:00:00+00:00")
        self.set_day((at - DAY_ZERO) / timedelta(days=1))
        self._now = at.astimezone(UTC)

    def reset(self) -> None:
        self.set_day(self._first)
