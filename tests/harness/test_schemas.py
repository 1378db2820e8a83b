"""What one test leaves in PostgreSQL never reaches the next, although they use the same tables."""

import secrets
from contextlib import closing

import psycopg
import pytest

from tests.harness.schemas import Schemas
from tests.harness.tasks import change, put, rows
from thresher.store.postgres.backend import PostgresBackend
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
