"""Comparing vectors without NumPy: the same answers, some hundred times slower. Enough for a few thousand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import isfinite

from thresher.vectors.matrix import Matrix, cosine

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
