"""Match a batch of candidates with a batch of postings, choose the best pairs, and return them as an
effect.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from thresher.apps.roles.matching.offer import Offer
from thresher.apps.roles.matching.parts import score_pair
from thresher.apps.roles.matching.points import Points, Row
from thresher.apps.roles.matching.seeker import Seeker
from thresher.core.context import Context
from thresher.core.outcome import Effect
from thresher.vectors.embedder import has_numpy

# Pairs that score enough become matches, the best of each candidate, in a deterministic order.

BLOCK = 250_000  # pairs that are scored together
Vectors = Sequence[bytes | None]


@dataclass(frozen=True, slots=True)
class Side:
    """The vectors of the texts, in the order of candidates and postings; empty where there are none."""

    seekers: Vectors = ()
    offers: Vectors = ()


def choose(
    seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points, vectors: Side | None = None
) -> list[Row]:
    """The matches: candidate, posting, score, skills, experience, location, salary, semantic; by candidate,
    the best first.
    """
    sides = vectors or Side()
    if not seekers or not offers:
        return []
    if not has_numpy():
        return list(_one_by_one(seekers, offers, points, sides))
    from thresher.apps.roles.matching.grid import grid, pick  # noqa: PLC0415  NumPy is an extra, and slow to import

    rows, found = max(1, BLOCK // len(offers)), list[Row]()
    for start in range(0, len(seekers), rows):
        some = seekers[start : start + rows]
        found += pick(
            some,
            offers,
            grid(some, offers, points, sides.seekers[start : start + rows], sides.offers),
            points,
        )
    return found


def _one_by_one(
    seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points, sides: Side
) -> Iterator[Row]:
    """Without NumPy: slower, and the same."""
    for at, seeker in enumerate(seekers):
        found: list[Row] = []
        for to, offer in enumerate(offers):
            own, theirs = (
                sides.seekers[at] if sides.seekers else None,
                sides.offers[to] if sides.offers else None,
            )
            score, parts = score_pair(seeker, offer, points, own, theirs)
            if score >= points.least:
                skills, experience, location, salary, semantic = (part.points for part in parts)
                found.append((seeker.id, offer.id, score, skills, experience, location, salary, semantic))
        yield from sorted(found, key=lambda row: (-row[2], row[1]))[: points.best]


# The kind of the vectors, one for both sides because they are compared with each other.
FITTING = "fitting"


def matched(
    ctx: Context, role: int, seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points
) -> Effect:
    """What becomes of these pairs. For stages on threads: scoring takes a while."""
    sides = Side()
    if points.semantic and seekers and offers:
        texts = [*(seeker.text for seeker in seekers), *(offer.text for offer in offers)]
        found = ctx.wait(ctx.points(FITTING, texts))
        sides = Side(found[: len(seekers)], found[len(seekers) :])
    rows = choose(seekers, offers, points, sides)
    people, postings = [seeker.id for seeker in seekers], [offer.id for offer in offers]
    return Effect("matches.replace", {"role": role, "candidates": people, "postings": postings, "rows": rows})
