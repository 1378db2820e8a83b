"""`thresher worker --only ... --not ...`: a worker for some apps and kinds, and one that a newer version has
overtaken."""

import signal
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import Thresher, added
from tests.cli.test_run import wait_for
from tests.harness.forks import Command


@pytest.mark.parametrize(
    ("options", "done", "left"),
    [
        (["--only", "free"], "free", "work"),
        (["--not", "free"], "work", "free"),
        (["--only", "test", "--not", "work"], "free", "work"),
    ],
)
def test_a_run_serves_the_kinds_it_is_told_to_and_leaves_the_others(
    queue: Thresher, options: list[str], done: str, left: str
):
    first, second = added(queue, done), added(queue, left)
    assert queue("run", "--json", *options).code == 0
    states = [queue("tasks", "show", task, "--json").json["task"]["state"] for task in (first, second)]
    assert states == ["succeeded", "pending"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--only", "jobs"],
            "there is no app or kind jobs; known are: free, test, thresher, webhook_delivery, work",
        ),
        (["--not", "fetch"], "there is no app or kind fetch"),
        (["--only", "free", "--not", "test"], "nothing is left to serve"),
    ],
)
def test_a_name_that_nobody_knows_is_refused_with_those_that_are_known(
    queue: Thresher, options: list[str], says: str
):
    result = queue("run", *options)
    assert result.code in (2, 4)
    assert says in result.err


@pytest.mark.promise(20)
def test_a_worker_shows_what_it_serves_and_what_nobody_does(queue: Thresher, project: Path):
    process = Command("worker", "--only", "free", folder=project)
    try:
        waiting, done = added(queue, "work"), added(queue, "free")
        wait_for(
            project / "thresher.db", f"select 1 from tasks where id = {done} and state = 'succeeded'", process
        )
        status = queue("status", "--json").json
        assert [worker["serves"] for worker in status["workers"]] == [["free"]]
        assert status["unserved"] == ["1 task waits for a worker that knows kind work, stage work"]
        assert "1 task waits for a worker that knows kind work" in queue("status").out
        assert "no running worker knows kind work, stage work" in queue("explain", waiting).out
        assert "for a worker that knows kind work" in queue("doctor").out
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        process.close()


@pytest.mark.promise(1)
def test_a_worker_that_finds_a_newer_schema_leaves_for_good_and_says_why(queue: Thresher, project: Path):
    queue("config", "set", "settings.every", "1")
    process = Command("worker", folder=project)
    try:
        done = added(queue, "free")
        wait_for(
            project / "thresher.db", f"select 1 from tasks where id = {done} and state = 'succeeded'", process
        )
        apsw.Connection(str(project / "thresher.db")).execute(
            "insert into migrations values (9999, 'future', 0)"
        )
        assert process.wait(60) == 7
        assert "the database is at schema 9999" in process.stderr.read()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.close()


@pytest.mark.promise(20)
def test_a_probe_tells_whether_a_worker_is_at_work(queue: Thresher, project: Path):
    assert queue("probe").code == 1
    assert "has no lease" in queue("probe").out
    process = Command("worker", "--name", "anna", folder=project)
    try:
        done = added(queue, "free")
        wait_for(
            project / "thresher.db", f"select 1 from tasks where id = {done} and state = 'succeeded'", process
        )
        assert queue("probe").code == 0
        assert queue("probe", "--name", "anna", "--json").json["working"] is True
        assert queue("probe", "--name", "bert").code == 1
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        lost = apsw.Connection(str(project / "thresher.db"))
        lost.execute("update workers set lease_until = 0")
        assert queue("probe", "--name", "anna").code == 1
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.close()


def test_a_probe_of_a_database_that_is_not_there_makes_none(thresher: Thresher, project: Path):
    assert thresher("probe").code not in (0, 1)
    assert not (project / "thresher.db").exists()
