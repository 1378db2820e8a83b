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
            raise UsageError("a key appears twice: give each vector its own key")
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
            raise UsageError(f"k is {k}; ask for 1 or more")
        for places, scores in self._scorer.best(self._fitting(queries), min(k, len(self)) or 1):
            yield [Near(self.keys[place], score) for place, score in zip(places, scores, strict=True)]

    def over(self, queries: Matrix, least: float) -> Iterator[list[Near[Key]]]:
        """For each of many vectors all that are at least so near, the nearest first."""
        for places, scores in self._scorer.over(self._fitting(queries), least):
            yield [Near(self.keys[place], score) for place, score in zip(places, scores, strict=True)]

    def _fitting(self, queries: Matrix) -> Matrix:
        if queries.dims != self.matrix.dims:
            raise UsageError(
                f"vectors of {queries.dims} numbers cannot be compared with vectors of "
                f"{self.matrix.dims}: embed both the same way"
            )
        if not self._scorer.sound(queries):
            raise UsageError("a vector contains NaN and cannot be compared: embed again")
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

    from thresher.vectors.dense import Dense  # noqa: PLC0415  NumPy is an extra

    return Dense(matrix)
