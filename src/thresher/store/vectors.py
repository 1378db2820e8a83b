"""Vectors of texts, with the model and version that made them: vectors of two models are never compared.

They are float32, little endian. The nearest are found in memory, or by PostgreSQL's vector extension where it
is installed, in the same order.

A vector unused for `history.vectors` days is removed and computed again on demand. Its last use is written at
most once a day, so that reading rarely writes.
"""

import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from thresher.core.clock import DAY
from thresher.core.errors import DatabaseProblem, UsageError
from thresher.core.limits import MAX_KEY_BYTES
from thresher.core.record import clean, indexed
from thresher.store.session import Session, one
from thresher.store.store import Store

# Search by PostgreSQL's vector extension, where it is installed or may be.
#
# The extension's type cannot stand in a migration, because most databases lack it. So it has a table of its
# own, made when first needed: a copy of the vectors, brought up to date by whoever asks. There is no
# approximate index on it; the order is exact.

COPIED_AT_ONCE = 500
# For whoever makes the extension or the table: two at a time would get into each other's way.
_MAKING = "select pg_advisory_xact_lock(7236458, 0)"
_SCHEMA_OF = """select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'"""
_AVAILABLE = "select 1 from pg_available_extensions where name = 'vector'"
_EXTEND = "create extension if not exists vector schema public"
_IS_THERE = "select 1 from pg_tables where schemaname = current_schema() and tablename = 'near_vectors'"
_MAKE = """create table if not exists near_vectors (model text not null, version text not null, kind text not null,
    key text collate "C" not null, near {schema}.vector not null, primary key (model, version, kind, key))"""
# The locks keep a vector from being replaced between the copy and the note that it was made.
_UNPLACED = """select key, body from vectors where model = :model and version = :version and kind = :kind and placed = 0
    order by key limit :most"""
_PLACE = """insert into near_vectors (model, version, kind, key, near)
    values (:model, :version, :kind, :key, cast(:near as {schema}.vector))
    on conflict (model, version, kind, key) do update set near = excluded.near"""
_PLACED = "update vectors set placed = 1 where model = :model and version = :version and kind = :kind and key in (:keys*)"
# `<#>` is the dot product with its sign turned. Keys are compared by their bytes, as SQLite and Python do.
_NEAREST = """select key, -(near operator({schema}.<#>) cast(:query as {schema}.vector)) from near_vectors
    where model = :model and version = :version and kind = :kind and {schema}.vector_dims(near) = :dims
    order by near operator({schema}.<#>) cast(:query_too as {schema}.vector), key limit :limit"""
_FORGET_COPIES = "delete from near_vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"


def nearest_by_extension(
    store: Store, of: Mapping[str, str], query: Sequence[float], limit: int
) -> list[tuple[str, float]] | None:
    """None where there is no such extension, nor the right to install it."""
    schema = _ready(store) if store.backend.dialect.name == "postgres" else None
    if schema is None:
        return None
    while _place(store, of, schema) == COPIED_AT_ONCE:
        pass
    said = written(query)
    given = {**of, "query": said, "query_too": said, "dims": len(query), "limit": limit}
    with store.read() as session:
        return [(key, float(score)) for key, score in session.rows(_NEAREST.format(schema=schema), given)]


def forget_copies(store: Store, session: Session, given: Mapping[str, object]) -> None:
    """Drop the copies of vectors that are dropped."""
    if store.backend.dialect.name == "postgres" and session.rows(_IS_THERE):
        session.run(_FORGET_COPIES, given)


def written(numbers: Sequence[float]) -> str:
    """A vector as the extension reads it; every digit counts, so that it comes out the same."""
    return f"[{','.join(map(repr, numbers))}]"


def _ready(store: Store) -> str | None:
    """The schema of the extension, once it and the table are there."""
    with store.read(autocommit=True) as session:
        schema, made = one(session, _SCHEMA_OF), session.rows(_IS_THERE)
        if schema and made:
            return _quoted(schema[0])
        if not schema and not session.rows(_AVAILABLE):
            return None
    try:
        with store.write() as session:
            session.rows(_MAKING)
            if not session.rows(_SCHEMA_OF):
                session.run(_EXTEND)
            name = _quoted(session.rows(_SCHEMA_OF)[0][0])
            session.run(_MAKE.format(schema=name))
    except DatabaseProblem:
        return None  # a role that may not: then the search in memory does it
    return name


def _place(store: Store, of: Mapping[str, str], schema: str) -> int:
    """Copy vectors that the extension has not seen, a batch a transaction. Returns how many."""
    with store.write() as session:
        rows = session.rows(_UNPLACED + store.backend.dialect.lock, {**of, "most": COPIED_AT_ONCE})
        if rows:
            copies = [{**of, "key": key, "near": written(floats(bytes(body)))} for key, body in rows]
            session.many(_PLACE.format(schema=schema), copies)
            session.run(_PLACED, {**of, "keys": [row[0] for row in rows]})
    return len(rows)


def floats(body: bytes) -> Sequence[float]:
    """The numbers of a vector, on a machine of either kind."""
    found = array("f")
    found.frombytes(body)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


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
        with store.read(autocommit=True) as session:
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
    """Remove vectors that have not been used for long, one batch per transaction. Return how many."""
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
    with store.write(durable=False) as session:
        given = of | {"keys": list(keys)}
        held = [row[0] for row in session.rows(_THERE + " order by key" + store.backend.dialect.lock, given)]
        session.run(_USE, of | {"keys": held, "now": store.backend.now(session)})
    return len(held)


def count(store: Store, model: str, version: str, kind: str) -> int:
    """How many there are."""
    with store.read(autocommit=True) as session:
        return int(session.rows(_COUNT, _of(model, version, kind))[0][0])


def forget(store: Store, model: str, version: str, kind: str, keys: Sequence[str]) -> None:
    """Drop vectors whose texts are gone."""
    of, wanted = _of(model, version, kind), [clean(key) for key in keys]
    for start in range(0, len(wanted), AT_ONCE):
        with store.write() as session:
            _drop(store, session, of | {"keys": wanted[start : start + AT_ONCE]})


def _drop(store: Store, session: Session, given: Mapping[str, object]) -> None:
    session.run(_FORGET, given)
    forget_copies(store, session, given)


def nearest(
    store: Store, model: str, version: str, kind: str, query: bytes, limit: int
) -> list[tuple[str, float]] | None:
    """The keys whose vectors have the largest dot product with this one, the nearest first, ties by key.

    None where the database cannot do it: load them, and search in memory.
    """
    if limit < 1:
        raise UsageError(f"nearest must be at least 1, got {limit}")
    dims(query)
    of = _of(model, version, kind)
    found = nearest_by_extension(store, of, floats(query), limit)
    if found is not None:
        _use_all(store, of)
    return found


def _use_all(store: Store, of: dict[str, str]) -> None:
    """A search looks at all vectors of its kind: all of them are used today."""
    while True:
        with store.read(autocommit=True) as session:
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
            f"a vector must be 1 to {MAX_DIMS:,} float32 numbers of {FLOAT} bytes each, got "
            f"{len(body):,} bytes"
        )
    if not isfinite(sum(floats(body))):
        raise UsageError("a vector contains infinity or NaN and cannot be compared")
    return number


def _of(model: str, version: str, kind: str) -> dict[str, str]:
    return {"model": clean(model), "version": clean(version), "kind": clean(kind)}
