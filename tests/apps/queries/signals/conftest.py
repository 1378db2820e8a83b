"""A database with the tables of the queries app."""

import pytest

from tests.harness.databases import Database, file_and_server
from thresher.apps.queries.app import app
from thresher.store.store import Store

pytest_generate_tests = file_and_server


@pytest.fixture
def store(database: Database) -> Store:
    database.make(app)
    return database.open()
