"""Vectors of texts, with the model and the version that made them: vectors of two models are never compared.

They are float32, little endian, wherever they were made. The nearest are found in memory; where PostgreSQL has its vector extension,
it can be asked instead, and gives the same order.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from thresher.core.errors import UsageError
from thresher.core.limits import MAX_KEY_BYTES
from thresher.core.record import clean, indexed
from thresher.store import near
from thresher.store.store import Store

FLOAT = 4
MOST_DIMS = 16_000
AT_ONCE = 1_000

_PUT = """insert into vectors (model, version, kind, key, dims, body, placed) values (:model, :version, :kind, :key, :dims, :body, 0)
    on conflict (model, version, kind, key) do update set dims = excluded.dims, body = excluded.body, placed = 0
        where vectors.body <> excluded.body"""
_ALL = "select key, body from vectors where model = :model and version = :version and kind = :kind"
_FIRST = f"{_ALL} order by key limit :most"
_NEXT = f"{_ALL} and key > :after order by key limit :most"
_COUNT = "select count(*) from vectors where model = :model and version = :version and kind = :kind"
_THERE = "select key from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
_TAKE = "select key, body from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
_FORGET = "delete from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"


def put(store: Store, model: str, version: str, kind: str, items: Mapping[str, bytes]) -> None:
    """Keep vectors, a batch a transaction; one of the same key gives way. Safe to repeat."""
    of = _of(model, version, kind)
    named = [(indexed(key, "the key of a vector", MAX_KEY_BYTES), body) for key, body in sorted(items.items())]
    rows = [of | {"key": key, "dims": dims(body), "body": bytes(body)} for key, body in named]
    for start in range(0, len(rows), AT_ONCE):
        with store.write() as session:
            session.many(_PUT, rows[start : start + AT_ONCE])


def load(store: Store, model: str, version: str, kind: str) -> Iterator[tuple[str, bytes]]:
    """All of them, each once. Read in batches: nobody holds a snapshot while the caller computes."""
    sql, given = _FIRST, {**_of(model, version, kind), "most": AT_ONCE}
    while True:
        with store.read() as session:
            rows = session.rows(sql, given)
        yield from ((key, bytes(body)) for key, body in rows)
        if len(rows) < AT_ONCE:
            return
        sql, given = _NEXT, given | {"after": rows[-1][0]}


def missing(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> list[str]:
    """Those of these keys that have no vector yet, as given and each once."""
    wanted = list(dict.fromkeys(keys))
    there: set[str] = set()
    for start in range(0, len(wanted), AT_ONCE):
        with store.glance() as session:
            batch = [clean(key) for key in wanted[start : start + AT_ONCE]]
            there |= {row[0] for row in session.rows(_THERE, _of(model, version, kind) | {"keys": batch})}
    return [key for key in wanted if clean(key) not in there]


def take(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
    """The vectors of these keys, as far as there are any."""
    wanted, found = list(dict.fromkeys(keys)), dict[str, bytes]()
    for start in range(0, len(wanted), AT_ONCE):
        with store.read() as session:
            batch = {clean(key): key for key in wanted[start : start + AT_ONCE]}
            rows = session.rows(_TAKE, _of(model, version, kind) | {"keys": list(batch)})
        found |= {batch[key]: bytes(body) for key, body in rows}
    return found


def count(store: Store, model: str, version: str, kind: str) -> int:
    """How many there are."""
    with store.glance() as session:
        return int(session.rows(_COUNT, _of(model, version, kind))[0][0])


def forget(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> None:
    """Drop vectors whose texts are gone."""
    of, wanted = _of(model, version, kind), [clean(key) for key in keys]
    for start in range(0, len(wanted), AT_ONCE):
        with store.write() as session:
            given = of | {"keys": wanted[start : start + AT_ONCE]}
            session.run(_FORGET, given)
            near.forget(store, session, given)


def nearest(store: Store, model: str, version: str, kind: str, query: bytes, limit: int) -> list[tuple[str, float]] | None:
    """The keys whose vectors have the largest dot product with this one, the nearest first, ties by key.

    None where the database cannot do it: load them, and search in memory.
    """
    if limit < 1:
        raise UsageError(f"nearest wants at least 1, got {limit}")
    dims(query)
    return near.nearest(store, _of(model, version, kind), near.floats(query), limit)


def dims(body: bytes) -> int:
    """How many numbers a vector has, or an error that says what is wrong with it."""
    number, rest = divmod(len(body), FLOAT)
    if rest or not 0 < number <= MOST_DIMS:
        raise UsageError(f"a vector is 1 to {MOST_DIMS:,} float32 numbers of {FLOAT} bytes each, got {len(body):,} bytes")
    if not isfinite(sum(near.floats(body))):
        raise UsageError("a vector has a number that is infinite or none at all; it can be compared with nothing")
    return number


def _of(model: str, version: str, kind: str) -> dict[str, str]:
    return {"model": clean(model), "version": clean(version), "kind": clean(kind)}
