import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher
from tests.house.pages.cli import root, walk
from thresher.cli.main import hoist

HEAVY = (
    "asyncio",
    "psycopg",
    "psycopg_pool",
    "apsw",
    "yaml",
    "rich",
    "thresher.store",
    "thresher.engine",
    "thresher.runtime",
    "thresher.bench",
)


COMMANDS = [" ".join(path[1:]).split() for path, _ in walk(root())]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(thresher: Thresher, path: list[str]):
    result = thresher(*path, "--help")
    assert (result.code, result.err) == (0, "")
    assert "Usage: thresher" in result.out


def test_all_commands_are_there():
    words = {" ".join(path) for path in COMMANDS}
    assert words >= {
        "init",
        "run",
        "worker",
        "status",
        "add",
        "tasks list",
        "tasks show",
        "tasks tree",
        "tasks retry",
        "tasks cancel",
        "failures list",
        "failures retry",
        "sources list",
        "sources show",
        "sources add",
        "sources limit",
        "sources pause",
        "sources resume",
        "sources enable",
        "sources disable",
        "sources test",
        "config list",
        "config get",
        "config set",
        "config unset",
        "config history",
        "schedules list",
        "schedules pause",
        "schedules resume",
        "events",
        "migrate",
        "doctor",
        "bench queue",
    }


def test_no_command_at_all_prints_the_help(thresher: Thresher):
    result = thresher()
    assert result.code == 0
    assert "Commands:" in result.out


def test_asking_for_help_loads_neither_store_nor_engine_nor_driver():
    code = "import sys, thresher.cli; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [
        name for name in loaded if name in HEAVY or name.startswith(tuple(f"{heavy}." for heavy in HEAVY))
    ] == []


def test_the_installed_command_and_the_module_are_one_and_the_same(folder):
    script = Path(sys.executable).with_name("thresher")
    by_name = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    by_module = subprocess.run(
        [sys.executable, "-m", "thresher", "--help"], capture_output=True, text=True, check=True
    ).stdout
    assert by_name == by_module


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        (["tasks", "list", "--json"], ["--json", "tasks", "list"]),
        (["status", "--database", "x", "--verbose"], ["--database", "x", "--verbose", "status"]),
        (["status", "--project=a", "--app", "b"], ["--project=a", "--app", "b", "status"]),
        (["add", "work", "--", "--json"], ["add", "work", "--", "--json"]),
        (["status", "--database"], ["--database", "status"]),
        (["--json=yes"], ["--json=yes"]),
    ],
)
def test_shared_options_may_stand_anywhere(given: list[str], becomes: list[str]):
    assert hoist(given) == becomes


@pytest.mark.parametrize(
    "argv",
    [
        ["nonsense"],
        ["status", "--nonsense"],
        ["tasks", "show"],
        ["tasks", "show", "x"],
        ["tasks", "list", "--limit", "0"],
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(thresher: Thresher, argv: list[str]):
    result = thresher(*argv)
    assert result.code == 2
    assert len(result.err.splitlines()) == 1
    assert "--help" in result.err
    assert thresher(*argv, "--json").error["class"] == "UsageError"


def test_the_version_is_that_of_the_package(thresher: Thresher):
    assert thresher("--version").out == f"thresher {version('thresher')}\n"


def test_a_shell_completes_commands(folder):
    words = {"_THRESHER_COMPLETE": "complete_bash", "COMP_WORDS": "thresher tasks ca", "COMP_CWORD": "2"}
    script = Path(sys.executable).with_name("thresher")
    told = subprocess.run(
        [script], capture_output=True, text=True, check=True, env={**os.environ, **words}, cwd=folder
    ).stdout
    assert told.split() == ["cancel"]
