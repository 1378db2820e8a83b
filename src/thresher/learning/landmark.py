"""Landmarks: texts that stand once on every page of a site, and the window between two of them in which a
value stands.

Class names tell what an element is called; landmarks tell where in the reading a value belongs. Something
that answers to the right name behind "You may also like" is not the thing that the page is about.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from thresher.learning.outline import Outline

MIN_LENGTH = 2
MAX_LENGTH = 60
MAX_MARKS = 300
TIGHT = 2


class Stand(IntEnum):
    """How well a place fits its window."""

    WRONG = 0  # on the other side of a landmark
    UNKNOWN = 1  # the landmarks are gone, or stand twice
    INSIDE = 2  # on the right side, though not as near as ever
    NEAR = 3  # as near as ever
    TIGHT = 4  # right between two landmarks that have always enclosed it


@dataclass(frozen=True, slots=True)
class Window:
    """The nearest landmarks before and behind a value, each with the least and the most texts seen from one
    to the other.
    """

    before: str = ""
    before_gap: tuple[int, int] = (0, 0)
    after: str = ""
    after_gap: tuple[int, int] = (0, 0)

    def stand(self, outline: Outline, leaf: int | None) -> Stand:
        if leaf is None:
            return Stand.UNKNOWN
        sides = [
            _side(outline, leaf, self.before, self.before_gap, 1),
            _side(outline, leaf, self.after, self.after_gap, -1),
        ]
        if len(sides) == 2 and all(side is Stand.TIGHT for side in sides):
            return Stand.TIGHT
        known = [Stand.NEAR if side is Stand.TIGHT else side for side in sides if side is not Stand.UNKNOWN]
        return min(known, default=Stand.UNKNOWN)

    def adjoins(self, outline: Outline, leaf: int | None) -> bool:
        """Whether a place still stands right behind the landmark that it always stood right behind."""
        return (
            leaf is not None
            and self.before_gap == (1, 1)
            and _side(outline, leaf, self.before, self.before_gap, 1) is Stand.TIGHT
        )


def _side(outline: Outline, leaf: int, mark: str, gap: tuple[int, int], sign: int) -> Stand:
    places = outline.keys.get(mark, ()) if mark else ()
    if len(places) != 1:
        return Stand.UNKNOWN
    if sign * (leaf - places[0]) < 0:
        return Stand.WRONG
    found = abs(leaf - places[0])
    # Only what is near and always equally near can be missed.
    if gap[0] == gap[1] <= TIGHT:
        return Stand.TIGHT if found == gap[0] else Stand.INSIDE
    return Stand.NEAR


NO_WINDOW = Window()
Mark = tuple[str, tuple[int, int]]
NOWHERE: Mark = ("", (0, 0))


def landmarks(outlines: Sequence[Outline], values: Collection[str]) -> dict[str, list[int]]:
    """The texts that stand exactly once on every page and are no known value, with the leaf of each page."""
    first = outlines[0]
    usable = [
        key for key, places in first.keys.items() if len(places) == 1 and _usable(key) and key not in values
    ]
    found = {}
    for key in usable:
        places = [outline.keys.get(key, []) for outline in outlines]
        if all(len(each) == 1 for each in places):
            found[key] = [each[0] for each in places]
    return found


def constants(outlines: Sequence[Outline], values: Collection[str]) -> list[str]:
    """The texts that stand on every page, however often, and are no known value: what belongs to the site,
    not to a thing.
    """
    shared = [key for key in outlines[0].keys if _usable(key) and key not in values]
    return [key for key in shared if all(key in outline.keys for outline in outlines[1:])]


def _usable(key: str) -> bool:
    return MIN_LENGTH <= len(key) <= MAX_LENGTH and any(char.isalpha() for char in key)


def window(places: Sequence[int], marks: Mapping[str, Sequence[int]]) -> Window:
    """The window in which the leaves `places` of some pages stand."""
    before = after = NOWHERE
    for key, at in marks.items():
        gaps = [leaf - mark for leaf, mark in zip(places, at, strict=True)]
        if min(gaps) > 0:
            before = _nearer(before, key, gaps)
        elif max(gaps) < 0:
            after = _nearer(after, key, [-gap for gap in gaps])
    return Window(before[0], before[1], after[0], after[1])


def _nearer(best: Mark, key: str, gaps: Sequence[int]) -> Mark:
    found = (min(gaps), max(gaps))
    return (key, found) if not best[0] or (found[1], found[0]) < (best[1][1], best[1][0]) else best


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What every known page has: `once` stands once on each, `often` more than once on some."""

    once: tuple[str, ...] = ()
    often: tuple[str, ...] = ()

    def kept(self, outline: Outline) -> float:
        """The share of it that a page still has."""
        known = (*self.once, *self.often)
        return sum(mark in outline.keys for mark in known) / len(known) if known else 1.0

    def doubled(self, outline: Outline) -> float:
        """The share of what stands once that a page has twice: it shows several things, or one thing
        twice.
        """
        return (
            sum(len(outline.keys.get(mark, ())) > 1 for mark in self.once) / len(self.once)
            if self.once
            else 0.0
        )


NO_SKELETON = Skeleton()


def skeleton(outlines: Sequence[Outline], values: Collection[str], marks: Collection[str]) -> Skeleton:
    """The skeleton of some pages, of which `marks` stand once on each."""
    often = [key for key in constants(outlines, values) if key not in marks]
    return Skeleton(_spread_out(list(marks)), _spread_out(often))


def _spread_out(found: Sequence[str]) -> tuple[str, ...]:
    step = -(-len(found) // MAX_MARKS) or 1
    return tuple(found[::step])
