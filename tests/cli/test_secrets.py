"""What belongs to the project and to nobody else: its database's password, its exports, and the names that
its files may take."""

import logging
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Thresher
from thresher.config.project import hide_password

pytestmark = pytest.mark.promise(17)

URLS = (
    "mysql://ann:hunter2@db.example/queue",
    "postgresql://ann:hunter2@127.0.0.1:1/queue",
    "postgresql://ann:a/hunter2@127.0.0.1:1/queue",
    "postgresql://ann:a?hunter2@127.0.0.1/queue",
    "postgresql://ann:a#hunter2@127.0.0.1/queue",
    "postgresql://ann:a[hunter2@127.0.0.1/queue",
    "postgresql://ann:a@hunter2@127.0.0.1:1/queue",
    "postgresql://:hunter2@127.0.0.1:1/queue",
    "postgresql://ann:hunter2\u2100@127.0.0.1:1/q",
    "postgresql://127.0.0.1:1/queue?user=ann&password=hunter2",
    "postgresql://127.0.0.1:1/queue?PASSWORD=hunter2",
    "postgresql://ann:hunter2@127.0.0.1:x/queue",
    "ann:hunter2@127.0.0.1/queue",
    "postgresql//ann:hunter2@127.0.0.1",
    "//ann:hunter2@h/q",
)


@pytest.mark.parametrize("url", URLS)
def test_no_command_shows_the_password_of_the_database(
    thresher: Thresher, folder: Path, caplog: pytest.LogCaptureFixture, url: str
):
    caplog.set_level(logging.DEBUG)
    for argv in (("status",), ("doctor",), ("status", "--json"), ("migrate", "--verbose"), ("worker",)):
        said = thresher(*argv, "--database", url)
        assert said.code != 0
        assert "hunter2" not in said.out + said.err + caplog.text, argv


def test_a_password_in_the_project_file_is_not_shown_either(thresher: Thresher, folder: Path):
    (folder / "thresher.yaml").write_text("database: [postgresql://ann:hunter2@h/q]\n")
    said = thresher("status")
    assert (said.code, "hunter2" in said.err) == (3, False)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:pw@h:5432/q?sslmode=require", "postgresql://ann:***@h:5432/q?sslmode=require"),
        ("postgresql://h/q", "postgresql://h/q"),
        ("sqlite:///thresher.db", "sqlite:///thresher.db"),
        ("postgresql://h:5432/q", "postgresql://h:5432/q"),
        ("postgresql://ann@h/q?password=a&x=1", "postgresql://ann@h/q?password=***&x=1"),
    ],
)
def test_everything_else_about_a_database_is_shown(url: str, shown: str):
    assert hide_password(url) == shown


def test_an_export_is_for_its_owner_alone_until_somebody_opens_it(queue: Thresher, project: Path):
    (project / "thresher.yaml").write_text("apps: [jobs]\n")
    for form in ("csv", "xlsx", "jsonl"):
        assert queue("export", "companies", "-o", f"out.{form}").code == 0
        assert stat.S_IMODE((project / f"out.{form}").stat().st_mode) == 0o600
    (project / "out.csv").chmod(0o640)
    queue("export", "companies", "-o", "out.csv")
    assert stat.S_IMODE((project / "out.csv").stat().st_mode) == 0o640


TAKEN = ("random", "json", "tarfile", "requests", "colorsys", "thresher", "wsgiref")
APP = """
from thresher import App, Done, NewTask, Pipeline, Record, Stage
import helper

async def work(ctx):
    return Done(records=(Record("word", helper.WORD),))

app = App("mine", pipelines=(Pipeline("work", Stage(work)),), start=(NewTask("work", key="one"),))
"""


def test_a_file_of_the_project_passes_for_no_module_of_python_nor_of_anybody_else(tmp_path: Path):
    """Neither one that lies there, nor one that is an app itself."""
    for name in TAKEN:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken over')\n")
    (tmp_path / "colorsys.py").write_text(APP)
    (tmp_path / "helper.py").write_text("import tarfile, random, json, requests, wsgiref\nWORD = 'found'\n")
    (tmp_path / "thresher.yaml").write_text("apps: [colorsys.py]\n")
    folder = str(tmp_path)
    code = f"""
import sys
from thresher.cli import main
assert main(["run", "--json"]) == 0
assert main(["records", "--json"]) == 0
import colorsys, json, random, requests, tarfile, wsgiref
print([each.__name__ for each in (colorsys, json, random, requests, tarfile, wsgiref) if {folder!r} in (each.__file__ or "")])
"""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert '"found"' in ran.stdout
    assert ran.stdout.splitlines()[-1] == "[]"
