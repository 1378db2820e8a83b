"""Vectors of texts, with the model and the version that made them: vectors of two models are never compared.

They are float32, little endian, wherever they were made. The nearest are found in memory; where PostgreSQL
has its vector extension, it can be asked instead, and gives the same order.

A vector that nobody has used for `history.vectors` days is removed: whoever needs it again computes it again.
Its time of last use is written at most once a day, so that reading stays reading.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from thresher.core.clock import DAY
from thresher.core.errors import UsageError
from thresher.core.limits import MAX_KEY_BYTES
from thresher.core.record import clean, indexed
from thresher.store import near
from thresher.store.session import Session
from thresher.store.store import Store

FLOAT = 4
MAX_DIMS = 16_000
AT_ONCE = 1_000

_PUT = """insert into vectors (model, version, kind, key, dims, body, placed, used_at)
    values (:model, :version, :kind, :key, :dims, :body, 0, :now)
    on conflict (model, version, kind, key) do update set dims = excluded.dims, body = excluded.body, placed = 0, used_at = excluded.used_at
        where vectors.body <> excluded.body"""
_ALL = "select key, body, used_at from vectors where model = :model and version = :version and kind = :kind"
_FIRST = f"{_ALL} order by key limit :most"
_NEXT = f"{_ALL} and key > :after order by key limit :most"
_COUNT = "select count(*) from vectors where model = :model and version = :version and kind = :kind"
_THERE = "select key, used_at from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
_TAKE = "select key, body, used_at from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
_STALE = "select key from vectors where model = :model and version = :version and kind = :kind and used_at < :stale limit :most"
_USE = "update vectors set used_at = :now where model = :model and version = :version and kind = :kind and key in (:keys*)"
_UNUSED = "select model, version, kind, key from vectors where used_at < :before order by used_at limit :most"
_FORGET = (
    "delete from vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"
)


def put(store: Store, model: str, version: str, kind: str, items: Mapping[str, bytes]) -> None:
    """Keep vectors, a batch a transaction; one of the same key gives way. Safe to repeat."""
    of = _of(model, version, kind)
    named = [
        (indexed(key, "the key of a vector", MAX_KEY_BYTES), body) for key, body in sorted(items.items())
    ]
    rows = [of | {"key": key, "dims": dims(body), "body": bytes(body)} for key, body in named]
    for start in range(0, len(rows), AT_ONCE):
        with store.write() as session:
            now = store.backend.now(session)
            session.many(_PUT, [row | {"now": now} for row in rows[start : start + AT_ONCE]])


def load(store: Store, model: str, version: str, kind: str) -> Iterator[tuple[str, bytes]]:
    """All of them, each once. Read in batches: nobody holds a snapshot while the caller computes."""
    of = _of(model, version, kind)
    sql, given = _FIRST, {**of, "most": AT_ONCE}
    while True:
        with store.read() as session:
            rows, now = session.rows(sql, given), store.backend.now(session)
        _use(store, of, [key for key, _, used_at in rows if _is_stale(used_at, now)])
        yield from ((key, bytes(body)) for key, body, _ in rows)
        if len(rows) < AT_ONCE:
            return
        sql, given = _NEXT, given | {"after": rows[-1][0]}


def missing(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> list[str]:
    """Those of these keys that have no vector yet, as given and each once."""
    wanted, of = list(dict.fromkeys(keys)), _of(model, version, kind)
    there: set[str] = set()
    for start in range(0, len(wanted), AT_ONCE):
        there |= _there(store, of, [clean(key) for key in wanted[start : start + AT_ONCE]])
    return [key for key in wanted if clean(key) not in there]


def _there(store: Store, of: dict[str, str], keys: Sequence[str]) -> set[str]:
    """Those of these keys that have a vector, which counts as used from now on. Looked at again where one
    went meanwhile.
    """
    while True:
        with store.glance() as session:
            rows, now = session.rows(_THERE, of | {"keys": keys}), store.backend.now(session)
        stale = [key for key, used_at in rows if _is_stale(used_at, now)]
        if _use(store, of, stale) == len(stale):
            return {row[0] for row in rows}


def take(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> dict[str, bytes]:
    """The vectors of these keys, as far as there are any."""
    wanted, found, of = list(dict.fromkeys(keys)), dict[str, bytes](), _of(model, version, kind)
    for start in range(0, len(wanted), AT_ONCE):
        with store.read() as session:
            batch = {clean(key): key for key in wanted[start : start + AT_ONCE]}
            rows, now = session.rows(_TAKE, of | {"keys": list(batch)}), store.backend.now(session)
        _use(store, of, [key for key, _, used_at in rows if _is_stale(used_at, now)])
        found |= {batch[key]: bytes(body) for key, body, _ in rows}
    return found


def prune(store: Store) -> int:
    """Remove vectors that nobody has used for long, a batch a transaction. Returns how many."""
    most, removed = store.settings.count("prune.batch"), 0
    while True:
        with store.write() as session:
            before = store.backend.now(session) - round(store.settings["history.vectors"] * DAY)
            rows = session.rows(_UNUSED + store.backend.dialect.skip, {"before": before, "most": most})
            groups: dict[tuple[str, str, str], list[str]] = {}
            for model, version, kind, key in rows:
                groups.setdefault((model, version, kind), []).append(key)
            for (model, version, kind), keys in groups.items():
                _drop(store, session, {"model": model, "version": version, "kind": kind, "keys": keys})
        removed += len(rows)
        if len(rows) < most:
            return removed


def _is_stale(used_at: int, now: int) -> bool:
    """Whether its last use is to be written down. A time ahead of us was written before the clock was set
    back.
    """
    return not now - DAY < used_at <= now + DAY


def _use(store: Store, of: dict[str, str], keys: Sequence[str]) -> int:
    """Write down that these are used today. Returns how many of them are still there."""
    if not keys:
        return 0
    with store.jot() as session:
        given = of | {"keys": list(keys)}
        held = [row[0] for row in session.rows(_THERE + " order by key" + store.backend.dialect.lock, given)]
        session.run(_USE, of | {"keys": held, "now": store.backend.now(session)})
    return len(held)


def count(store: Store, model: str, version: str, kind: str) -> int:
    """How many there are."""
    with store.glance() as session:
        return int(session.rows(_COUNT, _of(model, version, kind))[0][0])


def forget(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> None:
    """Drop vectors whose texts are gone."""
    of, wanted = _of(model, version, kind), [clean(key) for key in keys]
    for start in range(0, len(wanted), AT_ONCE):
        with store.write() as session:
            _drop(store, session, of | {"keys": wanted[start : start + AT_ONCE]})


def _drop(store: Store, session: Session, given: Mapping[str, object]) -> None:
    session.run(_FORGET, given)
    near.forget(store, session, given)


def nearest(
    store: Store, model: str, version: str, kind: str, query: bytes, limit: int
) -> list[tuple[str, float]] | None:
    """The keys whose vectors have the largest dot product with this one, the nearest first, ties by key.

    None where the database cannot do it: load them, and search in memory.
    """
    if limit < 1:
        raise UsageError(f"nearest wants at least 1, got {limit}")
    dims(query)
    of = _of(model, version, kind)
    found = near.nearest(store, of, near.floats(query), limit)
    if found is not None:
        _use_all(store, of)
    return found


def _use_all(store: Store, of: dict[str, str]) -> None:
    """A search looks at all vectors of its kind: all of them are used today."""
    while True:
        with store.glance() as session:
            stale = [
                row[0]
                for row in session.rows(
                    _STALE, {**of, "stale": store.backend.now(session) - DAY, "most": AT_ONCE}
                )
            ]
        _use(store, of, stale)
        if len(stale) < AT_ONCE:
            return


def dims(body: bytes) -> int:
    """How many numbers a vector has, or an error that says what is wrong with it."""
    number, rest = divmod(len(body), FLOAT)
    if rest or not 0 < number <= MAX_DIMS:
        raise UsageError(
            f"a vector is 1 to {MAX_DIMS:,} float32 numbers of {FLOAT} bytes each, got {len(body):,} bytes"
        )
    if not isfinite(sum(near.floats(body))):
        raise UsageError(
            "a vector has a number that is infinite or none at all; it can be compared with nothing"
        )
    return number


def _of(model: str, version: str, kind: str) -> dict[str, str]:
    return {"model": clean(model), "version": clean(version), "kind": clean(kind)}
