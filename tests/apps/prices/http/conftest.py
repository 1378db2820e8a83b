"""A served project with the prices app, on each database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.roles.http.scraping import World, worlds
from tests.web.conftest import Api
from thresher.admin.keys import create_key

PROJECT = "apps: [prices]\nsettings:\n  web.rate: 1000000\n"


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with worlds(request, tmp_path, PROJECT) as found:
        yield found


def client(world: World, *scopes: str) -> Api:
    return Api(world.url, create_key(world.store, "-".join(scopes), list(scopes)).token)


@pytest.fixture
def api(world: World) -> Api:
    return client(world, "read", "write", "admin")
