"""Drift: signs that a site is no longer what it was when it was learned, and what to make of them.

On one page a drift says why a field has no value: nothing doubtful is ever handed out. Over many pages
coverage says whether the site changed or one page was odd.
"""

from dataclasses import dataclass
from enum import StrEnum


class Sign(StrEnum):
    """What was noticed."""

    MISSING = "missing"  # a field that every known page has
    SHAPE = "shape"  # a value that does not look like the known ones
    RANGE = "range"  # an amount far outside of the known ones
    DISAGREEMENT = "disagreement"  # two rules, two answers
    DISPLACED = "displaced"  # found, but not where values of the field stand
    SKELETON = "skeleton"  # the page has lost much of what all known pages have
    OTHER_THING = "other_thing"  # the body of the page speaks of something that its head does not know
    UNSURE = "unsure"  # one witness is left, and not enough else is as it was


@dataclass(frozen=True, slots=True)
class Drift:
    """A sign of change on one page. `field` is None if it is about the whole page. `says` explains it."""

    sign: Sign
    field: str | None
    says: str


MIN_PAGES = 20
FALLEN = 0.6  # of the usual share
LOUD = 0.2  # share of pages with a drift


@dataclass(frozen=True, slots=True)
class Coverage:
    """Counts over many pages: how many were read, how many had a value of a field, how many a drift of it."""

    pages: int = 0
    values: int = 0
    drifts: int = 0

    def counted(self, *, value: bool, drift: bool) -> "Coverage":
        return Coverage(self.pages + 1, self.values + value, self.drifts + drift)


def falling(usual: float, recent: Coverage) -> str | None:
    """Why a field should be learned anew, in a sentence; None where the counts do not say so.

    `usual` is the share of pages that had the field when it was learned. Few pages say nothing.
    """
    if recent.pages < MIN_PAGES:
        return None
    if recent.drifts > LOUD * recent.pages:
        return f"{recent.drifts} of the last {recent.pages} pages can no longer be read as learned"
    if recent.values < FALLEN * usual * recent.pages:
        return f"{recent.values} of the last {recent.pages} pages have a value; before it was {usual:.0%}"
    return None
