"""Roles on the command line."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.apps.roles.cli.project import PEOPLE, PROJECT
from tests.cli.conftest import Thresher


@pytest.fixture
def office(project: Path, queue: Thresher) -> Thresher:
    (project / "thresher.yaml").write_text(PROJECT)
    (project / "people.csv").write_text(PEOPLE)
    return queue


def listed(office: Thresher) -> dict[str, dict]:
    return {each["name"]: each for each in office("roles", "list", "--json").json}


def test_roles_are_added_by_name_and_from_a_file(office: Thresher, project: Path):
    assert office("roles", "list").out == "No roles yet; thresher add candidates FILE.csv creates them.\n"
    said = office("roles", "add", "Python Developer", "--alias", "Pythonista", "--priority", "high")
    assert (said.code, said.out) == (
        0,
        "Python Developer (1): added, priority high, also called Pythonista.\n",
    )
    (project / "roles.csv").write_text("name,aliases\nWelder,Fabricator;Pythonista\nNurse,\n")
    welder, nurse = office("roles", "add", "--file", "roles.csv", "--json").json
    assert (welder["answer"], welder["aliases"], welder["taken"]) == (
        "new",
        ["Fabricator"],
        ["Pythonista (role 1)"],
    )
    assert nurse["aliases"] == []
    found = listed(office)
    assert [each["priority"] for each in found.values()] == ["high", "normal", "normal"]
    assert {each["status"] for each in found.values()} == {"pending"}
    assert "Fabricator" in office("roles", "list").out
    assert "No roles match" in office("roles", "list", "--status", "completed").out


def test_a_role_is_added_in_one_way_at_a_time(office: Thresher):
    assert "name roles, or a file" in office("roles", "add").err
    assert "a file has columns for aliases" in office("roles", "add", "--file", "x.csv", "--alias", "y").err
    assert "--alias is for a single role" in office("roles", "add", "A b", "C d", "--alias", "y z").err
    assert "cannot read 'x.csv'" in office("roles", "add", "--file", "x.csv").err
    assert "a priority must be one of" in office("roles", "add", "Welder", "--priority", "soon").err


@pytest.mark.promise(13)
def test_a_title_is_resolved_with_its_reason_and_nothing_is_changed(office: Thresher):
    office("roles", "add", "Python Developer", "--alias", "Pythonista")
    found = office(
        "roles", "resolve", "Senior Python Developer", "pythonista", "Beekeeper", "!!", "--json"
    ).json
    assert [each["title"] for each in found] == ["Senior Python Developer", "pythonista", "Beekeeper", "!!"]
    assert [each["role"] for each in found][:2] == ["Python Developer", "Python Developer"]
    assert all(
        set(each) >= {"title", "role", "similarity", "method", "reason"} and each["reason"] for each in found
    )
    assert list(listed(office)) == ["Python Developer"]
    assert "Pythonista" in office("roles", "resolve", "Pythonista").out


def test_titles_come_on_standard_input_too(office: Thresher, monkeypatch: pytest.MonkeyPatch):
    office("roles", "add", "Welder")
    for words in ((), ("-",)):
        monkeypatch.setattr(
            sys,
            "stdin",
            io.TextIOWrapper(io.BytesIO("Welder\n\nLead Welder\r\n\xff\n".encode("latin-1")), "utf-8"),
        )
        found = office("roles", "resolve", *words, "--json").json
        assert [(each["title"], each["role"]) for each in found][:2] == [
            ("Welder", "Welder"),
            ("Lead Welder", "Welder"),
        ]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x" * 20_000), "utf-8"))
    assert "too long for a title" in office("roles", "resolve").err


def test_roles_are_merged_split_renamed_and_ranked(office: Thresher):
    office("add", "candidates", "people.csv")
    merged = office("roles", "merge", "Pipe Fitter", "welder")
    assert (merged.code, "moved: 1 candidate, 0 postings" in merged.out) == (0, True)
    split = office(
        "roles",
        "split",
        "welder",
        "--name",
        "Fitter",
        "--alias",
        "Pipe Fitter",
        "--candidate",
        "bo@example.com",
    )
    assert (split.code, split.out.startswith("Fitter (")) == (0, True)
    assert listed(office)["Fitter"]["candidates"] == 1
    assert office("roles", "rename", "Fitter", "Steam Fitter").code == 0
    assert office("roles", "priority", "Fitter", "urgent").code == 0
    assert office("roles", "alias", "add", "Fitter", "Steamfitter").code == 0
    assert office("roles", "alias", "remove", "Fitter", "Pipe Fitter").code == 0
    found = office("roles", "show", "Fitter", "--json").json
    assert (found["name"], found["priority"], set(found["aliases"])) == (
        "Steam Fitter",
        "urgent",
        {"Fitter", "Steamfitter"},
    )
    assert "Steam Fitter" in office("roles", "show", "Fitter").out


def test_a_role_that_nobody_knows_is_met_with_the_nearest_names(office: Thresher):
    office("roles", "add", "Python Developer")
    refused = office("roles", "merge", "Pyton Developr", "Python Developer", "--json")
    assert (refused.code, refused.error["error"]) == (
        4,
        "there is no role 'Pyton Developr'; did you mean 'Python Developer'?",
    )


def test_proposed_roles_wait_for_a_persons_word(office: Thresher, project: Path):
    (project / "thresher.yaml").write_text(PROJECT + "  roles.approval: 1\n")
    office("add", "candidates", "people.csv")
    assert {each["status"] for each in listed(office).values()} == {"proposed"}
    assert office("roles", "approve", "Welder", "Python Developer", "--json").json[0]["status"] == "pending"
    assert office("roles", "reject", "Pipe Fitter", "--json").json["status"] == "rejected"
    assert office("roles", "approve", "Welder").code == 5
    assert json.loads(office("roles", "approve", "Welder", "--json").err)["class"] == "NotAllowed"
