"""What a worker has done, counted."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """What a worker has done so far."""

    claimed: int = 0
    stale: int = 0
    lost: int = 0
    endings: Counter[str] = field(default_factory=Counter)

    @property
    def settled(self) -> int:
        return sum(self.endings.values())
