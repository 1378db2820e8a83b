"""Settings that an app brings: in the project file, in the database, and after the app is gone."""

from pathlib import Path

import pytest

from tests.cli.conftest import Thresher

ORCHARD = """
from thresher import App, tunable

app = App("orchard", pipelines=(), settings=(tunable("orchard.ripe", 3, "days", 0, 30, "Pick a fruit after this many days."),))
"""
WITH, WITHOUT = "apps: [orchard.py]\n", "apps: []\n"


@pytest.fixture
def orchard(folder: Path, thresher: Thresher) -> Path:
    """A project with one app that brings a setting; the returned file is its project file."""
    (folder / "orchard.py").write_text(ORCHARD)
    project = folder / "thresher.yaml"
    project.write_text(WITH)
    thresher("migrate")
    return project


@pytest.mark.promise(12)
def test_a_setting_of_any_app_is_listed_changed_and_given_by_the_project(orchard: Path, thresher: Thresher):
    assert thresher("config", "get", "orchard.ripe", "--json").json["value"] == 3
    orchard.write_text(WITH + "settings:\n  orchard.ripe: 5\n")
    assert thresher("config", "get", "orchard.ripe", "--json").json["value"] == 5
    assert thresher("config", "set", "orchard.ripe", "7").code == 0
    listed = {each["name"]: each for each in thresher("config", "list", "--json").json}
    assert (listed["orchard.ripe"]["value"], listed["orchard.ripe"]["origin"]) == (7, "database")
    assert "roles.near" not in listed


@pytest.mark.promise(12)
def test_what_was_set_for_an_app_is_kept_while_it_is_away_and_counts_when_it_is_back(
    orchard: Path, thresher: Thresher
):
    thresher("config", "set", "orchard.ripe", "7")
    orchard.write_text(WITHOUT)
    listed = thresher("config", "list")
    assert listed.code == 0
    assert "orchard.ripe = 7" in listed.err
    assert "app 'orchard' is not enabled here" in listed.err
    (kept,) = [each for each in thresher("doctor", "--json").json["checks"] if each["name"] == "kept"]
    assert (kept["verdict"], "orchard.ripe = 7 (app orchard)" in kept["found"]) == ("warn", True)
    refused = thresher("config", "get", "orchard.ripe")
    assert (refused.code, "enable that app" in refused.err) == (4, True)
    orchard.write_text(WITH)
    assert thresher("config", "get", "orchard.ripe", "--json").json["value"] == 7
    assert "kept" not in [each["name"] for each in thresher("doctor", "--json").json["checks"]]


@pytest.mark.promise(12)
def test_a_setting_of_an_app_that_is_not_enabled_is_refused_with_its_line(orchard: Path, thresher: Thresher):
    orchard.write_text(WITHOUT + "settings:\n  orchard.ripe: 5\n")
    for command in (["status"], ["config", "list"], ["run"]):
        refused = thresher(*command)
        assert refused.code == 3
        assert (
            "thresher.yaml:3: settings.orchard.ripe is wrong: there is no setting 'orchard.ripe'"
            in refused.err
        )
        assert "enable that app (apps: in thresher.yaml, or --app)" in refused.err


@pytest.mark.promise(20)
def test_an_app_that_cannot_be_loaded_does_not_hide_the_queue(orchard: Path, thresher: Thresher):
    orchard.write_text(WITH + "settings:\n  orchard.ripe: 5\n  retry.base: 9\n")
    (orchard.parent / "orchard.py").write_text("import nothing_of_that_name\n")
    seen = thresher("config", "get", "retry.base", "--json")
    assert (seen.code, seen.json["value"]) == (0, 9)
    assert "app 'orchard.py' cannot be loaded: No module named 'nothing_of_that_name'" in seen.err
    assert thresher("run").code != 0
