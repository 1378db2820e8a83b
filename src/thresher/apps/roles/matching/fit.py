"""Explain one pair: every part with its reason and quote, and each skill that is met or missing."""

from dataclasses import dataclass

from thresher.apps.roles.matching import parts
from thresher.apps.roles.matching.offer import Asked, Offer
from thresher.apps.roles.matching.parts import Part, has, weigh
from thresher.apps.roles.matching.points import Points
from thresher.apps.roles.matching.seeker import Seeker


@dataclass(frozen=True, slots=True)
class Met:
    """A skill that is asked for, and the candidate's own word for it."""

    asked: Asked
    own: str


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a candidate and a posting go together. `score` is in hundredths."""

    candidate: int
    posting: int
    score: int
    grade: str
    recommended: bool
    parts: tuple[Part, ...]
    matched: tuple[Met, ...]
    missing: tuple[Asked, ...]


def score_pair(
    seeker: Seeker, offer: Offer, points: Points, one: bytes | None, other: bytes | None
) -> tuple[int, tuple[Part, ...]]:
    """The score of a pair and its parts."""
    found = (
        parts.skills(seeker, offer, points),
        parts.experience(seeker, offer, points),
        parts.location(seeker, offer, points),
        parts.salary(seeker, offer, points),
        parts.semantic(one, other, points),
    )
    return weigh([part.points for part in found], points), found


def explain_pair(
    seeker: Seeker, offer: Offer, points: Points, one: bytes | None = None, other: bytes | None = None
) -> Fit:
    """Why a pair scores what it scores. `one` and `other` are the vectors of the two texts."""
    score, found = score_pair(seeker, offer, points, one, other)
    own = [(asked, has(seeker, asked, points.fuzzy)) for asked in offer.skills]
    return Fit(
        seeker.id,
        offer.id,
        score,
        points.grade(score),
        points.is_recommended(score),
        found,
        tuple(Met(asked, word) for asked, word in own if word is not None),
        tuple(asked for asked, word in own if word is None),
    )
