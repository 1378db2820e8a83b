"""The nearest vectors by PostgreSQL's vector extension, where it is installed or may be.

The extension's type cannot stand in a migration, because most databases lack it. So it has a table of its
own, made when first needed: a copy of the vectors, brought up to date by whoever asks. There is no
approximate index on it; the order is exact.
"""

import sys
from array import array
from collections.abc import Mapping, Sequence

from thresher.core.errors import DatabaseProblem
from thresher.store.session import Session, one
from thresher.store.store import Store

AT_ONCE = 500
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
_FORGET = "delete from near_vectors where model = :model and version = :version and kind = :kind and key in (:keys*)"


def nearest(
    store: Store, of: Mapping[str, str], query: Sequence[float], limit: int
) -> list[tuple[str, float]] | None:
    """None where there is no such extension, nor the right to install it."""
    schema = _ready(store) if store.backend.dialect.name == "postgres" else None
    if schema is None:
        return None
    while _place(store, of, schema) == AT_ONCE:
        pass
    said = written(query)
    given = {**of, "query": said, "query_too": said, "dims": len(query), "limit": limit}
    with store.read() as session:
        return [(key, float(score)) for key, score in session.rows(_NEAREST.format(schema=schema), given)]


def forget(store: Store, session: Session, given: Mapping[str, object]) -> None:
    """Drop the copies of vectors that are dropped."""
    if store.backend.dialect.name == "postgres" and session.rows(_IS_THERE):
        session.run(_FORGET, given)


def written(numbers: Sequence[float]) -> str:
    """A vector as the extension reads it; every digit counts, so that it comes out the same."""
    return f"[{','.join(map(repr, numbers))}]"


def _ready(store: Store) -> str | None:
    """The schema of the extension, once it and the table are there."""
    with store.glance() as session:
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
        rows = session.rows(_UNPLACED + store.backend.dialect.lock, {**of, "most": AT_ONCE})
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
