"""Tables that an app brings, from the command line: made, checked, left alone while the app is away."""

from pathlib import Path

import pytest

from tests.cli.conftest import Thresher
from tests.harness.tasks import change
from thresher.runtime import opened_store

ORCHARD = """
from pathlib import Path
from thresher import App, Done, Pipeline, Stage

def grow(ctx):
    return Done()

app = App("orchard", pipelines=(Pipeline("grow", Stage(grow)),), migrations=Path(__file__).with_name("migrations"))
"""
WITH, WITHOUT = "apps: [orchard.py]\n", "apps: []\n"
TREES = "create table trees (id {identity}, name text not null);\n"


@pytest.fixture
def orchard(folder: Path) -> Path:
    """A project with one app that brings a table; the returned file is its project file."""
    (folder / "migrations").mkdir()
    (folder / "migrations" / "0001_trees.sql").write_text(TREES)
    (folder / "orchard.py").write_text(ORCHARD)
    project = folder / "thresher.yaml"
    project.write_text(WITH)
    return project


def check(thresher: Thresher, name: str) -> dict[str, str]:
    (found,) = [each for each in thresher("doctor", "--json").json["checks"] if each["name"] == name]
    return found


@pytest.mark.promise(1)
def test_migrate_makes_the_tables_of_the_apps_and_says_what_is_missing(orchard: Path, thresher: Thresher):
    assert thresher("migrate", "--check", "--json").json["pending"][-1] == "orchard trees"
    assert thresher("migrate", "--json").json["applied"][-1] == "orchard trees"
    assert thresher("migrate", "--check").code == 0
    assert check(thresher, "tables") | {"advice": None} == {
        "name": "tables",
        "verdict": "ok",
        "found": "orchard at migration 1",
        "advice": None,
        "page": None,
    }


def test_whoever_only_looks_needs_no_tables_of_an_app_unless_they_are_newer(
    orchard: Path, thresher: Thresher
):
    orchard.write_text(WITHOUT)
    thresher("migrate")
    orchard.write_text(WITH)
    assert thresher("status").code == 0
    assert check(thresher, "tables")["verdict"] == "fail"
    assert thresher("run").code == 0
    assert check(thresher, "tables")["verdict"] == "ok"
    with opened_store("sqlite:///thresher.db") as store:
        change(
            store,
            "insert into app_migrations (app, number, name, applied_at) values ('orchard', 7, 'new', 0)",
        )
    refused = thresher("status")
    assert refused.code == 7
    assert "app 'orchard' are at migration 7, the installed app knows 1" in refused.err
    assert "upgrade the app" in str(check(thresher, "tables")["advice"])


@pytest.mark.promise(1)
@pytest.mark.promise(20)
def test_an_app_that_is_away_leaves_its_tables_and_tasks_and_the_doctor_says_whose_they_are(
    orchard: Path, thresher: Thresher
):
    assert thresher("add", "grow").code == 0
    orchard.write_text(WITHOUT)
    assert thresher("run").code == 0
    assert "1 of kind 'grow' (app orchard)" in check(thresher, "kinds")["found"]
    assert (
        "orchard at migration 1 (not enabled in this project; they stay as they are)"
        in check(thresher, "tables")["found"]
    )
    orchard.write_text(WITH)
    assert thresher("run").code == 0
    assert check(thresher, "kinds")["verdict"] == "ok"
    assert [each["state"] for each in thresher("tasks", "list", "--json").json] == ["succeeded"]


@pytest.mark.promise(1)
def test_an_app_whose_migration_fails_stops_the_project_and_the_rest_runs_without_it(
    orchard: Path, thresher: Thresher
):
    (orchard.parent / "migrations" / "0001_trees.sql").write_text(TREES + TREES)
    refused = thresher("run")
    assert refused.code == 6
    assert "migration 0001_trees of app 'orchard' failed and was rolled back" in refused.err
    orchard.write_text(WITHOUT)
    assert thresher("run").code == 0
    assert "tables" not in [each["name"] for each in thresher("doctor", "--json").json["checks"]]
