"""Hours of the day in a time zone, and the moments when they begin and end: pure arithmetic.

Hours are those of the wall clock. Where the clock skips the beginning, a window begins when the clock jumps;
where it shows an hour twice, no moment of a window lies outside its hours, so it begins with the second
showing and ends with the first. A window that the clock skips as a whole does not happen that night.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from thresher.core.clock import SECOND

DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Hours:
    """From one minute of the day to another, the last not included. `last` before `first` crosses
    midnight; both the same: never.
    """

    first: int
    last: int
    timezone: str = "UTC"

    def __str__(self) -> str:
        return f"{_clock(self.first)}-{_clock(self.last)} {self.timezone}"


class NightWindow(NamedTuple):
    """Microseconds since 1970; `end` is the first moment outside."""

    start: int
    end: int

    def has(self, now: int) -> bool:
        """Tell whether it is open at that time."""
        return self.start <= now < self.end


def next_window(now: int, hours: Hours) -> NightWindow:
    """The window that is open, else the next one. Never one that is over."""
    day = local_time(now, hours.timezone).date() - timedelta(days=1)
    for _ in range(10):
        window = _window(day, hours)
        if window.start < window.end and now < window.end:
            return window
        day += timedelta(days=1)
    return NightWindow(now, now)  # hours that are none


def is_open(now: int, hours: Hours) -> bool:
    """Tell whether a moment lies in these hours."""
    return hours.first != hours.last and next_window(now, hours).has(now)


def local_time(now: int, timezone: str) -> datetime:
    """What the wall clock shows."""
    return datetime.fromtimestamp(now / SECOND, UTC).astimezone(ZoneInfo(timezone))


def moment(day: date, minute: int, timezone: str, *, again: bool = False) -> int:
    """When the wall clock shows this minute of the day, or has just skipped it. With `again` the second
    time, where it comes twice.
    """
    zone = ZoneInfo(timezone)
    wall = datetime(day.year, day.month, day.day, tzinfo=zone) + timedelta(minutes=minute)
    early = round(wall.replace(fold=0).timestamp())
    late = round(wall.replace(fold=1).timestamp())
    if late < early:  # the clock skips it: both are guesses, on either side of the jump
        return _jump(late, early, wall.replace(tzinfo=None), zone) * SECOND
    return (late if again else early) * SECOND


def _jump(low: int, high: int, wall: datetime, zone: ZoneInfo) -> int:
    """The first second at which the clock shows this or more."""
    while low < high:
        middle = (low + high) // 2
        shown = datetime.fromtimestamp(middle, zone).replace(tzinfo=None)
        low, high = (low, middle) if shown >= wall else (middle + 1, high)
    return low


def _window(day: date, hours: Hours) -> NightWindow:
    last = hours.last if hours.last > hours.first else hours.last + DAY_MINUTES
    start = moment(day, hours.first, hours.timezone, again=True)
    end = moment(day, last, hours.timezone)
    if hours.first == hours.last:
        return NightWindow(start, start)
    # Wholly inside the hour that comes twice: its second showing.
    return NightWindow(start, end if end > start else moment(day, last, hours.timezone, again=True))


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
