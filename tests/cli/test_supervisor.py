"""`thresher worker` cannot hang: whatever holds its interpreter is ended, started again, and counted as a
crash of its task."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Thresher, added
from tests.cli.test_run import wait_for
from tests.harness.forks import Command

APP = """
import ctypes, os, re, signal, time
from thresher import *

async def spin(ctx):
    while True:
        pass

def match(ctx):
    re.match(r"(a+)+$", "a" * 64 + "b")

async def fault(ctx):
    ctypes.string_at(0)

async def work(ctx):
    return Done()

app = App("hangs", pipelines=tuple(Pipeline(stage.__name__, Stage(stage, name="do")) for stage in (spin, match, fault, work)))
"""
PROJECT = """apps: [app.py]
settings:
  {worker.poll: 0.05, worker.lease: 0.6, worker.stall: 2, worker.grace: 0, reaper.every: 0.05, retry.crash_spread: 0, retry.max_crashes: 2}
"""


@pytest.fixture
def hanging(queue: Thresher, project: Path) -> Thresher:
    (project / "app.py").write_text(APP)
    (project / "thresher.yaml").write_text(PROJECT)
    return queue


@pytest.fixture
def worker(hanging: Thresher, project: Path) -> Iterator[Command]:
    """A real `thresher worker`; whatever a test leaves of it is ended, by its id."""
    process = Command("worker", folder=project)
    family = psutil.Process(process.pid)
    yield process
    for each in [*family.children(recursive=True), family] if family.is_running() else []:
        each.send_signal(signal.SIGKILL)
    process.close()


def child_of(process: Command) -> psutil.Process:
    """The process that does the work."""
    for _ in range(600):
        if children := psutil.Process(process.pid).children():
            return children[0]
        time.sleep(0.05)
    raise AssertionError("no worker was started")


def until(happens: str, process: Command, project: Path) -> None:
    wait_for(project / "thresher.db", f"select 1 from tasks where {happens}", process)


@pytest.mark.promise(8)
def test_a_stage_that_holds_the_interpreter_is_quarantined_and_others_are_done(
    hanging: Thresher, worker: Command, project: Path
):
    guilty = added(hanging, "match")
    until("error_name = 'Quarantined'", worker, project)
    added(hanging, "work")
    until("state = 'succeeded'", worker, project)
    shown = hanging("tasks", "show", guilty, "--json").json
    assert [attempt["ending"] for attempt in shown["attempts"]] == ["crashed", "crashed"]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    said = worker.stderr.read()
    assert "has been blocked for" in said
    assert "in match" in said, "the stack says where it hung"


@pytest.mark.promise(8)
def test_a_worker_that_a_stage_crashes_is_started_again(hanging: Thresher, worker: Command, project: Path):
    added(hanging, "fault")
    until("error_name = 'Quarantined'", worker, project)
    added(hanging, "work")
    until("state = 'succeeded'", worker, project)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    said = worker.stderr.read()
    assert said.count("was ended by SIGSEGV; starting it again") == 2
    assert "in fault" in said, "the stack says which stage it was"


@pytest.mark.promise(1)
@pytest.mark.parametrize("how", ["spin", "match"])
def test_sigterm_ends_a_worker_whose_interpreter_is_held(
    hanging: Thresher, project: Path, how: str, worker: Command
):
    hanging("config", "set", "worker.stall", "3600")
    hanging("config", "set", "worker.lease", "3600")
    first = child_of(worker)
    added(hanging, how)
    until("state = 'running'", worker, project)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(60) == 128 + signal.SIGKILL
    assert not first.is_running()
    assert "although it was told to stop" in worker.stderr.read()


@pytest.mark.promise(1)
def test_a_worker_that_was_frozen_for_longer_than_a_stall_goes_on_when_it_thaws(
    hanging: Thresher, worker: Command, project: Path
):
    added(hanging, "work")
    until("state = 'succeeded'", worker, project)
    child = child_of(worker)
    for frozen in (child, psutil.Process(worker.pid)):
        frozen.suspend()
        time.sleep(3)  # there is no signal for time that has passed
        frozen.resume()
    added(hanging, "work")
    until("2 = (select count(*) from tasks where state = 'succeeded')", worker, project)
    assert child_of(worker).pid == child.pid
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0


@pytest.mark.promise(1)
def test_a_worker_whose_supervisor_was_killed_hands_back_and_ends(
    hanging: Thresher, worker: Command, project: Path
):
    added(hanging, "work")
    until("state = 'succeeded'", worker, project)
    child = child_of(worker)
    worker.kill()
    child.wait(30)
    assert hanging("status", "--json").json["workers"] == []


def test_a_worker_that_cannot_start_is_not_started_again(hanging: Thresher, project: Path):
    (project / "thresher.yaml").write_text("apps: [nowhere.py]\n")
    process = Command("worker", folder=project)
    assert process.wait(30) == 4
    said = process.stderr.read()
    process.close()
    assert "app 'nowhere.py' cannot be loaded" in said
    assert "again" not in said


@pytest.mark.promise(1)
def test_a_run_that_hangs_ends_and_says_where(hanging: Thresher, project: Path):
    added(hanging, "match")
    process = Command("run", folder=project)
    try:
        assert process.wait(60) == 1
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    said = process.stderr.read()
    process.close()
    assert "in match" in said
