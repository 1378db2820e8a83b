"""Thresher where there is no fork, no Unix signal and no `resource`: what our own modules see of the standard
library is cut down to what Windows has (tests/harness/windows.py), in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.windows import GIVEN, MODULES, NAMES
from tests.house.paper import ROOT

PACKAGE = ROOT / "src" / "thresher"
# What they use of other systems is behind a check that knows Windows.
GUARDED = {
    "engine/fork_server.py": "never started there: SpawnServer",
    "engine/process_pool.py": "ForkServer, with CAN_FORK",
    "engine/supervisor.py": "Supervisor, with CAN_FORK; StallAlarm, with CAN_FREEZE",
    "store/sqlite/connection.py": "TurnLock, where fcntl is there",
}
APP = """
from thresher import App, Done, NewTask, Pipeline, Stage

def double(number):
    return 2 * number

async def look(ctx):
    return Done(str(await ctx.compute(double, 21)))

app = App("looks", pipelines=(Pipeline("look", Stage(look)),), start=(NewTask("look", {}),))
"""

WAITING = """
import asyncio, sys
from thresher import App, NewTask, Pipeline, Stage

async def wait(ctx):
    print("begun", file=sys.stderr, flush=True)
    await asyncio.Event().wait()

app = App("waits", pipelines=(Pipeline("wait", Stage(wait)),), start=(NewTask("wait", {}),))
"""


def on_windows(*words: str, cwd: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.harness.windows", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(*words: str, cwd: Path, code: int = 0) -> str:
    with on_windows(*words, cwd=cwd) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == code, (words, out, err)
    return out + err


def test_every_module_can_be_imported(tmp_path: Path):
    assert "none fails" in said("imports", cwd=tmp_path)


def test_it_explains_itself_begins_a_project_and_says_what_this_system_cannot(tmp_path: Path):
    assert "Usage: thresher" in said("thresher", "--help", cwd=tmp_path)
    said("thresher", "init", cwd=tmp_path)
    found = json.loads(said("thresher", "doctor", "--json", cwd=tmp_path))
    (system,) = [each for each in found["checks"] if each["name"] == "system"]
    assert system["verdict"] == "warn"
    assert "none of memory" in system["found"]


def test_an_app_runs_with_its_computing_in_a_process_of_its_own(tmp_path: Path):
    (tmp_path / "looks.py").write_text(APP)
    found = json.loads(
        said("thresher", "--app", "looks.py", "--database", "sqlite:///l.db", "run", "--json", cwd=tmp_path)
    )
    assert [(each["kind"], each["done"]) for each in found["kinds"]] == [("look", 1)]


@pytest.mark.parametrize(
    ("sent", "code"),
    [(signal.SIGINT, 130), (GIVEN["signal"]["SIGBREAK"], 143)],
    ids=["ctrl-c", "ctrl-break"],
)
def test_a_signal_ends_the_work_in_peace_and_the_task_goes_back(sent: int, code: int, tmp_path: Path):
    (tmp_path / "waits.py").write_text(WAITING)
    (tmp_path / "thresher.yaml").write_text("apps: [waits.py]\nsettings: {worker.grace: 0}\n")
    with on_windows("thresher", "run", cwd=tmp_path) as running:
        assert running.stderr is not None
        before = ""
        while "begun" not in before:
            before += running.stderr.readline() or pytest.fail(before)
        running.send_signal(sent)
        rest = running.communicate(timeout=30)[1]
    assert running.returncode == code, before + rest
    assert "Traceback" not in rest
    (task,) = json.loads(said("thresher", "tasks", "list", "--json", cwd=tmp_path))
    assert (task["state"], task["failures"]) == ("pending", 0)


def test_postgres_is_refused_with_a_way_out(tmp_path: Path):
    told = said("thresher", "--database", "postgresql://localhost/x", "status", cwd=tmp_path, code=3)
    assert "On Windows use SQLite" in told


def test_what_is_not_on_windows_is_used_only_where_something_else_stands_in_for_it():
    """mypy knows the standard library of every system."""
    users = re.compile(
        rf"^\s*(?:import|from) (?:{'|'.join(sorted({*MODULES, *NAMES, 'asyncio'}))})\b", re.MULTILINE
    )
    files = [path for path in PACKAGE.rglob("*.py") if users.search(path.read_text("utf-8"))]
    line = [sys.executable, "-m", "mypy", "--config-file", os.devnull, "--platform", "win32"]
    line += ["--follow-imports=skip", "--ignore-missing-imports", "--cache-dir", os.devnull]
    ran = subprocess.run([*line, *files], capture_output=True, text=True, check=False, cwd=ROOT, timeout=120)
    missing = re.findall(
        r"^src/thresher/([^:]+):\d+: error: Module has no attribute", ran.stdout, re.MULTILINE
    )
    assert set(missing) == set(GUARDED), ran.stdout
