"""How long a failed task waits before its next try: base times two to the power of failures, capped, with
jitter.
"""

from dataclasses import dataclass, replace

from thresher.core.clock import DAY, MINUTE, to_us
from thresher.core.errors import UsageError

MAX_DOUBLINGS = 40  # far beyond any cap: thousands of failures must not make a number of a thousand digits


def doubled(base_us: int, times: int, cap_us: int) -> int:
    """A wait that doubles so many times, up to a cap."""
    return min(cap_us, base_us << min(times, MAX_DOUBLINGS))


@dataclass(frozen=True, slots=True)
class Retry:
    """The retries of one app. None leaves it to the settings: `base` to retry.base (seconds), `limit` to
    retry.max_retries.
    """

    base: float | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.base is not None and (type(self.base) not in (int, float) or not 0 <= self.base <= 86_400):
            raise UsageError(f"the base of retries must be 0 to 86,400 seconds, got {self.base!r}")
        if self.limit is not None and (type(self.limit) is not int or not 0 <= self.limit <= 1_000):
            raise UsageError(
                f"the limit of retries must be a whole number from 0 to 1,000, got {self.limit!r}"
            )

    def over(self, other: "Retry") -> "Retry":
        """Return these values, completed by the other's."""
        return Retry(
            other.base if self.base is None else self.base, other.limit if self.limit is None else self.limit
        )


@dataclass(frozen=True, slots=True)
class Backoff:
    """The retry budget and the wait before each retry."""

    base_us: int = MINUTE
    cap_us: int = DAY
    jitter: float = 0.2
    max_retries: int = 3

    def of(self, retry: Retry) -> "Backoff":
        """Return the same with an app's own base and limit."""
        base = self.base_us if retry.base is None else to_us(retry.base)
        return replace(
            self, base_us=base, max_retries=self.max_retries if retry.limit is None else retry.limit
        )

    def delay_us(self, failures: int, luck: float) -> int:
        """Return the wait after the n-th failure (n >= 1). `luck` in [0, 1) spreads tasks that failed
        together; it only shortens the wait.
        """
        whole = doubled(self.base_us, failures - 1, self.cap_us)
        return round(whole * (1 - self.jitter * luck))

    def exhausted(self, failures: int) -> bool:
        """Tell whether a task with this many failures has no retries left."""
        return failures > self.max_retries
