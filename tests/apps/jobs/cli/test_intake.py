"""Asking for companies, boards and postings in a person's words."""

import io
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.cli.project import APP, board, company, now, write
from tests.cli.conftest import Thresher
from thresher.apps.jobs.service.companies import Wish, is_site, read_company_file, read_wish
from thresher.core.clock import DAY
from thresher.core.errors import UsageError


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP)
    return queue


def tasks(search: Thresher, kind: str) -> list[tuple]:
    found = search("tasks", "list", "--kind", kind, "--json").json
    return [(task["dedupe_key"], task["url"], task["payload"]) for task in reversed(found)]


def test_a_company_is_added_by_its_site_its_name_or_both(search: Thresher):
    said = search(
        "add", "company", "acme.com", "Blue Heron, Inc.", "https://www.borealis.de/about?utm_source=x"
    )
    assert (said.code, said.out.count("queued as task")) == (0, 3)
    assert search("add", "company", "fathom.io", "--name", "Fathom Labs").code == 0
    assert search("add", "company", "Garnet", "--website", "garnet.dev").code == 0
    assert search("add", "company", "--name", "Heron", "--website", "https://heron.com").code == 0
    assert tasks(search, "company") == [
        ("acme.com", "https://acme.com/", {"website": "https://acme.com/", "via": "user"}),
        ("blueheron", None, {"name": "Blue Heron, Inc.", "via": "user"}),
        (
            "borealis.de",
            "https://www.borealis.de/about",
            {"website": "https://www.borealis.de/about", "via": "user"},
        ),
        (
            "fathom.io",
            "https://fathom.io/",
            {"name": "Fathom Labs", "website": "https://fathom.io/", "via": "user"},
        ),
        (
            "garnet.dev",
            "https://garnet.dev/",
            {"name": "Garnet", "website": "https://garnet.dev/", "via": "user"},
        ),
        (
            "heron.com",
            "https://heron.com/",
            {"name": "Heron", "website": "https://heron.com/", "via": "user"},
        ),
    ]


@pytest.mark.promise(2)
def test_asking_again_adds_nothing_and_says_so(search: Thresher, project: Path):
    search("add", "company", "acme.com")
    again = search("add", "company", "www.acme.com", "--json").json
    assert [(each["key"], each["answer"]) for each in again] == [("acme.com", "waiting")]
    twice = search("add", "company", "heron.com", "HERON.com", "--json").json
    assert len({each["task"] for each in twice}) == 1
    search("run")
    at = now(project)
    write(project, company("acme.com", "Acme", at - 3 * DAY), company("old.com", "Old Firm", at - 40 * DAY))
    known = search("add", "company", "acme.com")
    assert (known.code, "is already known (acme.com, read 3 days ago)" in known.out) == (0, True)
    assert [each["answer"] for each in search("add", "company", "Acme Inc", "Old Firm", "--json").json] == [
        "known",
        "added",
    ]
    assert search("add", "company", "acme.com", "--force", "--json").json[0]["answer"] == "added"
    assert [(key, payload.get("force")) for key, _, payload in tasks(search, "company")][-2:] == [
        ("old.com", None),
        ("acme.com", True),
    ]


@pytest.mark.promise(20)
def test_a_company_that_the_profile_excludes_is_not_asked_for_and_says_so(search: Thresher, project: Path):
    why = "you exclude the company Acme"
    write(project, company("acme.com", "Acme", now(project), status="excluded", excluded=why))
    said = search("add", "company", "acme.com")
    assert (said.code, f"is excluded: {why}; change" in said.out) == (0, True)
    assert "`excluded` in the profile" in said.out
    assert "--force" not in said.out
    assert tasks(search, "company") == []


def test_a_company_that_is_known_too_little_is_looked_at_again(search: Thresher, project: Path):
    write(project, company("acme.com", "Acme", now(project), completeness="minimal"))
    assert search("add", "company", "acme.com", "--json").json[0]["answer"] == "added"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["https://boards.greenhouse.io/acme"], "thresher add board"),
        (["ftp://acme.com"], "http"),
        (["https://"], "not a URL"),
        (["..."], "letters"),
        (["x" * 300], "200"),
        (["acme.com", "--name", "A", "--website", "b.com"], "one company"),
        (["a.com", "b.com", "--name", "A"], "one company"),
        (["Acme", "--name", "Other"], "give only one of them"),
        (["https://ann:pw@acme.com"], "URL such as"),
        (["https://localhost/"], "URL such as"),
        (["javascript:alert(1)"], "is no company: give its name, or its website"),
        (["mailto:jobs@acme.com"], "URL such as"),
        (["jobs@acme.com"], "URL such as"),
        ([""], "a company needs a name or a website"),
    ],
)
def test_what_is_no_company_is_refused_and_nothing_is_added(search: Thresher, words: list[str], says: str):
    wrong = search("add", "company", *words)
    assert (wrong.code, says in wrong.err, len(wrong.err.splitlines())) == (2, True, 1), wrong.err
    assert tasks(search, "company") == []


def test_a_board_is_added_by_its_address_once(search: Thresher, project: Path):
    urls = (
        "https://boards.greenhouse.io/acme/jobs/123",
        "https://job-boards.greenhouse.io/acme",
        "https://acme.com/careers",
    )
    found = search("add", "board", *urls, "--company", "acme.com", "--json").json
    assert (found[0]["key"], found[0]["answer"]) == ("greenhouse:acme", "added")
    assert found[2]["key"] == "site:https://acme.com/careers"
    assert tasks(search, "source_discovery")[0][2]["company"] == "acme.com"
    assert len(tasks(search, "source_discovery")) == 2
    search("run")
    write(project, board("greenhouse:acme", "acme.com", 1, status="disabled"))
    known = search("add", "board", urls[1])
    assert (known.code, "thresher boards enable greenhouse:acme" in known.out) == (0, True)


def test_a_posting_is_added_by_its_address(search: Thresher):
    for _ in range(2):
        assert search("add", "posting", "https://acme.com/jobs/7?utm_campaign=x").code == 0
    ((key, url, payload),) = tasks(search, "job")
    assert (url, payload["posting"], payload["url"], payload["fetch"]) == (
        "https://acme.com/jobs/7",
        key,
        url,
        url,
    )


@pytest.mark.parametrize(
    "words", [["board"], ["posting"], ["companies"], ["board", "not an address"], ["posting", "acme.com"]]
)
def test_a_board_and_a_posting_want_an_address(search: Thresher, words: list[str]):
    assert search("add", *words).code in (2, 4)
    assert search("tasks", "list", "--json").json == []


def test_any_other_kind_is_added_as_before(search: Thresher):
    assert search("add", "work", "--payload", '{"a": 1}', "--key", "k").out == "Task 1 (work) added.\n"
    assert search("add", "company", "--payload", '{"name": "Acme"}', "--url", "https://acme.com").code == 0
    wrong = search("add", "work", "acme.com")
    assert (wrong.code, "--payload" in wrong.err) == (2, True)
    assert search("add", "work", "--name", "x").code == 2
    assert search("add").code == 2


def test_without_the_jobs_app_it_is_said_how_to_name_it(project: Path, queue: Thresher):
    wrong = queue("add", "company", "acme.com")
    assert (wrong.code, "apps: [jobs]" in wrong.err) == (4, True)


CSV = '''Name;Site;Notes
Acme;acme.com;"first; and
second line"
"Blue ""Heron""";;
;borealis.de;
;;nothing
Bad;ftp://x.com;
Open;"open.com;
After;after.com;
'''


def test_a_file_of_companies_is_taken_and_its_bad_lines_are_named(search: Thresher, project: Path):
    (project / "list.csv").write_text(CSV)
    said = search("add", "companies", "list.csv")
    assert said.code == 2
    assert [line.partition(": ")[0] for line in said.out.splitlines()[:-1]] == [
        "list.csv:6",
        "list.csv:7",
        "list.csv:8",
    ]
    assert "4 companies added. 3 lines could not be read" in said.out
    assert {key for key, *_ in tasks(search, "company")} == {
        "acme.com",
        "blueheron",
        "borealis.de",
        "after.com",
    }
    again = search("add", "companies", "list.csv", "--json").json
    assert ([each["answer"] for each in again["asked"]], [slip["line"] for slip in again["slips"]]) == (
        ["waiting"] * 4,
        [6, 7, 8],
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "name,website\nAcme,acme.com\n,heron.com\n"),
        ("a.csv", '\ufeffcompany,url\r\nAcme,https://acme.com/\r\n"",heron.com\r\n'),
        ("a.tsv", "Company Name\tDomain\nAcme\tacme.com\n\theron.com"),
        ("-", "name|url\nAcme|acme.com\n|heron.com\n"),
        ("a.jsonl", '{"name": "Acme", "website": "acme.com"}\n\n{"url": "https://heron.com"}\n'),
    ],
)
def test_a_roster_is_read_whatever_it_is_written_as(name: str, text: str):
    roster = read_company_file(text, name)
    assert roster.wishes == (Wish("Acme", "https://acme.com/"), Wish(None, "https://heron.com/"))
    assert roster.slips == ()


def test_plain_lines_are_names_and_addresses():
    roster = read_company_file(
        "# my list\nacme.com\n\nBlue Heron, Inc.\nNode.js\nhttps://x.example/careers\n", "-"
    )
    assert [each.key for each in roster.wishes] == ["acme.com", "blueheron", "nodejs", "x.example"]


def test_a_roster_comes_from_standard_input_too(search: Thresher, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("acme.com\nheron.com\n"))
    assert "2 companies added." in search("add", "companies", "-").out


@pytest.mark.parametrize("text", ["Acme,acme.com\n", "a,b\nAcme,acme.com"])
def test_a_csv_file_without_a_header_is_refused_whole(text: str):
    with pytest.raises(UsageError, match="first line must name the columns"):
        read_company_file(text, "x.csv")


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.txt"])
def test_an_empty_file_is_refused(name: str):
    with pytest.raises(UsageError, match=f"{name} is empty"):
        read_company_file("\n \n", name)


def test_a_name_with_a_comma_and_no_quotes_is_an_error_and_not_another_company():
    roster = read_company_file("name,website\nAcme, Inc.,https://acme.com\nHeron,heron.com", "x.csv")
    assert [slip.line for slip in roster.slips] == [2]
    assert "3 cells and the header 2" in roster.slips[0].why
    assert len(roster.wishes) == 1


@pytest.mark.parametrize(
    "line",
    [
        "[1]",
        "x",
        '{"name": 5}',
        "{}",
        '{"website": "https://boards.greenhouse.io/a"}',
        "{" * 5_000,
        '{"name": ""}',
    ],
)
def test_a_bad_line_of_json_is_a_slip(line: str):
    roster = read_company_file('{"name": "Acme"}\n' + line, "-")
    assert (len(roster.wishes), [slip.line for slip in roster.slips]) == (1, [2])


@pytest.mark.promise(1)
@given(
    st.lists(
        st.sampled_from(
            ["acme.com", '"', '"a"', "x,y", ",", "", " ", "a\x00b", '"x', 'y"', "https://a.example", "=1"]
        ),
        max_size=12,
    )
)
def test_every_line_of_a_file_is_taken_named_or_part_of_a_row_that_was_taken(lines: list[str]):
    roster = read_company_file("name,website\n" + "\n".join(lines), "x.csv")
    written = sum(bool(line.strip(" ,")) for line in lines)  # spreadsheets end with rows of nothing
    quoted = any('"' in line for line in lines)
    assert len(roster.wishes) + len(roster.slips) <= written
    assert quoted or len(roster.wishes) + len(roster.slips) == written


@given(st.text(max_size=60))
def test_any_text_is_a_wish_or_an_error_that_explains_itself(text: str):
    with suppress(UsageError):
        assert read_wish(text).key


SITES = ("acme.com", "Jerry.ai", "acme.co.uk/careers", "acme.example", "http://x")
NAMES = ("Node.js", "A.B.", "Acme Inc.", "acme", "Dr. Oetker", "", " ", "C++ & Co.")


def test_a_name_is_told_from_an_address():
    assert [text for text in (*SITES, *NAMES) if is_site(text)] == list(SITES)
