"""A database with the tables of signals. The folder of migrations is completed for the test: the first file
belongs to another part of the app."""

from pathlib import Path

import pytest

import thresher.apps.queries as package
from tests.harness.databases import Database, file_and_server
from thresher.core.app import App
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.store import Store

pytest_generate_tests = file_and_server

SIGNALS = Path(package.__file__).parent / "migrations" / "0002_signals.sql"


def complete(folder: Path) -> Path:
    """A folder with all migrations that those of signals need."""
    made = folder / "migrations"
    made.mkdir()
    (made / "0001_before.sql").write_text("create table signals_came_before (id {identity});")
    (made / SIGNALS.name).write_bytes(SIGNALS.read_bytes())
    return made


@pytest.fixture
def store(database: Database, tmp_path: Path) -> Store:
    made = database.open()
    schemas = app_schemas([App("queries", migrations=complete(tmp_path))], made.backend.dialect)
    migrate_apps(made.backend, schemas)
    return made
