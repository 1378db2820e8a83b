import json
import logging
import signal
import time
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import APP, PROJECT, Thresher, added, start
from thresher.cli.logs import log_to_stderr
from thresher.cli.worker import worker_name
from thresher.core.errors import ConfigError, UsageError


def counts(queue: Thresher) -> dict[str, dict[str, int]]:
    return queue("status", "--json").json["counts"]


def wait_for(database: Path, sql: str, process: object) -> None:
    """Until a statement finds a row. A look at the rows is the signal; nothing else says that a task has
    started."""
    for _ in range(600):
        if database.exists() and apsw.Connection(str(database)).execute(sql).fetchall():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError(f"never: {sql}")


def test_a_run_works_until_nothing_is_left_and_sums_up(queue: Thresher):
    for how in ("done", "filter", "done"):
        added(queue, "free", "--payload", f'{{"how": "{how}"}}')
    result = queue("run", "--json")
    assert result.code == 0
    assert result.json["attempts"] == {"done": 2, "filtered": 1}
    (free,) = result.json["kinds"]
    assert (free["kind"], free["succeeded"], free["filtered"], free["total"]) == ("free", 2, 1, 3)
    assert result.json["interrupted"] is False


def test_without_a_terminal_a_run_prints_plain_lines(queue: Thresher):
    added(queue, "free")
    result = queue("run")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "free 1/1" in result.out
    assert "1 attempt settled: 1 done" in result.out


def test_a_run_with_failures_ends_with_1_and_says_where_to_look(queue: Thresher):
    added(queue, "free", "--payload", '{"how": "fail"}')
    result = queue("run")
    assert result.code == 1
    assert "thresher failures list" in result.out
    assert queue("run").code == 0  # failed before, not in this run


@pytest.mark.promise(20)
def test_a_run_says_what_still_waits_and_until_when(queue: Thresher):
    added(queue, "free", "--payload", '{"how": "wait"}')
    added(queue, "free", "--payload", '{"how": "flaky"}')
    result = queue("run")
    assert result.code == 0
    assert "2 tasks wait for a later time, the next in" in result.out
    assert "run again then" in result.out


@pytest.mark.promise(20)
def test_a_run_ends_with_the_reasons_of_what_waits(queue: Thresher):
    for how in ("wait", "wait", "flaky"):
        added(queue, "free", "--payload", f'{{"how": "{how}"}}')
    added(queue, "work", "--delay", "2h")
    said = queue("run", "--not", "work")
    assert "2 × free  come back in an hour; next in" in said.out
    assert "1 × free  Transient: the [red]ladder[/red] wobbles" in said.out
    assert "1 × work  asked for at that time; next in" in said.out
    assert "\x1b" not in said.out
    added(queue, "work")
    assert (
        "1 × work  waits for a worker that serves it; this run does not" in queue("run", "--not", "work").out
    )
    told = queue("run", "--not", "work", "--json").json
    assert (told["unserved"], [each["count"] for each in told["waits"]]) == ({"work": 1}, [2, 1, 1])
    assert (told["failures"], told["needs_you"]) == ([], [])


@pytest.mark.promise(20)
def test_a_run_ends_with_what_waits_for_a_person(project: Path, thresher: Thresher):
    (project / "app.py").write_text(
        "from thresher import *\nfrom thresher.core.extension import Check, CheckLevel\n"
        'def look(store): return [Check("boards", CheckLevel.WARN, "1 board waits for you", "boards enable x")]\n'
        'app = App("asks", pipelines=(Pipeline("k", Stage(lambda ctx: Done())),), start=(NewTask("k"),), checks=(look,))\n'
    )
    assert "1 board waits for you: boards enable x" in thresher("run").out
    assert [each["found"] for each in thresher("run", "--json").json["needs_you"]] == [
        "1 board waits for you"
    ]


@pytest.mark.promise(18)
def test_a_run_lists_only_a_few_of_many_reasons(project: Path, thresher: Thresher):
    (project / "app.py").write_text(
        "from thresher import *\n"
        "def odd(ctx): return Snooze(3600, f'reason {ctx.task.id}') if ctx.task.id % 2 else getattr(ctx, f'x{ctx.task.id}')\n"
        'app = App("odd", pipelines=tuple(Pipeline(f"k{n}", Stage(odd)) for n in range(20)), '
        'start=tuple(NewTask(f"k{n}") for n in range(20)))\n'
    )
    said = thresher("run")
    assert said.code == 1
    assert said.out.count("; next in") == 5
    assert said.out.count("AttributeError: ") == 5
    assert said.out.count("and 5 more groups") == 2


@pytest.mark.promise(20)
def test_a_run_names_the_line_of_a_mistake(project: Path, thresher: Thresher):
    (project / "app.py").write_text(
        "from thresher import *\n\ndef read(ctx):\n    return Doen('\\x1b[31m')\n\n"
        'app = App("slip", pipelines=(Pipeline("book", Stage(read)),), start=(NewTask("book"),))\n'
    )
    said = thresher("run")
    assert said.code == 1
    assert (
        "1 × book  NameError: name 'Doen' is not defined\n      at app.py:4 in read: return Doen(" in said.out
    )
    for argv in (("tasks", "show", 1), ("failures", "show", 1), ("explain", "1"), ("failures", "list")):
        assert "app.py:4 in read" in thresher(*argv).out, argv
        assert "app.py:4 in read" in thresher(*argv, "--json").out, argv
    shown = thresher("tasks", "show", 1, "--json").json
    assert "app.py:4 in read" in shown["attempts"][0]["reason"]
    assert thresher("run").code == 0  # failed before, not in this run


@pytest.mark.promise(20)
def test_a_run_that_leaves_an_unexpected_error_of_an_app_ends_with_1(project: Path, thresher: Thresher):
    (project / "app.py").write_text(
        "from thresher import *\n\ndef read(ctx):\n    if ctx.task.failures >= ctx.task.payload['well_after']:\n"
        "        return Done()\n    if ctx.task.payload['on_purpose']:\n        raise Transient('later')\n"
        "    return {}['title']\n\n"
        'app = App("slip", pipelines=(Pipeline("book", Stage(read)),), retry=Retry(base=0.01, limit=9))\n'
    )
    added(thresher, "book", "--payload", '{"well_after": 1, "on_purpose": false}')
    assert thresher("run").code == 0  # the second attempt went well, and the run waited for it
    (project / "app.py").write_text((project / "app.py").read_text().replace("base=0.01", "base=600"))
    added(thresher, "book", "--payload", '{"well_after": 9, "on_purpose": true}')
    assert thresher("run").code == 0  # a source that asks for patience is nobody's mistake
    added(thresher, "book", "--payload", '{"well_after": 9, "on_purpose": false}')
    said = thresher("run", "--json")
    assert (said.code, said.json["unexpected"]) == (1, 1)
    assert "app.py:8 in read" in said.out
    assert thresher("run").code == 0  # it was interrupted before, not in this run


@pytest.mark.promise(20)
def test_a_run_names_the_gates_that_stopped_it(queue: Thresher):
    added(queue, "work", "--payload", '{"how": "wall"}')
    added(queue, "work")
    result = queue("run")
    assert "source:doors" in result.out
    assert "anti_bot: Blocked: a captcha" in result.out
    assert "when you enable it" in result.out
    (gate,) = queue("run", "--json").json["closed"]
    assert (gate["name"], gate["state"], gate["tag"], gate["opens_at"]) == (
        "source:doors",
        "disabled",
        "anti_bot",
        None,
    )


def test_a_run_does_not_end_because_a_gate_keeps_to_its_rate(project: Path, thresher: Thresher):
    (project / "app.py").write_text(APP.replace('Source("doors")', 'Source("doors", rate=5)'))
    assert thresher("migrate").code == 0
    for _ in range(3):
        added(thresher, "work")
    assert thresher("run", "--json").json["attempts"] == {"done": 3}


def test_first_tasks_are_started_once_and_again_only_on_demand(project: Path, thresher: Thresher):
    (project / "app.py").write_text(
        APP.replace("schedules=", 'start=(NewTask("free", key="first"), NewTask("work")), schedules=')
    )
    assert thresher("run", "--json").json["started"] == 2
    assert thresher("run", "--json").json["started"] == 0
    assert thresher("run", "--again", "--json").json["started"] == 2
    assert counts(thresher) == {"free": {"succeeded": 2}, "work": {"succeeded": 2}}


def test_two_apps_run_side_by_side(project: Path, thresher: Thresher):
    (project / "more.py").write_text(
        "from thresher import *\nasync def hum(ctx): return Done()\n"
        'tunes = App("tunes", pipelines=(Pipeline("hum", Stage(hum)),), start=(NewTask("hum"),))\n'
    )
    result = thresher("run", "--app", "more.py:tunes", "--json")
    assert [kind["kind"] for kind in result.json["kinds"]] == ["hum"]


@pytest.mark.promise(1)
def test_ctrl_c_hands_work_back_and_the_next_run_goes_on(queue: Thresher, project: Path):
    task = added(queue, "free", "--payload", '{"how": "slow"}')
    process = start("run", cwd=project)
    wait_for(project / "thresher.db", "select 1 from tasks where state = 'running'", process)
    process.send_signal(signal.SIGINT)
    while "Stopping" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert "Handing back at once" in out
    assert "the next run continues" in out
    shown = queue("tasks", "show", task, "--json").json
    assert shown["task"]["state"] == "pending"
    assert (shown["task"]["failures"], shown["task"]["crashes"]) == (0, 0)


def test_a_worker_works_until_sigterm_and_then_ends_well(queue: Thresher, project: Path):
    task = added(queue, "free")
    process = start("worker", "--name", "anna", "--concurrency", "2", cwd=project)
    wait_for(project / "thresher.db", "select 1 from tasks where state = 'succeeded'", process)
    assert [worker["name"] for worker in queue("status", "--json").json["workers"]] == ["anna"]
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "1 attempt settled: 1 done" in out
    assert "kinds: free, webhook_delivery, work" in err
    assert queue("tasks", "show", task, "--json").json["attempts"][0]["ending"] == "done"
    assert queue("status", "--json").json["workers"] == []


@pytest.mark.parametrize("command", [("worker",), ("run",)])
def test_the_environment_names_a_worker(
    command: tuple[str, ...], queue: Thresher, project: Path, monkeypatch
):
    monkeypatch.setenv("THRESHER_WORKER", "bert")
    queue("config", "set", "worker.grace", "0")
    added(queue, "free", "--payload", '{"how": "slow"}')
    process = start(*command, cwd=project)
    wait_for(project / "thresher.db", "select 1 from tasks where state = 'running'", process)
    assert [worker["name"] for worker in queue("status", "--json").json["workers"]] == ["bert"]
    process.terminate()
    process.communicate(timeout=30)


def test_the_option_names_a_worker_before_the_environment():
    assert worker_name("anna", {"THRESHER_WORKER": "bert"}) == "anna"
    assert worker_name(None, {"THRESHER_WORKER": " bert "}) == "bert"
    assert worker_name(None, {"THRESHER_WORKER": "  "}) is None
    assert worker_name(None, {}) is None


@pytest.mark.parametrize("hostile", ["a\x1b[2J", "a\nb", "x" * 201, "\udcff"])
def test_a_name_that_nobody_could_read_is_refused(hostile: str):
    with pytest.raises(ConfigError, match=r"THRESHER_WORKER is .*; set it to 1 to 200 bytes of visible text"):
        worker_name(None, {"THRESHER_WORKER": hostile})
    with pytest.raises(UsageError, match="--name is "):
        worker_name(hostile, {})
    with pytest.raises(UsageError, match="--name is ''"):
        worker_name(" ", {})


def test_a_run_that_is_told_to_end_finishes_what_it_can(queue: Thresher, project: Path):
    queue("config", "set", "worker.grace", "0")
    task = added(queue, "free", "--payload", '{"how": "slow"}')
    process = start("run", "--json", cwd=project)
    wait_for(project / "thresher.db", "select 1 from tasks where state = 'running'", process)
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 143, (out, err)
    assert json.loads(out)["interrupted"] is True
    assert queue("tasks", "show", task, "--json").json["attempts"][0]["ending"] == "handed_back"


@pytest.mark.promise(20)
def test_a_cancelled_task_stops_while_it_runs(queue: Thresher, project: Path):
    queue("config", "set", "worker.lease", "0.6")
    task = added(queue, "free", "--payload", '{"how": "slow"}')
    process = start("run", "--json", cwd=project)
    wait_for(project / "thresher.db", "select 1 from tasks where state = 'running'", process)
    assert "1 running task asked to stop" in queue("tasks", "cancel", task).out
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, (out, err)
    assert queue("tasks", "show", task, "--json").json["task"]["state"] == "cancelled"


@pytest.mark.promise(1)
def test_a_stage_that_hangs_on_its_thread_does_not_keep_the_run_from_ending(
    project: Path, thresher: Thresher
):
    (project / "app.py").write_text(
        "import time\nfrom thresher import *\ndef hang(ctx): time.sleep(600)\n"
        'app = App("hangs", pipelines=(Pipeline("hang", Stage(hang, timeout=0.2)),), start=(NewTask("hang"),))\n'
    )
    (project / "thresher.yaml").write_text(f"{PROJECT}  worker.cancel_grace: 0.2\n")
    process = start("run", "--json", cwd=project)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["attempts"] == {"retry": 1}
    assert thresher("tasks", "show", "1", "--json").json["task"]["error"] == "TimedOut"


@pytest.mark.parametrize(("level", "told"), [("debug", True), ("error", False)])
def test_the_environment_says_how_much_is_logged(level: str, told: bool, monkeypatch, capsys):
    monkeypatch.setenv("THRESHER_LOG_LEVEL", level)
    log_to_stderr(verbose=False)
    logging.getLogger("thresher.test").warning("the water rises")
    assert ("the water rises" in capsys.readouterr().err) == told


def test_a_log_level_that_is_none_is_refused_by_name(queue: Thresher, monkeypatch):
    monkeypatch.setenv("THRESHER_LOG_LEVEL", "loud")
    told = queue("run")
    assert told.code == 3
    assert "THRESHER_LOG_LEVEL is 'loud'; set it to one of debug, info, warning, error" in told.err
