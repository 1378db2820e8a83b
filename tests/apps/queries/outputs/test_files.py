"""The table as files: written whole, read back by company, and never over an edit that was not stored."""

import asyncio
import csv
import io
import json
import os
import zipfile

import pytest

from thresher.admin.export import FileFormat
from thresher.apps.queries.outputs import files
from thresher.apps.queries.outputs.columns import COLUMNS
from thresher.apps.queries.outputs.files import read_folder, read_table, replace_file, write_folder
from thresher.apps.queries.outputs.options import SheetOptions
from thresher.apps.queries.outputs.workbook import read_workbook

OPTIONS = SheetOptions()


class Folder:
    """The folder of an office, and people with a spreadsheet program."""

    def __init__(self, office):
        self.office, self.path = office, office.folder / "out"

    def _run(self, act, *, settle=True):
        async def whole():
            async with self.office.context_at("http://127.0.0.1:9") as ctx:
                return await act(ctx)

        result = asyncio.run(whole())
        if settle:
            self.office.apply(result.effects)
        self.office.now += 1_000_000
        return result

    def read(self, **how):
        return self._run(lambda ctx: read_folder(ctx, OPTIONS, self.path), **how)

    def write(self, **how):
        return self._run(lambda ctx: write_folder(ctx, self.path), **how)

    @property
    def csv(self):
        return self.path / "companies.csv"

    def rows(self, path=None):
        return list(csv.DictReader(io.StringIO((path or self.csv).read_text("utf-8-sig"))))

    def save(self, rows, path=None, delimiter=","):
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        (path or self.csv).write_text(out.getvalue(), "utf-8")

    def json_lines(self):
        return [json.loads(line) for line in (self.path / "companies.jsonl").read_text().split("\n") if line]

    def save_json(self, lines):
        (self.path / "companies.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def edit(self, key, **values):
        rows = self.rows()
        next(row for row in rows if row["company_id"] == key).update(values)
        self.save(rows)


@pytest.fixture
def folder(office):
    office.company("acme", name="=Acme()")
    office.company("beta", notes="- call them")
    found = Folder(office)
    found.write()
    return found


def test_three_files_show_the_same_table(folder):
    assert sorted(path.name for path in folder.path.iterdir()) == [
        "companies.csv",
        "companies.jsonl",
        "companies.xlsx",
    ]
    assert [(row["company_id"], row["company_name"], row["model_notes"]) for row in folder.rows()] == [
        ("acme", "'=Acme()", ""),
        ("beta", "Beta", "'- call them"),
    ]
    lines = [json.loads(line) for line in (folder.path / "companies.jsonl").read_text().splitlines()]
    assert [(line["company_id"], line["company_name"], line["max_score"]) for line in lines] == [
        ("acme", "=Acme()", 5),
        ("beta", "Beta", 5),
    ]
    table = read_workbook((folder.path / "companies.xlsx").read_bytes())
    assert table[0][: len(COLUMNS)] == list(COLUMNS)
    assert [row[0] for row in table[1:]] == ["acme", "beta"]


def test_our_own_export_is_no_edit(folder):
    assert folder.read().counts["file_taken"] == 0
    (folder.path / "companies.csv").touch()
    folder.save(folder.rows())  # saved by another program, with nothing changed
    assert folder.read().counts["file_taken"] == 0
    assert folder.office.human("beta") == ("PENDING", "", "- call them")


def test_an_export_whose_worker_died_before_storing_it_is_no_edit_either(folder):
    folder.office.metrics("acme", max_score=9)
    folder.write(settle=False)
    assert folder.read().counts["file_taken"] == 0
    folder.office.metrics("acme", max_score=8)
    folder.write()
    assert folder.rows()[0]["max_score"] == "8"


def test_edits_are_taken_by_company_whatever_else_was_done_to_the_file(folder):
    rows = [
        {"Mine": "x", **{name: row[name] for name in reversed(list(row))}} for row in reversed(folder.rows())
    ]
    rows[0] |= {"resolution": "accepted", "model_notes": "'=not a formula"}
    rows[1] |= {"model_feedback": "fn", "max_score": "0"}
    folder.save([*rows, dict.fromkeys(rows[0], "")], delimiter=";")
    assert folder.read().counts["file_taken"] == 3
    assert folder.office.human("beta") == ("ACCEPTED", "", "=not a formula")
    assert folder.office.human("acme") == ("PENDING", "FN", "")
    assert folder.office.history("acme") == [("feedback", "", "FN", "csv")]
    assert folder.read().counts["file_taken"] == 0
    folder.write()
    assert {row["company_id"]: row["max_score"] for row in folder.rows()} == {"acme": "5", "beta": "5"}


def test_edits_in_the_json_file_are_taken_and_its_texts_stay_as_they_are(folder):
    lines = folder.json_lines()
    lines[1] |= {"resolution": "accepted", "mine": None, "max_score": 0}
    folder.save_json([lines[1], lines[0] | {"model_notes": "=1+1\u2028'quoted"}])
    assert folder.read().counts["file_taken"] == 2
    assert folder.office.human("beta") == ("ACCEPTED", "", "- call them")
    assert folder.office.human("acme")[2] == "=1+1\u2028'quoted"
    assert folder.office.history("beta") == [("resolution", "PENDING", "ACCEPTED", "jsonl")]
    folder.write()
    assert folder.read().counts["file_taken"] == 0
    assert [line["max_score"] for line in folder.json_lines()] == [5, 5]


def test_a_json_file_that_was_kept_for_a_week_turns_nothing_back(folder):
    old = folder.json_lines()
    folder.edit("beta", resolution="REJECTED")
    folder.read()
    folder.write()
    old[0]["model_feedback"] = "FP"
    folder.save_json(old)
    assert folder.read().counts["file_taken"] == 1
    assert folder.office.human("beta")[0] == "REJECTED"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"company_id": "acme"}\n{"company_id": ', "line 2 is not JSON"),
        (b'["acme"]', "line 1 is not an object"),
        (b'{"company_id": "acme", "model_notes": ["a"]}', "model_notes in line 1 must be text or a number"),
        (b'{"resolution": "ACCEPTED"}', "names the column company_id"),
        (b'{"company_id": "acme"}\n{"company_id": "acme", "model_notes": "x"}', "several rows that differ"),
        (b"".join(b'{"n%d": 1}\n' % n for n in range(1_001)), "1,001 different names"),
    ],
)
def test_a_json_file_that_says_no_table_is_refused_with_the_line(body, why):
    with pytest.raises(ValueError, match=why):
        read_table(body, FileFormat.JSONL, OPTIONS.columns_by_header(), "companies.jsonl")


def test_an_edit_that_was_not_read_is_never_written_over(folder):
    folder.edit("acme", resolution="REJECTED")
    folder.office.metrics("beta", max_score=1)
    assert "companies.csv has edits" in folder.write().note
    assert folder.rows()[0]["resolution"] == "REJECTED"
    folder.read(settle=False)  # the worker died
    assert "companies.csv has edits" in folder.write().note
    folder.read()
    assert "has edits" not in folder.write().note
    assert [(row["resolution"], row["max_score"]) for row in folder.rows()] == [
        ("REJECTED", "5"),
        ("PENDING", "1"),
    ]


def test_a_file_that_was_open_for_a_week_turns_nothing_back(folder):
    old = folder.rows()
    folder.office.set("acme", "resolution", "REJECTED")
    folder.office.set("acme", "model_notes", "seen")
    folder.office.now += 1_000_000
    folder.write()
    old[1]["resolution"] = "ACCEPTED"
    folder.save(old)
    assert folder.read().counts["file_taken"] == 1
    assert folder.office.human("acme") == ("REJECTED", "", "seen")
    assert folder.office.human("beta")[0] == "ACCEPTED"


def test_a_word_that_cannot_be_taken_is_an_alarm_and_the_file_waits_for_its_correction(folder):
    folder.edit("acme", resolution="perhaps", model_notes="kept")
    folder.read()
    assert folder.office.open_alarms() == ["file_value/acme/resolution"]
    assert folder.office.human("acme") == ("PENDING", "", "kept")
    assert "has edits" in folder.write().note
    assert folder.rows()[0]["resolution"] == "perhaps"
    folder.edit("acme", resolution="REJECTED")
    folder.read()
    assert folder.office.open_alarms() == []
    assert folder.office.human("acme") == ("REJECTED", "", "kept")
    assert "has edits" not in folder.write().note


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\xff\xfe",
        b"a,b\n1,2\n",
        b'company_id,"x\n',
        b"company_id,resolution\na,OK\na,FP\n",
        b"PK\x03\x04",
    ],
)
@pytest.mark.parametrize("name", ["companies.csv", "companies.xlsx"])
def test_a_file_that_cannot_be_read_is_an_alarm_and_stays(folder, name, body):
    (folder.path / name).write_bytes(body)
    folder.read()
    folder.office.metrics("acme", max_score=1)
    note = folder.write().note
    assert folder.office.open_alarms() == [f"file_failed/{name}"]
    assert "has edits" in note
    assert (folder.path / name).read_bytes() == body


def test_edits_in_the_workbook_are_taken_as_another_program_saves_it(folder):
    texts = [*COLUMNS, "acme", "REJECTED", "from the workbook"]
    shared = "".join(
        f"<si><r><t>{text[:2]}</t></r><r><t>{text[2:]}</t></r><rPh><t>no</t></rPh></si>" for text in texts
    )
    head = "".join(f'<c r="{chr(65 + at)}1" t="s"><v>{at}</v></c>' for at in range(12))
    row = '<c r="A3" t="s"><v>12</v></c><c r="C3" t="s"><v>13</v></c><c r="D3"><v>7.0</v></c><c r="L3" t="s"><v>14</v></c>'
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(folder.path / "companies.xlsx", "w") as book:
        book.writestr(
            "xl/workbook.xml",
            f'<workbook {space} xmlns:r="r"><sheets><sheet name="x" sheetId="1" r:id="rId9"/></sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            '<Relationships><Relationship Id="rId9" Target="worksheets/other.xml"/></Relationships>',
        )
        book.writestr("xl/sharedStrings.xml", f"<sst {space}>{shared}</sst>")
        book.writestr(
            "xl/worksheets/other.xml",
            f'<worksheet {space}><sheetData><row r="1">{head}</row><row r="3">{row}</row></sheetData></worksheet>',
        )
    folder.read()
    assert folder.office.human("acme") == ("REJECTED", "", "from the workbook")
    assert folder.office.human("beta") == ("PENDING", "", "- call them")
    assert folder.office.history("acme")[0][3] == "xlsx"


def test_a_workbook_that_declares_entities_is_refused():
    out = io.BytesIO()
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet>&b;</worksheet>'
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", bomb)
    with pytest.raises(ValueError, match="entities"):
        read_workbook(out.getvalue())


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr("thresher.apps.queries.outputs.workbook.MAX_PART", 1_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", "<worksheet>" + " " * 5_000 + "</worksheet>")
    with pytest.raises(ValueError, match="too large"):
        read_workbook(out.getvalue())


def test_the_later_of_two_edited_files_wins_and_both_are_in_the_history(folder):
    folder.edit("acme", resolution="REJECTED")
    table = read_table(
        (folder.path / "companies.xlsx").read_bytes(), FileFormat.XLSX, OPTIONS.columns_by_header(), "x"
    )
    assert table[0].human["resolution"] == "PENDING"
    later = folder.path / "companies.unread-1.csv"
    rows = folder.rows()
    rows[0]["resolution"] = "ACCEPTED"
    folder.save(rows, later)
    os.utime(later, ns=(2**62, 2**62))
    folder.read()
    assert folder.office.human("acme")[0] == "ACCEPTED"
    assert [each[2] for each in folder.office.history("acme")] == ["ACCEPTED", "REJECTED"]
    folder.read()
    assert not later.exists()  # stored, and so no longer needed
    assert folder.office.human("acme")[0] == "ACCEPTED"


def test_what_somebody_saves_in_the_moment_of_the_replacement_is_not_lost(folder, monkeypatch):
    """Once before the old file is taken away, once before the new one is put there."""
    known = files._read_file(folder.csv)[1]
    swap = files._swap

    def save_then_swap(made, path, form, digest):
        folder.edit("acme", resolution="REJECTED")
        return swap(made, path, form, digest)

    monkeypatch.setattr(files, "_swap", save_then_swap)
    assert replace_file(folder.path, FileFormat.CSV, b"new", known) is not None
    (parked,) = folder.path.glob("companies.unread-*.csv")
    assert folder.rows(parked)[0]["resolution"] == "REJECTED"
    monkeypatch.setattr(files, "_swap", swap)
    link = os.link

    def save_then_link(made, path):
        path.write_text("theirs")
        link(made, path)

    monkeypatch.setattr(os, "link", save_then_link)
    assert replace_file(folder.path, FileFormat.CSV, b"newer", files._read_file(folder.csv)[1]) is None
    assert folder.csv.read_text() == "theirs"


def test_files_that_need_no_change_are_not_written(folder):
    before = folder.csv.stat().st_ino
    assert folder.write().note == "the files are up to date"
    assert folder.csv.stat().st_ino == before
    folder.csv.unlink()
    folder.write()
    assert len(folder.rows()) == 2
    assert not list(folder.path.glob(".*"))
