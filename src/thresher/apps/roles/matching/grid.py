"""Score many candidates against many postings with NumPy: the same numbers as one pair at a time, far faster.

Skills are counted by a product of two binary matrices. Years and pay are looked up: each distinct case is
decided once, by the function that decides a single pair. Memory is bounded by the batch of candidates.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from thresher.apps.roles.matching import parts
from thresher.apps.roles.matching.locations import Ground, Site
from thresher.apps.roles.matching.offer import Offer
from thresher.apps.roles.matching.points import FULL, HUNDRED, Points, Row
from thresher.apps.roles.matching.seeker import Seeker
from thresher.apps.roles.matching.skill import alike, may_misspell
from thresher.hiring.opening import Workplace
from thresher.hiring.skills import family
from thresher.vectors.numeric import np, npt

# Pair the skills of many candidates with the skills of many postings; each distinct pair is compared once.

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


Ints = npt.NDArray[np.int32]
Vectors = Sequence[bytes | None]
COLUMNS = 1_024  # skills that are counted together
Case = TypeVar("Case")


@dataclass(frozen=True, slots=True)
class Grid:
    """A score for each candidate (row) and posting (column), in hundredths, and its five parts."""

    score: Ints
    parts: tuple[Ints, ...]


def grid(
    seekers: Sequence[Seeker],
    offers: Sequence[Offer],
    points: Points,
    own: Vectors = (),
    theirs: Vectors = (),
) -> Grid:
    """Score all pairs. `own` and `theirs` are the vectors of the texts, in the order of candidates and
    postings.
    """
    found = (
        skills(seekers, offers, points),
        experience(seekers, offers, points),
        location(seekers, offers, points),
        salary(seekers, offers, points),
        semantic(own or [None] * len(seekers), theirs or [None] * len(offers), points),
    )
    return Grid(weigh(found, points), found)


def weigh(found: Sequence[Ints], points: Points) -> Ints:
    weights = points.weights
    whole = sum(weights)
    if not whole:
        return np.zeros_like(found[0])
    total = np.full(found[0].shape, whole, np.int64)
    for weight, part in zip(weights, found, strict=True):
        total += part * np.int64(2 * weight)
    return (total // (2 * whole)).astype(np.int32)


def skills(seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points) -> Ints:
    met = _counts(seekers, offers, points)
    whole = np.array([len(offer.skills) for offer in offers], np.int64)
    table = np.array(
        [
            [parts.share(some, many) if some <= many else 0 for some in range(whole.max(initial=0) + 1)]
            for many in range(1, whole.max(initial=0) + 1)
        ]
        or [[0]],
        np.int32,
    )
    found: Ints = table[np.maximum(whole, 1) - 1, met]
    found[:, whole == 0] = points.unknown * HUNDRED
    found[[not seeker.skills for seeker in seekers], :] = points.unknown * HUNDRED
    return found


def _counts(seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points) -> npt.NDArray[np.int64]:
    """How many of the skills that a posting asks for a candidate has. A skill that nobody here has is never
    looked at.
    """
    asked = {
        key: at for at, key in enumerate(dict.fromkeys(each.key for offer in offers for each in offer.skills))
    }
    met = meetings(dict.fromkeys(key for seeker in seekers for key in seeker.skills), asked, points.fuzzy)
    column = {
        number: at
        for at, number in enumerate(sorted({number for numbers in met.values() for number in numbers}))
    }
    rows = [
        (row, column[number])
        for row, seeker in enumerate(seekers)
        for key in seeker.skills
        for number in met.get(key, ())
    ]
    wants = [
        (column[asked[each.key]], at)
        for at, offer in enumerate(offers)
        for each in offer.skills
        if asked[each.key] in column
    ]
    found = np.zeros((len(seekers), len(offers)), np.float32)
    for start in range(0, len(column), COLUMNS):
        width = min(COLUMNS, len(column) - start)
        left = _ones(rows, 1, start, (len(seekers), width))
        found += left @ _ones(wants, 0, start, (width, len(offers)))
    return found.astype(np.int64)


def _ones(
    pairs: Sequence[tuple[int, int]], axis: int, start: int, shape: tuple[int, int]
) -> npt.NDArray[np.float32]:
    """A table that is one at these places; on one axis it begins at `start`, and places beyond its end are
    left out.
    """
    places = np.array(pairs, np.int64).reshape(-1, 2)
    places[:, axis] -= start
    places = places[(places[:, axis] >= 0) & (places[:, axis] < shape[axis])]
    found = np.zeros(shape, np.float32)
    found[places[:, 0], places[:, 1]] = 1
    return found


def experience(seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points) -> Ints:
    def decide(own: float | None, asked: tuple[float | None, float | None]) -> int:
        return parts.years(own, asked[0], asked[1], points)[0]

    return _looked_up(
        [seeker.years for seeker in seekers], [(offer.low, offer.high) for offer in offers], decide
    )


def salary(seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points) -> Ints:
    def decide(wish: tuple[int | None, str | None], pays: tuple[int | None, str | None]) -> int:
        return parts.pay(wish[0], wish[1], pays[0], pays[1], points)[0]

    return _looked_up(
        [(each.salary, each.currency) for each in seekers],
        [(each.pays, each.currency) for each in offers],
        decide,
    )


def _looked_up(rows: Sequence[Any], columns: Sequence[Any], decide: Callable[[Any, Any], int]) -> Ints:
    """Each distinct case decided once."""
    (left, at), (right, to) = _distinct(rows), _distinct(columns)
    table = np.array([[decide(one, other) * HUNDRED for other in right] for one in left], np.int32).reshape(
        len(left), len(right)
    )
    found: Ints = table[at[:, None], to[None, :]]
    return found


def _distinct(cases: Sequence[Case]) -> tuple[list[Case], npt.NDArray[np.int64]]:
    numbers = {case: at for at, case in enumerate(dict.fromkeys(cases))}
    return list(numbers), np.array([numbers[case] for case in cases], np.int64)


def location(seekers: Sequence[Seeker], offers: Sequence[Offer], points: Points) -> Ints:
    """Postings at a place by how that lies to the candidate's places; remote ones by whether the candidate
    wants that.
    """
    homes, own = _distinct([(seeker.sites, bool(seeker.remote)) for seeker in seekers])
    works, theirs = _distinct([(offer.sites, offer.workplace, offer.remote_in) for offer in offers])
    lies = _lies([sites for sites, _ in homes], [sites for sites, _, _ in works])
    remote = np.array([wants for _, wants in homes], bool)
    at_place = np.array([bool(workplace or sites) for sites, workplace, _ in works], bool)
    found = np.empty(lies.shape, np.int32)
    for ground in Ground:
        for wants in (False, True):
            for placed in (False, True):
                counts, _ = parts.at_place(ground, is_at_a_place=placed, remote=wants, points=points)
                found[(lies == ground) & (remote[:, None] == wants) & (at_place[None, :] == placed)] = (
                    counts * HUNDRED
                )
    for column, (_, workplace, bound) in enumerate(works):
        if workplace is Workplace.REMOTE:
            found[:, column] = [_remote(sites, bound, points, wants=wants) for sites, wants in homes]
    all_pairs: Ints = found[own[:, None], theirs[None, :]]
    return all_pairs


def _remote(sites: Sequence[Site], bound: frozenset[str], points: Points, *, wants: bool) -> int:
    if parts.is_out_of_reach(sites, bound):
        return points.elsewhere * HUNDRED
    return (points.remote_wanted if wants else points.remote) * HUNDRED


def _lies(homes: Sequence[tuple[Site, ...]], works: Sequence[tuple[Site, ...]]) -> npt.NDArray[np.int8]:
    """The best of all pairs of places, for each list of homes and each list of works."""
    wanted, work = (
        list(dict.fromkeys(site for sites in lists for site in sites)) or [Site()] for lists in (homes, works)
    )
    table = _ground(wanted, work)
    by_work = _best(table.T, work, works).T
    return _best(by_work, wanted, homes)


def _best(
    table: npt.NDArray[np.int8], sites: Sequence[Site], lists: Sequence[tuple[Site, ...]]
) -> npt.NDArray[np.int8]:
    """The largest of the rows of each list; unknown where a list is empty."""
    number = {site: at for at, site in enumerate(sites)}
    found = np.full((len(lists), table.shape[1]), Ground.UNKNOWN, np.int8)
    for at, names in enumerate(lists):
        if names:
            found[at] = table[[number[site] for site in names]].max(axis=0)
    return found


def _ground(wanted: Sequence[Site], work: Sequence[Site]) -> npt.NDArray[np.int8]:
    """`ground` for all pairs: the same questions in the same order, each asked of all pairs together."""
    (city, region, country), (at, state, land) = _numbered(wanted, work)
    in_state = (region > 0) & (state > 0)
    both = np.where(city == at, Ground.SAME, np.where(in_state, Ground.STATE, Ground.APART))
    one = np.where(in_state, Ground.STATE, Ground.UNKNOWN)
    contained = np.where(region > 0, state > 0, land > 0)
    none = np.where(contained, Ground.SAME, Ground.UNKNOWN)
    found = np.where((city > 0) & (at > 0), both, np.where(city > 0, one, none))
    apart = ((country > 0) & (land > 0) & (country != land)) | (in_state & (region != state))
    return np.where(apart, Ground.APART, found).astype(np.int8)


def _numbered(wanted: Sequence[Site], work: Sequence[Site]) -> tuple[list[Any], list[Any]]:
    """Names as numbers, 0 where nothing is said: city, region and country of the rows, and of the columns."""
    numbers: dict[str, int] = {"": 0}
    rows, columns = (
        [
            [numbers.setdefault(getattr(site, name), len(numbers)) for site in sites]
            for name in ("city", "region", "country")
        ]
        for sites in (wanted, work)
    )
    return [np.array(each)[:, None] for each in rows], [np.array(each)[None, :] for each in columns]


def semantic(own: Vectors, theirs: Vectors, points: Points) -> Ints:
    """The nearness of the texts. Sums of floats depend on their order, so this may be a hundredth off what a
    single pair gives.
    """
    dims = max((len(each) // 4 for each in (*own, *theirs) if each), default=1)
    left, there = _matrix(own, dims)
    right, here = _matrix(theirs, dims)
    cosine = (left @ right.T).astype(np.float64)
    span = points.near_full - points.near_none
    if span <= 0:
        found = np.where(cosine >= points.near_full, FULL, 0).astype(np.int32)
    else:
        found = np.floor(np.clip((cosine - points.near_none) / span, 0, 1) * FULL + 0.5).astype(np.int32)
    found[~there, :] = points.unknown * HUNDRED
    found[:, ~here] = points.unknown * HUNDRED
    return found


def _matrix(
    vectors: Sequence[bytes | None], dims: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    nothing = bytes(4 * dims)
    usable = [each if each and len(each) == 4 * dims else None for each in vectors]
    body = b"".join(each or nothing for each in usable)
    return np.frombuffer(body, "<f4").reshape(len(vectors), dims), np.array(
        [each is not None for each in usable], bool
    )


def pick(seekers: Sequence[Seeker], offers: Sequence[Offer], grid: Grid, points: Points) -> Iterator[Row]:
    """Those that score enough, of each candidate at most `best`; of equal scores the posting that was seen
    first.
    """
    ids = np.array([offer.id for offer in offers], np.int64)
    enough = grid.score >= points.least
    for row in np.flatnonzero(enough.any(axis=1)).tolist():
        columns = np.flatnonzero(enough[row])
        order = np.lexsort((ids[columns], -grid.score[row, columns]))
        best = columns[order[: points.best]]
        values = (ids[best], grid.score[row, best], *(part[row, best] for part in grid.parts))
        for posting, *counts in zip(*(each.tolist() for each in values), strict=True):
            yield (seekers[row].id, posting, *counts)
