"""Text of strangers on its way to a terminal: through tables, exports, JSON, errors and log lines."""

import json
import logging
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.apps.jobs.cli.project import APP, board, company, decision, match, now, posting, write
from tests.cli.conftest import Thresher
from thresher.cli.logs import log_to_stderr
from thresher.runtime import opened_store

pytestmark = pytest.mark.promise(17)

# Escape, C1's control sequence introducer, delete, a bell, an override of direction, a carriage return.
EVIL = "\x1b[31mred\x9b2J\x7f\x07\u202egpj\rover"
UNSEEN = ("\x1b[31mr", "\x9b", "\x7f", "\x07", "\u202e", "\rover")


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    """A project in whose records a stranger's text stands as it came: written before records were cleaned."""
    (project / "app.py").write_text(APP)
    at = now(project)
    write(
        project,
        company("acme.com", "EVIL", at),
        board("greenhouse:acme", "acme.com", at, proof="EVIL"),
        posting("greenhouse:acme/1", "EVIL", at),
        match("greenhouse:acme/1", "EVIL", 91, at),
        decision("greenhouse:acme/1", "saved", at),
    )
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store, store.write() as session:
        session.run(
            "update records set data = replace(data, 'EVIL', :evil)",
            {"evil": json.dumps(EVIL, ensure_ascii=False)[1:-1]},
        )
    return queue


def on_a_terminal(project: Path, *argv: str) -> str:
    """What a terminal is sent."""
    near, far = pty.openpty()
    environ = {**os.environ, "TERM": "dumb", "COLUMNS": "300", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "thresher", *argv], cwd=project, stdout=far, stderr=far, env=environ
    )
    os.close(far)
    shown = b""
    try:
        while part := os.read(near, 65_536):
            shown += part
    except OSError:  # the far side has hung up
        pass
    assert process.wait(timeout=60) == 0, shown
    os.close(near)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_to_a_terminal_does_not_steer_it(search: Thresher, project: Path, form: str):
    shown = on_a_terminal(project, "export", "postings", "-f", form)
    assert "gpj" in shown
    assert [each for each in UNSEEN if each in shown] == []


@pytest.mark.parametrize(
    "argv",
    [
        ("postings", "list"),
        ("postings", "show", "greenhouse:acme/1"),
        ("companies", "show", "acme.com"),
        ("explain", "greenhouse:acme/1"),
        ("jobs", "matches"),
        ("boards", "show", "greenhouse:acme"),
        ("records",),
        ("explain", "acme.com"),
        ("export", "matches"),
    ],
)
def test_neither_tables_nor_json_steer_the_terminal(search: Thresher, argv: tuple[str, ...]):
    for said in (search(*argv).out, search(*argv, "--json").out):
        assert said
        assert [each for each in UNSEEN if each in said] == []


def test_json_carries_what_it_escapes(search: Thresher):
    shown = search("postings", "show", "greenhouse:acme/1", "--json")
    assert shown.json["posting"]["title"] == EVIL
    assert "\\u009b2J\\u007f" in shown.out


def test_an_error_that_quotes_a_stranger_does_not_steer_the_terminal(search: Thresher):
    for argv in (("postings", "show", EVIL), ("config", "get", EVIL), ("export", EVIL), (EVIL,)):
        for more in ((), ("--json",), ("--verbose",)):
            said = search(*argv, *more)
            assert said.code in (2, 4)
            assert [each for each in UNSEEN if each in said.err] == []
            assert len(said.err.splitlines()) == 1 or more


def test_a_log_line_neither_steers_the_terminal_nor_passes_for_two(capsys: pytest.CaptureFixture[str]):
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        log_to_stderr(verbose=False)
        logging.getLogger("thresher.test").warning(
            "%s", f"{EVIL}\n2026-01-01 00:00:00,000 INFO thresher: all is well"
        )
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    said = capsys.readouterr().err
    assert [each for each in UNSEEN if each in said] == []
    assert [line.startswith("    ") for line in said.splitlines()] == [False, True]


def test_what_a_stage_brings_is_kept_without_control_characters(search: Thresher, project: Path):
    write(
        project,
        posting("greenhouse:acme/2", f"Engineer {EVIL}", now(project), description=f"a\tb\r\nc{EVIL}"),
    )
    search("export", "postings", "-o", "out.jsonl")
    kept = next(
        each for line in (project / "out.jsonl").open() if "Engineer" in (each := json.loads(line))["title"]
    )
    for text in (kept["title"], kept["description"]):
        assert not any(unicodedata.category(char) == "Cc" and char not in "\t\n\r" for char in text)
        assert "\u202e" not in text
    assert kept["description"].startswith("a\tb\r\nc")
