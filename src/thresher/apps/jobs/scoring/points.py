"""The numbers of the score. Their owner is the list of settings: names here are names there, after
`jobs.score.`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from thresher.apps.jobs.person.wants import Size
from thresher.apps.jobs.settings import DEFAULTS

PREFIX = "jobs.score."


@dataclass(frozen=True, slots=True)
class Points:
    """What each part of a score brings or costs, and how much is needed."""

    start: int
    needed: int
    needed_in_city: int
    high: int
    medium: int
    skill_required: int
    skill_ok: int
    skill_year: float
    skill_years: int
    skill_most: int
    gap: int
    gap_least: int
    disliked: int
    disliked_least: int
    level_wanted: int
    level_unwanted: int
    title: int
    title_other: int
    remote: int
    city: int
    elsewhere: int
    zone_same: int
    zone_near: int
    zone_apart: int
    zone_far: int
    zone_opposite: int
    near_hours: int
    apart_hours: int
    far_hours: int
    salary_met: int
    salary_step: int
    salary_missed: int
    fresh: int
    stale: int
    old: int
    fresh_days: int
    stale_days: int
    old_days: int
    size_preferred: int
    size_opposite: int
    tier_s: int
    tier_a: int
    tier_b: int
    remote_first: int
    ai_focus: int
    judgement: int


def points_of(value: Callable[[str], Any]) -> Points:
    """The points as the settings have them now: `points_of(ctx.setting)`."""
    return Points(**{field.name: value(PREFIX + field.name) for field in fields(Points)})


def usual_points() -> Points:
    """The points as they are without a change."""
    return points_of(DEFAULTS.__getitem__)


# What the score asks about a company. None means that nobody knows, which is not no.

MAX_PARTS = 200
TIERS = ("S", "A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Employer:
    """A company as far as it is known. A new one is known by nothing, and that costs it nothing.

    `said` are the words of its pages that earned it points of its own, by rule: "city", "remote-first", "ai
    focus".
    """

    size: Size | None = None
    tier: str | None = None
    remote_first: bool | None = None
    ai_focus: bool | None = None
    headquarters: str | None = None
    said: Mapping[str, str] = field(default_factory=dict)


def employer_of(data: Mapping[str, Any] | None) -> Employer:
    """The company in the data of its record; whatever else stands there is left alone."""
    if not data:
        return Employer()
    size, tier, place = data.get("size_category"), data.get("tier"), data.get("headquarters")
    return Employer(
        Size(size) if isinstance(size, str) and size in {*Size} else None,
        tier if tier in TIERS else None,
        _truth(data.get("remote_first")),
        _truth(data.get("ai_focus")),
        place if isinstance(place, str) else None,
        _said(data.get("score_parts")),
    )


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _said(parts: Any) -> Mapping[str, str]:
    if not isinstance(parts, list):
        return {}
    found = (part for part in parts[:MAX_PARTS] if isinstance(part, Mapping))
    return {
        str(part.get("rule")): part["quote"]
        for part in found
        if isinstance(part.get("quote"), str) and part.get("points")
    }
