"""A month of an API that misbehaves, with a process that is killed again and again (`make chaos` kills it
more often, over two months). PostgreSQL's share of it is shorter: what is stored is the same there, and a day
takes four times as long."""

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
    kills, days = ("25", "30") if database.name == "sqlite-file" else ("12", "12")
    said = played(database, tmp_path, "--kills", kills, "--days", days, "--seed", "11")
    assert "SUCCESS" in said
    assert int(said.split()[0]) > int(kills) // 3, "it was killed again and again"


@pytest.mark.promise(11)
def test_late_edited_and_vanishing_offers_are_followed_for_a_month(database, tmp_path):
    days = "30" if database.name == "sqlite-file" else "10"
    assert "SUCCESS" in played(database, tmp_path, "--kills", "0", "--days", days)
