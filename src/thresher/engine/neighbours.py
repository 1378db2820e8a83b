"""Neighbours: the texts of one kind as points in the store, and which of them are nearest to a new one.

PostgreSQL is asked where it has its vector extension. Elsewhere all points are held in memory and searched exactly; they are read
anew when there are more or fewer of them than before.
"""

from collections.abc import Iterable, Mapping

from thresher.store import vectors
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder
from thresher.vectors.matrix import unpack
from thresher.vectors.nearest import Index, Near

# Texts embedded and written together: as many as a batch gains from, and no more than a crash may cost.
BATCH = 256


class Neighbours:
    """One kind of texts under one embedder. Embedding takes milliseconds a text: call it on a thread, not on the loop."""

    def __init__(self, store: Store, embedder: Embedder, kind: str) -> None:
        self._store, self._embedder, self._kind = store, embedder, kind
        self._index: Index[str] | None = None

    def add(self, texts: Mapping[str, str]) -> int:
        """Make points of texts that have none yet, by their keys. Returns how many were new. Safe to repeat, and to break off."""
        new = vectors.missing(self._store, *self._of, list(texts))
        for start in range(0, len(new), BATCH):
            keys = new[start : start + BATCH]
            matrix = self._embedder.embed([texts[key] for key in keys])
            vectors.put(self._store, *self._of, {key: matrix.pack(row) for row, key in enumerate(keys)})
        return len(new)

    def forget(self, keys: Iterable[str]) -> None:
        """Drop points whose texts are gone or have changed."""
        vectors.forget(self._store, *self._of, list(keys))
        self._index = None

    def nearest(self, text: str, limit: int) -> list[Near[str]]:
        """The nearest known texts by their keys, the nearest first."""
        point = self._embedder.embed([text])
        found = vectors.nearest(self._store, *self._of, point.pack(0), limit)
        if found is not None:
            return [Near(key, score) for key, score in found]
        return self._known().nearest(point[0], limit)

    def _known(self) -> Index[str]:
        if self._index is None or len(self._index) != vectors.count(self._store, *self._of):
            rows = list(vectors.load(self._store, *self._of))
            self._index = Index([key for key, _ in rows], unpack((body for _, body in rows), self._embedder.dims))
        return self._index

    @property
    def _of(self) -> tuple[str, str, str]:
        return self._embedder.name, self._embedder.version, self._kind
