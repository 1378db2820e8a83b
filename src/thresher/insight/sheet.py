"""Rows written as a file: CSV, JSON lines, or a spreadsheet. One row at a time, in the memory of one.

Values come from strangers. A spreadsheet takes a text that begins like a formula for one, and runs it; such a
text gets an apostrophe before it, which every spreadsheet reads as "this is text".
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

from thresher.core.controls import escape_unseen, without_controls

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
MAX_CELL = 32_767  # characters; more makes a file that spreadsheets call damaged
MAX_ROWS = 1_048_575
# A program that cuts lines at semicolons or tabs knows nothing of our quotes: for it a cell also begins after
# a line break.
_AFTER_DELIMITER = re.compile(r"(?<=[;\t\n])(\s*)(?=[=+\-@＝＋－＠])")
_LINE_BREAK = re.compile(r"\r\n?")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

Row = Sequence[Any]


def harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula, also where it cuts lines at semicolons and tabs, and
    that steers no terminal.

    Numbers are left alone.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    text = without_controls(_LINE_BREAK.sub("\n", str(value)))
    if text.lstrip(" ").startswith(FORMULA) or text.lstrip().startswith(FORMULA):
        text = f"'{text}"
    return _AFTER_DELIMITER.sub(r"\1'", text)


def write_csv(out: BinaryIO, columns: Sequence[str], rows: Iterable[Row]) -> int:
    """Comma-separated, UTF-8 with the mark that spreadsheets know it by; how many rows."""
    text = io.TextIOWrapper(out, encoding="utf-8-sig", errors="replace", newline="", write_through=True)
    writer = csv.writer(text, quoting=csv.QUOTE_MINIMAL)
    writer.writerow(columns)
    written = 0
    for row in rows:
        writer.writerow([harmless(cell) for cell in row])
        written += 1
    text.detach()
    return written


def write_jsonl(out: BinaryIO, objects: Iterable[Any]) -> int:
    """One JSON object a line; how many."""
    written = 0
    for each in objects:
        text = json.dumps(each, ensure_ascii=False, default=str)
        out.write(escape_unseen(text).encode() + b"\n")
        written += 1
    return written


def write_xlsx(out: BinaryIO, columns: Sequence[str], rows: Iterable[Row], title: str) -> int:
    """A workbook with one sheet whose first row stays in sight; how many rows. Every text is stored as
    text.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in _FRAME.items():
            book.writestr(name, text.format(title=escape(title)) if name == "xl/workbook.xml" else text)
        with book.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(_SHEET_HEAD)
            sheet.write(_row(columns))
            written = 0
            for row in islice(rows, MAX_ROWS):
                sheet.write(_row([harmless(cell) for cell in row]))
                written += 1
            sheet.write(_SHEET_FOOT)
    return written


def _row(cells: Row) -> bytes:
    return f"<row>{''.join(map(_cell, cells))}</row>".encode()


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    text = escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", str(value)[:MAX_CELL]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


_XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_PARTS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_SHEET_HEAD = (
    f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>'
).encode()
_SHEET_FOOT = b"</sheetData></worksheet>"
_FRAME = {
    "[Content_Types].xml": (
        f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package'
        '.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{_PARTS}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
        f'ContentType="{_PARTS}.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_RELATED}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATED}"><sheets>'
        '<sheet name="{title}" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" Type="{_RELATED}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}
