"""One source and many items, collected by two real workers of which some are killed and some frozen for
longer than their lease (`make chaos` takes ten thousand, and does it more often)."""

from pathlib import Path

import pytest

from tests.apps.prices.campaign import run
from tests.harness.databases import Database, with_processes
from thresher.apps.prices.app import app

pytestmark = with_processes


def url_of(database: Database) -> str:
    return database.address(app)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(9)
def test_twenty_items_of_one_source_are_each_collected_once_though_a_worker_dies_and_another_sleeps(
    database: Database, tmp_path: Path
) -> None:
    found = run(tmp_path, url_of(database), tasks=20, kills=1, freezes=1, workers=2)
    assert found.is_right, found
    assert (found.killed, found.frozen) == (1, 1)
    assert found.reclaimed > 0
    assert found.lost_workers >= 2


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_hundreds_of_collections_survive_a_worker_that_is_killed_in_their_middle(
    database: Database, tmp_path: Path
) -> None:
    found = run(tmp_path, url_of(database), tasks=200, kills=1, freezes=0, workers=2)
    assert found.is_right, found
    assert (found.killed, found.lost_workers >= 1) == (1, True)
