"""Candidates on the command line: from a file to their matches, and out again."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.apps.roles.cli.project import PEOPLE, PROJECT, write_posting
from tests.cli.conftest import Thresher


@pytest.fixture
def office(project: Path, queue: Thresher) -> Thresher:
    (project / "thresher.yaml").write_text(PROJECT)
    (project / "people.csv").write_text(PEOPLE)
    return queue


def test_a_file_of_candidates_is_added_and_says_what_it_brought(office: Thresher):
    said = office("add", "candidates", "people.csv")
    assert said.code == 0, said.err
    assert said.out.splitlines() == ["2 new candidates.", "Roles: 0 found, 3 created."]
    again = office("add", "candidates", "people.csv", "--json").json
    assert (again["new"], again["unchanged"], again["roles"]["created"], again["slips"]) == (0, 2, 0, [])
    anna, bo = again["candidates"]
    assert (anna["key"], anna["answer"], anna["roles"][0]["title"]) == (
        "a1",
        "unchanged",
        "Senior Python Developer",
    )
    assert set(anna["roles"][0]) >= {"title", "role", "similarity", "method"}
    assert (bo["key"], len(bo["roles"])) == ("bo@example.com", 2)


@pytest.mark.promise(9)
def test_what_is_exported_can_be_added_again_and_nobody_becomes_another(office: Thresher):
    office("add", "candidates", "people.csv")
    office("export", "candidates", "-o", "out.csv")
    again = office("add", "candidates", "out.csv", "--json").json
    assert (again["new"], again["changed"], again["unchanged"], again["slips"]) == (0, 0, 2, [])


def test_candidates_come_on_standard_input_too(office: Thresher, monkeypatch: pytest.MonkeyPatch):
    line = json.dumps({"name": "Eve", "title": "Nurse", "skills": ["Triage"]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line.encode()), "utf-8"))
    assert office("add", "candidates", "-", "--json").json["new"] == 1
    assert [each["name"] for each in office("candidates", "list", "--json").json] == ["Eve"]


@pytest.mark.promise(1)
def test_one_bad_line_refuses_the_file_and_skip_bad_takes_the_rest(office: Thresher, project: Path):
    (project / "people.csv").write_text("name,title,remote\nAnna,Welder,yes\nBo,Nurse,perhaps\nCy,Cook,\n")
    refused = office("add", "candidates", "people.csv")
    assert (refused.code, "people.csv:3: remote must be yes or no" in refused.err) == (2, True)
    assert office("candidates", "list", "--json").json == []
    taken = office("add", "candidates", "people.csv", "--skip-bad")
    assert taken.code == 0
    assert "people.csv:3: left out: remote must be yes or no" in taken.out
    assert {each["name"] for each in office("candidates", "list", "--json").json} == {"Anna", "Cy"}


@pytest.mark.promise(20)
@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("people.csv", "name,shoe size,title,Hat\nBo,44,Nurse,bowler\n"),
        ("people.jsonl", '{"name": "Bo", "title": "Nurse", "shoe_size": 44, "hat": "bowler"}\n'),
    ],
)
def test_unknown_columns_are_named_and_can_be_left_out(office: Thresher, project: Path, name: str, body: str):
    (project / name).write_text(body)
    refused = office("add", "candidates", name)
    assert (refused.code, "shoe_size" in refused.err) == (2, True)
    if name.endswith(".csv"):
        assert "there is no column 'shoe_size', 'hat'; the columns are id" in refused.err
        assert "--ignore-unknown-columns" in refused.err
    taken = office("add", "candidates", name, "--ignore-unknown-columns")
    assert (taken.code, "Left out: shoe_size, hat." in taken.out) == (0, True)
    assert [each["title"] for each in office("candidates", "list", "--json").json] == ["Nurse"]
    again = office("add", "candidates", name, "--ignore-unknown-columns", "--json").json
    assert again["ignored_columns"] == ["shoe_size", "hat"]


def test_unknown_columns_of_a_file_of_roles_can_be_left_out(office: Thresher, project: Path):
    (project / "roles.csv").write_text("name,colour\nNurse,blue\n")
    refused = office("roles", "add", "--file", "roles.csv")
    assert (refused.code, "'colour'" in refused.err, "--ignore-unknown-columns" in refused.err) == (
        2,
        True,
        True,
    )
    taken = office("roles", "add", "--file", "roles.csv", "--ignore-unknown-columns")
    assert (taken.code, "Left out: colour." in taken.out, "Nurse" in taken.out) == (0, True, True)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"name,title\nJos\xe9,Cook\n", "people.csv:2: not UTF-8 text"),
        (b"name,shoe size\nBo,44\n", "there is no column 'shoe_size'; the columns are id, email, name"),
        (b"name,title\nBo,Coo\0k\n", "title contains a control character"),
        (b"name,title\nBo," + b"x" * 1_000_000 + b"\n", "it has 1,000,003 characters"),
        (b"", "people.csv is empty"),
    ],
)
def test_a_hostile_file_gets_a_clear_error(office: Thresher, project: Path, body: bytes, why: str):
    (project / "people.csv").write_bytes(body)
    refused = office("add", "candidates", "people.csv", "--json")
    assert (refused.code, why in refused.error["error"]) == (2, True), refused.err
    assert office("candidates", "list", "--json").json == []


def test_what_is_missing_is_said(office: Thresher, project: Path):
    assert "cannot read 'nobody.csv'" in office("add", "candidates", "nobody.csv").err
    assert "give one file" in office("add", "candidates").err
    assert "did you mean: thresher add candidates?" in office("add", "candidate", "people.csv").err
    assert "names and addresses are for" in office("add", "compost", "acme.com").err
    (project / "thresher.yaml").write_text("apps: [app.py]\n")
    assert "add it to thresher.yaml: apps: [roles]" in office("add", "candidates", "people.csv").err


@pytest.fixture
def matched(office: Thresher, project: Path) -> Thresher:
    """Anna is matched with a posting of her role."""
    first = office("add", "candidates", "people.csv", "--json").json
    role = first["candidates"][0]["roles"][0]["role_id"]
    posting = write_posting(project, "dice/1", role)
    office(
        "add",
        "match_postings",
        "--payload",
        json.dumps({"role": role, "postings": [posting], "session": "s"}),
    )
    assert office("run").code == 0
    return office


@pytest.mark.promise(13)
def test_a_candidate_is_shown_with_keywords_roles_and_reasons(matched: Thresher):
    shown = matched("candidates", "show", "a1", "--json").json
    assert shown["keywords"][:3] == ["Senior Python Developer", "Python", "SQL"]
    assert all(each["method"] and each["reason"] for each in shown["wants"])
    text = matched("candidates", "show", "a1").out
    assert ("Anna Berg" in text, "keywords" in text, "by the title" in text) == (True, True, True)
    assert [each["key"] for each in matched("candidates", "list", "--role", "welder", "--json").json] == [
        "bo@example.com"
    ]
    assert "did you mean 'Welder'" in matched("candidates", "list", "--role", "weldr").err


@pytest.mark.promise(13)
def test_matches_are_listed_the_best_first_and_one_is_explained_with_quotes(matched: Thresher):
    (found,) = matched("candidates", "matches", "a1", "--json").json
    assert (found["posting"], found["status"], set(found["parts"])) == (
        "dice/1",
        "suggested",
        {"skills", "experience", "location", "salary", "semantic"},
    )
    assert "dice/1" in matched("candidates", "matches", "a1").out
    assert "No matches." in matched("candidates", "matches", "bo@example.com").out
    for words in (("match", "a1", "dice/1"), ("matches", "a1", "--explain", str(found["posting_id"]))):
        told = matched("candidates", *words, "--json").json
        assert [part["name"] for part in told["parts"]] == [
            "skills",
            "experience",
            "location",
            "salary",
            "semantic",
        ]
        assert any(each["quote"]["text"] for each in told["matched"])
    assert "Python" in matched("candidates", "match", "a1", "dice/1").out


def test_what_a_person_does_about_a_match_is_kept(matched: Thresher, project: Path):
    done = matched("candidates", "set-status", "a1", "dice/1", "applied", "--note", "sent on Monday")
    assert (done.code, done.out) == (0, "a1 and dice/1: applied (was suggested).\n")
    (found,) = matched("candidates", "matches", "a1", "--status", "applied", "--json").json
    assert found["note"] == "sent on Monday"
    assert matched("candidates", "set-status", "a1", "dice/2", "applied").code == 4
    (project / "others.csv").write_text("name\nCleo Marsh\n")
    assert "nothing is matched for them (Cleo Marsh).\n" in matched("add", "candidates", "others.csv").out
    assert (
        "thresher candidates matches 'cleo marsh' shows"
        in matched("candidates", "set-status", "cleo marsh", "dice/1", "viewed").err
    )
    assert (
        "the status must be one of suggested"
        in matched("candidates", "set-status", "a1", "dice/1", "hired").err
    )


def test_a_match_in_hand_that_fits_no_longer_says_that_its_score_is_an_old_one(
    matched: Thresher, project: Path
):
    matched("candidates", "set-status", "a1", "dice/1", "applied")
    (kept,) = matched("candidates", "matches", "a1", "--json").json
    assert "kept as applied." in matched("candidates", "match", "a1", "dice/1").out
    (project / "other.csv").write_text("id,name,title,skills\na1,Anna Berg,Nurse,Knitting\n")
    assert matched("add", "candidates", "other.csv").code == 0
    told = " ".join(matched("candidates", "match", "a1", "dice/1").out.split())
    assert f"kept as applied with {kept['score']:.1f}, what it was when it was last matched." in told


def test_a_candidate_is_forgotten(matched: Thresher):
    gone = matched("candidates", "remove", "a1")
    assert (gone.code, gone.out) == (0, "Anna Berg was removed, with 1 match.\n")
    assert matched("candidates", "show", "a1").code == 4
    assert [each["candidates"] for each in matched("roles", "list", "--json").json] == [0, 1, 1]
    assert matched("candidates", "remove", "a1").code == 4


@pytest.mark.promise(20)
def test_candidates_and_their_matches_are_exported(matched: Thresher):
    people = matched("export", "candidates", "--format", "jsonl").out.splitlines()
    assert {json.loads(line)["key"] for line in people} == {"a1", "bo@example.com"}
    table = matched("export", "candidates").out
    assert ("Anna Berg" in table, "name_key" in table) == (True, False)
    (line,) = matched("export", "candidate-matches", "--format", "jsonl").out.splitlines()
    found = json.loads(line)
    assert (found["candidate"], found["posting"], found["status"]) == ("a1", "dice/1", "suggested")
    head, row = matched("export", "candidate-matches").out.strip().splitlines()
    assert (head.split(",")[1:3], "Anna Berg" in row) == (["score", "grade"], True)
    assert matched("export", "candidate-matches", "--status", "applied").out.count("\n") == 1
    assert "candidates have no status" in matched("export", "candidates", "--status", "open").err
