"""Gates: the arithmetic of one limited resource (a host, a source, a model provider), and rates as text.

A gate is closed by time or by slots. By time: a pause (`open_after`), a tripped breaker (`tripped_until`), or
a rate kept as one GCRA timestamp (`tat`, the theoretical arrival time), so there is no bucket to refill and
the next opening is a date. By slots: `in_flight` has reached `max_in_flight`. None or 0 means no such limit,
and costs nothing.

PostgreSQL has the same arithmetic as SQL functions; a property test compares the two.
"""

import re
from dataclasses import dataclass

from thresher.core.backoff import doubled
from thresher.core.clock import DAY, FOREVER, SECOND
from thresher.core.errors import UsageError

# Rates as text: 2 (per second), 30/m, 500/h.

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
    """Parse a rate in starts per second: 2, 0.5, "30/m", "500/hour". None for no limit."""
    if said is None or (isinstance(said, int | float) and not isinstance(said, bool)):
        return said
    text = str(said).strip().lower()
    if text in NONE:
        return None
    match = _RATE.fullmatch(text)
    if match is None:
        raise UsageError(f"a rate must be a number per second (2), 30/m, 500/h or none, got {said!r}")
    return float(match[1]) / SECONDS[match[2] or "s"]


UNLIMITED = 1_000_000
# Clocks are read before locks are taken, so a later transaction may carry a reading older by up to this much.
CLOCK_SLACK_US = SECOND
# A success is written by itself only if the last one is older than this: not every task is worth a write.
NEWS_US = 60 * SECOND
# Limits that keep the arithmetic within 64-bit integers.
RANGES = {
    "max_in_flight": (1, UNLIMITED),
    "interval_us": (0, 30 * DAY),
    "burst": (1, UNLIMITED),
    "trip_after": (1, UNLIMITED),
    "cooldown_us": (0, 30 * DAY),
}


@dataclass(frozen=True, slots=True)
class GateLimits:
    """The limits that can be set on a gate."""

    max_in_flight: int | None = None
    interval_us: int = 0
    burst: int = 1
    trip_after: int | None = None
    cooldown_us: int = 300 * SECOND

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise UsageError(f"a gate's {name} must be between {low} and {high:,}, got {value}")


def interval_us(rate: Rate | None) -> int:
    """Convert a rate to the time between two starts. None: no limit."""
    starts = per_second(rate)
    if starts is None:
        return 0
    if not 0 < starts <= SECOND:
        raise UsageError(f"a rate must be above 0 and at most {SECOND:,} starts a second, got {rate}")
    return max(1, round(SECOND / starts))


def tripped_until(
    failures: int, trip_after: int | None, cooldown_us: int, now: int, *, cap_us: int | None = None
) -> int:
    """Until when a breaker stays closed after so many failures in a row; 0 if it has not tripped. With a cap,
    the cooldown doubles with every further failure.
    """
    if trip_after is None or failures < trip_after:
        return 0
    return now + (cooldown_us if cap_us is None else doubled(cooldown_us, failures - trip_after, cap_us))


@dataclass(slots=True)
class Gate:
    """A gate's limits and state. The methods are the whole arithmetic; none of them reads a clock."""

    id: int
    max_in_flight: int | None = None
    interval_us: int = 0
    burst: int = 1
    trip_after: int | None = None
    cooldown_us: int = 300 * SECOND
    in_flight: int = 0
    tat: int = 0
    failures: int = 0
    tripped_until: int = 0
    open_after: int = 0
    wake_at: int | None = None
    last_success: int = 0

    @property
    def on_trial(self) -> bool:
        """Whether the breaker has tripped and not recovered: then one task may pass per cooldown."""
        return self.trip_after is not None and self.failures >= self.trip_after

    def _ahead(self, now: int) -> int:
        return min(max(self.tat - now, 0), self.burst * self.interval_us)

    def clamp(self, now: int, slack: int = CLOCK_SLACK_US) -> bool:
        """After the clock was set back or the limits changed: never closed for longer than a full bucket, or
        one cooldown.

        True if that changed anything. It has to be written down: a bound that moves along with `now` would
        never be reached. What is ahead by less than `slack` was written by somebody who read the clock a
        moment later.
        """
        before = (self.tat, self.tripped_until)
        if self.tat > now + self.burst * self.interval_us + slack:
            self.tat = now + self.burst * self.interval_us
        if self.tripped_until > now + self.cooldown_us + slack:
            self.tripped_until = now + self.cooldown_us
        return before != (self.tat, self.tripped_until)

    def allowance(self, now: int) -> int:
        """Return how many tasks may start now. 0 means closed."""
        if self.open_after > now or self.tripped_until > now:
            return 0
        allowed = UNLIMITED if self.max_in_flight is None else self.max_in_flight - self.in_flight
        if self.interval_us:
            allowed = min(allowed, (self.burst * self.interval_us - self._ahead(now)) // self.interval_us)
        if self.on_trial:
            allowed = min(allowed, 1)
        return max(allowed, 0)

    def opens_at(self, now: int) -> int | None:
        """Return when time alone will open it; None if time does not keep it closed."""
        at = max(self.open_after, self.tripped_until)
        if self.interval_us:
            at = max(at, now + self._ahead(now) - (self.burst - 1) * self.interval_us)
        return at if at > now else None

    def take(self, starts: int, now: int) -> None:
        """Account for tasks that start. Before they start: a crash must cost us a slot, never the site."""
        if self.max_in_flight is not None:
            self.in_flight += starts
        if self.interval_us:
            self.tat = now + self._ahead(now) + starts * self.interval_us
        if self.on_trial:
            self.tripped_until = now + self.cooldown_us

    def release(self, ended: int) -> None:
        """Account for tasks that have ended."""
        if self.max_in_flight is not None:
            self.in_flight = max(0, self.in_flight - ended)

    def is_news(self, now: int) -> bool:
        """Whether a success is worth a write by itself. After one in the future, the clock was set back."""
        return not 0 <= now - self.last_success < NEWS_US

    def succeed(self) -> bool:
        """Record a success. Return True if a tripped breaker recovered."""
        recovered = self.on_trial
        self.failures = 0
        self.tripped_until = 0
        return recovered

    def fail(self, now: int) -> bool:
        """Record a failure. Return True if the breaker trips (again)."""
        self.failures += 1
        until = tripped_until(self.failures, self.trip_after, self.cooldown_us, now)
        self.tripped_until = until or self.tripped_until
        return bool(until)

    def why_closed(self, now: int) -> str | None:
        """Return why it is closed, or None if it is open."""
        if self.open_after >= FOREVER:
            return "disabled"
        if self.open_after > now:
            return "paused"
        if self.tripped_until > now:
            return "tripped"
        if self.max_in_flight is not None and self.in_flight >= self.max_in_flight:
            return "full"
        return "rate" if self.allowance(now) == 0 else None
