"""The shop's world on a database of each make."""

from collections.abc import Callable

import pytest

from tests.apps.extractions import shop
from tests.harness.databases import Database
from thresher.apps.extractions.app import app
from thresher.testing.world import World


@pytest.fixture
def world(database: Database) -> Callable[..., World]:
    """Open the world on the database of the test. Opened again, it is another worker on the same tasks."""
    url = database.address(app)

    def opened(of: shop.Shop, **settings: float) -> World:
        return shop.world(of, url, **settings)

    return opened
