"""A rejection: the rule, its cost, and the words of the posting that triggered it. And the filter's
settings.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from thresher.apps.jobs.filtering.phrase import sentence
from thresher.apps.jobs.model import RulePlace, SpokenRule
from thresher.apps.jobs.settings import DEFAULTS
from thresher.core.evidence import Place
from thresher.core.record import clean

MAX_QUOTE = 300
MAX_REASON = 600


class Severity(StrEnum):
    """Whether a rejection is final, or costs points."""

    HARD = "hard"
    STRIKE = "strike"


@dataclass(frozen=True, slots=True)
class Rejection:
    """`category` and `name` are the rule. `place` is where the posting says it; None where it is what the
    posting does not say.
    """

    category: str
    name: str
    reason: str
    place: Place | None = None
    severity: Severity = Severity.HARD
    points: int = 0

    @property
    def quote(self) -> str | None:
        return None if self.place is None else self.place.quote


def strike(category: str, name: str, reason: str, place: Place | None, points: int) -> Rejection:
    """A rejection that costs points."""
    return Rejection(category, name, reason, place, Severity.STRIKE, points)


def in_field(path: str, text: str) -> Place:
    """A field of the posting that is quoted whole."""
    return Place(text[:MAX_QUOTE], path=path)


def in_text(text: str, start: int, end: int) -> Place:
    """A stretch of the description, with the sentence around it."""
    left, right = sentence(text, start, end)
    right = min(right, left + MAX_QUOTE) if right - left > MAX_QUOTE else right
    return Place(text[left:right], left, right)


def spoken(name: str, points: int, reason: str, place: Place | None) -> SpokenRule:
    """A rule as a decision keeps it, with no more of its words than a person reads."""
    return SpokenRule(
        name=name,
        points=points,
        reason=clean(reason[:MAX_REASON]),
        quote=None if place is None else clean(place.quote[:MAX_QUOTE]),
        place=None if place is None else RulePlace(place.start, place.end, place.path),
    )


def spoken_rejection(each: Rejection) -> SpokenRule:
    """A rejection as a decision keeps it."""
    said = spoken(each.name, each.points, each.reason, each.place)
    return replace(said, category=each.category, severity=str(each.severity))


# Settings of the filter: each field is the setting of the same name after `jobs.filter.`.

PREFIX = "jobs.filter."


@dataclass(frozen=True, slots=True)
class Rules:
    """What each strike costs, and where the bounds are."""

    threshold: int
    age_limit: int
    age_first_look: int
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
