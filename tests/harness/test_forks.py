"""A forked process is a process like any other: with an end, a code, words of its own, and nothing of its
neighbours."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.harness.forks import Command, Fork

PATIENCE = 60.0


def wait_for_ever(mark: Path) -> None:
    mark.touch()
    while True:
        time.sleep(60)


def leave(code: int) -> None:
    os.environ["LEFT_BEHIND"] = "yes"
    raise SystemExit(code)


def tell(mark: Path) -> None:
    mark.write_text(os.environ.get("LEFT_BEHIND", "nothing"))


def test_it_ends_with_its_code_and_leaves_nothing_to_the_next(tmp_path: Path):
    assert Fork(leave, 7).wait(PATIENCE) == 7
    assert Fork(tell, tmp_path / "told").wait(PATIENCE) == 0
    assert (tmp_path / "told").read_text() == "nothing"


def test_one_that_is_killed_says_so_and_one_that_lives_is_not_waited_for_longer_than_asked(tmp_path: Path):
    process = Fork(wait_for_ever, tmp_path / "there")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    assert process.poll() is None
    process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    process.kill()  # once more does no harm


def test_a_command_speaks_works_in_its_folder_and_ends_with_its_code(tmp_path: Path):
    made = Command("init", "--json", folder=tmp_path)
    said, wrong = made.communicate(PATIENCE)
    assert (made.returncode, wrong) == (0, "")
    assert said
    assert (tmp_path / "thresher.yaml").exists()
    made.close()
    lost = Command("status", folder=tmp_path, THRESHER_DATABASE_URL="sqlite:///elsewhere.db")
    said, wrong = lost.communicate(PATIENCE)
    assert (lost.returncode, said) == (6, "")
    assert "elsewhere.db" in wrong
    lost.close()
