"""Which day a moment belongs to."""

from datetime import UTC, date, datetime


def day(at: int) -> date:
    """The day of a moment in microseconds since 1970, by universal time."""
    return datetime.fromtimestamp(at / 1_000_000, UTC).date()
