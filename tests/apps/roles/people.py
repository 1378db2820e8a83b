"""Candidates, postings and pairs as tests of matching name them: only what a test is about is said."""

from dataclasses import replace
from typing import Any

from thresher.apps.roles.keep import with_facts
from thresher.apps.roles.matching.offer import Offer, offer_of
from thresher.apps.roles.matching.parts import Fit, explain_pair
from thresher.apps.roles.matching.points import Points, usual_points
from thresher.apps.roles.matching.seeker import Seeker, as_seeker
from thresher.apps.roles.model import Candidate
from thresher.core.clock import SECOND, day_of
from thresher.core.record import Found

NOON = 1_700_000_000 * SECOND
USUAL = usual_points()


def seeker(number: int = 1, **said: Any) -> Seeker:
    return as_seeker(number, Candidate(f"c{number}", f"Candidate {number}", **said))


def posting(number: int = 1, **said: Any) -> Found:
    """A posting whose facts were read."""
    data = {"title": "Developer", "state": "open", "seen_at": NOON, **said}
    bare = Found("posting", f"indeed/{number}", data, id=number)
    read = with_facts(bare, day_of(NOON))
    return replace(bare, data={**data, **read.data}, evidence=read.evidence)


def offer(number: int = 1, **said: Any) -> Offer:
    return offer_of(posting(number, **said))


def fit(own: dict[str, Any], theirs: dict[str, Any], points: Points = USUAL) -> Fit:
    return explain_pair(seeker(**own), offer(**theirs), points)


def part(name: str, own: dict[str, Any], theirs: dict[str, Any], points: Points = USUAL) -> float:
    """What one part of a pair counts, in points."""
    return next(each.points for each in fit(own, theirs, points).parts if each.name == name) / 100
