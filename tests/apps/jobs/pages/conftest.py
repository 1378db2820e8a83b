"""A served project with the jobs app, on each database."""

from collections.abc import Iterator

import pytest

from tests.apps.jobs.pages.scene import PROJECT
from tests.apps.roles.http.scraping import World, worlds


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path) -> Iterator[World]:
    with worlds(request, tmp_path, PROJECT) as found:
        yield found
