"""Parse durations, points in time and numbers as people write them (90s, 2h, 1d; 2026-11-20 08:00 UTC), and
read the database's clock.
"""

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from thresher.core.clock import SECOND
from thresher.core.errors import UsageError
from thresher.core.gate import NONE, per_second
from thresher.store.store import Store

__all__ = ["NONE", "per_second", "point_in_time", "seconds", "whole"]

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


_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d(?::\d\d)?) ?(Z|z|[+-]\d\d:\d\d|[A-Za-z][A-Za-z0-9_+/-]{0,60})?",
    re.ASCII,
)
_OFFSET = re.compile(r"[+-]\d\d:\d\d", re.ASCII)
_WRITE = "write it as 2026-11-20 08:00 and the time zone: UTC, +01:00, or a name such as Europe/Berlin"


def point_in_time(text: str) -> int:
    """A date with a time and its time zone. Without a zone it is refused: nobody could say whose clock is
    meant.
    """
    found = _MOMENT.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text[:80]!r} is not a point in time; {_WRITE}")
    day, time, zone = found.groups()
    if zone is None:
        raise UsageError(f"{text[:80]!r} does not say its time zone; {_WRITE}")
    try:
        at = datetime.fromisoformat(f"{day}T{time}{zone if _OFFSET.fullmatch(zone) else ''}")
    except ValueError:
        raise UsageError(f"{text[:80]!r} is not a date and a time of the calendar; {_WRITE}") from None
    if at.tzinfo is None:
        at = _in_zone(at, _zone(zone), zone)
    try:
        return int(at.timestamp()) * SECOND
    except (OverflowError, ValueError):  # the first or the last day that Python knows, in a zone beside it
        raise UsageError(f"{text[:80]!r} is too far away; {_WRITE}") from None


def _zone(name: str) -> tzinfo:
    if name.upper() in ("Z", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # the last: a folder of zones, such as Europe
        raise UsageError(f"there is no time zone {name!r}; {_WRITE}") from None


def _in_zone(wall: datetime, zone: tzinfo, name: str) -> datetime:
    """What a clock on the wall shows there. An hour that is skipped or comes twice is asked about."""
    first, second = wall.replace(tzinfo=zone), wall.replace(tzinfo=zone, fold=1)
    try:
        shown = first.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return first
    if shown != wall:
        raise UsageError(
            f"{wall:%Y-%m-%d %H:%M} does not exist in {name}: clocks are set forward to {shown:%H:%M} then"
        )
    if first.utcoffset() != second.utcoffset():
        raise UsageError(
            f"{wall:%Y-%m-%d %H:%M} comes twice in {name}, because clocks are set back; say which by its offset: "
            f"{first.isoformat()[-6:]} or {second.isoformat()[-6:]}"
        )
    return first


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
