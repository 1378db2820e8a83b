"""Companies, boards and postings on the command line, and why each is as it is."""

from pathlib import Path

import pytest

from tests.apps.jobs.cli.project import APP, board, company, decision, match, now, posting, write
from tests.cli.conftest import Thresher
from thresher.apps.jobs.service.boards import check_boards
from thresher.practice.web import PracticeWeb
from thresher.runtime import opened_store


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP)
    at = now(project)
    waiting = {
        "status": "pending",
        "confidence": "medium",
        "validation_required": True,
        "scraped_at": 0,
        "due_at": 0,
        "last_look": None,
    }
    old = {
        "status": "disabled",
        "disabled_tag": "failing",
        "disabled_reason": "5 failures in a row",
        "failures": 5,
    }
    write(
        project,
        company("acme.com", "Acme", at),
        company("heron.com", "Blue Heron", at, tier="D", score=10, status="partial", score_parts=[]),
        board(
            "greenhouse:acme",
            "acme.com",
            at,
            alarms=["the salary is missing in all 2 postings; it was there before"],
        ),
        board("greenhouse:heron", "heron.com", at, **waiting),
        board("greenhouse:old", "acme.com", at, **old),
        posting("greenhouse:acme/1", "Senior Python Engineer", at),
        posting("greenhouse:acme/2", "Recruiter", at, state="closed", closed_at=at),
        decision("greenhouse:acme/1", "saved", at),
        match("greenhouse:acme/1", "Senior Python Engineer", 91, at),
    )
    return queue


def keys(result) -> list[str]:
    assert result.code == 0, result.err
    return [each["key"] for each in result.json]


@pytest.mark.promise(20)
def test_companies_are_listed_and_filtered(search: Thresher):
    found = search("companies", "list", "--json").json
    assert [(each["key"], each["tier"], each["boards"], each["postings"]) for each in found] == [
        ("heron.com", "D", 1, 0),
        ("acme.com", "A", 2, 2),
    ]
    assert keys(search("companies", "list", "--tier", "A", "--json")) == ["acme.com"]
    assert keys(search("companies", "list", "--status", "partial", "--json")) == ["heron.com"]
    assert "No companies match" in search("companies", "list", "--tier", "S").out
    assert [search(what, "list", "--status", "asleep").code for what in ("companies", "boards")] == [2, 2]
    assert (
        search("postings", "list", "--state", "asleep").code
        == search("companies", "list", "--tier", "Z").code
        == 2
    )
    assert "Blue Heron" in search("companies", "list").out


@pytest.mark.promise(14)
def test_a_company_is_shown_with_its_points_and_the_words_behind_them(search: Thresher):
    shown = search("companies", "show", "acme.com").out
    for words in (
        "240 people",
        "Portland, Oregon",
        "python, react",
        "+50 office in Portland - 'our office in Portland, Oregon'",
        "our office in Portland, Oregon",
        "greenhouse:acme",
    ):
        assert words in shown
    detail = search("companies", "show", "acme.com", "--json").json
    assert detail["evidence"]["places"]["size"]["quote"] == "our 240 people"
    missing = search("companies", "show", "nobody.com")
    assert (missing.code, "companies list" in missing.err) == (4, True)


def test_boards_are_listed_and_filtered(search: Thresher):
    assert keys(search("boards", "list", "--json")) == [
        "greenhouse:old",
        "greenhouse:heron",
        "greenhouse:acme",
    ]
    assert keys(search("boards", "list", "--status", "pending", "--json")) == ["greenhouse:heron"]
    assert keys(search("boards", "list", "--company", "acme.com", "--json")) == [
        "greenhouse:old",
        "greenhouse:acme",
    ]
    assert keys(search("boards", "list", "--platform", "lever", "--json")) == []
    assert "No boards match" in search("boards", "list", "--platform", "lever").out
    shown = search("boards", "list").out
    assert "5 failures in a row" in shown
    assert "the salary is missing" in shown


@pytest.mark.promise(20)
def test_a_board_is_shown_by_its_key_or_its_address(search: Thresher):
    for name in ("greenhouse:acme", "https://boards.greenhouse.io/acme"):
        shown = search("boards", "show", name).out
        for words in (
            "its own page links to it",
            "found: 2 of 2",
            "2 of 2, complete",
            "1 open, 1 closed",
            "salary 50%",
            "! the salary is missing",
        ):
            assert words in shown
    assert search("boards", "show", "greenhouse:nobody").code == 4


@pytest.mark.promise(10)
def test_a_board_that_waits_or_was_disabled_is_enabled_by_a_person_and_its_failures_are_forgotten(
    search: Thresher,
):
    for key in ("greenhouse:heron", "greenhouse:old"):
        assert search("boards", "enable", key).code == 0
        data = search("boards", "show", key, "--json").json["data"]
        assert (
            data["status"],
            data["failures"],
            data["validation_required"],
            data.get("disabled_reason"),
        ) == ("active", 0, False, None)
        assert data["proof"] == "its own page links to it", "the rest of the record stays"
    assert keys(search("boards", "list", "--status", "active", "--json")) == [
        "greenhouse:old",
        "greenhouse:heron",
        "greenhouse:acme",
    ]
    tasks = search("tasks", "list", "--kind", "scrape_source", "--json").json
    assert {task["payload"]["board"] for task in tasks} == {"greenhouse:heron", "greenhouse:old"}
    again = search("boards", "enable", "greenhouse:old")
    assert (again.code, len(search("tasks", "list", "--kind", "scrape_source", "--json").json)) == (0, 2)


def test_a_board_is_disabled_with_a_reason_and_only_once(search: Thresher):
    assert search("boards", "disable", "greenhouse:acme", "--reason", "we work there").code == 0
    assert "we work there" in search("boards", "show", "greenhouse:acme").out
    assert search("boards", "disable", "greenhouse:acme").code == 5
    assert search("boards", "disable", "greenhouse:heron", "--reason", " ").code == 2


def test_a_board_is_tried_without_writing_anything(search: Thresher, project: Path):
    with PracticeWeb() as web:
        (project / "thresher.yaml").write_text(
            f"apps: [app.py]\nfetch:\n  contact: me@example.com\n  allow: ['127.0.0.1:{web.port}']\n  resolve:\n    '*': {web.url}\n"
        )
        before = search("boards", "show", "greenhouse:acme", "--json").json
        tried = search("boards", "test", "greenhouse:acme", "--json")
        assert tried.code == 0, tried.err
        assert (tried.json["verdict"], tried.json["count"] > 0, len(tried.json["sample"]) > 0) == (
            "found",
            True,
            True,
        )
        assert tried.json["sample"][0] in search("boards", "test", "greenhouse:acme").out
        nobody = search("boards", "test", "greenhouse:heron")
        assert nobody.code == 1
        assert search("boards", "show", "greenhouse:acme", "--json").json == before
    assert search("tasks", "list", "--json").json == []


@pytest.mark.parametrize(
    "words",
    [
        ["companies", "show"],
        ["boards", "show"],
        ["boards", "enable"],
        ["postings", "show"],
        ["explain"],
        ["postings", "ungroup"],
        ["jobs", "views", "show"],
        ["boards", "test"],
    ],
)
@pytest.mark.parametrize("key", ["\udcff", "\x00", "", "' or 1=1 --", "x" * 10_000, "é\u0301", "https://["])
def test_whatever_is_asked_for_that_is_not_there_is_said_in_one_line(
    search: Thresher, words: list[str], key: str
):
    wrong = search(*words, key)
    assert (wrong.code, len(wrong.err.splitlines())) in ((4, 1), (2, 1)), wrong.err


def test_postings_are_listed_and_filtered(search: Thresher):
    assert keys(search("postings", "list", "--json")) == ["greenhouse:acme/2", "greenhouse:acme/1"]
    assert keys(search("postings", "list", "--state", "open", "--json")) == ["greenhouse:acme/1"]
    assert keys(search("postings", "list", "--company", "acme.com", "--since", "1d", "--json")) == [
        "greenhouse:acme/2",
        "greenhouse:acme/1",
    ]
    assert keys(search("postings", "list", "--board", "greenhouse:old", "--json")) == []
    assert "No postings match" in search("postings", "list", "--query", "nobody").out
    assert search("postings", "list", "--since", "soon").code == 2


@pytest.mark.promise(14)
def test_a_posting_is_shown_with_its_text_its_evidence_and_its_fate(search: Thresher):
    shown = search("postings", "show", "greenhouse:acme/1").out
    for words in (
        "Senior Python Engineer",
        "$100k-$120k",
        "salary: “$100k-$120k”",
        "saved; thresher explain greenhouse:acme/1",
        "Remote within the US",
    ):
        assert words in shown
    detail = search("postings", "show", "greenhouse:acme/1", "--json").json
    assert (detail["outcome"], detail["status"], detail["posting"]["first_seen_at"][-1]) == (
        "saved",
        "new",
        "Z",
    )
    assert detail["data"]["first_seen_at"] == detail["posting"]["first_seen_at"]
    times = [name for name, value in detail["data"].items() if isinstance(value, int) and value > 10**12]
    assert times == [], "every time is written as times are"
    assert search("postings", "show", "nothing").code == 4


@pytest.mark.promise(13)
def test_a_posting_is_explained_by_rule_points_and_quote(search: Thresher):
    said = search("explain", "greenhouse:acme/1")
    assert said.code == 0
    for words in (
        "Saved as a match",
        "-2: pays at most $120,000; you aim at $150,000 - '$100k-$120k'",
        "+12 skills",
        "'Python and PostgreSQL'",
        "as new",
    ):
        assert words in said.out
    found = search("explain", "greenhouse:acme/1", "--json").json
    assert (found["outcome"], found["decision"]["rejections"][0]["points"]) == ("saved", 2)
    assert "has not been judged" in search("explain", "greenhouse:acme/2").out


@pytest.mark.promise(13)
def test_a_company_and_a_board_are_explained_too(search: Thresher):
    assert "105 points make tier A" in search("explain", "acme.com").out
    said = search("explain", "greenhouse:old").out
    assert "Disabled (failing): 5 failures in a row" in said
    assert "It belongs to Acme: its own page links to it" in said


@pytest.mark.promise(13)
def test_a_task_is_explained_by_what_it_is_about(search: Thresher):
    search("add", "posting", "https://acme.com/jobs/1")
    search("add", "job", "--payload", '{"posting": "greenhouse:acme/1"}')
    search("add", "work", "--delay", "1h")
    search("run")
    assert "has not been judged" not in search("explain", 2).out
    assert "Saved as a match" in search("explain", 2).out
    assert "It has not been judged yet. Task 1 succeeded" in search("explain", 1).out
    assert "The task is pending" in search("explain", 3).out
    assert search("explain", 99).code == 4
    assert search("explain", "nonsense").code == 4


def test_a_posting_is_taken_out_of_its_group_and_stays_apart(search: Thresher, project: Path):
    at = now(project)
    write(
        project,
        posting("lever:acme/1", "Senior Python Engineer", at, board="lever:acme"),
        posting("feed/1", "Senior Python Engineer", at),
    )
    put = search("postings", "group", "greenhouse:acme/1", "lever:acme/1", "--json").json
    assert put["members"] == ["greenhouse:acme/1", "lever:acme/1"]
    assert search("postings", "group", "feed/1", "lever:acme/1", "--json").json["members"] == [
        "feed/1",
        "greenhouse:acme/1",
        "lever:acme/1",
    ]
    assert "a person said so" in search("postings", "show", "lever:acme/1").out
    assert keys_of_same(search, "lever:acme/1") == {"feed/1", "greenhouse:acme/1"}
    assert search("postings", "ungroup", "lever:acme/1").code == 0
    alone = search("postings", "show", "lever:acme/1", "--json").json
    assert (alone["group"], alone["same"], set(alone["apart"])) == (None, [], {"feed/1", "greenhouse:acme/1"})
    assert keys_of_same(search, "feed/1") == {"greenhouse:acme/1"}
    assert [task["payload"] for task in search("tasks", "list", "--kind", "job", "--json").json] == [
        {"posting": "lever:acme/1"}
    ]
    search("postings", "ungroup", "feed/1")
    assert keys_of_same(search, "greenhouse:acme/1") == set()
    assert search("postings", "ungroup", "feed/1").code == 5


def keys_of_same(search: Thresher, key: str) -> set[str]:
    return {each["key"] for each in search("postings", "show", key, "--json").json["same"]}


def test_two_groups_become_one_and_a_persons_second_thought_counts(search: Thresher, project: Path):
    at = now(project)
    write(project, *(posting(f"feed/{name}", "Engineer", at) for name in "abcd"))
    search("postings", "group", "feed/a", "feed/b")
    search("postings", "group", "feed/c", "feed/d")
    assert search("postings", "group", "feed/b", "feed/c", "--json").json["members"] == [
        "feed/a",
        "feed/b",
        "feed/c",
        "feed/d",
    ]
    search("postings", "ungroup", "feed/a")
    search("postings", "group", "feed/a", "feed/d")
    assert keys_of_same(search, "feed/a") == {"feed/b", "feed/c", "feed/d"}
    assert search("postings", "show", "feed/a", "--json").json["apart"] == []
    assert search("postings", "group", "feed/a", "feed/b").code == 5
    assert search("postings", "group", "feed/a", "feed/a").code == 2
    assert search("postings", "group", "feed/a", "feed/z").code == 4


@pytest.mark.promise(20)
def test_the_doctor_names_boards_that_are_disabled_with_tag_day_and_reason(search: Thresher, project: Path):
    assert search("boards", "disable", "greenhouse:acme", "--reason", "we asked\nthem").code == 0
    shown = [
        search("boards", "show", key, "--json").json["data"] for key in ("greenhouse:acme", "greenhouse:old")
    ]
    by_us, by_trouble = shown[0]["disabled_at"][:10], shown[1]["last_look"]["at"][:10]
    with opened_store(f"sqlite:///{project / 'thresher.db'}") as store:
        waits, failed, closed = check_boards(store)
    assert (waits.verdict, waits.advice) == ("warn", "thresher boards list --status pending")
    assert (failed.verdict, failed.found) == (
        "warn",
        f"1 board is disabled by trouble (failing 1): greenhouse:old since {by_trouble}: 5 failures in a row",
    )
    assert failed.advice == (
        "try one: thresher boards test greenhouse:old; to read it again: thresher boards enable greenhouse:old"
    )
    assert (closed.verdict, closed.found) == (
        "ok",
        f"1 board is disabled by people (admin 1): greenhouse:acme since {by_us}: we asked them",
    )
    assert "\ndisabled " in search("boards", "show", "greenhouse:acme").out
    search("boards", "enable", "greenhouse:acme")
    assert "\ndisabled " not in search("boards", "show", "greenhouse:acme").out
