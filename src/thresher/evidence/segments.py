"""Segments: a page with many things is cut into one segment for each, and a value counts only in its own.

The price of the third thing stands on the page, and is still invented if it is given to the first. Things
differ in some field, their title or their link; where those values stand, segments begin. Fields mostly
follow it, but where the answers agree that a field comes before (a date above a headline), it belongs to the
next thing. A thing gets the segment that holds most of its values, and among equals the next in order; so of
two things with swapped prices the prices are rejected, and with swapped titles the titles.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

SHARE = 27_720  # divides by every small number: what one value has to give to the stretches that it stands in
# how many times longer than all others the last segment may be; what follows belongs to the page
TAIL = 3


class Said(NamedTuple):
    """Something said of a thing: the number of the thing, the field, and the value as it can be compared."""

    thing: int
    field: str
    value: object


@dataclass(frozen=True, slots=True)
class Claim:
    """One value of one thing, and all positions where it stands, in order."""

    said: Said
    positions: tuple[int, ...]


class Borders(NamedTuple):
    """Where stretches begin as the page's own structure has it, and what share of the values that is
    worth.
    """

    begins: Sequence[int]
    worth: float


class Layout(Protocol):
    """What the structure of the page says about positions."""

    def heads(self, position: int, place: int) -> bool:
        """Whether `position` stands in a heading that `place` is under."""
        ...

    def introduces(self, position: int, place: int, things: Sequence[int]) -> bool:
        """Whether `position` stands below a heading over `place`, before the next heading and the first of
        the things.
        """
        ...

    def borders(self, anchors: Sequence[int]) -> Sequence[Borders]:
        """Where whatever looks like these places begins: the other rows of their table, the other headings of
        their size.

        Where it can be told in several ways, the likeliest comes first.
        """
        ...


def owned(claims: Sequence[Claim], leaders: Sequence[str], things: int, layout: Layout) -> list[int | None]:
    """For each claim the position that is its thing's own, or None. `leaders` are the fields that may tell
    things apart, best first.
    """
    anchors = _anchors(claims, leaders)
    if not anchors:
        return [None for _ in claims]
    plain = _chosen(claims, anchors, anchors, things, layout)
    borders = layout.borders(anchors)
    if not borders:
        return plain
    strict = max(
        ((_chosen(claims, anchors, each.begins, things, layout), at) for at, each in enumerate(borders)),
        # The others must be clearly better.
        key=lambda tried: _count(tried[0]) - (tried[1] > 0) * max(2, len(claims) // 5),
    )[0]
    # The page's own borders are better, unless they run through the middle of things: a thing may be a list
    # of its own.
    return strict if _count(plain) - _count(strict) <= borders[0].worth * _count(plain) else plain


def _count(found: Sequence[int | None]) -> int:
    return sum(each is not None for each in found)


def _chosen(
    claims: Sequence[Claim], anchors: Sequence[int], begins: Sequence[int], things: int, layout: Layout
) -> list[int | None]:
    number = {anchor: max(0, bisect_right(begins, anchor) - 1) for anchor in anchors}
    cut = _Cut(begins, _before(claims, begins, number))
    home = _homes(claims, cut, number, things)
    things_begin = sorted({begins[at] for at in number.values()})
    shared = _shared(claims, things)
    page = _Page(layout, cut, frozenset(number.values()), things_begin, shared)
    return [_choice(claim, home.get(claim.said.thing), page) for claim in claims]


class _Page(NamedTuple):
    """All that a choice is made by. `taken` are the stretches that some thing leads, and `things` where those
    begin.
    """

    layout: Layout
    cut: "_Cut"
    taken: frozenset[int]
    things: Sequence[int]
    shared: "_Shared"


class _Shared(NamedTuple):
    """Values that most things share, and values that two things claim of a field in which things differ."""

    wide: frozenset[tuple[str, object]]
    disputed: frozenset[tuple[str, object]]


def _shared(claims: Sequence[Claim], things: int) -> _Shared:
    claimed = Counter((claim.said.field, claim.said.value) for claim in claims if claim.positions)
    values, total = Counter(field for field, _ in claimed), Counter[str]()
    for (field, _), count in claimed.items():
        total[field] += count
    wide = frozenset(each for each, count in claimed.items() if things > 1 and 3 * count >= 2 * things)
    disputed = {each for each, count in claimed.items() if count > 1 and 2 * values[each[0]] > total[each[0]]}
    return _Shared(wide, frozenset(disputed - wide))


@dataclass(frozen=True, slots=True)
class _Cut:
    """The page cut where stretches begin. Fields in `before` stand above the beginning of their thing's
    stretch.
    """

    begins: Sequence[int]
    before: frozenset[str] = frozenset()
    reach: int = 1 << 62

    def __post_init__(self) -> None:
        sizes = [high - low for low, high in pairwise(self.begins)]
        if len(sizes) > 1:
            object.__setattr__(self, "reach", TAIL * max(sizes))

    def owner(self, field: str, position: int) -> int | None:
        """The stretch that a position belongs to, for this field; None: to the page as a whole."""
        if field in self.before:
            at = bisect_left(self.begins, position)
            return at if at < len(self.begins) and position >= self.begins[at] - self.reach else None
        at = bisect_right(self.begins, position) - 1
        return at if at >= 0 and position <= self.begins[at] + self.reach else None


def _anchors(claims: Sequence[Claim], leaders: Sequence[str]) -> list[int]:
    """Where things begin: the places of the field that tells most of them apart."""
    best: tuple[int, list[Claim]] = (0, [])
    for field in leaders:
        mine = [claim for claim in claims if claim.said.field == field and claim.positions]
        worth = len({claim.said.value for claim in mine})
        if worth > best[0]:
            best = worth, mine
    return _begins(best[1], claims) if best[1] else []


def _begins(leading: Sequence[Claim], claims: Sequence[Claim]) -> list[int]:
    """A title may also stand in a menu or a table of contents. It counts where the most else stands between
    it and the next.
    """
    wanted = Counter(claim.said.value for claim in leading)
    candidates = sorted({position for claim in leading for position in claim.positions})
    fields = _by_field(claims, leading[0].said.field)
    rich = {
        at: _richness(at, upto, fields)
        for at, upto in zip(candidates, [*candidates[1:], 1 << 62], strict=True)
    }
    chosen: set[int] = set()
    for value, positions in {claim.said.value: claim.positions for claim in leading}.items():
        ordered = sorted(positions, key=lambda at: (-rich[at], at))
        chosen.update(ordered[: wanted[value]])
    return sorted(chosen)


def _by_field(claims: Sequence[Claim], leader: str) -> Mapping[str, list[int]]:
    found: dict[str, set[int]] = {}
    for claim in claims:
        if claim.said.field != leader:
            found.setdefault(claim.said.field, set()).update(claim.positions)
    return {field: sorted(positions) for field, positions in found.items()}


def _richness(start: int, end: int, fields: Mapping[str, list[int]]) -> int:
    return sum(bisect_left(positions, end) > bisect_left(positions, start) for positions in fields.values())


def _before(claims: Sequence[Claim], begins: Sequence[int], number: Mapping[int, int]) -> frozenset[str]:
    """The fields that stand above the beginning of their thing's stretch more often than below it."""
    plain = _Cut(begins)
    home = _homes_by_leader(claims, number)
    votes: Counter[str] = Counter()
    claimed = Counter((claim.said.field, claim.said.value) for claim in claims)
    for claim in claims:
        mine = home.get(claim.said.thing)
        shared = claimed[claim.said.field, claim.said.value] > len(claim.positions)
        if mine and not shared:
            # Above the first stretch stands the head of the page, which is no vote, and so is what several
            # share.
            owners = {plain.owner(claim.said.field, position) for position in claim.positions}
            votes[claim.said.field] += (mine - 1 in owners) - (mine in owners)
    return frozenset(field for field, lead in votes.items() if lead > 0)


def _homes_by_leader(claims: Sequence[Claim], number: Mapping[int, int]) -> dict[int, int]:
    """The stretch that a thing's own value leads; of things that share one, whichever comes in turn."""
    taken: Counter[object] = Counter()
    home: dict[int, int] = {}
    for claim in claims:
        here = [number[position] for position in claim.positions if position in number]
        if here and claim.said.thing not in home:
            home[claim.said.thing] = here[min(taken[claim.said.value], len(here) - 1)]
            taken[claim.said.value] += 1
    return home


def _homes(claims: Sequence[Claim], cut: _Cut, number: Mapping[int, int], things: int) -> dict[int, int]:
    """The stretch of each thing: the one in which most of its values stand, those that stand in few places
    counting most.
    """
    points: dict[int, Counter[int]] = {}
    led = sorted(set(number.values()))
    for claim in claims:
        leads = {number[position] for position in claim.positions if position in number}
        owners = leads or {
            owner
            for position in claim.positions
            if (owner := cut.owner(claim.said.field, position)) is not None
        }
        for owner in owners:
            points.setdefault(claim.said.thing, Counter())[owner] += max(1, SHARE // len(owners))
    turn = {thing: led[min(thing * len(led) // max(things, 1), len(led) - 1)] for thing in points}
    return {
        thing: max(found, key=lambda at: (found[at], -abs(at - turn[thing]), -at))
        for thing, found in points.items()
    }


def _choice(claim: Claim, home: int | None, page: _Page) -> int | None:
    owners = {position: page.cut.owner(claim.said.field, position) for position in claim.positions}
    if home is not None:
        begin = page.cut.begins[home]
        if own := [position for position, owner in owners.items() if owner == home]:
            return min(own, key=lambda position: abs(position - begin))
        if over := [position for position in claim.positions if page.layout.heads(position, begin)]:
            return over[-1]
        for position, owner in owners.items():
            if owner not in page.taken and page.layout.introduces(position, begin, page.things):
                owners[position] = None
    # The head of a page speaks for all of it, but a value that another thing has as well may be just that
    # one's.
    shared = [position for position, owner in owners.items() if owner is None]
    key = claim.said.field, claim.said.value
    alone = len(shared) == len(owners) and key not in page.shared.disputed
    return shared[-1] if shared and (alone or key in page.shared.wide) else None
