"""Read a number from a record: any JSON value may stand there, and only a plausible number counts."""

import math


def figure(value: object, most: float) -> float | None:
    """A number from 0 to `most`; anything else says nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if 0 <= value <= most else None
