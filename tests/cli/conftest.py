"""A project in a folder of its own, and the command line in the same process; a few tests start a real
one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.harness.tables import TABLES
from thresher.cli import main

# A process makes its commands out of our functions once. Tests call many commands in one process, and would
# spend most of their time on it.
typer.main.get_command = cache(typer.main.get_command)

APP = """
import asyncio

from thresher import *


async def work(ctx):
    how = ctx.task.payload.get("how", "done")
    if how == "fail":
        return Failed("it cannot be done")
    if how == "flaky":
        raise Transient("the [red]ladder[/red] wobbles \\x1b[31m")
    if how == "wall":
        raise Blocked("a captcha")
    if how == "wait":
        return Snooze(3600, "come back in an hour")
    if how == "result":
        return Done(result={"doors": 3, "said": "\\x9b31m"})
    if how == "filter":
        return Filtered("too small")
    if how == "slow":
        await asyncio.sleep(60)
    if how == "loop":
        return Done(children=(NewTask("work", url="https://a.example/"), NewTask("work", {"how": "loop"}, url="https://a.example/1")))
    return Done()


async def fine():
    return "three doors found"


async def broken():
    raise Unauthorized("bad key")


app = App(
    "test",
    pipelines=(Pipeline("work", Stage(work, through=("source:doors",))), Pipeline("free", Stage(work, name="work"))),
    sources=(Source("doors"), Source("good", probe=fine), Source("bad", trip_after=1, probe=broken), Source("slow", rate=0.5)),
    schedules=(Schedule("nightly", NewTask("free"), cron="0 3 * * *", timezone="Europe/Berlin"),),
)
"""
PROJECT = "apps: [app.py]\nfetch: {contact: me@example.com}\nsettings:\n  worker.poll: 0.05\n  run.patience: 0\n  retry.base: 3600\n"


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        return json.loads(self.err)


Thresher = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.delenv("THRESHER_DATABASE_URL", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def project(folder: Path) -> Path:
    """A current folder with a project in it, and no database yet."""
    (folder / "app.py").write_text(APP)
    (folder / "thresher.yaml").write_text(PROJECT)
    return folder


@pytest.fixture
def thresher(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Thresher:
    """Call the command line and read what it said."""
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*argv: str | int) -> Result:
        capsys.readouterr()
        sys.modules.pop("app", None)
        code = main([str(word) for word in argv])
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return call


@pytest.fixture
def queue(project: Path, thresher: Thresher) -> Thresher:
    """The command line on a project whose database is made."""
    TABLES.write(project / "thresher.db")
    return thresher


def start(*argv: str, **options: Any) -> subprocess.Popen[str]:
    """A real process."""
    return subprocess.Popen(
        [sys.executable, "-m", "thresher", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        **options,
    )


def added(queue: Thresher, *argv: str | int) -> int:
    """Add one task; its id."""
    result = queue("add", *argv, "--json")
    assert result.code == 0, result.err
    return int(result.json["id"])
