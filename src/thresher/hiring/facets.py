"""Facets: how a list that is cut off is asked for in parts, and how the parts prove the whole.

A platform that shows 2,000 rows and no more still counts, for each value of each facet, how many rows have
it. A part is a few values of one facet that together stay under the cap. Whether the parts are the whole is
proven by sums: all other facets must count in the parts, taken together, what they count in the whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MAX_IDS = 100  # values in one part: platforms refuse more

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Split:
    """One facet, and its values in parts that are asked for one after the other."""

    facet: str
    parts: tuple[tuple[str, ...], ...]


def split(facets: Counts, used: Iterable[str], cap: int) -> Split | None:
    """The best way to ask in parts; None where no facet is left that parts anything."""
    left = {name: values for name, values in facets.items() if name not in set(used) and len(values) > 1}
    if not left:
        return None
    name = min(left, key=lambda each: _badness(left[each], cap))
    return Split(name, tuple(_parts(left[name], cap)))


def _badness(values: Mapping[str, int], cap: int) -> tuple[bool, bool, int, int]:
    """Worse is a value that is cut off itself, rows that have no value, and rows that have several."""
    sum_of = sum(values.values())
    return max(values.values()) >= cap, sum_of < cap, sum_of, max(values.values())


def _parts(values: Mapping[str, int], cap: int) -> Iterator[tuple[str, ...]]:
    """The largest first, each filled up with what still fits."""
    bins: list[tuple[int, list[str]]] = []
    for value, count in sorted(values.items(), key=lambda each: (-each[1], each[0])):
        at = next(
            (
                place
                for place, (sum_of, ids) in enumerate(bins)
                if sum_of + count < cap and len(ids) < MAX_IDS
            ),
            None,
        )
        if at is None:
            bins.append((count, [value]))
        else:
            bins[at] = (bins[at][0] + count, [*bins[at][1], value])
    return (tuple(ids) for _, ids in bins)


def proves(whole: Counts, parts: Iterable[Counts], applied: Iterable[str]) -> bool:
    """Whether the parts of a list, of which none shares a row with another, are all of it.

    A row without a value of the facet that the list was parted by is in none of the parts. But it has a value
    of some other facet, and there the parts then count less than the whole does. So every other facet has to
    count the same, value by value.
    """
    witnesses = [name for name in whole if name not in set(applied)]
    counted: dict[str, dict[str, int]] = {name: {} for name in witnesses}
    for part in parts:
        for name in witnesses:
            for value, count in part.get(name, {}).items():
                counted[name][value] = counted[name].get(value, 0) + count
    return bool(witnesses) and all(counted[name] == dict(whole[name]) for name in witnesses)
