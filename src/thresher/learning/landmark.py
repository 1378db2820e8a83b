"""Landmarks: texts that stand once on every page of a site, and the window between two of them in which a
value stands.

Class names tell what an element is called; landmarks tell where in the reading a value belongs. Something
that answers to the right name behind "You may also like" is not the thing that the page is about.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from heapq import nsmallest

from thresher.learning.outline import Outline

MIN_LENGTH = 2
MAX_LENGTH = 60
MAX_MARKS = 300
TIGHT = 2
NEIGHBOURS = 5  # landmarks of one side that are asked where the nearest stands on the other


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
    to the other. `earlier` and `later` are the next nearest.

    In a list with optional rows the nearest neighbour may well change sides. Most of the neighbours do not.
    """

    before: str = ""
    before_gap: tuple[int, int] = (0, 0)
    after: str = ""
    after_gap: tuple[int, int] = (0, 0)
    earlier: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def stand(self, outline: Outline, leaf: int | None) -> Stand:
        if leaf is None:
            return Stand.UNKNOWN
        sides = [
            self._excused(outline, leaf, _side(outline, leaf, self.before, self.before_gap, 1), 1),
            self._excused(outline, leaf, _side(outline, leaf, self.after, self.after_gap, -1), -1),
        ]
        if len(sides) == 2 and all(side is Stand.TIGHT for side in sides):
            return Stand.TIGHT
        known = [Stand.NEAR if side is Stand.TIGHT else side for side in sides if side is not Stand.UNKNOWN]
        return min(known, default=Stand.UNKNOWN)

    def _excused(self, outline: Outline, leaf: int, found: Stand, sign: int) -> Stand:
        """The stand on one side, where more of the next neighbours than not are where they always were."""
        if found is not Stand.WRONG:
            return found
        asked = [outline.keys.get(mark, ()) for mark in (self.earlier if sign > 0 else self.later)]
        right = [sign * (leaf - places[0]) > 0 for places in asked if len(places) == 1]
        # The nearest has spoken against the place: the others must outnumber it, and whoever agrees with it.
        return Stand.INSIDE if sum(right) > len(right) - sum(right) + 1 else Stand.WRONG

    def repeated(self, outline: Outline) -> float:
        """The share of the landmarks around a value that a page has twice. One alone is chance."""
        marks = [mark for mark in (self.before, self.after, *self.earlier, *self.later) if mark]
        twice = sum(len(outline.keys.get(mark, ())) > 1 for mark in marks)
        return twice / len(marks) if twice > 1 else 0.0

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
    before: list[Mark] = []
    after: list[Mark] = []
    for key, at in marks.items():
        gaps = [leaf - mark for leaf, mark in zip(places, at, strict=True)]
        if min(gaps) > 0:
            before.append((key, (min(gaps), max(gaps))))
        elif max(gaps) < 0:
            after.append((key, (-max(gaps), -min(gaps))))
    (first, *earlier), (last, *later) = _nearest(before), _nearest(after)
    return Window(*first, *last, tuple(key for key, _ in earlier), tuple(key for key, _ in later))


def _nearest(marks: Sequence[Mark]) -> list[Mark]:
    """The nearest landmark of one side, or none, and its next neighbours."""
    return nsmallest(NEIGHBOURS, marks, key=lambda mark: mark[1][::-1]) or [NOWHERE]


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
