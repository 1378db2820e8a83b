"""Exports: what other programs get, whatever strangers wrote into it."""

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.jobs.cli.project import APP, board, company, match, now, posting, write
from tests.cli.conftest import Thresher
from thresher.admin import export
from thresher.admin.export import FORMULA, harmless, write_csv, write_jsonl, write_xlsx

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
HOSTILE = '=HYPERLINK("https://evil.example","x")'


def cells(workbook: bytes) -> list[list[object]]:
    """The sheet as a reader of spreadsheets sees it, formulas as None."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as book:
        assert book.testzip() is None
        for name in book.namelist():
            ET.fromstring(book.read(name))
        root = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert root.find(f".//{MAIN}f") is None, "a formula"
    return [[_value(cell) for cell in row] for row in root.iter(f"{MAIN}row")]


def _value(cell: ET.Element) -> object:
    if cell.get("t") == "inlineStr":
        return "".join(cell.itertext())
    value = cell.find(f"{MAIN}v")
    return None if value is None else float(value.text or "")


@pytest.fixture
def search(project: Path, queue: Thresher) -> Thresher:
    (project / "app.py").write_text(APP)
    at = now(project)
    write(
        project,
        company("acme.com", "Acme", at),
        board("greenhouse:acme", "acme.com", at),
        posting("greenhouse:acme/1", HOSTILE, at),
        posting("greenhouse:acme/2", "Plain, with a comma", at, state="closed"),
        match("greenhouse:acme/1", HOSTILE, 91, at),
        match("greenhouse:acme/2", "Plain, with a comma", 85, at),
    )
    return queue


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_matches_are_written_as_csv_with_what_their_posting_says(search: Thresher, project: Path):
    done = search("export", "matches", "-o", "out.csv")
    assert (done.code, "2 rows written to out.csv" in done.out) == (0, True)
    plain, hostile = rows(project / "out.csv")
    assert (plain["title"], plain["score"], plain["location"], plain["matched_skills"]) == (
        "Plain, with a comma",
        "85",
        "Portland, OR",
        "python, postgresql",
    )
    assert hostile["title"] == f"'{HOSTILE}"
    assert plain["decided_at"].endswith("Z")


@pytest.mark.parametrize("what", ["matches", "postings", "companies", "boards"])
@pytest.mark.parametrize("form", ["csv", "jsonl", "xlsx"])
def test_everything_is_written_in_every_form(search: Thresher, project: Path, what: str, form: str):
    done = search("export", what, "-f", form, "-o", f"out.{form}", "--json").json
    number = 2 if what in ("matches", "postings") else 1
    assert (done["rows"], done["file"]) == (number, f"out.{form}")
    body = (project / f"out.{form}").read_bytes()
    assert len(body.splitlines() if form != "xlsx" else cells(body)) == number + (form != "jsonl")
    assert sorted(path.name for path in project.iterdir() if path.name.startswith(".")) == [], (
        "nothing is left over"
    )


def test_json_lines_have_everything_as_it_is(search: Thresher, project: Path):
    search("export", "postings", "-o", "out.jsonl")
    found = [json.loads(line) for line in (project / "out.jsonl").read_text().splitlines()]
    assert [each["title"] for each in found] == ["Plain, with a comma", HOSTILE]
    assert (found[0]["salary"]["high"], found[0]["links"][0], found[0]["seen_at"][-1]) == (
        120_000,
        "board=greenhouse:acme",
        "Z",
    )


def test_only_a_status_is_written_where_one_is_asked_for(search: Thresher, project: Path):
    search("jobs", "match", "greenhouse:acme/2", "--status", "applied")
    search("export", "matches", "--status", "applied", "-o", "out.csv")
    assert [row["title"] for row in rows(project / "out.csv")] == ["Plain, with a comma"]
    search("export", "postings", "--status", "open", "-o", "out.csv")
    assert [row["state"] for row in rows(project / "out.csv")] == ["open"]


def test_nothing_found_is_a_file_with_a_header(search: Thresher, project: Path):
    assert search("export", "boards", "--status", "pending", "-o", "out.csv").code == 0
    assert rows(project / "out.csv") == []


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["boards", "--status", "asleep", "-o", "x.csv"],
        ["matches", "-f", "pdf"],
        ["matches", "-o", "out.pdf"],
        ["matches", "-o", "no/such/folder/out.csv"],
        ["matches", "-o", "."],
        [],
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(search: Thresher, words: list[str]):
    wrong = search("export", *words)
    assert (wrong.code, len(wrong.err.splitlines())) == (2, 1)


def test_a_file_name_that_says_another_format_is_refused_unless_the_format_is_given(
    search: Thresher, project: Path
):
    wrong = search("export", "matches", "-o", "out.pdf")
    assert "the formats are csv, jsonl, xlsx" in wrong.err
    assert not (project / "out.pdf").exists()
    assert search("export", "matches", "-o", "out.txt", "-f", "csv").code == 0
    assert search("export", "matches", "-o", "out").code == 0
    assert (project / "out").read_bytes() == (project / "out.txt").read_bytes()


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "  =1",
        "＝1",
        "=cmd|' /C calc'!A0",
        "a;=1",
        "a\t@x",
        "\n=1",
        "a; =1",
        "a;\u00a0=1",
        "a;  @x",
        "a\n=1",
        "a\r\n =1",
        "a\r=1",
        "a; \uff1d1",
        "\u00a0=1",
        "python; =HYPERLINK(1)",
    ],
)
def test_a_text_that_looks_like_a_formula_is_text_in_every_spreadsheet(text: str):
    out = io.BytesIO()
    write_csv(out, ["a"], [[text]])
    (_, (cell,)) = csv.reader(io.StringIO(out.getvalue().decode("utf-8-sig"), newline=""))
    pieces = re.split("[;\t\r\n]", cell)
    assert not any(piece.lstrip().startswith(("=", "+", "-", "@", "＝")) for piece in pieces), cell
    book = io.BytesIO()
    write_xlsx(book, ["a"], [[text]], "t")
    assert "'" in str(cells(book.getvalue())[1][0])


def test_numbers_stay_numbers_also_below_zero():
    assert [harmless(value) for value in (-3, -1.5, 0, True, None)] == [-3, -1.5, 0, True, None]
    book = io.BytesIO()
    write_xlsx(book, ["a", "b"], [[-3, 1.5], [None, True]], "t")
    assert cells(book.getvalue())[1:] == [[-3.0, 1.5], [None, 1.0]]


@given(
    st.lists(
        st.lists(
            st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=40)),
            min_size=2,
            max_size=2,
        ),
        max_size=5,
    )
)
def test_any_rows_make_files_that_can_be_read_and_hold_no_formula(found: list[list[object]]):
    out = io.BytesIO()
    assert write_csv(out, ["a", "b"], found) == len(found)
    read = list(csv.reader(io.StringIO(out.getvalue().decode("utf-8-sig"), newline="")))
    assert not any(
        cell.lstrip(" ").startswith(FORMULA) and not cell.lstrip("-").isdecimal()
        for row in read
        for cell in row
    )
    book = io.BytesIO()
    assert write_xlsx(book, ["a", "b"], found, "s & <t>") == len(found)
    assert len(cells(book.getvalue())) == len(found) + 1
    lines = io.BytesIO()
    assert write_jsonl(lines, found) == len(found) == len(lines.getvalue().decode().split("\n")) - 1


def test_a_file_is_replaced_whole_or_not_at_all(
    search: Thresher, project: Path, monkeypatch: pytest.MonkeyPatch
):
    (project / "out.csv").write_text("the old one")

    def breaks(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "write_csv", breaks)
    wrong = search("export", "matches", "-o", "out.csv")
    assert (wrong.code, "No space left" in wrong.err) == (2, True)
    assert (project / "out.csv").read_text() == "the old one"
    assert [path.name for path in project.iterdir() if path.name.startswith(".")] == []


def test_more_than_one_portion_is_written(search: Thresher, project: Path):
    at = now(project)
    write(project, *(posting(f"feed/{number}", f"Engineer {number}", at) for number in range(1_001)))
    assert search("export", "postings", "-o", "out.jsonl", "--json").json["rows"] == 1_003
