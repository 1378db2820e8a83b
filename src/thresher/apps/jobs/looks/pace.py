"""The numbers of scraping, out of the settings: how often boards are looked at, how far, and what is believed
of a look.
"""

from collections.abc import Callable, Mapping
from typing import Any

from thresher.apps.jobs.looks.checks import Terms
from thresher.apps.jobs.looks.rotation import Pace
from thresher.core.clock import DAY, HOUR
from thresher.hiring.coverage import Limits
from thresher.hiring.life import Rules
from thresher.hiring.walk import Bounds

# A context's way to ask for a setting, or the settings themselves.
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


def bounds_of(ask: Ask, *, completed_at: int, now: int) -> Bounds:
    """How far a walk goes. It may stop early only while a complete look is fresh: what is gone shows in
    complete looks alone.
    """
    may_stop = now - completed_at < ask("jobs.walk_full") * HOUR
    return Bounds(
        int(ask("jobs.walk_pages")),
        int(ask("jobs.walk_rows")),
        int(ask("jobs.walk_known")) if may_stop else 0,
    )


def rules_of(ask: Ask) -> Rules:
    """When a posting is closed."""
    return Rules(
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


def limits_of(ask: Ask) -> Limits:
    """When a board is an alarm."""
    return Limits(
        yield_drop=float(ask("jobs.alarm_yield")),
        field_drop=float(ask("jobs.alarm_field")),
        least=int(ask("jobs.alarm_least")),
        zeros=int(ask("jobs.alarm_zeros")),
    )
