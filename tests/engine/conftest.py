"""A workshop for tests of the engine: one database, and workers on it."""

from collections.abc import Iterator

import pytest

from tests.engine.workshop import Workshop
from tests.harness.databases import Database


@pytest.fixture
def workshop(database: Database) -> Iterator[Workshop]:
    found = Workshop(database)
    yield found
    found.close()
