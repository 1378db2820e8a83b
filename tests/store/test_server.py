"""What Thresher asks of a PostgreSQL server: nothing that only a superuser may, and durability as the URL
says."""

import logging
import re
import threading

import pytest

from tests.harness.databases import Database, only_postgres
from thresher.core.errors import ConfigError
from thresher.store.postgres import connection
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.postgres.connection import SETTINGS
from thresher.store.store import Store


@only_postgres
def test_a_role_without_special_rights_may_set_what_every_connection_sets(store: Store):
    names = re.findall(r"-c (\w+)=", SETTINGS)
    with store.read() as session:
        rights = dict(
            session.rows("select name, context from pg_settings where name in (:names*)", {"names": names})
        )
    assert rights == dict.fromkeys(names, "user")


@only_postgres
def test_functions_of_an_older_version_are_replaced(database: Database):
    store = database.open()
    with store.write() as session:
        session.run("update functions set hash = 'of an older version'")
    assert store.backend.migrate() == []
    with store.read() as session:
        assert session.rows("select count(*) from functions where hash = 'of an older version'") == [(0,)]


@only_postgres
@pytest.mark.parametrize(("durability", "commit"), [("process", "off"), ("machine", "on")])
def test_the_url_says_how_durable_a_commit_is(database: Database, durability: str, commit: str):
    backend = PostgresBackend(f"{database.url}&durability={durability}")
    try:
        with backend.write() as session:
            assert session.rows("show synchronous_commit") == [(commit,)]
    finally:
        backend.close()


@only_postgres
def test_an_unknown_durability_is_refused(database: Database):
    with pytest.raises(ConfigError, match="durability must be one of machine, process"):
        PostgresBackend(f"{database.url}&durability=often")


@only_postgres
@pytest.mark.promise(20)
def test_nobody_waits_for_a_lock_of_another_session_in_silence(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(connection, "WORD_SECONDS", 0.05)
    holder, waiter, told = database.open(), database.open(), threading.Event()
    heard = logging.Handler()
    heard.emit = lambda record: told.set()
    logging.getLogger("thresher.store").addHandler(heard)

    def wait() -> None:
        with waiter.write() as session:
            session.run("lock table events in exclusive mode")

    waiting = threading.Thread(target=wait)
    try:
        with holder.write() as session:
            session.run("lock table events in exclusive mode")
            ((pid,),) = session.rows("select pg_backend_pid()")
            waiting.start()
            assert told.wait(30)
    finally:
        logging.getLogger("thresher.store").removeHandler(heard)
        waiting.join(30)
    said = [record.getMessage() for record in caplog.records if record.name == "thresher.store"]
    assert said[0].startswith(f"waiting for session {pid} of PostgreSQL (")
    assert said[0].endswith("which holds a lock in the database")
