"""The order of roles: the one that waits longest first, with a head start for priority and for demand.

A head start is not a wall: a role that many want is served before one that few want, and one that waits long
enough is served before both. All demand together is worth less than one step of priority, so fresh roles are
served by priority, then by demand.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from thresher.core.clock import HOUR
from thresher.core.errors import UsageError

PRIORITIES = ("low", "normal", "high", "urgent")
SETTINGS = ("roles.priority_step", "roles.demand_half")
# `half` is counted in thousandths: whole numbers rise strictly where floating ones would stand still
_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class Demand:
    """`step_us` is what one step of priority is worth; `half`, how many candidates are worth half of one."""

    step_us: int
    half: float

    @classmethod
    def of(cls, settings: Mapping[str, int | float]) -> "Demand":
        return cls(round(settings["roles.priority_step"] * HOUR), float(settings["roles.demand_half"]))

    def rank(self, waiting_since: int, priority: str, candidates: int) -> int:
        """The place in the queue; the smallest is served first."""
        return waiting_since - sum(self.head_starts(priority, candidates))

    def head_starts(self, priority: str, candidates: int) -> tuple[int, int]:
        """What priority and what demand are worth, each in microseconds of waiting."""
        return PRIORITIES.index(check_priority(priority)) * self.step_us, self._worth(candidates)

    def _worth(self, candidates: int) -> int:
        count = max(0, candidates) * _PARTS
        return self.step_us * count // (count + max(1, round(self.half * _PARTS)))


def check_priority(priority: str) -> str:
    """The priority, if it is one."""
    if priority not in PRIORITIES:
        raise UsageError(f"a priority must be one of {', '.join(reversed(PRIORITIES))}; got {priority!r}")
    return priority
