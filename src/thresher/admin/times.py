"""Parse durations and numbers as people write them (90s, 10m, 2h, 1d), and read the database's clock."""

import re

from thresher.core.errors import UsageError
from thresher.core.gate import NONE, per_second
from thresher.store.store import Store

__all__ = ["NONE", "per_second", "seconds", "whole"]

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
MAX_NUMBER = 1_000_000_000

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|[smhdw])?")


def seconds(text: str) -> float:
    """A duration in seconds. A bare number is seconds; parts may be joined: 1h30m."""
    parts = [(match[1], match[2]) for match in _DURATION.finditer(text.strip())]
    if (
        not parts
        or _DURATION.sub("", text.strip())
        or (len(parts) > 1 and not all(unit for _, unit in parts))
    ):
        raise UsageError(f"a duration must be written as 90s, 10m, 2h or 1d, got {text!r}")
    return sum(float(number) * UNITS[unit or "s"] for number, unit in parts)


def whole(text: str, what: str) -> int | None:
    """A whole number from 1 on, or None for "none"."""
    if text.strip().lower() in NONE:
        return None
    if not (text.strip().isdecimal() and 1 <= int(text) < MAX_NUMBER):
        raise UsageError(f"{what} must be a whole number from 1 to {MAX_NUMBER:,}, or none, got {text!r}")
    return int(text)


# Ages and waits are measured by the database's clock.


def read_now(store: Store) -> int:
    """What time it is for the queue."""
    with store.read() as session:
        return store.backend.now(session)
