"""The turn of the boards: which of those that are due are looked at next. Pure.

Whoever has waited longest comes first, and a board that was never looked at has waited for a long time from
the start. A better tier is a head start of some hours, never a wall: no number of better boards keeps a worse
one waiting for ever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.core.clock import HOUR
from thresher.core.record import Found

TIERS = ("D", "C", "B", "A", "S")


@dataclass(frozen=True, slots=True)
class Pace:
    """Hours. `head_start` is per step of the tier, `first` for a board that was never looked at; `every` is
    from look to look, by tier.
    """

    head_start: float = 6.0
    first: float = 168.0
    every: float = 24.0
    by_tier: Mapping[str, float] = field(default_factory=dict)

    def interval(self, tier: object) -> int:
        """From one look to the next, in microseconds."""
        return round(self.by_tier.get(str(tier), self.every) * HOUR)


def turn(boards: Iterable[Found], pace: Pace, number: int) -> Sequence[Found]:
    """The boards whose turn it is, the most urgent first."""
    unique = {board.key: board for board in boards}
    return sorted(unique.values(), key=lambda board: (_due(board.data, pace), board.key))[:number]


def _due(board: Mapping[str, Any], pace: Pace) -> float:
    """Since when it counts as waiting."""
    tier = str(board.get("tier") or "D")
    ahead = (TIERS.index(tier) if tier in TIERS else 0) * pace.head_start
    if not board.get("scraped_at"):
        return int(board.get("discovered_at") or 0) - (pace.first + ahead) * HOUR
    return int(board.get("due_at") or 0) - ahead * HOUR
