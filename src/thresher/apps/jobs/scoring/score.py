"""The score of an opening for a person, from 0 to 100, with its components. Equal facts give equal scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

from thresher.apps.jobs.filtering.case import Case, case_of
from thresher.apps.jobs.filtering.rejection import Rules
from thresher.apps.jobs.person.wants import Profile, Size
from thresher.apps.jobs.scoring import fit
from thresher.apps.jobs.scoring.points import Component, Employer, Points
from thresher.hiring.opening import Opening

MIN_SCORE, MAX_SCORE = 0, 100
_OPPOSITE = {Size.SMALL: Size.LARGE, Size.LARGE: Size.SMALL}


class Priority(StrEnum):
    """How soon a match deserves a look."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Score:
    """`total` is the sum of the components. `gaps` are technologies that the posting names and the profile
    does not.
    """

    total: int
    components: tuple[Component, ...]
    needed: int
    city_bonus: bool
    priority: Priority
    matched: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.total >= self.needed


def score(
    opening: Opening, employer: Employer, profile: Profile, rules: Rules, points: Points, today: date
) -> Score:
    """How well an opening fits."""
    return rate(case_of(opening, profile, today), employer, rules, points)


def rate(case: Case, employer: Employer, rules: Rules, points: Points) -> Score:
    """The same for a posting that was made ready for the filter."""
    bonus = fit.in_city(case, employer) is not None
    return _summed(
        (*_of_opening(case, employer, rules, points), *_of_employer(employer, case.profile, points)),
        bonus,
        case,
        points,
    )


def _of_opening(case: Case, employer: Employer, rules: Rules, points: Points) -> Iterator[Component]:
    yield Component("start", points.start, "the starting score of every opening")
    yield fit.skills(case, points)
    yield fit.gaps(case, points)
    yield fit.disliked(case, points)
    yield fit.title(case, points)
    yield fit.level(case, points)
    yield fit.remote(case, points)
    yield fit.city(case, employer, points)
    yield fit.country(case, points)
    yield fit.zone(case, employer, points)
    yield fit.salary(case, rules, points)
    yield fit.freshness(case, points)


def _of_employer(employer: Employer, profile: Profile, points: Points) -> Iterator[Component]:
    yield _size(employer, profile, points)
    tiers = {"S": points.tier_s, "A": points.tier_a, "B": points.tier_b}
    told = (
        "the company has no tier yet" if employer.tier is None else f"the company's tier is {employer.tier}"
    )
    yield Component("tier", tiers.get(employer.tier or "", 0), told)
    quotes = employer.said
    yield _trait(
        "remote first",
        employer.remote_first,
        points.remote_first,
        "the company is remote first",
        quotes.get("remote-first"),
    )
    yield _trait(
        "ai focus",
        employer.ai_focus,
        points.ai_focus,
        "the company works on artificial intelligence",
        quotes.get("ai focus"),
    )


def _size(employer: Employer, profile: Profile, points: Points) -> Component:
    wanted = profile.size
    if wanted is None or employer.size is None:
        return Component(
            "size",
            0,
            "your profile prefers no size" if wanted is None else "the size of the company is not known",
        )
    if employer.size is wanted:
        return Component("size", points.size_preferred, f"the company is {wanted}, as you prefer")
    worth = points.size_opposite if employer.size is _OPPOSITE.get(wanted) else 0
    return Component("size", worth, f"the company is {employer.size}; you prefer {wanted}")


def _trait(name: str, has: bool | None, worth: int, says: str, quote: str | None) -> Component:
    if has:
        return Component(name, worth, f"{says}: {quote!r}" if quote else says)
    return Component(name, 0, f"nothing says that {says}")


def _summed(components: tuple[Component, ...], bonus: bool, case: Case, points: Points) -> Score:
    needed = points.needed_in_city if bonus else points.needed
    total, parts = _bounded(components)
    return Score(total, parts, needed, bonus, _priority(total, points), fit.matched(case), fit.unknown(case))


def _bounded(components: tuple[Component, ...]) -> tuple[int, tuple[Component, ...]]:
    """The sum, kept between 0 and 100; what that took away or gave is one more component, so that they always
    add up.
    """
    plain = sum(each.points for each in components)
    total = min(max(plain, MIN_SCORE), MAX_SCORE)
    if total == plain:
        return total, components
    return total, (
        *components,
        Component("bounds", total - plain, f"a score is between {MIN_SCORE} and {MAX_SCORE}"),
    )


def _priority(total: int, points: Points) -> Priority:
    if total >= points.high:
        return Priority.HIGH
    return Priority.MEDIUM if total >= points.medium else Priority.LOW


def with_judgement(score: Score, answer: Mapping[str, Any], points: Points) -> Score:
    """The score with a model's opinion on top. Whatever the model says, it moves the score by no more than
    the setting allows.
    """
    change = answer.get("score_change")
    change = change if isinstance(change, int) and not isinstance(change, bool) else 0
    change = min(max(change, -points.judgement), points.judgement)
    reasons = "; ".join(str(each) for each in answer.get("reasons") or ()) or "the model gave no reason"
    parts = tuple(each for each in score.components if each.name not in ("bounds", "judgement"))
    total, parts = _bounded((*parts, Component("judgement", change, reasons)))
    return replace(score, total=total, components=parts, priority=_priority(total, points))
