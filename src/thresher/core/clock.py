"""Time as integer microseconds, and durations as text. The only module that reads a clock.

The database's clock decides in production. PostgreSQL reads it inside its own functions; on SQLite the
machine is the database, so its clock is read here. Tests pass a `FrozenClock` and move it: nothing sleeps.
"""

import time
from datetime import UTC, date, datetime
from typing import Protocol

MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# Closed "for ever": far beyond any date, and still exact in a JSON number.
FOREVER = 2**53 - 1


class Clock(Protocol):
    """Anything that can tell the time, in microseconds since 1970."""

    def now(self) -> int: ...


class SystemClock:
    """This machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000


class FrozenClock:
    """A clock that moves only when told to."""

    def __init__(self, now: int = 1_700_000_000 * SECOND) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def advance(self, microseconds: int) -> int:
        """Move time forward (or back, to simulate a clock jump) and return the new time."""
        self._now += microseconds
        return self._now


def to_us(seconds: float) -> int:
    """Convert seconds, as people write them, to microseconds, as we store them."""
    return round(seconds * SECOND)


def monotonic() -> float:
    """Return seconds on a clock that never jumps: to measure durations, never to tell the time."""
    return time.monotonic()


def as_text(at: int | None) -> str | None:
    """Format a time as ISO 8601 in UTC."""
    if at is None:
        return None
    if at >= FOREVER:
        return "for ever"
    return datetime.fromtimestamp(at / SECOND, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Durations as text, the same on the command line and in the browser.

_STEPS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def span(seconds: float) -> str:
    """Format a duration: 340ms, 12s, 3m 20s, 2h 5m, 4d."""
    if seconds < 1:
        return f"{seconds * 1_000:.0f}ms"
    left, parts = round(seconds), []
    for size, unit in _STEPS:
        if left >= size:
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2])


NEARLY_NOW = 45 * SECOND
MAX_RELATIVE = 30 * DAY


def relative(at: int, now: int) -> str:
    """Say how far away a moment is: just now, in a moment, 5 min ago, in 3 h. Beyond a month, its date."""
    away = abs(at - now)
    if away < NEARLY_NOW:
        return "in a moment" if at > now else "just now"
    if away >= MAX_RELATIVE:
        return (as_text(at) or "")[:10]
    if away < HOUR:
        text = f"{max(1, round(away / MINUTE))} min"
    elif away < DAY:
        text = f"{round(away / HOUR)} h"
    else:
        days = round(away / DAY)
        text = f"{days} day{'s' if days > 1 else ''}"
    return f"in {text}" if at > now else f"{text} ago"


def day_of(at: int) -> date:
    """Return the day of a moment, in UTC."""
    return datetime.fromtimestamp(at / SECOND, UTC).date()


def next_midnight(at: int) -> int:
    """Return when the day of a moment ends, in UTC."""
    return (at // DAY + 1) * DAY
