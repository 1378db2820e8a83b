"""Exact search among vectors in memory, with or without NumPy: the nearest to a query, and all near pairs.

For up to a hundred thousand vectors no exact method is faster than comparing with all of them, block by
block. The result depends on the vectors alone, not on blocks, batches or threads: whatever might belong to it
is scored again in double precision, and equal scores are ordered by key.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import isfinite
from typing import Generic, Protocol, TypeVar

from thresher.core.errors import UsageError
from thresher.vectors.embedder import has_numpy
from thresher.vectors.matrix import Matrix, cosine, matrix_of, unpack
from thresher.vectors.numeric import np, npt
from thresher.vectors.weights import Floats

# Without NumPy: the same results, some hundred times slower. Enough for a few thousand vectors.

# Scores are told apart to so many digits; what differs by less is equal, whatever order the sums were taken
# in.
DIGITS = 9


@dataclass(frozen=True, slots=True)
class Plain:
    """The rows, compared one by one."""

    rows: Matrix

    @staticmethod
    def sound(matrix: Matrix) -> bool:
        """Whether all of it are numbers."""
        return all(map(isfinite, matrix.numbers))

    def best(self, queries: Matrix, k: int) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
        """The `k` best places for each query, and their scores."""
        return (_hits(nsmallest(k, self._scored(query))) for query in queries)

    def over(self, queries: Matrix, least: float) -> Iterator[tuple[Sequence[int], Sequence[float]]]:
        """All places for each query with at least that score."""
        return (_hits(sorted(each for each in self._scored(query) if -each[0] >= least)) for query in queries)

    def _scored(self, query: Sequence[float]) -> Iterator[tuple[float, int]]:
        return ((-round(cosine(query, row), DIGITS), place) for place, row in enumerate(self.rows))


def _hits(found: Sequence[tuple[float, int]]) -> tuple[list[int], list[float]]:
    return [place for _, place in found], [-score for score, _ in found]


Key = TypeVar("Key", int, str)
Hits = tuple[Sequence[int], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Near(Generic[Key]):
    """A neighbour, and the cosine of the angle to it."""

    key: Key
    score: float


@dataclass(frozen=True, slots=True)
class Pair(Generic[Key]):
    """Two that are near each other."""

    left: Key
    right: Key
    score: float


class Scorer(Protocol):
    """What compares queries with rows: with NumPy or without. One answer for each query, best first, ties by
    place.
    """

    def sound(self, matrix: Matrix) -> bool: ...

    def best(self, queries: Matrix, k: int) -> Iterator[Hits]: ...

    def over(self, queries: Matrix, least: float) -> Iterator[Hits]: ...


class Index(Generic[Key]):
    """Vectors of length one under keys."""

    def __init__(self, keys: Sequence[Key], matrix: Matrix) -> None:
        if len(keys) != len(matrix):
            raise UsageError(f"{len(keys)} keys for {len(matrix)} vectors: each vector needs one key")
        if len(set(keys)) != len(keys):
            raise UsageError("a key stands there twice: give each vector a key of its own")
        # In the order of keys, so that of equal scores the first place has the first key.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.keys: list[Key] = [keys[place] for place in order]
        self.matrix = matrix if order == list(range(len(keys))) else _ordered(matrix, order)
        self._scorer = _scorer(self.matrix)
        self._fitting(self.matrix)

    def __len__(self) -> int:
        return len(self.keys)

    def nearest(self, query: Sequence[float], k: int) -> list[Near[Key]]:
        """The `k` nearest to one vector, the nearest first."""
        return next(self.nearest_each(matrix_of([query], self.matrix.dims), k))

    def nearest_each(self, queries: Matrix, k: int) -> Iterator[list[Near[Key]]]:
        """The `k` nearest to each of many vectors: far faster than one after the other."""
        if k < 1:
            raise UsageError(f"the {k} nearest were asked for; ask for 1 or more")
        for places, scores in self._scorer.best(self._fitting(queries), min(k, len(self)) or 1):
            yield [Near(self.keys[place], score) for place, score in zip(places, scores, strict=True)]

    def over(self, queries: Matrix, least: float) -> Iterator[list[Near[Key]]]:
        """For each of many vectors all that are at least so near, the nearest first."""
        for places, scores in self._scorer.over(self._fitting(queries), least):
            yield [Near(self.keys[place], score) for place, score in zip(places, scores, strict=True)]

    def _fitting(self, queries: Matrix) -> Matrix:
        if queries.dims != self.matrix.dims:
            raise UsageError(
                f"vectors of {queries.dims} numbers were compared with vectors of {self.matrix.dims}: embed both the same way"
            )
        if not self._scorer.sound(queries):
            raise UsageError(
                "a vector holds something that is no number, so nothing can be said about what is near it: embed again"
            )
        return queries


def match(left: Index[Key], right: Index[Key], least: float) -> Iterator[Pair[Key]]:
    """All pairs that are at least so near, by the left key, then the nearest first. They come as they are
    found: there may be many.
    """
    for key, found in zip(left.keys, right.over(left.matrix, least), strict=True):
        yield from (Pair(key, each.key, each.score) for each in found)


def _ordered(matrix: Matrix, order: Sequence[int]) -> Matrix:
    return unpack((matrix.pack(place) for place in order), matrix.dims)


def _scorer(matrix: Matrix) -> Scorer:
    if not has_numpy():
        return Plain(matrix)

    return Dense(matrix)


# With NumPy: one product per block, and a closer look only at its peaks.

Places = npt.NDArray[np.intp]


# Scores held at once (16 MB), and candidates scored again at once (12 MB).
BLOCK = 1 << 22
AGAIN = 4_096
# Scores of a group: large ones make few peaks; but of peaks there should be many more than are asked for, or
# the floor is low.
MAX_SIZE, MIN_SIZE, PEAKS = 64, 4, 16
# More than 32-bit products of vectors of length one can be wrong by.
SLACK = np.float32(1e-5)


@dataclass(frozen=True, slots=True)
class Dense:
    """The rows, compared by blocks of queries."""

    rows: Matrix

    @staticmethod
    def sound(matrix: Matrix) -> bool:
        """Whether all of it are numbers."""
        return bool(np.isfinite(_array(matrix)).all())

    def best(self, queries: Matrix, k: int) -> Iterator[Hits]:
        """The `k` best places for each query, and their scores."""
        for block, scores in self._blocks(queries):
            owners, places = _candidates(scores, k)
            yield from self._answers(block, owners, places, k)

    def over(self, queries: Matrix, least: float) -> Iterator[Hits]:
        """All places for each query with at least that score."""
        for block, scores in self._blocks(queries):
            owners, places = np.nonzero(scores >= np.float32(least) - SLACK)
            for found, exact in self._answers(block, owners, places, len(self.rows)):
                enough = sum(1 for score in exact if score >= least)  # the best come first
                yield found[:enough], exact[:enough]

    def _blocks(self, queries: Matrix) -> Iterator[tuple[Floats, Floats]]:
        asked, rows = _array(queries), _array(self.rows)
        step = max(1, BLOCK // max(1, len(rows)))
        for start in range(0, len(asked), step):
            block = asked[start : start + step]
            yield block, block @ rows.T

    def _answers(self, block: Floats, owners: Places, places: Places, k: int) -> Iterator[Hits]:
        """The candidates of each query of the block in their final order, `k` at most."""
        exact = self._exact(block, owners, places)
        order = np.lexsort((places, -exact, owners))
        places, exact = places[order], exact[order]
        ends = np.cumsum(np.bincount(owners, minlength=len(block)))
        for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            last = min(end, start + k)
            yield places[start:last].tolist(), exact[start:last].tolist()

    def _exact(self, block: Floats, owners: Places, places: Places) -> npt.NDArray[np.float64]:
        rows, found = _array(self.rows), np.empty(len(owners), np.float64)
        for start in range(0, len(owners), AGAIN):
            part = slice(start, start + AGAIN)
            found[part] = np.einsum("ij,ij->i", rows[places[part]], block[owners[part]], dtype=np.float64)
        return np.round(found, DIGITS) + 0.0  # no minus zero


def _array(matrix: Matrix) -> Floats:
    return np.asarray(matrix.numbers, np.float32).reshape(len(matrix), matrix.dims)


def _candidates(scores: Floats, k: int) -> tuple[Places, Places]:
    """Whose score may be among the k best of its row, and a few more."""
    size = scores.shape[1]
    group = min(MAX_SIZE, size // (PEAKS * k))
    if group < MIN_SIZE:
        floor = (
            np.partition(scores, size - k, axis=1)[:, size - k, None] - SLACK
            if k < size
            else np.float32(-np.inf)
        )
        owners, columns = np.nonzero(scores >= floor)
        return owners, columns
    groups = size // group
    head = scores[:, : groups * group].reshape(len(scores), group, groups)
    peaks = head.max(axis=1)
    floor = np.partition(peaks, groups - k, axis=1)[:, groups - k, None] - SLACK
    owners, columns = np.nonzero(peaks >= floor)
    look, member = np.nonzero(head[owners, :, columns] >= floor[owners])
    rest_owners, rest = np.nonzero(scores[:, groups * group :] >= floor)
    return np.concatenate([owners[look], rest_owners]), np.concatenate(
        [member * groups + columns[look], rest + groups * group]
    )
