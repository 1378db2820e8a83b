"""Enqueue within a transaction of the caller's: a psycopg connection, or one of our own SQLite library."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import apsw
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.harness.databases import Database, only_files, only_postgres
from tests.harness.tasks import claim, rows
from thresher import Client, NewTask
from thresher.core.errors import DatabaseProblem, UsageError
from thresher.store.postgres.connection import split_schema
from thresher.store.store import Store

SOON = 30.0


def ids(store: Store) -> list[int]:
    return [row[0] for row in rows(store, "select id from tasks order by id")]


# --- in a transaction of the caller's on PostgreSQL


@pytest.fixture
def own(url: str) -> Iterator[psycopg.Connection]:
    """A connection of the caller's with habits of its own: another search path, rows as dictionaries."""
    with psycopg.connect(
        split_schema(url)[0], row_factory=dict_row, options="-c search_path=pg_catalog"
    ) as connection:
        yield connection


@only_postgres
@pytest.mark.promise(1)
def test_a_task_is_enqueued_when_the_callers_transaction_commits(
    client: Client, worker: Store, own: psycopg.Connection
):
    own.execute("create temporary table orders (name text)")
    own.commit()
    own.execute("insert into orders values ('pears')")
    added = client.enqueue(NewTask("greet", key="pears"), connection=own)
    assert own.execute("show search_path").fetchone() == {"search_path": "pg_catalog"}
    assert (ids(worker), claim(worker)) == ([], [])
    own.commit()
    assert [task.id for task in claim(worker)] == ids(worker) == [added.id]
    assert own.execute("show search_path").fetchone() == {"search_path": "pg_catalog"}
    own.rollback()
    # First of all in a new transaction: it is the caller's, too, and not committed behind the caller's back.
    client.enqueue_many([NewTask("greet"), NewTask("greet")], connection=own)
    own.rollback()
    assert ids(worker) == [added.id]


@only_postgres
def test_workers_hear_of_it_when_the_caller_commits(client: Client, worker: Store, own: psycopg.Connection):
    while worker.backend.listen(0.2):
        pass
    client.enqueue(NewTask("greet"), connection=own)
    assert not worker.backend.listen(0.2)
    own.commit()
    assert worker.backend.listen(SOON)


@only_postgres
def test_a_connection_that_commits_by_itself_enqueues_at_once(
    client: Client, worker: Store, own: psycopg.Connection
):
    own.autocommit = True
    added = client.enqueue(NewTask("greet"), connection=own)
    assert ids(worker) == [added.id]
    with own.transaction(force_rollback=True):
        client.enqueue(NewTask("greet"), connection=own)
    assert ids(worker) == [added.id]
    assert own.execute("show search_path").fetchone() == {"search_path": "pg_catalog"}


@only_postgres
@pytest.mark.promise(2)
def test_a_connection_to_another_database_is_refused_and_still_usable(
    client: Client, own: psycopg.Connection, postgres_url: str
):
    with psycopg.connect(split_schema(postgres_url)[0], dbname="template1", autocommit=False) as other:
        other.execute("create temporary table mine (number int)")
        with pytest.raises(UsageError, match=r"not to the client.s database"):
            client.enqueue(NewTask("greet"), connection=other)
        other.execute("insert into mine values (1)")
        other.rollback()
    for wrong in (sqlite3.connect(":memory:"), apsw.Connection(":memory:"), object()):
        with pytest.raises(UsageError, match=r"psycopg\.Connection"):
            client.enqueue(NewTask("greet"), connection=wrong)


# --- in a transaction of the caller's on SQLite


@only_files
@pytest.mark.promise(1)
def test_a_task_is_enqueued_when_the_transaction_of_an_apsw_connection_commits(
    client: Client, worker: Store, database: Database
):
    own = apsw.Connection(database.url)
    own.execute("create table orders (name text); begin immediate; insert into orders values ('pears')")
    client.enqueue(NewTask("greet"), connection=own)
    own.execute("rollback")
    assert (ids(worker), rows(worker, "select name from orders")) == ([], [])
    own.execute("begin immediate; insert into orders values ('plums')")
    added = client.enqueue(NewTask("greet"), connection=own)
    assert (ids(worker), own.in_transaction) == ([], True)
    own.execute("commit")
    assert ([task.id for task in claim(worker)], rows(worker, "select name from orders")) == (
        [added.id],
        [("plums",)],
    )
    alone = client.enqueue(NewTask("greet"), connection=own)  # no transaction is open there
    assert ids(worker) == [added.id, alone.id]


@only_files
def test_a_transaction_that_can_no_longer_write_says_how_to_begin(
    client: Client, worker: Store, database: Database
):
    own = apsw.Connection(database.url)
    own.execute("begin")
    own.execute("select count(*) from tasks").fetchall()
    client.enqueue(NewTask("greet"))
    with pytest.raises(DatabaseProblem, match="begin it with BEGIN IMMEDIATE"):
        client.enqueue(NewTask("greet"), connection=own)
    own.execute("rollback")
    assert len(ids(worker)) == 1


@only_files
@pytest.mark.promise(2)
def test_a_connection_of_another_library_or_to_another_file_is_refused(
    client: Client, tmp_path: Path, database: Database
):
    with pytest.raises(UsageError, match=r"apsw\.Connection, not a sqlite3\.Connection"):
        client.enqueue(NewTask("greet"), connection=sqlite3.connect(":memory:"))
    with pytest.raises(DatabaseProblem, match="cannot be opened with sqlite3 as well"):
        sqlite3.connect(database.url)
    for other in (str(tmp_path / "other.db"), ":memory:"):
        with pytest.raises(UsageError, match="the tasks are in"):
            client.enqueue(NewTask("greet"), connection=apsw.Connection(other))
