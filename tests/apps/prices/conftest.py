"""The prices app on a database of each make, with the real engine."""

from collections.abc import Callable, Mapping

import pytest

from tests.apps.prices import collecting
from tests.apps.prices.paged import NAME
from tests.harness.databases import Database, file_and_server
from thresher.apps.prices.adapters.known_adapters import ADAPTERS
from thresher.apps.prices.app import app
from thresher.apps.prices.model import Adapter
from thresher.testing.web import Page
from thresher.testing.world import World

pytest_generate_tests = file_and_server


@pytest.fixture
def world(database: Database) -> Callable[..., World]:
    """Open the world on the database of the test; with pages one that collects and does not value. Opened
    again, it is another worker on the same tasks.
    """
    url = database.address(app)

    def opened(pages: Mapping[str, Page] | None = None, **settings: float) -> World:
        if pages is not None:
            return collecting.world(pages, url, **settings)
        return World(app, settings=settings, database=url)

    return opened


@pytest.fixture
def paged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search sources ask for JSON pages."""
    monkeypatch.setitem(ADAPTERS, Adapter.SEARCH, NAME)
