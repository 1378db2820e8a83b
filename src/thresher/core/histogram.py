"""How long things took, counted in buckets: what monitoring computes quantiles from."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence


class Histogram:
    """Counts of seconds by upper bounds. Changed and read on one event loop."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.seconds = 0.0

    def note(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.seconds += seconds

    def below(self) -> Iterator[tuple[str, int]]:
        """How many took no longer than each bound; the last has all."""
        total = 0
        for bound, number in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += number
            yield bound, total
