"""What the score says of a posting, and of one part of it."""

from typing import Any

from tests.apps.jobs.opening import POINTS, RULES, TODAY, opening, profile
from thresher.apps.jobs.person.profile import Profile
from thresher.apps.jobs.scoring.points import Component, Employer, Points
from thresher.apps.jobs.scoring.score import Score, score


def scored(
    who: Profile | None = None, firm: Employer | None = None, points: Points = POINTS, **facts: Any
) -> Score:
    return score(opening(**facts), firm or Employer(), who or profile(), RULES, points, TODAY)


def found(whole: Score, name: str) -> Component:
    return next(each for each in whole.components if each.name == name)
