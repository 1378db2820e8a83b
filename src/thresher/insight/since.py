"""How long ago, as people say it: 12h, 7d, 2w, or a day such as 2026-01-31."""

import re
from datetime import UTC, datetime

from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.errors import UsageError

_AGO = re.compile(r"([0-9]{1,6})\s*([hdw])")
_UNITS = {"h": HOUR, "d": DAY, "w": 7 * DAY}


def since(text: str, now: int) -> int:
    """The moment that a text names, in microseconds since 1970."""
    if match := _AGO.fullmatch(text.strip()):
        return max(0, now - int(match[1]) * _UNITS[match[2]])
    try:
        day = datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(
            f"since when is written as 12h, 7d, 2w or a day such as 2026-01-31; got {text!r}"
        ) from None
    return max(0, int(day.timestamp()) * SECOND)
