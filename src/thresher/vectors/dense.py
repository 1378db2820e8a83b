"""Comparing vectors with NumPy: one product per block, and a closer look only at its peaks."""

from collections.abc import Iterator
from dataclasses import dataclass

from thresher.vectors.matrix import Matrix
from thresher.vectors.nearest import DIGITS, Hits
from thresher.vectors.numeric import np, npt
from thresher.vectors.weights import Floats

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
