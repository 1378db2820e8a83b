"""When a schedule fires: pure arithmetic over cron lines, intervals and time zones.

Cron lines follow the wall clock of their zone. A time that the clock skips in spring fires at the moment the
clock jumps; a time that it shows twice in autumn fires once. Intervals count from the epoch, so that every
machine agrees.
"""

from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from thresher.core.clock import HOUR, MINUTE, SECOND
from thresher.core.errors import ConfigError

# A firing that is later than this was missed.
LATE_US = MINUTE
# No change of the clock makes more than this much time come twice.
AROUND_CHANGE = 3 * HOUR


def next_firing(after: int, *, cron: str | None, every_us: int | None, timezone: str) -> int | None:
    """The first firing strictly after a time; None when a cron line has no further date."""
    if every_us is not None:
        return (after // every_us + 1) * every_us
    # In an hour that comes twice cronsim takes the second for the first. So it walks there from before the
    # clock changes.
    start = _wall(after - AROUND_CHANGE if _changes(after, timezone) else after, timezone)
    found = (round(each.timestamp()) * SECOND for each in CronSim(cron or "", start))
    return next((at for at in found if at > after), None)


def moved_forward(
    next_at: int, last_at: int | None, now: int, *, cron: str | None, every_us: int | None, timezone: str
) -> int | None:
    """The next firing of a schedule that waits too long because the clock was set back; None where it does
    not.

    It has to wait no longer than half as long again as it usually does. So a daily schedule does not fire
    twice when an hour comes twice, and one for every minute does not fall silent for an hour.
    """
    usual = _gap(last_at if last_at is not None and last_at < next_at else next_at, cron, every_us, timezone)
    if usual is None or next_at - now <= usual + usual // 2:
        return None
    return next_firing(now, cron=cron, every_us=every_us, timezone=timezone)


@lru_cache(1_024)  # asked every second, and the same until the schedule fires
def _gap(at: int, cron: str | None, every_us: int | None, timezone: str) -> int | None:
    following = next_firing(at, cron=cron, every_us=every_us, timezone=timezone)
    return None if following is None else following - at


def due_firings(
    first: int, now: int, *, cron: str | None, every_us: int | None, timezone: str, missed: str, most: int
) -> tuple[list[int], int | None]:
    """The firings to make up for, from `first` up to now, by the policy for missed ones; and the next one
    after.
    """
    if first > now:
        return [], first
    wanted = most if missed == "all" else 1
    due = (
        _newest_intervals(first, now, every_us, wanted)
        if every_us is not None
        else _newest_dates(first, now, cron, timezone, wanted)
    )
    if missed == "skip":
        due = [at for at in due if now - at < LATE_US]
    return due, next_firing(now, cron=cron, every_us=every_us, timezone=timezone)


def _newest_intervals(first: int, now: int, every_us: int, most: int) -> list[int]:
    last = now // every_us * every_us
    return list(range(max(first, last - (most - 1) * every_us), last + 1, every_us)) or [first]


def _newest_dates(first: int, now: int, cron: str | None, timezone: str, most: int) -> list[int]:
    """Backwards from now: years of sleep must not be counted one by one."""
    start = now + 2 * AROUND_CHANGE if _changes(now, timezone) else now
    behind = _wall((start // SECOND + 1) * SECOND, timezone)
    backwards = (round(found.timestamp()) * SECOND for found in CronSim(cron or "", behind, reverse=True))
    newest = list(takewhile(lambda at: at >= first, islice((at for at in backwards if at <= now), most)))
    return newest[::-1] or [first]


def _wall(at: int, timezone: str) -> datetime:
    return datetime.fromtimestamp(at / SECOND, UTC).astimezone(zone(timezone))


def _changes(at: int, timezone: str) -> bool:
    """Whether the clock of the zone is set forward or back around this time."""
    return _wall(at - AROUND_CHANGE, timezone).utcoffset() != _wall(at + AROUND_CHANGE, timezone).utcoffset()


def zone(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(f"there is no time zone {name!r}; write one such as Europe/Berlin") from None


def check(cron: str | None, every: float | None, timezone: str, missed: str) -> None:
    """Refuse a schedule that could never work, by name."""
    zone(timezone)
    if (cron is None) == (every is None):
        raise ConfigError("a schedule needs either cron or every, and not both")
    if every is not None and not every >= 1:
        raise ConfigError(f"every must be at least 1 second, got {every}")
    if missed not in ("skip", "one", "all"):
        raise ConfigError(f"missed must be skip, one or all, got {missed!r}")
    if cron is not None:
        try:
            CronSim(cron, datetime(2024, 1, 1, tzinfo=UTC))
        except CronSimError as problem:
            raise ConfigError(f"{cron!r} is not a cron expression: {problem}") from None
