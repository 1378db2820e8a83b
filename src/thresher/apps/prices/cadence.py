"""When an item is looked for again at a source: by the age of the item and by whether its prices move."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from thresher.core.clock import DAY, FOREVER, HOUR

QUIET_LOOKS = 3  # looks without a change after which the wait doubles
MAX_DOUBLINGS = 20
# Until an item is so old, the wait between two looks is the shortest one times this number.
AGES = ((7 * DAY, 1), (90 * DAY, 2), (FOREVER, 4))


@dataclass(frozen=True, slots=True)
class PriceCadence:
    """The shortest and the longest wait between two looks, in microseconds."""

    shortest: int = DAY
    longest: int = 30 * DAY

    def wait(self, *, age: int, quiet: int, own: int = 0) -> int:
        """The wait after a look. `age` is how long the item has been known, `quiet` how many looks in a row
        found no price changed. `own` is the interval that a person has set for the item: it wins.

        Prices that have moved are looked for again after the shortest wait, however old the item is.
        """
        if own > 0:
            return own
        if quiet == 0:
            return self.shortest
        slower = next(times for until, times in AGES if age < until or until == FOREVER)
        doubled = slower << min(quiet // QUIET_LOOKS, MAX_DOUBLINGS)
        return max(self.shortest, min(self.shortest * doubled, self.longest))


def price_cadence_of(setting: Callable[[str], Any]) -> PriceCadence:
    """The cadence that the settings say."""
    shortest, longest = (round(float(setting(f"prices.refresh_{name}")) * HOUR) for name in ("min", "max"))
    return PriceCadence(shortest, longest)
