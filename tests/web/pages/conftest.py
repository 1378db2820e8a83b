"""A served project with roles: one that a whole module shares, and one of a test's own on each database."""

from collections.abc import Iterator

import pytest

from tests.apps.roles.http.scraping import World, worlds
from tests.apps.roles.http.scraping import world as a_world
from tests.web.pages.visitor import Visitor, with_anna


@pytest.fixture(scope="module")
def standing_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """For tests that are refused, or only look."""
    with a_world(tmp_path_factory.mktemp("pages")) as found:
        yield found


@pytest.fixture(scope="module")
def passer_by(standing_world: World) -> Visitor:
    """Somebody who is not logged in, where anna could be."""
    return with_anna(standing_world)


@pytest.fixture(scope="module")
def anna(passer_by: Visitor) -> Visitor:
    return passer_by.log_in()


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path) -> Iterator[World]:
    with worlds(request, tmp_path) as found:
        yield found
