"""A served project with the queries app, on each database."""

from collections.abc import Iterator

import pytest

from tests.apps.queries.scene import PROJECT
from tests.apps.roles.http.scraping import World, worlds
from tests.web.conftest import Api
from thresher.admin.keys import create_key


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path) -> Iterator[World]:
    with worlds(request, tmp_path, PROJECT) as found:
        yield found


@pytest.fixture
def api(world: World) -> Api:
    return Api(world.url, create_key(world.store, "anna", ["read", "write"]).token)
