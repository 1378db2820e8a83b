"""What one test leaves in PostgreSQL never reaches the next, although they use the same tables."""

import secrets
from contextlib import closing

import psycopg
import pytest

from tests.harness.schemas import Schemas
from tests.harness.tasks import change, put, rows
from thresher.apps.prices.app import app
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.session import POSTGRES
from thresher.store.store import Store

THERE = "select nspname from pg_namespace where nspname in (:names*)"


@pytest.fixture
def schemas(postgres_url):
    found = Schemas()
    yield found
    found.clear(postgres_url)


@pytest.fixture
def urls(postgres_url):
    return [f"{postgres_url}?schema=t_{secrets.token_hex(6)}" for _ in range(2)]


def opened(url):
    return closing(Store(PostgresBackend(url)))


def used(schemas, url, *statements):
    """A test that writes, and does some more."""
    schemas.make(url)
    with opened(url) as store:
        put(store)
        for sql in statements:
            change(store, sql)
    schemas.give_back(url)


def names(urls):
    return [url.partition("schema=")[2] for url in urls]


def test_a_schema_is_handed_on_empty_with_every_number_at_its_start_and_under_another_name(schemas, urls):
    used(schemas, urls[0])
    schemas.make(urls[1])
    with opened(urls[1]) as store:
        assert rows(store, THERE, names=names(urls)) == [(names(urls)[1],)]
        assert store.backend.migrate() == []
        assert rows(store, "select count(*) from tasks") == [(0,)]
        assert put(store) == [1]
    schemas.give_back(urls[1])


def test_the_tables_of_an_app_are_handed_on_to_whoever_wants_them(schemas, urls):
    schemas.make(urls[0], [app])
    with opened(urls[0]) as store:
        put(store)
        assert len(rows(store, "select app from app_migrations")) == len(
            app_schemas([app], POSTGRES)[0].steps
        )
    schemas.give_back(urls[0])
    schemas.make(urls[1])
    with opened(urls[1]) as store:
        assert rows(store, "select app from app_migrations") == []
    assert schemas.spare == 1, "one without the app's tables had to be made"
    schemas.make(other := urls[0], [app])
    assert schemas.spare == 0
    with opened(other) as store:
        assert migrate_apps(store.backend, app_schemas([app], POSTGRES)) == []
        assert put(store) == [1]
    for url in (other, urls[1]):
        schemas.give_back(url)


def test_no_count_of_a_tests_writing_has_a_later_ones_tables_analyzed(schemas, urls):
    used(
        schemas,
        urls[0],
        "insert into lanes (key, gates) select 'l' || i, '{}' from generate_series(1, 1000) i",
    )
    schemas.make(urls[1])
    with opened(urls[1]) as store:
        counted = """select relname, n_mod_since_analyze, n_ins_since_vacuum from pg_stat_user_tables
            where schemaname = current_schema() and n_mod_since_analyze + n_ins_since_vacuum > 0"""
        assert rows(store, counted) == []
    schemas.give_back(urls[1])


@pytest.mark.parametrize(
    "sql",
    [
        "create table orders (name text)",
        "alter table tasks add column colour text",
        "drop index lanes_ready",
        "insert into migrations (number, name, applied_at) values (9999, 'future', 0)",
        "analyze tasks",
        "alter table tasks set (autovacuum_enabled = false)",
        "create function nothing() returns int language sql as 'select 1'",
        "create or replace function make_ready(lane_ids bigint[], ranks bigint[]) returns void language sql begin atomic select null; end",
        "create or replace function gate_ahead(tat bigint, interval_us bigint, burst int, now bigint) returns bigint language sql return 0",
    ],
)
def test_a_schema_that_was_changed_is_not_handed_on(schemas, urls, sql):
    used(schemas, urls[0])
    assert schemas.spare == 1
    used(schemas, urls[1], sql)
    assert schemas.spare == 0


def test_the_connection_that_is_kept_is_opened_again_when_a_test_has_ended_it(schemas, urls, postgres_url):
    used(schemas, urls[0])
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s)", [schemas._lines[postgres_url].info.backend_pid])
    used(schemas, urls[1])
    assert schemas.spare == 1
