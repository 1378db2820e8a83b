"""Whether one text is a part of another: cut short, or without a paragraph that the other one has.

Every word of the shorter text must stand in the longer one among the same neighbours. What the longer one has
more comes in paragraphs, not in words: a word put in, or one in the place of another, is another meaning. The
cost grows with the length of the two texts and with nothing else.
"""

from collections.abc import Sequence
from itertools import pairwise

RUN = 4  # words that are compared together
MAX_SEAMS = 4  # places where the longer text has a paragraph more, its ends included
MIN_ADDED = 12  # words of such a paragraph


def contains(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter of two texts is a part of the longer."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    places = _matched(short, long) if len(short) >= 2 * RUN else None
    if places is None:
        return False
    # The ends count too: three words behind the last sentence may be "night shift only".
    ends = [-1, *places] if len(places) < len(short) else [-1, *places, len(long)]
    gaps = [after - before - 1 for before, after in pairwise(ends) if after - before > 1]
    return len(gaps) <= MAX_SEAMS and all(gap >= MIN_ADDED for gap in gaps)


def _matched(short: Sequence[str], long: Sequence[str]) -> list[int] | None:
    """Where each word of the shorter text stands in the longer one; None where one does not. A cut end may be
    missing.
    """
    index: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(long) - RUN + 1):
        index.setdefault(tuple(long[at : at + RUN]), []).append(at)
    found: list[int] = []
    at, reached = 0, -1
    while at < len(short):
        if found and reached + 1 < len(long) and long[reached + 1] == short[at]:
            reached += 1
        else:
            next_at = _next(index.get(tuple(short[at : at + RUN]), ()), reached)
            if next_at is None:
                return found if found and _is_cut(short, at, long, reached) else None
            reached = next_at
        found.append(reached)
        at += 1
    return found


def _next(places: Sequence[int], after: int) -> int | None:
    return next((place for place in places[:50] if place > after), None)


def _is_cut(short: Sequence[str], at: int, long: Sequence[str], reached: int) -> bool:
    """Whether the text ends in the middle of a word."""
    return at == len(short) - 1 and reached + 1 < len(long) and long[reached + 1].startswith(short[at])
