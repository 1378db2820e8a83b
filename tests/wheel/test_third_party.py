"""An app in a wheel of its own: it brings what our own apps bring, and goes again without harm."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.harness.databases import drop_schema
from tests.wheel.environment import Environment, beside

PROJECT = """
apps: [app.py{more}]
database: {url}
settings:
  run.patience: 0
"""


@dataclass(frozen=True)
class Project:
    """A project on one database, in an environment of its own."""

    folder: Path
    url: str
    environment: Environment

    def enable(self, *apps: str) -> None:
        more = "".join(f", {app}" for app in apps)
        (self.folder / "thresher.yaml").write_text(PROJECT.format(more=more, url=self.url))

    def __call__(self, *words: str | Path, codes: tuple[int, ...] = (0,)) -> str:
        return self.environment.thresher(*words, cwd=self.folder, codes=codes)

    def json(self, *words: str | Path, codes: tuple[int, ...] = (0,)) -> Any:
        return json.loads(self(*words, "--json", codes=codes))

    def measure(self, harbour: str, metres: float) -> None:
        self("add", "tide", "--payload", json.dumps({"harbour": harbour, "metres": metres}))

    def check(self, name: str, codes: tuple[int, ...] = (0,)) -> list[tuple[str, str]]:
        """What the doctor says under a name."""
        found = self.json("doctor", codes=codes)["checks"]
        return [(each["verdict"], each["found"]) for each in found if each["name"] == name]


@pytest.fixture(params=["sqlite", "postgres"])
def project(request: pytest.FixtureRequest, tmp_path: Path, installed: Environment) -> Iterator[Project]:
    folder, environment = tmp_path / "project", beside(tmp_path / "environment", installed)
    folder.mkdir()
    environment.thresher("init", cwd=folder)
    if request.param == "sqlite":
        yield Project(folder, "sqlite:///thresher.db", environment)
        return
    url = f"{request.getfixturevalue('postgres_url')}?schema=tides_{token_hex(6)}"
    try:
        yield Project(folder, url, environment)
    finally:
        drop_schema(url)


@pytest.mark.promise(1)
@pytest.mark.promise(12)
@pytest.mark.promise(20)
def test_an_app_of_somebody_else_works_goes_and_comes_back(project: Project, tides: Path):
    project.environment.install(tides)
    project.enable()
    assert "not enabled in this project" in project("--help")
    project.enable("tides")
    assert "See how high the water stands." in project("--help")
    project("run")
    project("config", "set", "tides.lowest", "1")
    project.measure("Brest", 5.25)
    project.measure("Calais", 0.5)
    project("run")
    assert project("tides", "count") == "1\n"
    filtered = project.json("tasks", "list", "--state", "filtered")
    assert [each["reason"] for each in filtered] == ["0.5 m is lower than the sea gets"]

    project.measure("Dover", 3.5)
    project.environment.uninstall("thresher-tides")
    (_, (verdict, told)) = project.check("apps", codes=(1,))
    assert (verdict, "'tides'" in told) == ("fail", True)
    ((_, told),) = project.check("kinds", codes=(1,))
    assert "1 of kind 'tide'" in told
    project.enable()
    project("run", "--again")
    assert len(project.json("records")) == 4  # three greetings, and a harbour
    ((verdict, told),) = project.check("kinds")
    assert (verdict, "1 of kind 'tide'" in told, "tides" in told) == ("warn", True, True)
    assert [each["kind"] for each in project.json("tasks", "list", "--state", "pending")] == ["tide"]

    project.environment.install(tides)
    project.enable("tides")
    project("run")
    assert project("tides", "count") == "2\n"
    assert project.json("config", "get", "tides.lowest")["value"] == 1
