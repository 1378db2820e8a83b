"""An index of role names by vector, one per process: which known roles are similar to a title.

The vector of a name is that of its core, stored under the core itself: a renamed role has another vector, and
a vector that no role uses is never read. New roles are found by their ids; renamed roles at the next full
reading.
"""

import threading
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from thresher.apps.roles.store.resolution import own_names
from thresher.core.clock import MINUTE
from thresher.core.record import Neighbour
from thresher.hiring.title.core import core_of
from thresher.store import vectors
from thresher.store.store import Store
from thresher.vectors.embedder import EMBED_BATCH, Embedder, shared_embedder
from thresher.vectors.matrix import Matrix, unpack
from thresher.vectors.nearest import Index, Near

KIND = "role"
WHOLE_EVERY = 10 * MINUTE  # microseconds between two whole readings
PAGE = 2_000
# Vectors added since the large index was built are searched separately, until one index is cheaper.
FEW, SHARE = 500, 4


class RoleNames:
    """Every role's own name. Embedding takes milliseconds a name: call it on a thread, not on the loop. Safe
    from several threads.
    """

    def __init__(self, store: Store, embedder: Embedder | None = None) -> None:
        self.embedder = embedder or shared_embedder()
        self._store = store
        self._lock = threading.RLock()
        self._names: dict[str, tuple[int, str]] = {}  # core: the role's id and its name
        self._cores: dict[str, str] = {}
        self._points: dict[str, bytes] = {}
        self._recent: dict[str, bytes] = {}
        self._base, self._tail = self._index([]), self._index([])
        self._last, self._read_at = 0, 0

    def refresh(self) -> int:
        """Bring it up to date: roles that are new, and everything once in a while. Returns the id of the
        newest.
        """
        with self._lock:
            with self._store.read(autocommit=True) as session:
                now = self._store.backend.now(session)
            if now - self._read_at >= WHOLE_EVERY or not self._names:
                self._names, self._last, self._read_at = {}, 0, now
                self._take(self._unread())
                self._drop_others()
            else:
                self._take(self._unread())
            return self._last

    def points(self, cores: Sequence[str]) -> Matrix:
        """The points of cores, in their order, computed in one go; remembered until the next, for some become
        names of roles.
        """
        with self._lock:
            missing = [core for core in dict.fromkeys(cores) if core not in self._points]
            made = self.embedder.embed(missing)
            self._recent = {core: made.pack(row) for row, core in enumerate(missing)}
            return unpack(
                (self._points.get(core) or self._recent[core] for core in cores), self.embedder.dims
            )

    def near(self, points: Matrix, limit: int) -> list[list[Neighbour]]:
        """The roles nearest to each of many points, the nearest first."""
        with self._lock:
            names, base, tail = self._names, self._base, self._tail
        if not len(points):
            return []
        found = [list(index.nearest_each(points, limit)) for index in (base, tail) if len(index)]
        merged = [[each for part in parts for each in part] for parts in zip(*found, strict=True)] or [
            [] for _ in range(len(points))
        ]
        return [self._neighbours(each, names, limit) for each in merged]

    def nearest(self, text: str, limit: int) -> list[Neighbour]:
        """The roles nearest to one text."""
        core = core_of(text)
        return self.near(self.points([core]), limit)[0] if core else []

    def _neighbours(
        self, near: Sequence[Near[str]], names: Mapping[str, tuple[int, str]], limit: int
    ) -> list[Neighbour]:
        ranked = sorted(near, key=lambda each: (-each.score, each.key))
        known = [(names[each.key], each.score) for each in ranked if each.key in names]
        return [
            Neighbour(role_id, name, score, self.embedder.meaning) for (role_id, name), score in known[:limit]
        ]

    def _unread(self) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        while True:
            with self._store.read() as session:
                rows = own_names(session, self._last, PAGE)
            found += [(role_id, name) for role_id, _, name in rows]
            self._last = rows[-1][0] if rows else self._last
            if len(rows) < PAGE:
                return found

    def _take(self, roles: Sequence[tuple[int, str]]) -> None:
        """Know these roles. Of two with one core the older is found: they differ in rank, and the title has
        none left.
        """
        cores = [
            (core, role_id, name)
            for role_id, name in roles
            if (core := self._cores.get(name) or core_of(name))
        ]
        self._cores |= {name: core for core, _, name in cores}  # a whole reading meets most names again
        new = [
            core
            for core, role_id, name in cores
            if self._names.setdefault(core, (role_id, name))[0] == role_id
        ]
        self._keep([core for core in dict.fromkeys(new) if core not in self._points])
        self._rebuild()

    def _keep(self, cores: Sequence[str]) -> None:
        of = (self.embedder.name, self.embedder.version, KIND)
        self._points |= vectors.take(self._store, *of, cores)
        missing = [core for core in cores if core not in self._points]
        for start in range(0, len(missing), EMBED_BATCH):
            made = self._embedded(missing[start : start + EMBED_BATCH])
            vectors.put(self._store, *of, made)
            self._points |= made

    def _embedded(self, cores: Sequence[str]) -> dict[str, bytes]:
        new = [core for core in cores if core not in self._recent]
        matrix = self.embedder.embed(new)
        made = {core: matrix.pack(row) for row, core in enumerate(new)}
        return {core: made.get(core) or self._recent[core] for core in cores}

    def _rebuild(self) -> None:
        based = set(self._base.keys)
        late = [core for core in self._names if core not in based]
        if len(late) > max(FEW, len(based) // SHARE):
            self._base, self._tail = self._index(list(self._names)), self._index([])
        elif len(late) != len(self._tail):
            self._tail = self._index(late)

    def _drop_others(self) -> None:
        """Points of names that no role has any more, here and in the store. One that is needed after all is
        computed again.
        """
        self._cores = {name: core for core, (_, name) in self._names.items()}
        gone = [core for core in self._points if core not in self._names]
        if gone:
            vectors.forget(self._store, self.embedder.name, self.embedder.version, KIND, gone)
            self._points = {core: self._points[core] for core in self._names if core in self._points}
            self._base, self._tail = self._index(list(self._names)), self._index([])

    def _index(self, cores: Sequence[str]) -> Index[str]:
        return Index(list(cores), unpack((self._points[core] for core in cores), self.embedder.dims))


_KNOWN: "WeakKeyDictionary[Store, RoleNames]" = WeakKeyDictionary()
_KNOWING = threading.Lock()


def role_names(store: Store, embedder: Embedder | None = None) -> RoleNames:
    """The names of the roles in a store: one list for all who ask in this process."""
    with _KNOWING:
        found = _KNOWN.get(store)
        if found is None or (embedder is not None and found.embedder is not embedder):
            found = _KNOWN[store] = RoleNames(store, embedder)
        return found


def near_roles(store: Store, text: str, limit: int) -> list[Neighbour]:
    """The roles nearest to a text, as they are known now."""
    names = role_names(store)
    names.refresh()
    return names.nearest(text, limit)
