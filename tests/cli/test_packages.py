"""Apps that come as installed packages, through the entry-point group."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

APP = """
from thresher import App, Done, NewTask, Pipeline, Record, Stage


async def brew(ctx):
    return Done(records=(Record("tea", ctx.task.payload["leaf"]),))


app = App("teahouse", pipelines=(Pipeline("brew", Stage(brew)),), start=(NewTask("brew", {"leaf": "assam"}, key="assam"),))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of installed packages, as pip would leave it."""
    packages = tmp_path / "packages"
    about = packages / "teahouse-1.0.dist-info"
    about.mkdir(parents=True)
    (packages / "teahouse.py").write_text(APP)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: teahouse\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[thresher.apps]\nteahouse = teahouse:app\n")
    return packages


def call(packages: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(packages)}
    return subprocess.run(
        [sys.executable, "-m", "thresher", *words],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_app_that_is_installed_as_a_package_is_found_and_run(installed: Path, tmp_path: Path):
    done = call(installed, tmp_path, "run", "--json")
    assert done.returncode == 0, done.stderr
    assert '"assam"' in call(installed, tmp_path, "records", "--json").stdout


def test_a_kind_that_a_package_and_the_project_both_claim_is_refused_by_name(installed: Path, tmp_path: Path):
    (tmp_path / "mine.py").write_text(APP.replace('"teahouse"', '"mine"'))
    (tmp_path / "thresher.yaml").write_text("apps: [mine.py]\n")
    refused = call(installed, tmp_path, "run")
    assert refused.returncode == 2
    assert "'brew' is claimed by app 'mine' and again by 'teahouse'" in refused.stderr
