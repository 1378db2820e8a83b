"""Numbers as records have them: any JSON value may stand where one is meant, and only a number within reason
is one.
"""

import math


def figure(value: object, most: float) -> float | None:
    """A number from 0 to `most`; anything else says nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if 0 <= value <= most else None
