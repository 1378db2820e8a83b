"""The searches that come as an example, and those of the documentation, are valid as they stand."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.house.paper import ROOT, blocks
from thresher.apps.queries.declared import read_declared
from thresher.apps.queries.demo import CLIENT, RULES
from thresher.apps.queries.known_clients import client_from
from thresher.apps.queries.signals.rules import read_rules
from thresher.core.errors import ConfigError
from thresher.core.extension import Declaration

EXAMPLE = ROOT / "examples" / "queries.yaml"
TUTORIAL = "docs/tutorial/follow-searches.md"


def wrong(key: str, says: str) -> ConfigError:
    return ConfigError(f"{key} {says}")


def test_the_example_follows_five_searches_at_open_apis():
    found = read_declared(
        Declaration(EXAMPLE.parent, yaml.safe_load(EXAMPLE.read_text("utf-8"))["queries"], wrong)
    )
    assert [each.client for each in found.queries] == [
        "remotive",
        "remoteok",
        "jobicy",
        "himalayas",
        "arbeitnow",
    ]
    assert all(not found.clients[each.client].env for each in found.queries), "they need no keys"


def test_what_the_example_has_behind_a_comment_is_valid_too(tmp_path: Path):
    lines = EXAMPLE.read_text("utf-8").splitlines()
    begins = next(at for at, line in enumerate(lines) if "python in madrid" in line)
    told = [line.replace("    # ", "    ", 1) for line in lines[begins:] if "Indeed has no" not in line]
    said = yaml.safe_load("\n".join(["queries:", "  searches:", *told]))
    found = read_declared(Declaration(tmp_path, said["queries"], wrong))
    assert [each.client for each in found.queries] == ["infojobs", "adzuna", "usajobs", "csv-folder"]


def test_the_tutorial_can_be_followed(tmp_path: Path):
    project, client, rules = (block.text for block in blocks("yaml") if block.page == TUTORIAL)
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "practice.yaml").write_text(client, "utf-8")
    (tmp_path / "signals.yaml").write_text(rules, "utf-8")
    found = read_declared(Declaration(tmp_path, yaml.safe_load(project)["queries"], wrong))
    assert [each.name for each in found.queries] == ["payroll", "people partners in britain"]
    shutil.rmtree(tmp_path / "clients")
    with pytest.raises(ConfigError, match="is 'practice'; write one of"):
        read_declared(Declaration(tmp_path, yaml.safe_load(project)["queries"], wrong))


def test_the_demo_describes_its_search_as_a_project_would():
    assert client_from("practice", CLIENT).name == "practice"
    assert read_rules(RULES, "signals.yaml").purpose
