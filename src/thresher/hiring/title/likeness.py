"""Choose among the roles nearest to a title: near enough, not contradicted by a word, and likely to be meant.

Where title and role say the same, nearness is enough. Where they do not, a few signs are added up to the
likelihood that the title is another name of the role: how near it lies and by how much it leads, each
weighed by what the words do not share. `python -m evaluate.title_weights CORPUS` learns the weights from
half of the occupations of public taxonomies; they are numbers, so the same title is always read in the same
way, and the reason can say what counted.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of, vocabulary
from thresher.hiring.title.guard import (
    CoreWords,
    Difference,
    apart,
    core_words,
    difference,
    explained,
    rest,
)

LOOKED_AT = 10  # neighbours of a title
TRIED = 3  # of those, the nearest ones that may be meant though their words differ
MAX_LEAD = (
    0.2  # of a role over the next one, as far as it counts: in a short list of roles every lead is large
)
LONE_LEAD = 0.05  # of a role that is the only one: nobody knows by how much it would lead
MAX_COVER = 0.2  # the same for the share of words that the two sides have in common

# The signs, and what each adds. Those of a difference are its start, what a cosine of 1 adds and what a lead
# of 1 adds.
SIGNS = (
    "words that both say",
    "another role has all words of the title",
    "the head of the role says nothing alone",
    "lead in shared words",
)
WEIGHTS = (0.28, -0.83, -0.49, 0.70)
BY_DIFFERENCE: Mapping[Difference, tuple[float, float, float]] = {
    Difference.MORE: (-3.10, 3.31, 13.79),
    Difference.BOTH: (-6.50, 7.41, 10.75),
    Difference.KIN: (0.48, 0.95, 7.65),
    Difference.KIN_BOTH: (-3.18, 3.85, 14.92),
    Difference.FIELD: (-9.85, 10.93, 18.72),
}


@dataclass(frozen=True, slots=True)
class Nearness:
    """How near a role has to be: `same` where title and role say the same; `other` where they do not, and
    then it has to be meant with a likelihood of `sure`.
    """

    same: float
    other: float
    sure: float


@dataclass(frozen=True, slots=True)
class Choice:
    """`role` is the role that is meant, or None; then `nearest` is the most similar one. `reason`
    says why. `chance` is the likelihood that `role` is meant; 1 where the two say the same.
    """

    role: Neighbour | None
    nearest: Neighbour | None
    reason: str
    chance: float = 1.0


def choose(core: str, near: Sequence[Neighbour], least: Nearness) -> Choice:
    """The nearest that says the same, else the likeliest; `near` is in order, the nearest first."""
    if not near or near[0].score < min(least.same, least.other):
        return Choice(None, near[0] if near else None, _too_far(near, min(least.same, least.other)))
    refused: dict[int, str] = {}
    doubtful: list[int] = []
    for at, each in enumerate(near):
        known = core_of(each.name)
        if (why := apart(core, known, meaning=each.meaning)) is not None:
            refused[each.id] = f"{each.name!r} is similar ({each.score:.3f}) but another role: {why}"
        elif difference(core, known) is not Difference.NOTHING:
            doubtful.append(at)
        elif each.score >= least.same:
            return Choice(each, near[0], _near_enough(each, least.same))
    if not doubtful:
        return Choice(None, near[0], refused.get(near[0].id) or _too_far(near, least.same))
    return _likeliest(core, near, doubtful, least)


def _likeliest(core: str, near: Sequence[Neighbour], doubtful: Sequence[int], least: Nearness) -> Choice:
    """The likeliest of those that say more or less than the title, if that is likely enough."""
    chances = [(likelihood(core, near, at) if at < TRIED else 0.0, -at) for at in doubtful]
    chance, at = max(chances)
    best = near[-at]
    said = f"{best.name!r} is similar ({best.score:.3f}), but {explained(core, core_of(best.name))}"
    if not chance:
        return Choice(None, near[0], said)
    if best.score < least.other:
        return Choice(None, near[0], f"{said}: at least {least.other:g} needed")
    if chance < least.sure:
        return Choice(
            None,
            near[0],
            f"{said}: {chance:.0%} of such titles mean the role, at least {least.sure:.0%} needed",
        )
    return Choice(
        best,
        near[0],
        f"{best.name!r} is similar enough: {best.score:.3f}; {explained(core, core_of(best.name))}, and "
        f"{chance:.0%} of such titles mean the role (at least {least.sure:.0%} needed)",
        chance,
    )


def likelihood(core: str, near: Sequence[Neighbour], at: int) -> float:
    """How likely a title means one of its neighbours; 0 where that stays open however near they are: the
    title says less than the role, or head and field differ.
    """
    found = difference(core, core_of(near[at].name))
    if found not in BY_DIFFERENCE:
        return 0.0
    start, of_cosine, of_lead = BY_DIFFERENCE[found]
    total = start + of_cosine * near[at].score + of_lead * lead(near, at)
    total += sum(weight * sign for weight, sign in zip(WEIGHTS, signs(core, near, at), strict=True))
    return 1 / (1 + math.exp(-total))


def lead(near: Sequence[Neighbour], at: int) -> float:
    """By how much a neighbour is nearer than the nearest other one."""
    others = [each.score for place, each in enumerate(near) if place != at]
    return _within(near[at].score - max(others), MAX_LEAD) if others else LONE_LEAD


def signs(core: str, near: Sequence[Neighbour], at: int) -> tuple[float, ...]:
    """What tells for and against a neighbour, in the order of `SIGNS`."""
    title, read = core_words(core), [core_words(core_of(each.name)) for each in near]
    others = [each for place, each in enumerate(read) if place != at]
    return (
        len(title.words) - len(rest(title.words, read[at].words)),
        float(any(not rest(_all(title), _all(each)) for each in others)),
        float(read[at].said in vocabulary().wide),
        _cover_lead(title, read, at),
    )


def _cover_lead(title: CoreWords, others: Sequence[CoreWords], at: int) -> float:
    """By how much a role shares more of its words with the title than any other role does."""
    covers = [_cover(_all(title), _all(each)) for each in others]
    beside = [cover for place, cover in enumerate(covers) if place != at]
    return _within(covers[at] - max(beside), MAX_COVER) if beside else 0.0


def _cover(one: frozenset[str], other: frozenset[str]) -> float:
    return 1 - (len(rest(one, other)) + len(rest(other, one))) / max(1, len(one) + len(other))


def _all(read: CoreWords) -> frozenset[str]:
    return read.words | read.heads


def _within(number: float, limit: float) -> float:
    return max(-limit, min(limit, number))


def _near_enough(role: Neighbour, least: float) -> str:
    return f"{role.name!r} is similar enough: {role.score:.3f}, at least {least:.3g} needed"


def _too_far(near: Sequence[Neighbour], least: float) -> str:
    if not near:
        return "no known role is similar"
    return (
        f"the most similar role, {near[0].name!r}, is too different: {near[0].score:.3f}, at least "
        f"{least:g} needed"
    )
