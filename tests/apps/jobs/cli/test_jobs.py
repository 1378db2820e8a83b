"""The search for work on the command line: matches, their status, profiles, views."""

from pathlib import Path

import pytest

from tests.apps.jobs.cli.project import APP, board, company, decision, match, now, posting, write
from tests.cli.conftest import Thresher
from thresher.apps.jobs.service.matches import set_status
from thresher.core.clock import DAY
from thresher.runtime import opened_store

PROFILE = "city: Portland\nregion: OR\ncountry: US\nskills:\n  python: {rank: required, years: 8}\n"


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP)
    return queue


@pytest.fixture
def found(search: Thresher, project: Path) -> Thresher:
    """Three matches, and a posting that was filtered."""
    at = now(project)
    write(
        project,
        company("acme.com", "Acme", at),
        board("greenhouse:acme", "acme.com", at),
        posting("greenhouse:acme/1", "Senior Python Engineer", at),
        posting("greenhouse:acme/2", "Platform Engineer", at),
        posting("greenhouse:acme/3", "Sales Engineer", at, state="closed"),
        posting("greenhouse:acme/4", "Recruiter", at),
        *(decision(f"greenhouse:acme/{number}", "saved", at) for number in (1, 2, 3)),
        decision("greenhouse:acme/4", "filtered", at),
        match("greenhouse:acme/1", "Senior Python Engineer", 92, at),
        match("greenhouse:acme/2", "Platform Engineer", 81, at - 3 * DAY),
        match("greenhouse:acme/3", "Sales Engineer", 95, at - 9 * DAY, company="Borealis GmbH"),
    )
    return search


def keys(result) -> list[str]:
    assert result.code == 0, result.err
    return [each["key"][-1] for each in result.json]


def test_matches_are_listed_the_best_first_with_what_their_posting_says(found: Thresher):
    best, *_ = found("jobs", "matches", "--json").json
    assert (best["score"], best["status"], best["state"], best["location"], best["pay"]) == (
        95,
        "new",
        "closed",
        "Portland, OR",
        "$100k-$120k",
    )
    assert best["decided_at"].endswith("Z")
    shown = found("jobs", "matches").out
    assert (
        shown.index("Sales Engineer")
        < shown.index("Senior Python Engineer")
        < shown.index("Platform Engineer")
    )


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ([], ["3", "1", "2"]),
        (["--min-score", "85"], ["3", "1"]),
        (["--priority", "medium"], ["2"]),
        (["--since", "4d"], ["1", "2"]),
        (["--since", "12h"], ["1"]),
        (["--company", "borealis"], ["3"]),
        (["--company", "ACME, Inc."], ["1", "2"]),
        (["--words", "python senior"], ["1"]),
        (["--status", "applied"], []),
        (["--limit", "1"], ["3"]),
        (["--since", "1970-01-01"], ["3", "1", "2"]),
    ],
)
def test_matches_are_found_by_what_is_asked(found: Thresher, options: list[str], wanted: list[str]):
    assert keys(found("jobs", "matches", *options, "--json")) == wanted


def test_the_status_of_a_match_is_the_persons_and_survives_another_analysis(found: Thresher, project: Path):
    said = found("jobs", "match", "greenhouse:acme/1", "--status", "applied", "--note", "sent the letter")
    assert (said.code, "applied (was new)" in said.out) == (0, True)
    write(project, match("greenhouse:acme/1", "Senior Python Engineer", 88, now(project)))
    (mine,) = found("jobs", "matches", "--status", "applied", "--json").json
    assert (mine["score"], mine["status"], mine["note"]) == (88, "applied", "sent the letter")
    assert keys(found("jobs", "matches", "--status", "new", "--json")) == ["3", "2"]


def test_several_matches_change_all_or_none(found: Thresher):
    wrong = found("jobs", "match", "greenhouse:acme/1", "greenhouse:acme/9", "--status", "viewed")
    assert (wrong.code, "greenhouse:acme/9" in wrong.err, "Nothing was changed" in wrong.err) == (
        4,
        True,
        True,
    )
    assert keys(found("jobs", "matches", "--status", "viewed", "--json")) == []
    assert found("jobs", "match", "greenhouse:acme/1", "greenhouse:acme/2", "--status", "viewed").code == 0
    assert keys(found("jobs", "matches", "--status", "viewed", "--json")) == ["1", "2"]


@pytest.mark.parametrize("options", [["--status", "hired"], ["--status", ""], []])
def test_a_status_that_does_not_exist_is_refused(found: Thresher, options: list[str]):
    assert found("jobs", "match", "greenhouse:acme/1", *options).code == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--since", "yesterday"],
        ["--since", "7y"],
        ["--min-score", "101"],
        ["--min-score", "x"],
        ["--limit", "0"],
        ["--status", "hired"],
        ["--priority", "urgent"],
    ],
)
def test_a_filter_that_cannot_be_is_refused_in_one_line(found: Thresher, options: list[str]):
    wrong = found("jobs", "matches", *options)
    assert (wrong.code, len(wrong.err.splitlines())) == (2, 1)


def test_a_profile_is_checked_set_and_shown(search: Thresher, project: Path):
    assert "There is no profile yet" in search("jobs", "profile", "show").out
    assert search("jobs", "profile", "show", "--json").json is None
    (project / "me.yaml").write_text(PROFILE)
    assert search("jobs", "profile", "check", "me.yaml").code == 0
    assert search("jobs", "profile", "show", "--json").json is None
    assert search("jobs", "profile", "set", "me.yaml").code == 0
    assert search("jobs", "profile", "show", "--json").json["city"] == "Portland"
    assert "Portland" in search("jobs", "profile", "show").out


def test_a_wrong_profile_is_refused_by_line_and_key_and_the_old_one_stays(search: Thresher, project: Path):
    (project / "me.yaml").write_text(PROFILE)
    search("jobs", "profile", "set", "me.yaml")
    (project / "bad.yaml").write_text("city: Salem\nsallary: 5\n")
    for word in ("check", "set"):
        wrong = search("jobs", "profile", word, "bad.yaml")
        assert (wrong.code, "bad.yaml:2" in wrong.err, "sallary" in wrong.err) == (3, True, True)
    assert search("jobs", "profile", "show", "--json").json["city"] == "Portland"


def test_the_example_profile_can_be_used_as_it_is(search: Thresher, project: Path):
    assert search("jobs", "profile", "example", "me.yaml").code == 0
    assert (project / "me.yaml").read_text() == search("jobs", "profile", "example").out
    assert search("jobs", "profile", "set", "me.yaml").code == 0
    assert search("jobs", "profile", "example", "me.yaml").code == 2, "it is there already"


@pytest.mark.parametrize(("name", "code"), [("none.yaml", 2), (".", 2), ("raw.bin", 3)])
def test_a_profile_that_cannot_be_read_is_said_so(search: Thresher, project: Path, name: str, code: int):
    (project / "raw.bin").write_bytes(b"\xff\xfe\x00")
    wrong = search("jobs", "profile", "set", name)
    assert (wrong.code, len(wrong.err.splitlines())) == (code, 1)


def test_a_view_keeps_a_search_and_shows_what_it_finds_now(found: Thresher):
    assert "No views yet" in found("jobs", "views", "list").out
    assert found("jobs", "views", "save", "best of the week", "--min-score", "85", "--since", "7d").code == 0
    assert keys(found("jobs", "views", "show", "best of the week", "--json")) == ["1"]
    (view,) = found("jobs", "views", "list", "--json").json
    assert view == {"name": "best of the week", "filters": {"min_score": 85, "since": "7d"}, "matches": 1}
    assert keys(found("jobs", "matches", "--view", "best of the week", "--json")) == ["1"]
    found("jobs", "views", "save", "best of the week", "--min-score", "99")
    assert keys(found("jobs", "views", "show", "best of the week", "--json")) == []
    assert "min_score 99" in found("jobs", "views", "list").out


def test_a_view_that_is_not_there_or_cannot_be_is_refused(found: Thresher):
    missing = found("jobs", "views", "show", "nope")
    assert (missing.code, "views list" in missing.err) == (4, True)
    assert found("jobs", "views", "save", "x", "--since", "never").code == 2
    assert found("jobs", "views", "save", " ").code == 2
    assert found("jobs", "matches", "--view", "x", "--min-score", "5").code == 2


@pytest.mark.promise(7)
def test_an_empty_list_says_whether_nothing_was_found_or_nothing_was_checked(search: Thresher, project: Path):
    at = now(project)
    says = lambda: search("jobs", "matches").out  # noqa: E731
    assert "no company has been added yet" in says()
    assert "No companies have been added" in search("companies", "list").out
    write(project, company("acme.com", "Acme", at))
    assert "1 company is known, but no board was found yet" in says()
    assert "no board was found" in search("boards", "list").out
    write(project, board("greenhouse:acme", "acme.com", 0, status="pending", scraped_at=0))
    assert "none has been read; waiting for your decision: 1" in says()
    write(project, board("greenhouse:acme", "acme.com", at))
    assert "No matches. Boards that were read: 1" in says()
    assert "No postings. Boards that were read: 1" in search("postings", "list").out
    write(project, posting("greenhouse:acme/1", "Engineer", at))
    assert "none has been judged. There is no profile" in says()
    write(project, decision("greenhouse:acme/1", "filtered", at))
    assert "judged: 1; filtered 1, skipped 0" in says()
    write(project, decision("greenhouse:acme/1", "saved", at), match("greenhouse:acme/1", "Engineer", 90, at))
    assert "Engineer" in says()
    assert "No matches suit" in search("jobs", "matches", "--status", "applied").out


def test_postings_that_nobody_has_judged_are_judged_by_the_new_profile(found: Thresher, project: Path):
    write(project, posting("greenhouse:acme/5", "Unjudged Engineer", now(project)))
    assert found("jobs", "judge", "--json").json == {"asked": 1}
    assert found("jobs", "judge", "--json").json == {"asked": 0}, "it waits already"
    assert found("jobs", "judge", "--all", "--json").json == {"asked": 3}, "the closed one is left alone"
    assert {
        task["payload"]["posting"][-1] for task in found("tasks", "list", "--kind", "job", "--json").json
    } == {"1", "2", "4", "5"}


def test_hostile_text_reaches_the_terminal_as_text(search: Thresher, project: Path):
    at = now(project)
    write(
        project,
        posting("greenhouse:acme/1", "[red]x[/red]\x1b[31m\nPAY", at),
        match("greenhouse:acme/1", "[red]x[/red]\x1b[31m\nPAY", 90, at),
    )
    for words in (
        ("jobs", "matches"),
        ("postings", "list"),
        ("postings", "show", "greenhouse:acme/1"),
        ("explain", "greenhouse:acme/1"),
    ):
        shown = search(*words)
        assert (shown.code, "\x1b" in shown.out) == (0, False), words
        assert "[red]x[/red]" in shown.out


@pytest.mark.promise(2)
def test_a_status_set_twice_is_the_same_status(found: Thresher, project: Path):
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store:
        first = set_status(store, ["greenhouse:acme/1", "greenhouse:acme/1"], "viewed")
        again = set_status(store, ["greenhouse:acme/1"], "viewed")
    assert [(each.was, each.status) for each in (*first, *again)] == [("new", "viewed"), ("viewed", "viewed")]


@pytest.mark.promise(13)
def test_a_list_with_few_matches_says_why_and_names_the_command_to_change_it(search: Thresher, project: Path):
    at = now(project)
    (project / "me.yaml").write_text(PROFILE)
    search("jobs", "profile", "set", "me.yaml")
    assert "No matches: no company has been added yet" in search("jobs", "why").out
    facts = {"title": "Senior Software Engineer", "level": "senior", "skills": ["python"]}
    write(
        project,
        board("greenhouse:acme", "acme.com", at),
        *(posting(f"greenhouse:acme/{n}", "Senior Software Engineer", at, facts=facts) for n in (1, 2)),
        *(decision(f"greenhouse:acme/{n}", "skipped", at, score=71, rejections=[]) for n in (1, 2)),
    )
    for said in (search("jobs", "matches").out, search("jobs", "why").out):
        assert "No matches. Postings that were judged: 2; filtered 0, skipped 2, unknown 0." in said
        assert "Why: 2 below the minimum score." in said
        assert "Nearest misses:" in said
        assert "The one change that brings most: jobs.score.needed from 80 to " in said
        assert "thresher config set jobs.score.needed " in said
    why = search("jobs", "why", "--json").json
    assert (why["postings"], why["change"]["name"], why["change"]["brings"]) == (2, "jobs.score.needed", 2)
    done = search("jobs", "why", "--apply", "--json").json
    assert (done["change"], done["asked"]) == (why["change"], 2)
    value = float(search("config", "get", "jobs.score.needed", "--json").json["value"])
    assert value == why["change"]["then"]
    assert "thresher jobs why" in search("audit", "--json").json[0]["action"]
    assert search("jobs", "why", "--json").json["change"] is None
    again = search("jobs", "why", "--apply")
    assert (again.code, "nothing was changed" in again.err) == (2, True)
    assert "greenhouse:acme/1" not in search("jobs", "matches", "--json").out
