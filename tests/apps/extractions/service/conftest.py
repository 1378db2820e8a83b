"""A database of each make with the extractions app installed."""

import pytest

from tests.apps.extractions.scene import app
from tests.harness.databases import Database, file_and_server
from thresher.engine.registry import Registry
from thresher.runtime import install
from thresher.store.store import Store

pytest_generate_tests = file_and_server


@pytest.fixture
def registry() -> Registry:
    return Registry([app])


@pytest.fixture
def store(database: Database, registry: Registry) -> Store:
    database.make(app)
    made = database.open()
    install(made, registry)
    return made
