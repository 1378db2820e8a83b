"""Pair the skills of many candidates with the skills of many postings; each distinct pair is compared once.

Names match if they are equal or one is a misspelling of the other. Only names with the same beginning and
similar length are compared letter by letter, up to a fixed number: many made-up names cost a bounded time,
and are then compared for equality only.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from thresher.apps.roles.matching.skill import alike, may_misspell
from thresher.hiring.technology import family

MAX_COMPARED = 2_000_000


def meetings(
    own: Iterable[str], asked: Mapping[str, int], least: float, most: int = MAX_COMPARED
) -> dict[str, list[int]]:
    """For each name of a candidate's skill the numbers of the skills asked for that it meets; none where it
    meets none.
    """
    groups = _groups(asked)
    found: dict[str, list[int]] = {}
    for key in own:
        met = [asked[key]] if key in asked else []
        if may_misspell(key) and most > 0:
            near = list(islice(_like(key, groups, least), most))
            met += [asked[other] for other in near if other != key and alike(key, other, least)]
            most -= len(near)
        if met:
            found[key] = met
    return found


def _groups(asked: Iterable[str]) -> dict[tuple[str, int, bool], list[str]]:
    """Names that may be misspelled, by their first letter, their length, and whether our vocabulary knows
    them.
    """
    groups: dict[tuple[str, int, bool], list[str]] = {}
    for key in asked:
        if may_misspell(key):
            groups.setdefault((key[0], len(key), family(key) is not None), []).append(key)
    return groups


def _like(key: str, groups: Mapping[tuple[str, int, bool], list[str]], least: float) -> Iterable[str]:
    """Those that have enough letters to be alike: two names share at most what the shorter has. Two known
    ones are never alike.
    """
    size, is_known = len(key), family(key) is not None
    shortest, longest = int(size * least / (2 - least)), int(size * (2 - least) / least) + 1
    for length in range(shortest, longest + 1):
        yield from groups.get((key[0], length, False), ())
        if not is_known:
            yield from groups.get((key[0], length, True), ())
