"""A database of each make with the extractions app installed."""

import pytest

from tests.apps.extractions.scene import app
from tests.harness.databases import Database, file_and_server
from thresher.engine.registry import Registry
from thresher.runtime import install
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.store import Store

pytest_generate_tests = file_and_server


@pytest.fixture
def registry() -> Registry:
    return Registry([app])


@pytest.fixture
def store(database: Database, registry: Registry) -> Store:
    made = database.open()
    migrate_apps(made.backend, app_schemas([app], made.backend.dialect))
    install(made, registry)
    return made
