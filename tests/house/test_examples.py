"""Every example runs to its end in a process of its own, and brings what the documentation says."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.house.paper import ROOT

EXAMPLES = ROOT / "examples"
FILES = sorted(path.name for path in EXAMPLES.glob("*.py"))


class Ran:
    """A finished run: its exit code, its answer, and the database it left."""

    def __init__(self, folder: Path, code: int, answer: dict[str, Any]) -> None:
        self.code, self.answer = code, answer
        self._database = folder / "queue.db"

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self._database) as connection:
            return connection.execute(sql).fetchall()


def run(folder: Path, app: str) -> Ran:
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, folder)
    project = (EXAMPLES / "thresher.yaml").read_text("utf-8").replace("[orchard.py]", f"[{app}]")
    (folder / "thresher.yaml").write_text(project, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "thresher", "run", "--json"], cwd=folder, timeout=60, capture_output=True, text=True, check=False,
        env={**os.environ, "THRESHER_DATABASE_URL": "sqlite:///queue.db"},
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return Ran(folder, done.returncode, json.loads(done.stdout))


def test_every_example_has_a_test_here():
    assert FILES == ["greetings.py", "library.py", "orchard.py"]


def test_greetings_greets_those_on_the_list(tmp_path: Path):
    ran = run(tmp_path, "greetings.py")
    assert ran.code == 0
    assert ran.rows("select kind, key, data from records order by key") == [
        ("greeting", "Ada", '{"text":"Hello, Ada"}'),
        ("greeting", "Grace", '{"text":"Hello, Grace"}'),
    ]
    assert ran.rows("select reason from tasks where state = 'filtered'") == [("not on the list",)]


def test_the_library_gives_what_the_tutorial_shows(tmp_path: Path):
    ran = run(tmp_path, "library.py")
    assert ran.code == 1, "Hamlet is not on its shelf"
    assert ran.answer["attempts"] == {"done": 4, "next": 4, "failed": 1, "retry": 1, "filtered": 1}
    assert ran.rows("select key, data from records order by key") == [
        ("Emma", '{"pages":474}'), ("Kim", '{"pages":368}'), ("Moby-Dick", '{"pages":635}')
    ]  # fmt: skip
    assert ran.rows("select key, name, target from records join links on record_id = records.id order by key") == [
        ("Emma", "shelf", "A"), ("Kim", "shelf", "A"), ("Moby-Dick", "shelf", "B")
    ]  # fmt: skip
    assert ran.rows("select error_name, reason from tasks where state = 'failed'") == [("Permanent", "Hamlet is not on its shelf")]


@pytest.mark.promise(6)
def test_the_orchard_grows_its_103_tasks_and_no_loop(tmp_path: Path):
    ran = run(tmp_path, "orchard.py")
    assert (ran.code == 1) == bool(ran.answer["failed"])  # a ladder may wobble four times in a row
    assert ran.rows("select count(*) from tasks") == [(103,)]
    assert ran.rows("select count(*) from tasks where kind = 'pick'") == [(48,)]
    assert ran.rows("select count(*) from tasks where state in ('pending', 'running', 'retryable')") == [(0,)]
    (apples,), (rest,) = ran.rows("select count(*) from records union all select count(*) from tasks where state in ('filtered', 'failed')")
    assert apples + rest == 48
    assert ran.rows("select rule, count(*) from refusals group by rule") == [("in_ancestry", 7)]
