"""Short numbers: a row of the last list that this terminal has shown, and never one of another list."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.cli.project import APP, board, company, decision, match, now, posting, write
from tests.cli.conftest import Thresher
from tests.harness.terminal import STYLE, in_terminal
from thresher.cli.numbers import (
    MAX_AGE,
    MAX_LISTS,
    KeptList,
    Numbered,
    ShortNumbers,
    meant,
    state_folder,
)
from thresher.core.errors import UnknownName

MATCHES = Numbered("matches", "thresher jobs matches")
LONG = "greenhouse:acme/" + "9" * 40


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    """A search for work with two matches, one of them with a long key."""
    (project / "app.py").write_text(APP)
    at = now(project)
    write(
        project,
        company("acme.com", "Acme", at),
        company("beta.com", "Beta", at),
        board("greenhouse:acme", "acme.com", at),
        posting("greenhouse:acme/1", "Nurse", at),
        posting(LONG, "Doctor", at),
        match("greenhouse:acme/1", "Nurse", 91, at),
        match(LONG, "Doctor", 80, at),
        decision("greenhouse:acme/1", "saved", at),
    )
    return queue


@pytest.fixture
def shows(project: Path, search: Thresher) -> Callable[..., list[str]]:
    """Commands on one terminal: what each of them says there, without colours."""

    def shown(*lines: str) -> list[str]:
        said = in_terminal(project, 100, [line.split() for line in lines])
        return [STYLE.sub("", text) for text in said.values()]

    return shown


def status_of(search: Thresher) -> dict[str, str]:
    return {each["key"]: each["status"] for each in search("jobs", "matches", "--json").json}


def test_a_long_key_makes_way_where_its_number_stands_for_it(project: Path, search: Thresher):
    lines = ["jobs matches", "jobs matches --wide", "jobs why 1", "boards list", "postings list"]
    said = in_terminal(project, 60, [line.split() for line in lines])
    matches, wide, why, boards, postings = (STYLE.sub("", said[line]) for line in lines)
    assert LONG not in matches
    assert re.search(r"^ *2 +80 .*Doctor", matches, re.MULTILINE)
    assert LONG in wide
    assert why.startswith("1 is greenhouse:acme/1\nposting greenhouse:acme/1\n")
    assert re.search(r"^ *1 +Acme +active", boards, re.MULTILINE)
    assert "board" in boards.split("Not shown")[1]
    assert "Nurse" in postings
    assert LONG not in postings


def test_a_long_key_stays_where_no_number_stands_for_it(
    project: Path, search: Thresher, monkeypatch: pytest.MonkeyPatch
):
    (project / "occupied").write_text("a file where the folder would be")
    monkeypatch.setenv("XDG_STATE_HOME", str(project / "occupied"))
    said = in_terminal(project, 60, [["jobs", "matches"]])["jobs matches"]
    assert LONG in STYLE.sub("", said)


def test_why_takes_a_key_or_makes_a_change_but_not_both(search: Thresher):
    assert search("jobs", "why", "greenhouse:acme/1").out == search("explain", "greenhouse:acme/1").out
    refused = search("jobs", "why", "greenhouse:acme/1", "--apply")
    assert refused.code == 2
    assert "--apply makes the change that brings most matches; it takes no KEY" in refused.err


def test_a_number_means_the_row_of_the_last_list_and_says_so(shows, search: Thresher):
    listed, changed, *refusals = shows(
        "jobs matches",
        "jobs match 2 --applied",
        "jobs match 1 3 --dismissed",
        "jobs match 0 --dismissed",
        "jobs match 99999999999999999999 --dismissed",
    )
    assert re.search(r"^ *# +score", listed, re.MULTILINE)
    assert re.search(r"^ *2 +80 .*Doctor", listed, re.MULTILINE)
    assert changed == f"2 is {LONG}\nDoctor: applied (was new)\n"
    for said in refusals:
        assert "there is no number" in said
        assert "1 to 2. List them again: thresher jobs matches" in said
    assert status_of(search) == {"greenhouse:acme/1": "new", LONG: "applied"}
    asked = search("audit", "--json").json[0]
    assert LONG in json.dumps(asked)


def test_every_list_of_keys_numbers_what_its_commands_take(shows):
    said = shows(
        "companies list",
        "companies show 2",
        "boards list --company 2",
        "boards show 1",
        "postings list --board 1",
        "postings show 1",
        "sources add 7",
        "sources list",
        "sources disable 1 --reason captcha",
        "sources show 1",
        "status",
        "sources enable 1",
    )
    listed = [said[at] for at in (0, 2, 4, 7)]
    assert all(re.search(r"^ *# +\w", text, re.MULTILINE) for text in listed)
    assert said[1].startswith("2 is acme.com\n")
    assert said[2].startswith("2 is acme.com\n")
    assert said[3].startswith("1 is greenhouse:acme\n")
    assert f"1 is {LONG}\n" in said[5]
    assert "Source 7 added" in said[6]  # a new name is a name
    assert said[8].startswith("1 is source:7\n")
    assert "captcha" in said[9]
    assert re.search(r"^ *1 +source:7 +disabled", said[10], re.MULTILINE)
    assert said[11].startswith("1 is source:7\n")


def test_another_list_changes_what_a_number_means_and_nothing_else_does(shows, search: Thresher):
    said = shows(
        "jobs match 1 --applied",
        "jobs matches",
        "jobs matches --json",
        "boards list",
        "jobs matches --min-score 99",
        "jobs match 2 --applied --json",
    )
    assert "this terminal has not shown matches of this database" in said[0]
    assert "thresher jobs matches" in said[0]
    assert [set(each) & {"#", "number"} for each in json.loads(said[2])] == [set(), set()]
    assert json.loads(said[5])[0]["key"] == LONG
    shown = shows("jobs matches --words doctor", "jobs match 2 --dismissed", "jobs match 1 --dismissed")
    assert "1 to 1" in shown[1]
    assert f"1 is {LONG}" in shown[2]


def test_without_a_terminal_there_are_no_numbers_and_a_number_is_a_key(shows, search: Thresher):
    shows("jobs matches")
    listed = search("jobs", "matches").out
    assert listed.split()[0] == "score"
    refused = search("jobs", "match", "1", "--applied")
    assert refused.code == 4
    assert "there is no match 1" in refused.err
    assert status_of(search)["greenhouse:acme/1"] == "new"


def test_what_is_kept_is_for_its_person_and_not_for_long(shows, project: Path):
    shows("jobs matches")
    folder = project / "state" / "thresher" / "lists"
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(json.dumps({"at": 1.0, "keys": ["greenhouse:acme/1"]}))
    (said,) = shows("jobs match 1 --applied")
    assert "too old for its numbers. List them again: thresher jobs matches" in said


def test_where_nothing_can_be_kept_lists_have_no_numbers(shows, project: Path):
    (project / "state").write_text("a file where the folder should be")
    listed, refused = shows("jobs matches", "jobs match 1 --applied")
    (project / "thresher.yaml").write_text("apps: [")
    (examined,) = shows("doctor")
    assert "thresher.yaml:1 is not YAML" in examined
    assert "Nurse" in listed
    assert not re.search(r"^ *# ", listed, re.MULTILINE)
    assert "has not shown matches" in refused


def test_a_status_is_said_once(search: Thresher):
    for argv in ((), ("--applied", "--dismissed"), ("--status", "new", "--applied")):
        said = search("jobs", "match", LONG, *argv)
        assert said.code == 2
        assert "--applied, --dismissed" in said.err
    assert search("jobs", "match", LONG, "--dismissed", "--note", "too far").code == 0
    assert status_of(search)[LONG] == "dismissed"


def test_terminals_databases_and_kinds_do_not_mix(tmp_path: Path):
    mine = ShortNumbers(tmp_path, "/a.db", "/dev/pts/1")
    assert mine.keep(MATCHES.rows(["a", "b"]))
    for other in (
        ShortNumbers(tmp_path, "/a.db", "/dev/pts/2"),
        ShortNumbers(tmp_path, "/b.db", "/dev/pts/1"),
    ):
        assert other.last(MATCHES) is None
    assert mine.last(Numbered("boards", "thresher boards list")) is None
    kept = ShortNumbers(tmp_path, "/a.db", "/dev/pts/1").last(MATCHES)
    assert kept is not None
    assert kept.keys == ("a", "b")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"at": "x", "keys": 5}', '{"at": 1, "keys": null}', "\x00" * 100, "[" * 100_000]
)
def test_a_broken_file_is_as_none(tmp_path: Path, text: str):
    numbers = ShortNumbers(tmp_path, "/a.db", "here")
    assert numbers.keep(MATCHES.rows(["a"]))
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    assert numbers.last(MATCHES) is None


def test_lists_of_long_ago_are_forgotten(tmp_path: Path):
    for at in range(MAX_LISTS + 5):
        numbers = ShortNumbers(tmp_path, f"/{at}.db", "here")
        assert numbers.keep(MATCHES.rows([str(at)]))
        if at < 5:  # as if written in another year
            os.utime(next(each for each in tmp_path.iterdir() if each.stat().st_mtime > 1_000), (at, at))
    assert len(list(tmp_path.iterdir())) == MAX_LISTS
    assert ShortNumbers(tmp_path, "/0.db", "here").last(MATCHES) is None
    assert numbers.last(MATCHES) is not None


@given(
    st.lists(st.text(min_size=1), max_size=5, unique=True),
    st.from_regex(r"[0-9]{1,12}", fullmatch=True),
    st.floats(-2 * MAX_AGE, 2 * MAX_AGE),
)
def test_a_number_is_its_row_or_refused_with_the_command_that_lists(keys: list[str], word: str, age: float):
    kept, now = KeptList(1_000.0, tuple(keys)), 1_000.0 + age
    if 0 <= age <= MAX_AGE and 1 <= int(word) <= len(keys):
        assert meant(MATCHES, word, kept, now) == keys[int(word) - 1]
        return
    with pytest.raises(UnknownName, match="thresher jobs matches"):
        meant(MATCHES, word, kept, now)


@pytest.mark.parametrize(
    ("environ", "system", "place"),
    [
        ({}, "linux", "/people/ann/.local/state"),
        ({"XDG_STATE_HOME": "/state"}, "linux", "/state"),
        ({"XDG_STATE_HOME": "state"}, "linux", "/people/ann/.local/state"),
        ({"XDG_STATE_HOME": "/state"}, "darwin", "/people/ann/Library/Application Support"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local"),
    ],
)
def test_what_is_kept_stands_where_the_system_wants_it(environ: dict[str, str], system: str, place: str):
    assert state_folder(environ, system, Path("/people/ann")) == Path(place, "thresher", "lists")
