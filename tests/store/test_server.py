"""What Thresher asks of a PostgreSQL server: nothing that only a superuser may, and durability as the URL
says."""

import re

import pytest

from tests.harness.databases import Database, only_postgres
from thresher.core.errors import ConfigError
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
