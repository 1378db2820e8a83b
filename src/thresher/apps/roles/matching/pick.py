"""The best of a grid of scores, candidate by candidate."""

from collections.abc import Iterator, Sequence

from thresher.apps.roles.matching.grid import Grid
from thresher.apps.roles.matching.offer import Offer
from thresher.apps.roles.matching.points import Points
from thresher.apps.roles.matching.seeker import Seeker
from thresher.vectors.numeric import np

Row = tuple[int, int, int, int, int, int, int, int]


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
