"""Schemas of the test server that are handed from test to test: making all our tables anew costs more than
most tests do, and an app's tables come on top."""

import secrets
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from typing import Any

import psycopg

from thresher.core.app import App
from thresher.store.app_migrations import AppSchema, app_schemas, migrate_apps
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.postgres.connection import split_schema
from thresher.store.session import POSTGRES

TRIES = 5
Kind = tuple[AppSchema, ...]  # whose tables there are besides the machine's
# Every row goes, and every number starts again. A table that nobody wrote to needs nothing, and one that is
# small is not truncated: with its indexes, and all tables that refer to it, that costs more than most tests
# do. Up to ten pages the server plans for a table as if it had ten.
_EMPTY = """do $$
declare
    here oid := '{schema}'::regnamespace;
    small text[];
    large text;
    one text;
begin
    select array_agg(oid::regclass::text) filter (where pg_table_size(oid) <= 65536),
            string_agg(oid::regclass::text, ', ') filter (where pg_table_size(oid) > 65536)
        into small, large from pg_class where relnamespace = here and relkind = 'r'
        and relname not in ('migrations', 'functions', 'app_migrations') and pg_relation_size(oid) > 0;
    if large is not null then
        execute 'truncate ' || large || ' cascade';
    end if;
    if small is not null then
        -- Whoever is still at work is waited for, and no row asks for those that refer to it.
        execute 'lock table ' || array_to_string(small, ', ') || ' in access exclusive mode';
        perform set_config('session_replication_role', 'replica', true);
        foreach one in array small loop
            execute 'delete from ' || one;
        end loop;
    end if;
    perform setval(format('%I.%I', schemaname, sequencename)::regclass, 1, false) from pg_sequences
        where schemaname = '{schema}' and last_value is not null;
end $$"""
# What a test could have changed besides rows: tables, columns, indexes, options, functions, statistics, the
# steps that were applied. Of a function its whole text: one whose body is SQL has no source to compare.
_SHAPE = """select md5(string_agg(line, ',' order by line)) from (
    select concat_ws(' ', relname, relkind, relnatts, relhastriggers, reloptions,
        case when relkind = 'r' and relname not in ('migrations', 'functions', 'app_migrations') then reltuples end) as line
        from pg_class where relnamespace = '{schema}'::regnamespace
    union all select md5(replace(pg_get_functiondef(oid), '{schema}', '')) from pg_proc where pronamespace = '{schema}'::regnamespace
    union all select concat_ws(' ', conname, contype) from pg_constraint where connamespace = '{schema}'::regnamespace
    union all select 'statistics' from pg_statistic s join pg_class c on c.oid = s.starelid where c.relnamespace = '{schema}'::regnamespace
    union all select concat_ws(' ', number, name) from {schema}.migrations
    union all select concat_ws(' ', app, number, name) from {schema}.app_migrations
    union all select hash from {schema}.functions
) lines"""

# The server also counts what was written to a table since it was last looked at. A count that a test left
# behind would have the next one's table analyzed in the middle of a transaction, when it has pages and no
# rows: all plans that are made of it then are wrong.
_UNCOUNT = """select pg_stat_reset_single_table_counters(oid) from pg_class
    where relnamespace = '{schema}'::regnamespace and relkind = 'r'
    and pg_stat_get_mod_since_analyze(oid) + pg_stat_get_ins_since_vacuum(oid) + pg_stat_get_dead_tuples(oid) > 0"""


class Schemas:
    """The schemas that are free, each as good as new. One of these for each test process."""

    def __init__(self) -> None:
        self._free: defaultdict[Kind, list[str]] = defaultdict(list)
        self._new: dict[str, Kind] = {}  # what a schema of each kind looks like that nobody has used
        # Kept from test to test: to open one, and to let the server look up all tables anew, costs several
        # times what is done with it.
        self._lines: dict[str, psycopg.Connection[Any]] = {}

    def make(self, url: str, apps: Iterable[App] = ()) -> None:
        """The schema that a URL names, with all tables, those of these apps too, and nothing in them. Its
        name is new, so nobody else still talks to it."""
        address, schema = split_schema(url)
        kind = app_schemas(apps, POSTGRES)
        connection = self._line(address)
        if self._free[kind]:
            connection.execute(f"alter schema {self._free[kind].pop()} rename to {schema}")
            connection.execute(_UNCOUNT.format(schema=schema))
            return
        with closing(PostgresBackend(url, connections=1)) as backend:
            backend.migrate()
            migrate_apps(backend, kind)
        if kind not in self._new.values():
            self._new[_shape(connection, schema)] = kind

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
            kind = self._new.get(_shape(connection, schema))
            if kind is not None:
                self._free[kind].append(schema)
                return
        _drop(connection, schema)

    @property
    def spare(self) -> int:
        """How many are free."""
        return sum(map(len, self._free.values()))

    def clear(self, url: str) -> None:
        """Leave nothing on the server."""
        connection = self._line(split_schema(url)[0])
        for free in self._free.values():
            while free:
                _drop(connection, free.pop())
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
    sql = "select count(*) from pg_tables where schemaname = %s and tablename in ('migrations', 'functions', 'app_migrations')"
    return connection.execute(sql, [schema]).fetchone() == (3,)


def _shape(connection: psycopg.Connection[Any], schema: str) -> str:
    sql = _SHAPE.format(schema=schema)
    row = connection.execute(sql).fetchone()
    assert row
    return str(row[0])


def _drop(connection: psycopg.Connection[Any], schema: str) -> None:
    connection.execute(f"drop schema if exists {schema} cascade")
