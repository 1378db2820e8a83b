"""The settings of scraping, and the rotation of the boards: how often, how many, and which come next."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.apps.jobs.scraping.page_checks import Terms
from thresher.core.clock import DAY, HOUR
from thresher.hiring.coverage import CoverageLimits
from thresher.hiring.lifecycle import LifecycleRules
from thresher.hiring.list_walk import WalkLimits
from thresher.hiring.records import BoardRecord

# The rotation: which of the boards that are due come next. Pure.

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

    def interval(self, tier: str | None) -> int:
        """From one look to the next, in microseconds."""
        return round(self.by_tier.get(tier or "", self.every) * HOUR)


def turn(boards: Iterable[BoardRecord], pace: Pace, number: int) -> Sequence[BoardRecord]:
    """The boards whose turn it is, the most urgent first."""
    unique = {board.key: board for board in boards}
    return sorted(unique.values(), key=lambda board: (_due(board, pace), board.key))[:number]


def _due(board: BoardRecord, pace: Pace) -> float:
    """Since when it counts as waiting."""
    ahead = (TIERS.index(board.tier) if board.tier in TIERS else 0) * pace.head_start
    if not board.scraped_at:
        return board.discovered_at - (pace.first + ahead) * HOUR
    return board.due_at - ahead * HOUR


# A function that returns a setting.
Ask = Callable[[str], Any]


def pace_of(settings: Mapping[str, Any] | Ask) -> Pace:
    """How often boards are looked at."""
    ask = settings if callable(settings) else settings.__getitem__
    return Pace(
        head_start=float(ask("jobs.tier_head_start")),
        first=float(ask("jobs.new_head_start")),
        every=float(ask("jobs.interval")),
        by_tier={"S": float(ask("jobs.interval_s")), "A": float(ask("jobs.interval_a"))},
    )


def bounds_of(ask: Ask, *, completed_at: int, now: int) -> WalkLimits:
    """How far a walk goes. It may stop early only while a complete look is fresh: what is gone shows in
    complete looks alone.
    """
    may_stop = now - completed_at < ask("jobs.walk_full") * HOUR
    return WalkLimits(
        int(ask("jobs.walk_pages")),
        int(ask("jobs.walk_rows")),
        int(ask("jobs.walk_known")) if may_stop else 0,
    )


def rules_of(ask: Ask) -> LifecycleRules:
    """When a posting is closed."""
    return LifecycleRules(
        looks=int(ask("jobs.close_looks")),
        few=int(ask("jobs.close_few")),
        share=float(ask("jobs.close_share")),
    )


def terms_of(ask: Ask) -> Terms:
    """When the page of a posting is asked for."""
    return Terms(
        recheck=round(ask("jobs.recheck_days") * DAY),
        recheck_batch=int(ask("jobs.recheck_batch")),
        reread=round(ask("jobs.reread_days") * DAY),
        reread_batch=int(ask("jobs.reread_batch")),
    )


def limits_of(ask: Ask) -> CoverageLimits:
    """When a board is an alarm."""
    return CoverageLimits(
        yield_drop=float(ask("jobs.alarm_yield")),
        field_drop=float(ask("jobs.alarm_field")),
        least=int(ask("jobs.alarm_least")),
        zeros=int(ask("jobs.alarm_zeros")),
    )
