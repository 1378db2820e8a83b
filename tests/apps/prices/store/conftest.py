"""A database of each make with the tables of the prices app."""

import pytest

from tests.harness.databases import Database, file_and_server
from thresher.apps.prices.app import app
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.store import Store

pytest_generate_tests = file_and_server


@pytest.fixture
def store(database: Database) -> Store:
    made = database.open()
    migrate_apps(made.backend, app_schemas([app], made.backend.dialect))
    return made
