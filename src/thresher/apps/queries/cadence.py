"""When a query runs again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thresher.core.clock import HOUR, to_us


@dataclass(frozen=True, slots=True)
class Cadence:
    """`pause` is the least time between two runs, in microseconds. With `adaptive`, a query whose runs bring
    nothing runs less and less often, up to `slowest`, and one that brings something never more often than
    `fastest`.
    """

    pause: int
    jitter: float
    adaptive: bool = False
    fastest: int = 6 * HOUR
    slowest: int = 24 * HOUR
    empty_runs: int = 3

    def due(self, now: int, empty_runs: int, *, seeding: bool, luck: float) -> int:
        """The time of the next run. `luck` is a random number from 0 to 1."""
        wait = self.pause
        if self.adaptive and not seeding:
            doublings = empty_runs // self.empty_runs
            wait = max(wait, min(self.fastest << min(doublings, 16), self.slowest))
        return now + wait + round(wait * self.jitter * luck)


def cadence_of(setting: Callable[[str], Any]) -> Cadence:
    """The cadence that the settings say."""
    return Cadence(
        to_us(setting("queries.pause")),
        float(setting("queries.jitter")),
        adaptive=bool(setting("queries.adaptive")),
        fastest=to_us(setting("queries.cadence_min") * 3_600),
        slowest=to_us(setting("queries.cadence_max") * 3_600),
        empty_runs=int(setting("queries.empty_runs")),
    )
