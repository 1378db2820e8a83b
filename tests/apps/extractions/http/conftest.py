"""A served project with the extractions app, on each database."""

from collections.abc import Iterator

import pytest

from tests.apps.extractions.scene import FILE, PROJECT
from tests.apps.roles.http.scraping import World, worlds
from tests.web.conftest import Api
from thresher.admin.keys import create_key


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path) -> Iterator[World]:
    (tmp_path / "recipes_app.py").write_text(FILE)
    with worlds(request, tmp_path, PROJECT) as found:
        yield found


@pytest.fixture
def api(world: World) -> Api:
    return Api(world.url, create_key(world.store, "anna", ["read", "write"]).token)
