"""An app in a wheel of its own: it brings what our own apps bring, and goes again without harm."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.harness.databases import drop_schema
from tests.web.conftest import Api
from tests.wheel.environment import Environment, beside

PROJECT = """
apps: [app.py{more}]
database: {url}
settings:
  run.patience: 0
"""


BREST = {"harbour": "Brest", "metres": 5.25, "measurements": 1}
PASSWORD = "a long one for the test"


@dataclass(frozen=True)
class Project:
    """A project on one database, in an environment of its own."""

    folder: Path
    url: str
    environment: Environment

    def enable(self, *apps: str, says: str = "") -> None:
        more = "".join(f", {app}" for app in apps)
        (self.folder / "thresher.yaml").write_text(PROJECT.format(more=more, url=self.url) + says)

    def __call__(self, *words: str | Path, codes: tuple[int, ...] = (0,), given: str | None = None) -> str:
        return self.environment.thresher(*words, cwd=self.folder, codes=codes, given=given)

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
    assert project.json("tides", "list") == [BREST]
    assert project("tides", "highest") == "Brest\n"
    assert project("tides", "cost", "1") == "0 millionths of a dollar\n"
    assert project("export", "tides", "--format", "csv").split() == ["\ufeffharbour,level", "Brest,5.25"]
    assert project.check("tides") == [("warn", "at 4 m or above: Brest")]
    (event,) = project.json("events", "--kind", "tide_flooded")
    assert (event["detail"], "rose to the level of a flood" in event["sentence"]) == (
        {"harbour": "Brest"},
        True,
    )
    assert look(project) == ([BREST], 403, "<li>Brest: 5.25 m</li>")
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
    assert len(project.json("records")) == 3  # the greetings of the other app
    ((verdict, told),) = project.check("kinds")
    assert (verdict, "1 of kind 'tide'" in told, "tides" in told) == ("warn", True, True)
    assert [each["kind"] for each in project.json("tasks", "list", "--state", "pending")] == ["tide"]

    project.environment.install(tides)
    project.enable("tides")
    project("run")
    assert [level["harbour"] for level in project.json("tides", "list")] == ["Brest", "Dover"]
    assert project.json("config", "get", "tides.lowest")["value"] == 1


@pytest.mark.promise(20)
def test_an_app_of_somebody_else_has_a_key_in_the_project_file_and_asks_its_own_tables(
    project: Project, tides: Path
):
    project.environment.install(tides)
    project.enable("tides", says="tides:\n  closed: [Calais]\n")
    for harbour in ("Brest", "Calais"):
        project.measure(harbour, 5.25)
    project("run")
    assert project.json("tides", "list") == [BREST]
    (filtered,) = project.json("tasks", "list", "--state", "filtered")
    assert filtered["reason"] == "Calais is closed"
    project.enable("tides", says="tides:\n  closed: Calais\n")
    told = project.environment.refused("run", cwd=project.folder)
    assert "thresher.yaml:6: tides must be a mapping with the key closed" in told
    project.enable("tides")
    project.measure("Calais", 3)
    project("run")
    assert [level["harbour"] for level in project.json("tides", "list")] == ["Brest", "Calais"]
    project.enable(says="tides:\n  closed: [Calais]\n")
    assert "tides" in project.environment.refused("run", cwd=project.folder), (
        "whose key it is must be enabled"
    )


def look(project: Project) -> tuple[Any, int, str]:
    """What a key of the app's own scope is shown, how another key is refused, and the line of the page."""
    keys = [project.json("keys", "create", scope, "--scope", scope)["key"] for scope in ("tides", "read")]
    project("admin", "create", "ada", "--password-stdin", given=f"{PASSWORD}\n")
    words = ("python", "-m", "thresher", "serve", "--port", "0")
    with project.environment.start(*words, cwd=project.folder) as server:
        try:
            assert server.stdout is not None
            told = re.search(r"http://[\d.:]+", server.stdout.readline())
            assert told
            found = [
                Api(told[0]).ask("GET", "/api/tides", headers={header: key})
                for header, key in zip(("X-Tides-Key", "X-API-Key"), keys, strict=True)
            ]
            return found[0].json, found[1].status, page(told[0])
        finally:
            server.terminate()


def page(url: str) -> str:
    """The harbours on the app's page, for an administrator who has logged in."""
    form = {"name": "ada", "password": PASSWORD}
    login = Api(url).ask("POST", "/login", data=form, headers={"Origin": url})
    cookie = login.headers["Set-Cookie"].partition(";")[0]
    shown = Api(url).ask("GET", "/tides", headers={"Cookie": cookie})
    assert shown.status == 200, shown.body
    return "".join(re.findall(r"<li>.*m</li>", shown.body.decode()))
