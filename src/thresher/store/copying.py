"""Copy every row of one database into another, empty one, whichever two databases they are.

Which tables and columns there are is read from the databases. The source is read in one snapshot, the target
made and filled in one transaction: it has all of it in the end, or nothing. Rows pass by in small batches, so
memory does not grow with the database.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any

import orjson

from thresher.core.errors import DatabaseProblem
from thresher.store.app_migrations import AppSchema, migrate_apps_within, versions
from thresher.store.backend import Backend
from thresher.store.session import Row, Session
from thresher.store.workers import end_leases

# What a database says of its own schema; the target says it of its own.
OF_THE_SCHEMA = frozenset({"migrations", "app_migrations", "functions"})
ROWS_AT_ONCE = 500
# Rows of a table that holds bodies: a few megabytes each, at worst.
BODIES_AT_ONCE = 8

_TABLES = {
    "sqlite": "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
    "postgres": """select relname from pg_class where relkind in ('r', 'p')
        and relnamespace = (select oid from pg_namespace where nspname = current_schema()) order by relname""",
}
# Without columns that the database computes itself.
_COLUMNS = {
    "sqlite": "select name, lower(type) from pragma_table_xinfo(:name) where hidden = 0 order by cid",
    "postgres": """select a.attname, format_type(a.atttypid, null) from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relname = :name and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum""",
}
_REFERENCES = {
    "sqlite": """select m.name, lower(f."table"), '' from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table'""",
    "postgres": """select c.relname, p.relname, k.conname from pg_constraint k
        join pg_class c on c.oid = k.conrelid join pg_class p on p.oid = k.confrelid
        where k.contype = 'f' and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())""",
}
# The column of each table that the database numbers, and what its numbers come from.
_NUMBERED = {
    "sqlite": "select name, '', name from sqlite_sequence",
    "postgres": """select c.relname, a.attname, s.relname from pg_class s
        join pg_depend d on d.objid = s.oid and d.classid = cast('pg_class' as regclass) and d.deptype in ('a', 'i')
        join pg_class c on c.oid = d.refobjid join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
        where s.relkind = 'S' and c.relnamespace = (select oid from pg_namespace where nspname = current_schema())""",
}
_AT_WORK = "select count(*) from workers where stopped_at is null and lost_at is null and lease_until >= :now"
# PostgreSQL passes over tasks of a lower rank; SQLite does not keep the number up.
_NO_FLOOR = "update lanes set floor = 0"

# How columns of PostgreSQL read where SQLite has what its drivers hand out. SQLite takes what it is given.
_PLAIN = frozenset(
    {
        "smallint",
        "integer",
        "bigint",
        "real",
        "double precision",
        "text",
        "character varying",
        "character",
        "bytea",
    }
)
_NUMBERS, _JSON = "bigint[]", frozenset({"json", "jsonb"})
_BYTES = frozenset({"bytea", "blob"})
_KNOWN = _PLAIN | _JSON | {_NUMBERS, "boolean"}


@dataclass(frozen=True, slots=True)
class CopiedColumn:
    """A column as both databases know it. `compared_as_json`: one of them arranges its text anew."""

    name: str
    source_type: str
    target_type: str

    @property
    def compared_as_json(self) -> bool:
        return "jsonb" in (self.source_type, self.target_type)


@dataclass(frozen=True, slots=True)
class TableCopied:
    """How many rows a table has, and a hash over all of them, whatever their order; found the same on both
    sides.
    """

    table: str
    rows: int
    hash: str


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied. `left_out` are tables of the source that no migration made; `workers` were at work
    there.
    """

    tables: tuple[TableCopied, ...]
    left_out: tuple[str, ...]
    workers: int

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.tables)


Told = Callable[[str, int, int], None]  # a table, its rows so far, and all of them


@dataclass(slots=True)
class Sum:
    """The rows that passed by: their number and the sum of their hashes, which knows no order."""

    rows: int = 0
    total: int = 0

    def add(self, values: Iterable[Any]) -> None:
        self.rows += 1
        self.total += int.from_bytes(sha256(_as_bytes(values)).digest(), "big")

    @property
    def hash(self) -> str:
        return f"{self.total % 2**256:064x}"


def _as_bytes(values: Iterable[Any]) -> bytes:
    """A row as bytes, the same for the same values whichever database they come from."""
    parts = []
    for value in values:
        # In front of each its kind and its length: no two rows run together into the same bytes.
        kind = b"b" if isinstance(value, bytes | memoryview) else type(value).__name__[:1].encode()
        text = bytes(value) if kind == b"b" else str(value).encode("utf-8", "surrogatepass")
        parts.append(b"%b%d:%b" % (kind, len(text), text))
    return b"".join(parts)


@dataclass(slots=True)
class _Copy:
    source: Session
    target: Session
    told: Told
    cursors: Iterator[int] = field(default_factory=count)

    def table(self, name: str, columns: Sequence[CopiedColumn]) -> Sum:
        """Copy one table."""
        total = int(self.source.rows(f"select count(*) from {_quoted(name)}")[0][0])
        places = ", ".join(f":!p{n}" if self._is_long(each) else f":p{n}" for n, each in enumerate(columns))
        names = ", ".join(_quoted(each.name) for each in columns)
        insert = f"insert into {_quoted(name)} ({names}) values ({places})"
        done = Sum()
        for batch in self._read(self.source, name, [(each.name, each.source_type) for each in columns]):
            rows = []
            for row in batch:
                done.add(_compared(columns, row))
                rows.append({f"p{n}": _given(columns[n].target_type, value) for n, value in enumerate(row)})
            self.target.many(insert, rows)
            self.told(name, done.rows, total)
        return done

    def found(self, name: str, columns: Sequence[CopiedColumn]) -> Sum:
        """The same table as the target has it now."""
        found = Sum()
        for batch in self._read(self.target, name, [(each.name, each.target_type) for each in columns]):
            for row in batch:
                found.add(_compared(columns, row))
        return found

    def _is_long(self, column: CopiedColumn) -> bool:
        return self.target.dialect.name == "postgres" and column.target_type == "bytea"

    def _read(self, session: Session, name: str, columns: Sequence[tuple[str, str]]) -> Iterator[list[Row]]:
        wanted = ", ".join(_wanted(column, kind) for column, kind in columns)
        at_once = BODIES_AT_ONCE if any(kind in _BYTES for _, kind in columns) else ROWS_AT_ONCE
        for batch in session.batches(f"select {wanted} from {_quoted(name)}", at_once):
            yield [
                tuple(_read(kind, value) for (_, kind), value in zip(columns, row, strict=True))
                for row in batch
            ]


def copy_all(
    source: Backend, target: Backend, schemas: Sequence[AppSchema], told: Told, shown: str
) -> Copied:
    """Make `target` the same as `source` is at this moment. `schemas` are the migrations of the apps whose
    tables the source has; `shown` is what the target is called.

    Nobody's lease is carried on: tasks that ran in the source are given back by the first worker of the copy.
    """
    with source.snapshot() as read, target.migrating() as write:
        _check_empty(write, shown)
        target.migrate_within(write)
        migrate_apps_within(target, write, schemas, versions(read))
        with target.bulk(write):
            tables, left_out = _tables(read, write)
            order, late = _in_order(write, tables)
            for constraint in late:
                write.run(f"{constraint} deferrable initially deferred")
            for name in reversed(order):  # what migrations put there
                write.run(f"delete from {_quoted(name)}")
            work = _Copy(read, write, told)
            sums = {name: work.table(name, tables[name]) for name in order}
            _check_same(work, tables, sums)
            if late:
                write.run("set constraints all immediate")
            for constraint in late:
                write.run(f"{constraint} not deferrable")
        _continue_numbers(read, write)
        if write.dialect.name == "postgres":
            write.run(_NO_FLOOR)
        workers = int(read.rows(_AT_WORK, {"now": source.now(read)})[0][0])
        end_leases(write, target.now(write))
    return Copied(
        tuple(TableCopied(name, sums[name].rows, sums[name].hash) for name in sorted(sums)), left_out, workers
    )


def _check_empty(session: Session, shown: str) -> None:
    names = [name for (name,) in session.rows(_TABLES[session.dialect.name])]
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        raise DatabaseProblem(
            f"{shown} is not empty: it has the tables {', '.join(names[:5])}{more}. Nothing was changed. Copy to a new file, "
            "or to a schema of its own with ?schema=NAME"
        )


def _tables(source: Session, target: Session) -> tuple[dict[str, list[CopiedColumn]], tuple[str, ...]]:
    """The columns of every table that the target has, and the names of tables that only the source has."""
    there = [name for (name,) in target.rows(_TABLES[target.dialect.name]) if name not in OF_THE_SCHEMA]
    here = {name for (name,) in source.rows(_TABLES[source.dialect.name])} - OF_THE_SCHEMA
    if missing := sorted(set(there) - here):
        raise DatabaseProblem(
            f"the source lacks the tables {', '.join(missing)}, which its migrations make: it is damaged. "
            "Restore a backup"
        )
    return {name: _columns(source, target, name) for name in there}, tuple(sorted(here - set(there)))


def _columns(source: Session, target: Session, table: str) -> list[CopiedColumn]:
    have, want = _types(source, table), _types(target, table)
    if differing := sorted(have.keys() ^ want.keys()):
        raise DatabaseProblem(
            f"the table {table} has other columns in the source than its migrations make: {', '.join(differing)}. "
            "Run the version of Thresher and of its apps that migrated the source"
        )
    return [CopiedColumn(name, have[name], kind) for name, kind in want.items()]


def _types(session: Session, table: str) -> Mapping[str, str]:
    found: dict[str, str] = dict(session.rows(_COLUMNS[session.dialect.name], {"name": table}))
    if session.dialect.name == "postgres" and (
        odd := {kind for kind in found.values() if kind not in _KNOWN}
    ):
        names = ", ".join(f"{table}.{name} ({kind})" for name, kind in found.items() if kind in odd)
        raise DatabaseProblem(
            f"columns of these types cannot be copied: {names}. Types that can: {', '.join(sorted(_KNOWN))}"
        )
    return found


def _in_order(session: Session, tables: Iterable[str]) -> tuple[list[str], list[str]]:
    """The tables, each after those that it refers to; and how to change constraints that no order satisfies.

    SQLite looks at references when the transaction ends, PostgreSQL at every statement.
    """
    references = session.rows(_REFERENCES[session.dialect.name])
    left, order = list(tables), list[str]()
    while left:
        waits = {child for child, parent, _ in references if parent in left and parent != child}
        free = [name for name in left if name not in waits] or left[:1]
        order += free
        left = [name for name in left if name not in free]
    place = {name: at for at, name in enumerate(order)}
    late = [
        f"alter table {_quoted(child)} alter constraint {_quoted(constraint)}"
        for child, parent, constraint in references
        if constraint and child in place and place[child] <= place.get(parent, -1)
    ]
    return order, late


def _check_same(work: _Copy, tables: Mapping[str, Sequence[CopiedColumn]], sums: Mapping[str, Sum]) -> None:
    different = []
    for name, copied in sums.items():
        found = work.found(name, tables[name])
        if (found.rows, found.hash) != (copied.rows, copied.hash):
            different.append(f"{name} ({copied.rows} rows became {found.rows})")
    if different:
        raise DatabaseProblem(
            f"the copy differs from the source in {', '.join(different)}, and was undone. The target holds values "
            "of these tables in another way than the source"
        )


def _continue_numbers(source: Session, target: Session) -> None:
    """Number on where the source has stopped: a number that was given out is never given out again."""
    given = {
        table: _last_number(source, sequence)
        for table, _, sequence in source.rows(_NUMBERED[source.dialect.name])
    }
    if target.dialect.name == "sqlite":
        for table, last in given.items():
            target.run("delete from sqlite_sequence where name = :name", {"name": table})
            target.run(
                "insert into sqlite_sequence (name, seq) values (:name, :last)", {"name": table, "last": last}
            )
        return
    for table, _, sequence in target.rows(_NUMBERED["postgres"]):
        last = given.get(table, 0)
        target.rows(
            f"select setval('{_quoted(sequence)}', :last, :given)", {"last": max(last, 1), "given": last > 0}
        )


def _last_number(source: Session, sequence: str) -> int:
    if source.dialect.name == "sqlite":
        return int(
            source.rows("select seq from sqlite_sequence where name = :name", {"name": sequence})[0][0]
        )
    last, given = source.rows(f"select last_value, is_called from {_quoted(sequence)}")[0]
    return int(last) if given else int(last) - 1


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _wanted(column: str, kind: str) -> str:
    """A column as it is selected: the driver reads JSON by itself, and we want its text."""
    return f"cast({_quoted(column)} as text)" if kind in _JSON else _quoted(column)


def _read(kind: str, value: Any) -> Any:
    """A value as SQLite has it."""
    if value is None:
        return None
    if kind == _NUMBERS:
        return " ".join(map(str, value))
    return int(value) if kind == "boolean" else value


def _given(kind: str, value: Any) -> Any:
    """A value as the target takes it. SQLite takes all of them as they are."""
    if value is None:
        return None
    if kind == _NUMBERS:
        return [int(part) for part in str(value).split()]
    return bool(value) if kind == "boolean" else value


def _compared(columns: Sequence[CopiedColumn], row: Row) -> Row:
    if not any(each.compared_as_json for each in columns):
        return row
    return tuple(
        orjson.dumps(orjson.loads(value), option=orjson.OPT_SORT_KEYS).decode()
        if each.compared_as_json and value is not None
        else value
        for each, value in zip(columns, row, strict=True)
    )
