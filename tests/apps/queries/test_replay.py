"""A month of an API that misbehaves, with a process that is killed again and again (`make chaos` kills it
more often, over two)."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.databases import Database, with_processes

ROOM = Path(__file__).parents[3]
pytestmark = with_processes


def played(database: Database, folder: Path, *options: str) -> str:
    url = (
        f"sqlite:///{database.url}?durability=process" if database.name.startswith("sqlite") else database.url
    )
    words = [
        sys.executable,
        "-m",
        "tests.apps.queries.replay",
        "--database",
        url,
        "--clock",
        str(folder / "clock"),
        *options,
    ]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOM, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(9)
@pytest.mark.promise(11)
def test_nothing_is_missed_and_nothing_doubled_however_often_the_process_is_killed(database, tmp_path):
    said = played(database, tmp_path, "--kills", "25", "--days", "30", "--seed", "11")
    assert "SUCCESS" in said
    assert int(said.split()[0]) > 10, "it was killed again and again"


@pytest.mark.promise(11)
def test_a_month_of_late_edited_and_vanishing_offers_are_followed(database, tmp_path):
    assert "SUCCESS" in played(database, tmp_path, "--kills", "0", "--days", "30")
