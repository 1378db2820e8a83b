"""The five parts of a match for one pair: points in hundredths, and the reason; and all of them as the
explanation of the pair. Unknown is not no.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from thresher.apps.roles.matching.locations import Ground, Site, nearest
from thresher.apps.roles.matching.offer import Asked, Offer
from thresher.apps.roles.matching.points import FULL, HUNDRED, Points
from thresher.apps.roles.matching.seeker import Seeker
from thresher.apps.roles.matching.skill import alike
from thresher.core.evidence import Place
from thresher.hiring.opening import Workplace

MAX_NAMED = 12  # skills that a reason names


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a match. `place` is where the posting says what decided it."""

    name: str
    points: int
    reason: str
    place: Place | None = None


def has(seeker: Seeker, asked: Asked, least: float) -> str | None:
    """Which of their skills a candidate meets this one with, as they wrote it: the same, else a misspelling
    of it.
    """
    if asked.key in seeker.skills:
        return seeker.skills[asked.key]
    return next((word for key, word in seeker.skills.items() if alike(key, asked.key, least)), None)


def skills(seeker: Seeker, offer: Offer, points: Points) -> Part:
    """The share of the skills asked for that the candidate has."""
    if not offer.skills:
        return Part("skills", points.unknown * HUNDRED, "the posting names no skills")
    if not seeker.skills:
        return Part("skills", points.unknown * HUNDRED, "the candidate names no skills")
    met = [asked for asked in offer.skills if has(seeker, asked, points.fuzzy) is not None]
    named = ", ".join(asked.word for asked in met[:MAX_NAMED]) or "none"
    reason = f"{len(met)} of {len(offer.skills)} skills: {named}"
    return Part("skills", share(len(met), len(offer.skills)), reason, (met or offer.skills)[0].place)


def share(some: int, whole: int) -> int:
    """A share in hundredths of a percent, to the nearest."""
    return (2 * FULL * some + whole) // (2 * whole)


def experience(seeker: Seeker, offer: Offer, points: Points) -> Part:
    """The candidate's years against those asked for."""
    place = offer.places.get("experience")
    counts, reason = years(seeker.years, offer.low, offer.high, points)
    return Part("experience", counts * HUNDRED, reason, place)


def years(own: float | None, low: float | None, high: float | None, points: Points) -> tuple[int, str]:
    if low is None and high is None:
        return points.unknown, "the posting asks for no years of experience"
    if own is None:
        return points.unknown, "the candidate's years of experience are not known"
    asked = (
        f"{low:g} to {high:g}"
        if low is not None and high is not None
        else f"{low:g} or more"
        if low is not None
        else f"up to {high:g}"
    )
    said = f"{own:g} years, {asked} required"
    if low is not None and own < low:
        short = ceil(low - own)
        steps = {1: points.short_1, 2: points.short_2, 3: points.short_3}
        return steps.get(short, points.short_more), f"too little experience: {said}"
    if high is not None and own > high:
        return _over(own - high, points), f"more experience than required: {said}"
    return 100, f"enough experience: {said}"


def _over(more: float, points: Points) -> int:
    steps = (
        (points.over_little_years, points.over_little),
        (points.over_some_years, points.over_some),
        (points.over_much_years, points.over_much),
    )
    return next((counts for most, counts in steps if more <= most), points.over_more)


def location(seeker: Seeker, offer: Offer, points: Points) -> Part:
    """Where the work is done against where the candidate wants to work."""
    place = offer.places.get("workplace") if offer.workplace is Workplace.REMOTE else None
    place = place or offer.places.get("spots.0") or offer.places.get("workplace")
    if offer.workplace is Workplace.REMOTE:
        if is_out_of_reach(seeker.sites, offer.remote_in):
            return Part(
                "location",
                points.elsewhere * HUNDRED,
                f"remote, but only in {', '.join(sorted(offer.remote_in))}",
                place,
            )
        if seeker.remote:
            return Part(
                "location", points.remote_wanted * HUNDRED, "remote, as the candidate wants it", place
            )
        return Part("location", points.remote * HUNDRED, "it is remote", place)
    lies = nearest(seeker.sites, offer.sites)
    counts, reason = at_place(
        lies, is_at_a_place=bool(offer.workplace or offer.sites), remote=seeker.remote, points=points
    )
    return Part("location", counts * HUNDRED, reason, place)


def is_out_of_reach(sites: Sequence[Site], remote_in: frozenset[str]) -> bool:
    """Whether remote work is bound to countries, and all places of the candidate are known to be in
    others.
    """
    return bool(remote_in and sites) and all(site.country and site.country not in remote_in for site in sites)


def at_place(lies: Ground, *, is_at_a_place: bool, remote: bool | None, points: Points) -> tuple[int, str]:
    """What work at a place counts."""
    if lies is Ground.SAME:
        return points.same_place, "it is where the candidate wants to work"
    if lies is Ground.STATE:
        return points.same_state, "it is in the state of the candidate's city"
    if remote and is_at_a_place:
        return points.not_remote, "the candidate wants to work remotely, and it is not remote"
    if lies is Ground.UNKNOWN:
        return points.unknown, "the posting or the candidate does not say where"
    return points.elsewhere, "it is elsewhere"


def salary(seeker: Seeker, offer: Offer, points: Points) -> Part:
    """What is paid against what is wished for."""
    counts, reason = pay(seeker.salary, seeker.currency, offer.pays, offer.currency, points)
    return Part("salary", counts * HUNDRED, reason, offer.places.get("pay"))


def pay(
    wish: int | None, wished_in: str | None, pays: int | None, paid_in: str | None, points: Points
) -> tuple[int, str]:
    if wish is None:
        return points.pay_unasked, "the candidate gives no salary"
    if pays is None:
        return points.unknown, "the posting does not say what it pays"
    if wished_in and paid_in and wished_in != paid_in:
        return points.unknown, f"{wished_in} and {paid_in} cannot be compared"
    said = f"it pays up to {pays:,} a year; the candidate wants {wish:,}"
    if pays >= wish:
        return points.pay_met, said
    gap = 100 * (wish - pays)
    steps = (
        (points.gap_little_percent, points.gap_little),
        (points.gap_some_percent, points.gap_some),
        (points.gap_much_percent, points.gap_much),
    )
    return next((counts for most, counts in steps if gap < most * wish), points.gap_more), said


def semantic(one: bytes | None, other: bytes | None, points: Points) -> Part:
    """How near the two texts are, by their vectors. Vectors are packed 32-bit numbers of length one."""
    if not one or not other or len(one) != len(other):
        return Part("semantic", points.unknown * HUNDRED, "the texts cannot be compared")
    cosine = sum(left * right for left, right in zip(array("f", one), array("f", other), strict=True))
    return Part("semantic", nearness(cosine, points), f"the similarity of the texts is {cosine:.2f}")


def nearness(cosine: float, points: Points) -> int:
    """Nothing up to `near_none`, everything from `near_full` on, and evenly between. Given twice the same, it
    says twice the same.
    """
    span = points.near_full - points.near_none
    if span <= 0:
        return FULL if cosine >= points.near_full else 0
    return floor(min(1.0, max(0.0, (cosine - points.near_none) / span)) * FULL + 0.5)


def weigh(counts: Sequence[int], points: Points) -> int:
    """The score of parts, in hundredths, to the nearest. Where nothing has a weight nothing matches."""
    weights = points.weights
    whole = sum(weights)
    return (
        (2 * sum(weight * each for weight, each in zip(weights, counts, strict=True)) + whole) // (2 * whole)
        if whole
        else 0
    )


# Explain one pair: every part with its reason and quote, and each skill that is met or missing.


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
        skills(seeker, offer, points),
        experience(seeker, offer, points),
        location(seeker, offer, points),
        salary(seeker, offer, points),
        semantic(one, other, points),
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
