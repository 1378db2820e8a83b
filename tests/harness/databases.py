"""The three databases that every promise must hold on, each test with one of its own."""

import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.harness.ours import OURS
from tests.harness.schemas import SCHEMAS
from tests.harness.tables import TABLES
from thresher.config.settings import Settings
from thresher.core.app import App
from thresher.core.clock import Clock
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.backend import Backend
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

NAMES = ("sqlite-memory", "sqlite-file", "postgres")

only_postgres = pytest.mark.parametrize("database", ["postgres"], indirect=True)
only_sqlite = pytest.mark.parametrize("database", ["sqlite-memory"], indirect=True)
only_files = pytest.mark.parametrize("database", ["sqlite-file"], indirect=True)
with_processes = pytest.mark.parametrize("database", ["sqlite-file", "postgres"], indirect=True)


@pytest.hookimpl(tryfirst=True)
def file_and_server(metafunc: pytest.Metafunc) -> None:
    """Let a test run on one database of each make, unless it says on which. The tests of the store try both
    kinds of SQLite."""
    is_said = any("database" in str(mark.args[0]) for mark in metafunc.definition.iter_markers("parametrize"))
    if "database" in metafunc.fixturenames and not is_said:
        metafunc.definition.add_marker(with_processes)


class Database:
    """One database. Every store opened on it is another machine that works on the same tasks."""

    def __init__(
        self,
        name: str,
        url: str,
        connect: Callable[[], Backend],
        clock: Clock,
        make: Callable[[str, Iterable[App]], None] | None = None,
    ) -> None:
        self.name, self.url, self.clock = name, url, clock
        self._connect, self._make = connect, make
        self._stores: list[Store] = []
        self._is_made = False

    def backend(self) -> Backend:
        """A bare backend on this database; the caller closes it."""
        return self._connect()

    def make(self, *apps: App) -> None:
        """All tables, with those of these apps: they are copied, which costs a tenth of what a program pays
        that makes them."""
        if self._make and not self._is_made:
            self._make(self.url, apps)
        else:
            backend = self._connect()
            self._stores.append(Store(backend))
            backend.migrate()
            migrate_apps(backend, app_schemas(apps, backend.dialect))
        self._is_made = True

    def address(self, *apps: App) -> str:
        """Where a program finds it, with all tables."""
        if not self._is_made:
            self.make(*apps)
        return self.url if self.name == "postgres" else f"sqlite:///{self.url}?durability=process"

    def open(self, **settings: Any) -> Store:
        """A migrated store; settings are named with `__` for the dot."""
        if not self._is_made:
            self.make()
        store = Store(
            self._connect(),
            settings=Settings({name.replace("__", "."): value for name, value in settings.items()}, OURS),
        )
        self._stores.append(store)
        return store

    def close(self) -> None:
        backends = {id(store.backend): store for store in self._stores}
        for store in backends.values():
            store.close()


def memory_database(clock: Clock) -> Database:
    """In memory there is one connection, so all stores share it."""
    backend = SqliteBackend(":memory:", clock=clock)
    return Database(
        "sqlite-memory", ":memory:", lambda: backend, clock, lambda _, apps: TABLES.fill(backend, apps)
    )


def file_database(folder: Path, clock: Clock) -> Database:
    path = str(folder / "thresher.db")
    return Database(
        "sqlite-file",
        path,
        lambda: SqliteBackend(path, clock=clock, durability="process"),
        clock,
        TABLES.write,
    )


def postgres_database(server: str, clock: Clock) -> Database:
    url = f"{server}?schema=t_{secrets.token_hex(6)}"
    return Database("postgres", url, lambda: PostgresBackend(url, clock=clock), clock, SCHEMAS.make)


def drop_schema(url: str) -> None:
    address, _, schema = url.partition("?schema=")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"drop schema if exists {schema} cascade")
