"""The numbers of the filter. Their owner is the list of settings: names here are names there, after
`jobs.filter.`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from thresher.apps.jobs.settings import DEFAULTS

PREFIX = "jobs.filter."


@dataclass(frozen=True, slots=True)
class Rules:
    """What each strike costs, and where the bounds are."""

    threshold: int
    age_limit: int
    age_days: int
    age_points: int
    salary_points: int
    salary_least: int
    experience_points: int
    level_points: int
    technology_points: int
    missing_points: int
    short_text: int
    short_points: int
    buzzword_points: int
    type_distance: int


def rules_of(value: Callable[[str], Any]) -> Rules:
    """The rules as the settings have them now: `rules_of(ctx.setting)`."""
    return Rules(**{field.name: value(PREFIX + field.name) for field in fields(Rules)})


def usual_rules() -> Rules:
    """The rules as they are without a change."""
    return rules_of(DEFAULTS.__getitem__)
