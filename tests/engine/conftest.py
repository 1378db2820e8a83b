"""A workshop for tests of the engine: one database, and workers on it."""

from collections.abc import Iterator

import pytest

from tests.engine.workshop import Workshop
from tests.harness.databases import Database
from thresher.practice.web import PracticeWeb


@pytest.fixture
def workshop(database: Database) -> Iterator[Workshop]:
    found = Workshop(database)
    yield found
    found.close()


@pytest.fixture(scope="module")
def shared() -> Iterator[PracticeWeb]:
    with PracticeWeb() as web:
        yield web


@pytest.fixture
def web(shared: PracticeWeb) -> PracticeWeb:
    """The practice web, without the troubles of the test before."""
    shared.reset()
    return shared
