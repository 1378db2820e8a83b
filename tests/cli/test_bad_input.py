"""Whatever is wrong, a person gets one clear line that says what to do, and nothing is lost or half done."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.cli.conftest import APP, PROJECT, Result, Thresher, added, start
from thresher.core.errors import DatabaseProblem
from thresher.store.sqlite.connection import advice

HOLDER = """
import sqlite3
connection = sqlite3.connect("thresher.db", isolation_level=None)
connection.execute("begin immediate")
print(1, flush=True)
input()
"""


INTERRUPTED_EARLY = """
import sys


class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt


sys.meta_path.insert(0, CtrlC())
from thresher.cli import main
"""


def refused(result: Result, code: int, *words: str) -> None:
    assert result.code == code, result
    assert result.out == ""
    assert len(result.err.strip().splitlines()) == 1, result.err
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err


def test_a_newer_database_is_left_alone(queue: Thresher, project: Path):
    with apsw.Connection(str(project / "thresher.db")) as database:
        database.execute("insert into migrations (number, name, applied_at) values (9999, 'future', 0)")
    for argv in (["status"], ["run"], ["migrate"], ["migrate", "--check"], ["add", "free"]):
        refused(queue(*argv), 7, "9999", "newer", "pip install --upgrade thresher")


def test_an_older_database_says_how_to_bring_it_up_to_date(project: Path, thresher: Thresher):
    (project / "thresher.db").touch()
    refused(thresher("status"), 6, "thresher migrate")
    assert thresher("migrate").code == 0
    assert thresher("status").code == 0


def test_no_database_is_made_by_looking(project: Path, thresher: Thresher):
    refused(thresher("status"), 6, "thresher.db", "thresher migrate")
    refused(thresher("tasks", "list"), 6, "thresher.db")
    assert not (project / "thresher.db").exists()


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder that others may write in, and a person who is not root in it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())


def test_a_read_only_file_says_so(queue: Thresher, common_folder: Path, monkeypatch: pytest.MonkeyPatch):
    url = f"sqlite:///{common_folder}/thresher.db"
    assert queue("add", "free", "--database", url).code == 0
    for path in common_folder.iterdir():
        path.unlink() if path.name != "thresher.db" else path.chmod(0o444)
    # Every module is loaded before rights are given up.
    assert queue("config", "set", "retry.base", "4").code == 0
    monkeypatch.chdir(common_folder)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        found = queue("config", "set", "retry.base", "5", "--database", url)
    finally:
        os.seteuid(os.getuid())
    refused(found, 6, "read-only", "permissions", "--database")


def test_a_locked_file_says_who_may_hold_it(queue: Thresher, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("thresher.store.sqlite.connection.BUSY_SECONDS", 0.2)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "1\n"
    refused(queue("config", "set", "retry.base", "5"), 6, "locked", "another program")
    holder.communicate("go on\n", timeout=30)
    assert queue("config", "set", "retry.base", "5").code == 0


def test_a_file_that_is_no_database_is_not_touched(project: Path, thresher: Thresher):
    letter = "Dear diary, " * 100
    (project / "diary.txt").write_text(letter)
    for argv in (["status"], ["run"], ["migrate"]):
        refused(
            thresher(*argv, "--database", "sqlite:///diary.txt"),
            6,
            "diary.txt",
            "not a Thresher database",
            "--database",
        )
    assert (project / "diary.txt").read_text() == letter


def test_a_folder_that_does_not_exist_is_named(project: Path, thresher: Thresher):
    refused(thresher("migrate", "--database", "sqlite:///nowhere/thresher.db"), 6, "nowhere")
    refused(thresher("status", "--project", "nowhere"), 3, "nowhere", "--project")


@pytest.mark.parametrize("url", ["mysql://host/name", "thresher.db", "sqlite:///x.db?durability=none"])
def test_a_database_of_another_kind_is_refused_with_an_example(project: Path, thresher: Thresher, url: str):
    refused(thresher("migrate", "--database", url), 3, "must be")


def test_a_server_that_does_not_answer_is_told_at_once(project: Path, thresher: Thresher):
    result = thresher("status", "--database", "postgresql://ann:secret@127.0.0.1:1/none")
    refused(result, 6, "cannot connect to PostgreSQL", "server running")
    assert "secret" not in result.err
    assert result.err.lower().count("is the server running") == 1
    assert "?." not in result.err


def test_the_wrong_folder_is_called_so(folder: Path, thresher: Thresher):
    for argv in (["status"], ["tasks", "list"], ["config", "list"]):
        refused(thresher(*argv), 6, "thresher.yaml", str(folder), "--project FOLDER", "thresher init")
    assert list(folder.iterdir()) == []


def test_who_works_in_a_folder_without_a_project_is_told(folder: Path, thresher: Thresher):
    (folder / "only.py").write_text(APP)
    told = thresher("run", "--only", "test").err
    assert f"note: there is no thresher.yaml in {folder}" in told
    assert "--project FOLDER" in told
    assert "note:" not in thresher("run", "--app", "only.py", "--only", "test").err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["tasks", "show", "abc"], "'abc' is not a whole number"),
        (["tasks", "wait", "1", "--timeout", "soon"], "'soon' is not a number"),
        (["status", "--josn"], "Did you mean --json?"),
        (["tasks", "list", "--verbos"], "Did you mean --verbose?"),
        (["tasks", "list", "--stat", "failed"], "--state"),
        (["stauts"], "Did you mean 'status'?"),
        (["tasks", "lits"], "list"),
        (["serve", "--port", "99999"], "65535"),
    ],
)
def test_a_slip_of_the_keyboard_is_met_with_what_was_meant(queue: Thresher, argv: list[str], says: str):
    refused(queue(*argv), 2, says, "--help")


def test_a_port_that_is_taken_is_named_with_the_way_around_it(queue: Thresher):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for command in ("serve", "up"):
            refused(queue(command, "--port", port), 2, f"127.0.0.1:{port}", "in use", "--port")


def test_a_disk_without_room_for_a_file_beside_the_database_is_called_full(tmp_path: Path):
    url = str(tmp_path / "thresher.db")
    problem = apsw.IOError("disk I/O error")
    with pytest.raises(DatabaseProblem, match="does not read or write"), advice(url):
        raise problem
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("thresher.store.sqlite.connection.SPARE", 1 << 62)
        with pytest.raises(DatabaseProblem, match="is full"), advice(url):
            raise problem


def test_folders_that_may_not_be_used_are_named(
    queue: Thresher, common_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    first = f"sqlite:///{common_folder}/first.db"
    # Every module is loaded before rights are given up.
    assert queue("migrate", "--database", first).code == 0
    monkeypatch.chdir(common_folder)
    closed, secret = common_folder / "closed", common_folder / "secret"
    closed.mkdir(mode=0o555)
    secret.mkdir(mode=0o700 if os.geteuid() == 0 else 0)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        unwritable = queue("migrate", "--database", f"sqlite:///{closed}/thresher.db")
        unreadable = queue("status", "--project", secret)
    finally:
        os.seteuid(os.getuid())
    refused(unwritable, 6, str(closed), "cannot write in the folder", "--database")
    refused(unreadable, 3, str(secret), "permissions")


def test_an_export_that_nobody_brings_is_refused_with_those_that_are_there(queue: Thresher):
    refused(queue("export", "postings"), 2, "'postings'", "no app of this project has any")


def test_an_unknown_kind_names_those_that_are_known(queue: Thresher):
    refused(queue("add", "wrok"), 4, "'wrok'", "free, work")


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("{oops", "not JSON"),
        ("{'name': 'You'}", "double quotes"),
        ("[1]", "must be a JSON object"),
        ('"text"', "must be a JSON object"),
        ("@missing.json", "missing.json"),
        ("", "not JSON"),
    ],
)
def test_a_payload_that_is_no_json_object_is_refused(queue: Thresher, payload: str, says: str):
    refused(queue("add", "free", "--payload", payload), 2, says)


@pytest.mark.promise(18)
def test_an_oversized_payload_names_the_limit_and_the_way_around_it(queue: Thresher, project: Path):
    (project / "big.json").write_text('{"body": "' + "x" * 70_000 + '"}')
    refused(queue("add", "free", "--payload", "@big.json"), 2, "65,536", "queue.payload_limit", "ctx.save")
    assert queue("status", "--json").json["counts"] == {}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--delay", "soon"], "90s, 10m, 2h"),
        (["--delay", "99999d"], "between 0 and"),
        (["--priority", "1000"], "between -100 and 100"),
        (["--url", "not a url"], "https://example.com"),
        (["--url", "ftp://a.example/"], "http and https"),
        (["--key", "k" * 600], "512"),
        (["--key", ""], "1 to 512"),
    ],
)
def test_a_bad_option_of_add_says_what_is_wanted(queue: Thresher, options: list[str], says: str):
    refused(queue("add", "free", *options), 2, says)


@pytest.mark.promise(1)
@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("{oops", 2, "not JSON"),
        ("[]", 2, "must be a JSON object"),
        ('{"payload": {}}', 2, "kind"),
        ('{"kind": "nobody"}', 4, "nobody"),
        ('{"kind": "free", "prio": 1}', 2, "'prio'"),
        ('{"kind": "free", "payload": [1]}', 2, "payload must be an object"),
        ('{"kind": "free", "priority": "high"}', 2, "priority must be a whole number"),
        ('{"kind": "free", "delay": "soon"}', 2, "10m"),
        ('{"kind": "free", "url": 3}', 2, "url must be text"),
        ('{"kind": 7}', 2, "kind must be text"),
    ],
)
def test_one_bad_line_is_named_and_nothing_of_the_file_is_added(
    queue: Thresher, project: Path, line: str, code: int, says: str
):
    (project / "many.jsonl").write_text(
        '{"kind": "free"}\n\n{"kind": "work"}\n' + line + '\n{"kind": "free"}\n'
    )
    refused(queue("add", "--from", "many.jsonl"), code, "many.jsonl:4:", says, "Nothing was added")
    assert queue("status", "--json").json["counts"] == {}


def test_add_wants_either_a_kind_or_a_file(queue: Thresher):
    refused(queue("add"), 2, "KIND", "--from")
    refused(queue("add", "free", "--from", "x.jsonl"), 2, "KIND", "--from")
    refused(queue("add", "--from", "missing.jsonl"), 2, "missing.jsonl")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("apps: [app.py\n", ["thresher.yaml:", "not YAML"]),
        ("- a\n- b\n", ["thresher.yaml:1", "apps, database, fetch, models, notify, retry, settings"]),
        ("apps: [jobs]\ndatabse: x\n", ["thresher.yaml:2", "databse", "apps, database"]),
        ("apps: [jobs]\nqueries: {}\n", ["thresher.yaml:2", "queries is not a known key"]),
        ("apps: app.py\n", ["thresher.yaml:1", "apps must be a list"]),
        ("\nsettings:\n  retry.base: soon\n", ["thresher.yaml:3", "retry.base", "'soon'"]),
        ("settings:\n  retry.bse: 1\n", ["thresher.yaml:2", "retry.bse"]),
        ("settings:\n  1: 2\n", ["thresher.yaml:2", "'1'"]),
        ("settings: 5\n", ["thresher.yaml:1", "map names to numbers"]),
        ("database: ${NOWHERE_TO_BE_FOUND}\n", ["thresher.yaml:1", "NOWHERE_TO_BE_FOUND"]),
        ("apps: [\x00]\n", ["thresher.yaml"]),
        ("apps: [jobs]\n\tx: 1\n", ["thresher.yaml:2", "no tabs", "spaces"]),
    ],
)
def test_a_malformed_project_file_is_named_with_line_and_key(
    folder: Path, thresher: Thresher, text: str, words: list[str]
):
    (folder / "thresher.yaml").write_text(text)
    refused(thresher("status"), 3, *words)


def test_a_project_file_that_is_no_text_or_a_folder_is_named(folder: Path, thresher: Thresher):
    (folder / "thresher.yaml").write_bytes(b"apps: \xff\xfe")
    refused(thresher("status"), 3, "not UTF-8")
    (folder / "thresher.yaml").unlink()
    (folder / "thresher.yaml").mkdir()
    refused(thresher("status"), 3, "cannot be read")


@pytest.mark.promise(12)
def test_a_bad_setting_names_the_key_what_it_got_and_what_it_wants(queue: Thresher):
    refused(queue("config", "set", "retry.bse", "5"), 4, "'retry.bse'", "retry.base")
    refused(queue("config", "get", "nonsense"), 4, "'nonsense'")
    refused(queue("config", "set", "retry.base", "soon"), 3, "retry.base", "a number", "'soon'")
    refused(queue("config", "set", "retry.base", "nan"), 3, "retry.base")
    refused(queue("config", "set", "retry.base", "-1"), 3, "from 0 to 86400", "'-1'")
    refused(queue("config", "set", "worker.batch", "1.5"), 3, "a whole number", "'1.5'")
    assert queue("config", "history", "--json").json == []


def write_app(project: Path, text: str) -> None:
    (project / "other.py").write_text(text)
    (project / "thresher.yaml").write_text(PROJECT.replace("app.py", "app.py, other.py"))


def test_two_apps_with_one_kind_are_refused_by_name_and_nothing_is_made(project: Path, thresher: Thresher):
    write_app(project, APP.replace('"test"', '"double"'))
    refused(thresher("run"), 2, "'work'", "'test'", "'double'")
    assert not (project / "thresher.db").exists()


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("def (", 3, "SyntaxError"),
        ("1 / 0", 3, "ZeroDivisionError"),
        ("import nonsense_nowhere", 4, "nonsense_nowhere"),
        ("app = 5", 3, "must be a thresher.App"),
        ("", 3, "it defines no 'app'; write app = App(...)"),
        ("\n\nundefined + 1", 3, "'undefined' is not defined (other.py:3)"),
        (
            "from thresher import *\nPipeline('x')",
            2,
            "has no stage; write Pipeline('x', Stage(function)) (other.py:2)",
        ),
        ("from thresher import *\nPipeline('x', print)", 2, "write Pipeline('x', Stage(print))"),
        (
            "from thresher import *\nPipeline('x', Stage(lambda: Done()))",
            2,
            "must take one argument, the context",
        ),
        (
            "from thresher import *\nasync def f(ctx): pass\nStage(f(None))",
            2,
            "write Stage(f), without parentheses",
        ),
        ("from thresher import *\nStage(print, through=('source:a'))", 2, "through=('source:a',)"),
        ("from thresher import *\napp = App('x', start=(NewTask('y')))", 2, "start=(NewTask(...),)"),
    ],
)
def test_an_app_that_cannot_be_loaded_is_named(
    project: Path, thresher: Thresher, text: str, code: int, says: str
):
    write_app(project, text)
    refused(thresher("run"), code, "other.py", says)


def test_a_missing_app_is_named(project: Path, thresher: Thresher):
    refused(thresher("run", "--app", "nowhere.py"), 4, "nowhere.py")
    refused(thresher("run", "--app", "no.such.module:app"), 4, "no.such.module")


def test_errors_are_json_when_asked_for(queue: Thresher):
    result = queue("tasks", "show", "7", "--json")
    assert (result.code, result.out) == (4, "")
    assert result.error["class"] == "UnknownName"
    assert "task 7" in result.error["error"]


def test_an_unexpected_error_gives_advice_and_its_traceback_only_on_demand(
    queue: Thresher, monkeypatch: pytest.MonkeyPatch
):
    def explode(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("thresher.cli.status.read_status", explode)
    quiet = queue("status")
    refused(quiet, 70, "boom", "--verbose")
    loud = queue("status", "--verbose")
    assert loud.code == 70
    assert "Traceback" in loud.err


def test_a_real_process_ends_with_the_same_code_and_words(project: Path):
    process = start("status", cwd=project)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (6, "")
    assert err.startswith("thresher: there is no database")


def test_whoever_stops_reading_our_output_is_no_error(queue: Thresher, project: Path):
    for _ in range(3):
        added(queue, "free")
    process = start("config", "list", cwd=project)
    process.stdout.close()
    assert process.wait(timeout=30) in (0, 1)
    assert "Traceback" not in process.stderr.read()


def test_ctrl_c_while_the_program_is_read_shows_no_traceback():
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_EARLY], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")
