"""Many rows in one statement, and many keys in one question.

The two databases want it differently: SQLite runs a prepared statement of many rows at next to no cost,
PostgreSQL wants whole columns at once, because every statement is a way there and back. A single row or key
is sent as plain values: PostgreSQL would plan a statement with short columns anew each time.

The texts are the same for both: rows stand in them as `{rows}`, a table `n` with the columns that were named;
keys as `{keys}` behind a column's name, or as `{asked}`, a table `n` with a column `key`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

import orjson

from thresher.store.session import Dialect, Row, Session

# Their names, and of each the type of its values; or what stands there in every row: words of SQL, or `:name`
# for a value given once.
Columns = tuple[tuple[str, str], ...]

TYPES = ("bigint", "text")
# Rows in one statement on SQLite: a third faster than one by one. What is left over is fewer than ten, and
# one statement too. More would not be faster: a text of more than 16 KB, as 100 rows of a wide table are, is
# not kept by the driver, and to parse it anew each time takes longer than to insert the rows.
GROUPS = (50, 10)
_SEQUENCE = """with counter as materialized (select cast(pg_get_serial_sequence(:table, 'id') as regclass) as name)
    select nextval(counter.name) from counter, generate_series(1, :number)"""
_SQLITE = ("in (select value from json_each(:keys))", "(select value as key from json_each(:keys)) as n")
_TEXTS = ("= any (cast(:!keys as text[]))", "unnest(cast(:!keys as text[])) as n(key)")
_NUMBERS = ("= any (cast(:!keys as bigint[]))", "unnest(cast(:!keys as bigint[])) as n(key)")
_UPDATE = re.compile(r"update .+ from \{rows\}\s+where [^{]+$", re.DOTALL)
_FROM_ROWS = re.compile(r"\s+from \{rows\}")
_OF_ROW = re.compile(r"\bn\.(\w+)")
_LAST = "select seq from sqlite_sequence where name = :table"


def insert_rows(
    dialect: Dialect,
    session: Session,
    table: str,
    columns: Columns,
    rows: Sequence[Sequence[Any]],
    then: str = "",
    **once: Any,
) -> int:
    """Insert these rows; how many were. `then` says what is done about those that are there already.

    Say in `columns` what is the same in all rows: SQLite inserts a row of words in half the time of a row of
    values.
    """
    statements = _inserts(dialect, table, columns, rows, then, once) if rows else ()
    return sum([session.run(sql, values) for sql, values in statements])


def insert_returning(
    dialect: Dialect,
    session: Session,
    table: str,
    columns: Columns,
    rows: Sequence[Sequence[Any]],
    then: str,
    **once: Any,
) -> list[Row]:
    """Insert these rows; what `returning` at the end of `then` says of them, in no order."""
    statements = _inserts(dialect, table, columns, rows, then, once) if rows else ()
    return [row for sql, values in statements for row in session.rows(sql, values)]


def _inserts(
    dialect: Dialect,
    table: str,
    columns: Columns,
    rows: Sequence[Sequence[Any]],
    then: str,
    once: Mapping[str, Any],
) -> Iterable[tuple[str, Any]]:
    """The statements that insert these rows in their order, each with its values."""
    if dialect.name != "sqlite":
        several = min(len(rows), 2)
        return [(_insert(dialect.name, table, columns, then, several), {**_columns(rows), **once})]
    given = [once[name] for name in _once(columns)] if once else []
    groups = _grouped(rows) if len(rows) >= GROUPS[-1] else (rows,)
    return (
        (_insert(dialect.name, table, columns, then, len(some)), [*given, *chain.from_iterable(some)])
        for some in groups
    )


def _grouped(rows: Sequence[Sequence[Any]]) -> Iterator[Sequence[Sequence[Any]]]:
    at = 0
    for group in (*GROUPS, len(rows) % GROUPS[-1]):
        while group and len(rows) - at >= group:
            yield rows[at : at + group]
            at += group


def pour(
    dialect: Dialect, session: Session, sql: str, columns: Columns, rows: Sequence[Sequence[Any]]
) -> None:
    """Run a statement that takes its values from `{rows}`."""
    if rows and dialect.name == "sqlite":
        session.many(_poured(sql, columns), rows)  # type: ignore[arg-type]  # its driver takes rows as they are
    elif rows:
        session.run(sql.replace("{rows}", _table(dialect.name, columns, len(rows) > 1)), _columns(rows))


def _columns(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    if len(rows) == 1:
        return {f"c{at}": value for at, value in enumerate(rows[0])}
    return {f"c{at}": list(column) for at, column in enumerate(zip(*rows, strict=True))}


@lru_cache(64)
def _poured(sql: str, columns: Columns) -> str:
    """SQLite updates from values in half the time that it takes for a row it selects."""
    if not _UPDATE.match(sql):
        return sql.replace("{rows}", _table("sqlite", columns, False))
    places = {column: f"?{at}" for at, (column, _) in enumerate(columns, 1)}
    return _OF_ROW.sub(lambda found: places[found[1]], _FROM_ROWS.sub("", sql))


@lru_cache(512)
def _insert(name: str, table: str, columns: Columns, then: str, group: int) -> str:
    into = f"insert into {table} ({', '.join(column for column, _ in columns)})"
    if name == "sqlite":  # it takes twice as long to insert what it selects, even from nowhere
        return f"{into} values {', '.join(_numbered(columns, group))} {then}"
    values = ", ".join(f"n.{column}" if kind in TYPES else kind for column, kind in columns)
    return f"{into} select {values} from {_table(name, columns, group > 1)} {then}"


def _numbered(columns: Columns, group: int) -> list[str]:
    """Rows of `?1`, `?2`, ...: first the values that are given once, then those of one row after the
    other.
    """
    once, rows = {f":{name}": f"?{at}" for at, name in enumerate(_once(columns), 1)}, []
    number = count(len(once) + 1)
    for _ in range(group):
        row = (f"?{next(number)}" if kind in TYPES else once.get(kind, kind) for _, kind in columns)
        rows.append(f"({', '.join(row)})")
    return rows


@lru_cache(64)
def _once(columns: Columns) -> tuple[str, ...]:
    """The names of the values that are given once."""
    return tuple(dict.fromkeys(kind[1:] for _, kind in columns if kind.startswith(":")))


@lru_cache(64)
def _table(name: str, columns: Columns, several: bool) -> str:
    given = [(column, kind) for column, kind in columns if kind in TYPES]
    if name == "sqlite":
        return f"(select {', '.join(f'? as {column}' for column, _ in given)}) as n"
    if not several:
        values = (f"cast(:c{at} as {kind}) as {column}" for at, (column, kind) in enumerate(given))
        return f"(select {', '.join(values)}) as n"
    arrays = ", ".join(f"cast(:!c{at} as {kind}[])" for at, (_, kind) in enumerate(given))
    return f"unnest({arrays}) as n({', '.join(column for column, _ in given)})"


def among(
    dialect: Dialect, session: Session, sql: str, keys: Collection[str | int], **others: Any
) -> list[Row]:
    """Ask for these keys. They are all texts, or all numbers."""
    if not keys:
        return []
    first, *more = keys
    kind = "text" if isinstance(first, str) else "bigint"
    text = _asking(dialect.name, sql, kind, bool(more))
    if more:
        return session.rows(text, {"keys": _LISTED[dialect.name]([first, *more]), **others})
    return session.rows(text, {"key": first, **others})


_LISTED: Mapping[str, Callable[[list[Any]], Any]] = {
    "sqlite": lambda keys: orjson.dumps(keys).decode(),
    "postgres": lambda keys: keys,
}


@lru_cache(128)
def _asking(name: str, sql: str, kind: str, several: bool) -> str:
    key = ":key" if name == "sqlite" else f"cast(:key as {kind})"
    words = (f"= {key}", f"(select {key} as key) as n")
    if several:
        words = _SQLITE if name == "sqlite" else _TEXTS if kind == "text" else _NUMBERS
    return sql.replace("{keys}", words[0]).replace("{asked}", words[1])


def new_ids(dialect: Dialect, session: Session, table: str, number: int) -> Sequence[int]:
    """Ids for rows that will be inserted with them. On SQLite whoever writes is alone, so they are simply the
    next ones.
    """
    asked: Mapping[str, Any] = {"table": table, "number": number}
    if dialect.name == "postgres":
        return [row[0] for row in session.rows(_SEQUENCE, asked)]
    last = session.rows(_LAST, {"table": table})
    first = (last[0][0] if last else 0) + 1
    return range(first, first + number)
