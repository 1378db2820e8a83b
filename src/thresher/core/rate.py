"""Rates as people write them: 2 (a second), 30/m, 500/h."""

import re

from thresher.core.errors import UsageError

Rate = float | str

SECONDS = {
    "s": 1.0,
    "sec": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3_600.0,
    "hour": 3_600.0,
    "d": 86_400.0,
    "day": 86_400.0,
}
NONE = ("none", "off", "unlimited")
_RATE = re.compile(rf"([0-9]+(?:\.[0-9]+)?)(?:\s*/\s*({'|'.join(SECONDS)}))?")


def per_second(said: Rate | None) -> float | None:
    """A rate in starts a second: 2, 0.5, "30/m", "500/hour". None for no limit."""
    if said is None or (isinstance(said, int | float) and not isinstance(said, bool)):
        return said
    text = str(said).strip().lower()
    if text in NONE:
        return None
    match = _RATE.fullmatch(text)
    if match is None:
        raise UsageError(f"a rate is written as 2 (a second), 30/m, 500/h, or none, got {said!r}")
    return float(match[1]) / SECONDS[match[2] or "s"]
