"""Schemas of the test server that are handed from test to test: making all our tables anew costs more than
most tests do."""

import secrets
from contextlib import closing
from typing import Any

import psycopg

from thresher.store.postgres.backend import PostgresBackend
from thresher.store.postgres.connection import split_schema

TRIES = 5
# Every row goes, and every number starts again. A table that nobody wrote to needs nothing.
_EMPTY = """do $$
declare
    here oid := '{schema}'::regnamespace;
    written text;
begin
    select string_agg(oid::regclass::text, ', ') into written from pg_class
        where relnamespace = here and relkind = 'r' and relname not in ('migrations', 'functions') and pg_relation_size(oid) > 0;
    if written is not null then
        execute 'truncate ' || written || ' cascade';
    end if;
    perform setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) from pg_sequences
        where schemaname = '{schema}' and last_value is not null;
end $$"""
# What a test could have changed besides rows: tables, columns, indexes, options, functions, statistics, the
# steps that were applied. Of a function its whole text: one whose body is SQL has no source to compare.
_SHAPE = """select md5(string_agg(line, ',' order by line)) from (
    select concat_ws(' ', relname, relkind, relnatts, relhastriggers, reloptions,
        case when relkind = 'r' and relname not in ('migrations', 'functions') then reltuples end) as line
        from pg_class where relnamespace = '{schema}'::regnamespace
    union all select md5(replace(pg_get_functiondef(oid), '{schema}', '')) from pg_proc where pronamespace = '{schema}'::regnamespace
    union all select concat_ws(' ', conname, contype) from pg_constraint where connamespace = '{schema}'::regnamespace
    union all select 'statistics' from pg_statistic s join pg_class c on c.oid = s.starelid where c.relnamespace = '{schema}'::regnamespace
    union all select concat_ws(' ', number, name) from {schema}.migrations
    union all select hash from {schema}.functions
) lines"""


class Schemas:
    """The schemas that are free, each as good as new. One of these for each test process."""

    def __init__(self) -> None:
        self._free: list[str] = []
        self._new: str | None = None  # what a schema looks like that nobody has used
        # Kept from test to test: to open one, and to let the server look up all tables anew, costs several
        # times what is done with it.
        self._lines: dict[str, psycopg.Connection[Any]] = {}

    def make(self, url: str) -> None:
        """The schema that a URL names, with all tables, and nothing in them. Its name is new, so nobody else
        still talks to it."""
        address, schema = split_schema(url)
        if not self._free:
            with closing(PostgresBackend(url, connections=1)) as backend:
                backend.migrate()
        connection = self._line(address)
        if self._free:
            connection.execute(f"alter schema {self._free.pop()} rename to {schema}")
        self._new = self._new or _shape(connection, schema)

    def give_back(self, url: str) -> None:
        """Kept for the next test; thrown away if anything but rows was changed, or if it was not made
        here."""
        address, schema = split_schema(url)
        connection = self._line(address)
        if self._new and _has_tables(connection, schema):
            # First of all another name: whoever is still at work under the old one must not write behind the
            # broom.
            schema, used = f"free_{secrets.token_hex(6)}", schema
            connection.execute(f"alter schema {used} rename to {schema}")
            _sweep(connection, schema)
            if _shape(connection, schema) == self._new:
                self._free.append(schema)
                return
        _drop(connection, schema)

    @property
    def spare(self) -> int:
        """How many are free."""
        return len(self._free)

    def clear(self, url: str) -> None:
        """Leave nothing on the server."""
        connection = self._line(split_schema(url)[0])
        while self._free:
            _drop(connection, self._free.pop())
        connection.close()

    def _line(self, address: str) -> psycopg.Connection[Any]:
        """The connection that is kept; another one if a test has ended it."""
        kept = self._lines.get(address)
        if kept is None or not _is_alive(kept):
            kept = self._lines[address] = psycopg.connect(address, autocommit=True)
            kept.execute("set client_min_messages = warning")
        return kept


SCHEMAS = Schemas()


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    try:
        connection.execute("select 1")
    except psycopg.OperationalError:
        return False
    return True


def _sweep(connection: psycopg.Connection[Any], schema: str) -> None:
    """Remove every row. Whoever is still at work may meet us in the middle; then the server ends one of the
    two."""
    for left in reversed(range(TRIES)):
        try:
            connection.execute(_EMPTY.format(schema=schema))
        except psycopg.errors.DeadlockDetected:
            if not left:
                raise
        else:
            return


def _has_tables(connection: psycopg.Connection[Any], schema: str) -> bool:
    sql = "select count(*) from pg_tables where schemaname = %s and tablename in ('migrations', 'functions')"
    return connection.execute(sql, [schema]).fetchone() == (2,)


def _shape(connection: psycopg.Connection[Any], schema: str) -> str:
    sql = _SHAPE.format(schema=schema)
    row = connection.execute(sql).fetchone()
    assert row
    return str(row[0])


def _drop(connection: psycopg.Connection[Any], schema: str) -> None:
    connection.execute(f"drop schema if exists {schema} cascade")
