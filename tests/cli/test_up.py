"""`thresher up` as a person uses it: real processes, real signals, both databases."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.cli.conftest import Result, Thresher, added
from tests.cli.test_postgres import far_queue
from tests.cli.test_run import wait_for
from tests.harness.forks import Command
from tests.web.conftest import PATIENCE, Api
from thresher.admin.admins import create_admin
from thresher.runtime import opened_store
from thresher.web.server import bind

__all__ = ["far_queue"]

LINK = re.compile(r"http://\S+/setup#token=(ths_\S+)")
# A program that has what Windows has: no fork, no loop that takes signal handlers, fewer signals.
AS_ON_WINDOWS = """
import asyncio.unix_events, os, signal, sys
del os.fork, signal.SIGUSR1, signal.SIGTSTP
def refuse(*_): raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = refuse
from thresher.cli import main
sys.exit(main(sys.argv[1:]))
"""


@contextmanager
def up(*words: str, **surroundings: str) -> Iterator[tuple[Command, str]]:
    """`thresher up` in a process of its own, and the line that says where it is."""
    process = Command("up", *(words or ("--port", "0")), **surroundings)
    family = psutil.Process(process.pid)
    try:
        said = process.stdout.readline()
        assert said, process.communicate(PATIENCE)[1]
        yield process, said
    finally:
        with suppress(psutil.NoSuchProcess):  # it may end by itself at any moment
            for each in (*family.children(recursive=True), family):
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        process.close()


def address(said: str) -> str:
    found = re.search(r"http://[\d.:]+", said)
    assert found, said
    return found[0]


def ended(process: Command, what: signal.Signals) -> Result:
    process.send_signal(what)
    out, err = process.communicate(PATIENCE)
    assert process.returncode is not None
    return Result(process.returncode, out, err)


def state_of(queue: Thresher, task: int) -> str:
    return str(queue("tasks", "show", task, "--json").json["task"]["state"])


@pytest.mark.promise(4)
@pytest.mark.promise(20)
def test_up_works_and_serves_on_a_database_that_it_makes(project: Path, thresher: Thresher):
    with up() as (process, said):
        assert LINK.search(process.stdout.readline())
        task = added(thresher, "free")
        wait_for(
            project / "thresher.db", f"select 1 from tasks where id = {task} and state = 'succeeded'", process
        )
        assert Api(address(said)).ask("GET", "/setup").status == 200
        assert thresher("status", "--json").json["workers"][0]["alive"] is True
        slow = added(thresher, "work", "--payload", '{"how": "slow"}')
        wait_for(
            project / "thresher.db", f"select 1 from tasks where id = {slow} and state = 'running'", process
        )
        process.send_signal(signal.SIGINT)
        for line in process.stderr:
            if "Stopping: running tasks may finish" in line:
                break
        stopped = ended(process, signal.SIGINT)
    assert stopped.code == 130
    assert "Handing back at once" in stopped.err
    assert "Traceback" not in stopped.err
    assert state_of(thresher, slow) == "pending"
    assert thresher("status", "--json").json["workers"] == []


def test_a_second_up_says_who_else_is_there_and_which_link_is_valid(queue: Thresher):
    with up("--port", "0", THRESHER_WORKER="first") as (process, _), up("--port", "0") as (second, _):
        link, notice = second.stdout.readline(), second.stdout.readline()
        assert LINK.search(link)
        assert "Another worker is on this database, or ended just now: first. They share its tasks" in notice
        assert "only the link above is valid now" in notice
        assert "Another worker" not in process.stdout.readline()
        assert ended(second, signal.SIGTERM).code == 0
        assert "Another worker" not in ended(process, signal.SIGTERM).out


@pytest.mark.promise(19)
def test_up_works_and_serves_on_postgresql(far_queue: Thresher, project: Path):
    with up() as (process, said):
        task = added(far_queue, "free")
        assert Api(address(said)).ask("GET", "/setup").status == 200
        done = far_queue("run", "--json")  # ends when nothing is left to do, here or there
        assert done.code == 0, done.err
        assert state_of(far_queue, task) == "succeeded"
        assert ended(process, signal.SIGTERM).code == 0
    assert not (project / "thresher.db").exists()


@pytest.mark.promise(1)
def test_a_process_that_dies_is_started_again_at_the_same_address(queue: Thresher, project: Path):
    with up() as (process, said):
        (child,) = psutil.Process(process.pid).children()
        child.kill()
        while "The dashboard is at" not in (again := process.stdout.readline()):
            assert again, process.communicate(PATIENCE)[1]
        assert address(again) == address(said)
        assert Api(address(said)).ask("GET", "/setup").status == 200
        assert ended(process, signal.SIGTERM).code == 0


def test_a_taken_port_is_left_alone_and_the_next_free_one_is_named(queue: Thresher):
    with bind("127.0.0.1", 8_000, 1_000) as taken:  # whoever has port 8000: now it is taken
        port = taken.getsockname()[1]
        refused = queue("up", "--port", port)
        assert refused.code == 2
        assert f"cannot listen at 127.0.0.1:{port}" in refused.err
        with up("--no-browser") as (process, said):
            used = address(said).rpartition(":")[2]
            assert used not in ("8000", str(port))
            assert f"port 8000 is taken; using {used}" in ended(process, signal.SIGTERM).err


@pytest.mark.promise(17)
def test_an_address_that_others_reach_needs_a_key_first(queue: Thresher):
    process = Command("up", "--host", "0.0.0.0", "--port", "0")
    try:
        out, err = process.communicate(PATIENCE)
        assert (process.returncode, out) == (2, "")
        assert "thresher keys create NAME --scope read" in err
    finally:
        process.close()


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A browser that tells a pipe beside it what it is asked to open."""
    script, opened = tmp_path / "browser.sh", tmp_path / "opened"
    os.mkfifo(opened)
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$1" > {opened}\n')
    script.chmod(0o700)
    return script


@pytest.mark.promise(17)
def test_the_browser_gets_the_token_and_no_log_does(queue: Thresher, project: Path, browser: Path):
    opened = browser.with_name("opened")
    with up("--port", "0", "--browser", "--verbose", BROWSER=f"{browser} %s") as (process, said):
        link = LINK.search(process.stdout.readline())
        assert link
        assert opened.read_text().strip() == link[0]
        with opened_store(f"sqlite:///{project / 'thresher.db'}") as store:
            create_admin(store, "anna", "a good long password")
        stopped = ended(process, signal.SIGTERM)
    assert "ths_" not in stopped.err
    with up("--port", "0", "--browser", BROWSER=f"{browser} %s") as (process, said):
        assert opened.read_text().strip() == f"{address(said)}/"
        assert "ths_" not in ended(process, signal.SIGTERM).out


def test_where_no_browser_can_be_opened_it_says_so_and_goes_on(queue: Thresher):
    with up("--port", "0", "--browser", BROWSER="/nowhere/browser %s", PATH="/nowhere") as (process, said):
        for line in process.stderr:
            if "no browser could be opened" in line:
                break
        assert Api(address(said)).ask("GET", "/setup").status == 200
        assert ended(process, signal.SIGTERM).code == 0


def test_ctrl_c_ends_every_command_where_loops_take_no_signal_handlers(queue: Thresher, project: Path):
    """As on Windows, of which this machine has everything but the system. All at once, for a process of its
    own takes seconds to load.
    """
    started = [
        subprocess.Popen(
            [sys.executable, "-c", AS_ON_WINDOWS, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for words in (("up", "--port", "0"), ("serve", "--port", "0"), ("worker", "--name", "alone"))
    ]
    try:
        for process in started[:2]:
            assert process.stdout is not None
            assert "The dashboard is at" in process.stdout.readline()
        wait_for(project / "thresher.db", "select 1 from workers where name = 'alone'", started[2])
        for process in started:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
            assert process.returncode == 130, err
            assert "Stopping" in err
    finally:
        for process in started:
            process.kill()
            process.communicate()


def test_programs_are_told_where_it_is_as_json(queue: Thresher):
    with up("--port", "0", "--json") as (process, said):
        told = json.loads(said + "".join(iter(process.stdout.readline, "}\n")) + "}")
        assert set(told) == {"url", "dashboard", "setup"}
        assert LINK.fullmatch(told["setup"])
        assert ended(process, signal.SIGTERM).code == 0
