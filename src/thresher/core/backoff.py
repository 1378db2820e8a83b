"""How long a failed task waits before its next try: base times two to the power of failures, capped, with jitter."""

from dataclasses import dataclass

from thresher.core.clock import DAY, MINUTE


@dataclass(frozen=True, slots=True)
class Backoff:
    """The retry budget and the shape of the waiting time."""

    base_us: int = MINUTE
    cap_us: int = DAY
    jitter: float = 0.2
    max_retries: int = 3

    def delay_us(self, failures: int, luck: float) -> int:
        """The wait after the n-th failure (n >= 1). `luck` in [0, 1) spreads a herd; it only ever shortens the wait."""
        # The exponent is capped so that a task with thousands of failures does not compute a thousand-digit number.
        whole: int = min(self.cap_us, self.base_us * 2 ** min(failures - 1, 40))
        return round(whole * (1 - self.jitter * luck))

    def exhausted(self, failures: int) -> bool:
        """Whether a task with this many failures has none left."""
        return failures > self.max_retries
