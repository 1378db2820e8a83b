"""The prices app with a club's list on its web, on a database of each make."""

from collections.abc import Iterator

import pytest

from tests.apps.prices.people import made_world
from tests.harness.databases import Database
from thresher.apps.prices.app import app
from thresher.testing.world import World


@pytest.fixture
def club(database: Database) -> Iterator[World]:
    url = database.address(app)
    with made_world(url) as made:
        yield made
