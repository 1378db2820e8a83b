"""Settings of matching: each field is the setting of the same name after `roles.match.`."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from thresher.apps.roles.settings import DEFAULTS

PREFIX = "roles.match."
PARTS = ("skills", "experience", "location", "salary", "semantic")
# Scores are integers, in hundredths of a point, and weights in thousandths, so that the order of addition
# does not matter.
HUNDRED, FULL, THOUSAND = 100, 10_000, 1_000
# A match: candidate, posting, score, and the points of each part.
Row = tuple[int, int, int, int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Points:
    """What each part of a match may bring, and where the steps between are."""

    store: float
    recommend: float
    best: int
    skills: float
    experience: float
    location: float
    salary: float
    semantic: float
    unknown: int
    fuzzy: float
    short_1: int
    short_2: int
    short_3: int
    short_more: int
    over_little: int
    over_some: int
    over_much: int
    over_more: int
    over_little_years: int
    over_some_years: int
    over_much_years: int
    remote_wanted: int
    remote: int
    same_place: int
    same_state: int
    not_remote: int
    elsewhere: int
    pay_met: int
    pay_unasked: int
    gap_little: int
    gap_some: int
    gap_much: int
    gap_more: int
    gap_little_percent: int
    gap_some_percent: int
    gap_much_percent: int
    near_none: float
    near_full: float
    grade_a_plus: int
    grade_a: int
    grade_b: int
    grade_c: int
    grade_d: int

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights of the parts, in thousandths."""
        return tuple(round(getattr(self, name) * THOUSAND) for name in PARTS)

    @property
    def least(self) -> int:
        """The score from which on a match is kept, in hundredths."""
        return round(self.store * HUNDRED)

    def grade(self, score: int) -> str:
        """What a score, in hundredths, is called."""
        steps = (
            ("A+", self.grade_a_plus),
            ("A", self.grade_a),
            ("B", self.grade_b),
            ("C", self.grade_c),
            ("D", self.grade_d),
        )
        return next((name for name, least in steps if score >= least * HUNDRED), "F")

    def is_recommended(self, score: int) -> bool:
        return score >= round(self.recommend * HUNDRED)


def points_of(value: Callable[[str], Any]) -> Points:
    """The points as the settings have them now: `points_of(ctx.setting)`."""
    return Points(**{field.name: value(PREFIX + field.name) for field in fields(Points)})


def usual_points() -> Points:
    """The points as they are without a change."""
    return points_of(DEFAULTS.__getitem__)
