"""The settings of the score (each field is the setting of the same name after `jobs.score.`), its company
facts, and one component of a score.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from thresher.apps.jobs.filtering.rejection import spoken
from thresher.apps.jobs.model import SpokenRule
from thresher.apps.jobs.person.wants import Size
from thresher.apps.jobs.settings import DEFAULTS
from thresher.core.evidence import Place
from thresher.hiring.records import CompanyRecord

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


# Facts of a company that the score uses. None means unknown, which is not no.

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


def employer_of(company: CompanyRecord | None) -> Employer:
    """The company as a score sees it."""
    if company is None:
        return Employer()
    parts = company.score_parts[:MAX_PARTS]
    return Employer(
        next((size for size in Size if size == company.size_category), None),
        company.tier if company.tier in TIERS else None,
        company.remote_first,
        company.ai_focus,
        company.headquarters,
        {part.rule: part.quote for part in parts if part.quote is not None and part.points},
    )


# One component of a score: its points, its reason and its quote. What is unknown adds nothing, and says so.


@dataclass(frozen=True, slots=True)
class Component:
    """`place` is where the posting says it, if it is the posting that does."""

    name: str
    points: int
    reason: str
    place: Place | None = None

    @property
    def quote(self) -> str | None:
        return None if self.place is None else self.place.quote


def spoken_component(each: Component) -> SpokenRule:
    """A component as a decision keeps it."""
    return spoken(each.name, each.points, each.reason, each.place)
