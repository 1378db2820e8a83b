"""A transaction that is not durable is one like any other, only that it waits for no disk; and what is
written after it does wait.
"""

import contextlib
from functools import partial

from tests.harness.databases import Database, only_files, only_postgres
from thresher.store.sqlite.backend import SqliteBackend

FULL, NORMAL = 2, 1
_NEW = "insert into role_names (key, name, role_id) values (:key, :key, 1)"
_ALL = "select key from role_names order by key"


class _Broken(Exception):
    """Something went wrong in the middle."""


def test_what_is_not_durable_is_there_for_everybody_and_all_of_it_or_nothing(make_store):
    one, other = make_store(), make_store()
    with one.write(durable=False) as session:
        session.run(_NEW, {"key": "kept"})
    with contextlib.suppress(_Broken), one.write(durable=False) as session:
        session.run(_NEW, {"key": "lost"})
        raise _Broken
    with other.write() as session:
        session.run(_NEW, {"key": "later"})
    with one.read() as session:
        assert session.rows(_ALL) == [("kept",), ("later",)]


@only_files
def test_after_a_write_that_is_not_durable_a_file_is_as_careful_as_before(database: Database):
    backend, seen = SqliteBackend(database.url, durability="machine"), []
    for transaction in (backend.write, partial(backend.write, durable=False), backend.write):
        with transaction() as session:
            seen += session.rows("pragma synchronous")
    backend.close()
    assert seen == [(FULL,), (NORMAL,), (FULL,)]


@only_postgres
def test_after_a_write_that_is_not_durable_a_server_is_as_careful_as_before(database: Database):
    store = database.open()
    seen = []
    for transaction in (store.write, partial(store.write, durable=False), store.write):
        with transaction() as session:
            seen.append(session.rows("show synchronous_commit")[0][0])
    assert seen == ["on", "off", "on"]
