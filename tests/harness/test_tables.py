"""A copied database is the one that `migrate` makes."""

from contextlib import closing
from pathlib import Path

import pytest

from tests.harness.databases import Database, file_database, memory_database
from tests.harness.tables import TABLES
from tests.harness.tasks import put, rows
from thresher.core.clock import FrozenClock
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

_SHAPE = "select type, name, tbl_name, sql from sqlite_master order by type, name"
_STEPS = "select number, name, applied_at from migrations order by number"


@pytest.fixture(params=["memory", "file"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    return (
        memory_database(FrozenClock())
        if request.param == "memory"
        else file_database(tmp_path, FrozenClock())
    )


def test_a_copy_is_what_migrate_makes(database: Database):
    with closing(SqliteBackend(":memory:", clock=FrozenClock())) as made:
        made.migrate()
        copied = database.open()
        for sql in (_SHAPE, _STEPS, "pragma page_size", "select * from sqlite_sequence"):
            assert rows(copied, sql) == rows(Store(made), sql), sql
    assert copied.backend.migrate() == []
    database.close()


def test_nothing_of_one_copy_is_in_the_next():
    for _ in range(2):
        database = memory_database(FrozenClock())
        assert put(database.open()) == [1]
        database.close()


def test_what_is_there_already_is_kept_and_migrated(database: Database):
    backend = database.backend()
    backend.migrate(to=1)
    with backend.write() as session:
        session.run("insert into lanes (key, gates) values ('a', '')")
    found = database.open()
    assert rows(found, "select key from lanes") == [("a",)]
    assert found.backend.migrate() == []
    backend.close()


def test_a_file_is_in_the_mode_of_ours(tmp_path: Path):
    TABLES.write(tmp_path / "a.db")
    with closing(SqliteBackend(str(tmp_path / "a.db"))) as found:
        assert rows(Store(found), "pragma journal_mode") == [("wal",)]
        assert rows(Store(found), "pragma integrity_check") == [("ok",)]
