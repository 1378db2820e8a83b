"""Many rows in one statement, and many keys in one question.

The two databases want it differently: SQLite runs a prepared statement of many rows at next to no cost,
PostgreSQL wants whole columns at once, because every statement is a way there and back. The texts are the
same for both: rows stand in them as `{rows}`, a table `n` with the columns that were named; keys as `{keys}`
behind a column's name, or as `{asked}`, a table `n` with a column `key`.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain, count
from typing import Any

import orjson

from thresher.store.session import Dialect, Row, Session

# Their names, and of each the type of its values; or what stands there in every row: words of SQL, or `:name`
# for a value given once.
Columns = tuple[tuple[str, str], ...]

TYPES = ("bigint", "text")
GROUPS = (
    500,
    100,
    10,
    1,
)  # rows in one statement on SQLite: a third faster than one by one, and other threads can work meanwhile
_SEQUENCE = """with counter as materialized (select cast(pg_get_serial_sequence(:table, 'id') as regclass) as name)
    select nextval(counter.name) from counter, generate_series(1, :number)"""
_SQLITE = ("in (select value from json_each(:keys))", "(select value as key from json_each(:keys)) as n")
_TEXTS = ("= any (cast(:!keys as text[]))", "unnest(cast(:!keys as text[])) as n(key)")
_NUMBERS = ("= any (cast(:!keys as bigint[]))", "unnest(cast(:!keys as bigint[])) as n(key)")
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
    if not rows:
        return 0
    if dialect.name != "sqlite":
        return session.run(_insert(dialect.name, table, columns, then), _columns(rows) | once)
    given, number, at = [once[name] for name in _once(columns)], 0, 0
    for group in GROUPS:
        sql = _insert(dialect.name, table, columns, then, group)
        while len(rows) - at >= group:
            number += session.run(sql, [*given, *chain.from_iterable(rows[at : at + group])])  # type: ignore[arg-type]  # as they are
            at += group
    return number


def pour(
    dialect: Dialect, session: Session, sql: str, columns: Columns, rows: Sequence[Sequence[Any]]
) -> None:
    """Run a statement that takes its values from `{rows}`."""
    text = sql.replace("{rows}", _table(dialect.name, columns))
    if rows and dialect.name == "sqlite":
        session.many(text, rows)  # type: ignore[arg-type]  # its driver takes rows as they are
    elif rows:
        session.run(text, _columns(rows))


def _columns(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    return {f"c{at}": list(column) for at, column in enumerate(zip(*rows, strict=True))}


@lru_cache(64)
def _insert(name: str, table: str, columns: Columns, then: str, group: int = 1) -> str:
    into = f"insert into {table} ({', '.join(column for column, _ in columns)})"
    if name == "sqlite":  # it takes twice as long to insert what it selects, even from nowhere
        return f"{into} values {', '.join(_numbered(columns, group))} {then}"
    values = ", ".join(f"n.{column}" if kind in TYPES else kind for column, kind in columns)
    return f"{into} select {values} from {_table(name, columns)} {then}"


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
def _table(name: str, columns: Columns) -> str:
    given = [(column, kind) for column, kind in columns if kind in TYPES]
    if name == "sqlite":
        return f"(select {', '.join(f'? as {column}' for column, _ in given)}) as n"
    arrays = ", ".join(f"cast(:!c{at} as {kind}[])" for at, (_, kind) in enumerate(given))
    return f"unnest({arrays}) as n({', '.join(column for column, _ in given)})"


def among(
    dialect: Dialect, session: Session, sql: str, keys: Collection[str | int], **others: Any
) -> list[Row]:
    """Ask for these keys. They are all texts, or all numbers."""
    if not keys:
        return []
    listed = list(keys)
    words = _SQLITE if dialect.name == "sqlite" else _TEXTS if isinstance(listed[0], str) else _NUMBERS
    text = sql.replace("{keys}", words[0]).replace("{asked}", words[1])
    return session.rows(
        text, {"keys": orjson.dumps(listed).decode() if dialect.name == "sqlite" else listed, **others}
    )


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
