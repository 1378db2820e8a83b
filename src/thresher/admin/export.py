"""Export all rows of one kind as CSV, JSON lines, a spreadsheet or Parquet.

Rows are written one at a time, so memory use does not depend on the size of the export.
"""

import csv
import io
import json
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

import orjson

from thresher.admin.plain import jsonable
from thresher.admin.records import among, every
from thresher.core.app import App
from thresher.core.clock import as_text
from thresher.core.errors import ConfigError, UsageError
from thresher.core.extension import Export
from thresher.core.limits import escape_unseen, without_controls
from thresher.core.record import Found, Is, Where
from thresher.store.store import Store

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


def write_parquet(out: BinaryIO, columns: Sequence[str], rows: Iterable[Row]) -> int:
    """A Parquet file; how many rows. A column whose values are all numbers, or all true or false, is stored
    so, any other as text. The rows pass through a file, since the types are known only after the last.
    """
    try:
        import duckdb  # noqa: PLC0415  an extra, for one format
    except ImportError:
        raise ConfigError(
            "Parquet files need an extra; install it: pip install 'thresher[parquet]'"
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        lines, file = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        types, written = _write_lines(lines, columns, rows)
        fields = ", ".join(f"{_literal(name)}: '{kind}'" for name, kind in types.items())
        read = f"read_json({_literal(str(lines))}, format = 'newline_delimited', columns = {{{fields}}})"
        with duckdb.connect() as database:
            database.execute(f"copy (select * from {read}) to {_literal(str(file))} (format parquet)")
        with file.open("rb") as made:
            shutil.copyfileobj(made, out)
    return written


def _write_lines(file: Path, columns: Sequence[str], rows: Iterable[Row]) -> tuple[dict[str, str], int]:
    """Write rows as JSON lines; of each column what its values are, and how many rows there were."""
    kinds: dict[str, set[type]] = {name: set() for name in columns}
    written = 0
    with file.open("wb") as out:
        for row in rows:
            for name, value in zip(columns, row, strict=True):
                if value is not None:
                    kinds[name].add(type(value))
            out.write(orjson.dumps(dict(zip(columns, row, strict=True)), default=str) + b"\n")
            written += 1
    return {name: _column_type(found) for name, found in kinds.items()}, written


def _column_type(found: set[type]) -> str:
    if found == {bool}:
        return "BOOLEAN"
    if found == {int}:
        return "BIGINT"
    return "DOUBLE" if found and found <= {int, float} else "VARCHAR"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


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


class FileFormat(StrEnum):
    """What a file is written as."""

    CSV = "csv"
    JSONL = "jsonl"
    XLSX = "xlsx"
    PARQUET = "parquet"

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES[self.value]


_MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """How many rows went where."""

    what: str
    form: str
    rows: int
    file: str


_TIMES = ("_at", "first_seen")


def exports_of(apps: Iterable[App]) -> dict[str, Export]:
    """What the apps of a project let be exported, by kind; one that two bring is refused by name."""
    found: dict[str, Export] = {}
    owners: dict[str, str] = {}
    for app in apps:
        for kind, each in app.exports.items():
            if kind in found:
                raise ConfigError(
                    f"the export {kind!r} is defined by the app {app.name!r} and by the app "
                    f"{owners[kind]!r}; rename one of them"
                )
            found[kind], owners[kind] = each, app.name
    return found


def find_export(apps: Iterable[App], kind: str) -> Export:
    """The export of that kind."""
    there = exports_of(apps)
    if kind not in there:
        known = f"the exports are {', '.join(there)}" if there else "no app of this project has any"
        raise UsageError(f"there is no export {kind[:80]!r}; {known}")
    return there[kind]


def record_export(
    kind: str,
    columns: tuple[str, ...],
    statuses: Iterable[str] = (),
    status: str = "status",
    separator: str = ", ",
) -> Export:
    """The export of all records of a kind. `status` is the field that a status is looked for in."""

    def found(store: Store, wanted: str | None) -> Iterator[Found]:
        where: list[Where] = [Is(status, wanted)] if wanted else []
        return every(store, kind, where=where)

    def rows(store: Store, wanted: str | None) -> Iterator[dict[str, Any]]:
        return ({**each.data, "key": each.key} for each in found(store, wanted))

    def lines(store: Store, wanted: str | None) -> Iterator[dict[str, Any]]:
        return map(whole, found(store, wanted))

    return Export(rows, columns, tuple(statuses), lines, separator)


def export(
    store: Store, kind: str, what: Export, form: FileFormat, out: BinaryIO, *, status: str | None = None
) -> int:
    """Write everything of a kind; how many rows. JSON lines have all that is known, the others what fits into
    columns.
    """
    if status is not None and not what.statuses:
        raise UsageError(f"{kind} have no status; omit it")
    wanted = among(status, what.statuses, f"the status of {kind}")
    if form is FileFormat.JSONL:
        # Lines are written as they come; rows that stand in for them have their times told as text.
        return write_jsonl(
            out, what.lines(store, wanted) if what.lines else map(jsonable, what.rows(store, wanted))
        )
    found = what.rows(store, wanted)
    rows = ([_value(data, column, what.separator) for column in what.columns] for data in found)
    names = [column.partition("=")[0] for column in what.columns]
    if form is FileFormat.PARQUET:
        return write_parquet(out, names, rows)
    return write_csv(out, names, rows) if form is FileFormat.CSV else write_xlsx(out, names, rows, kind)


def export_file(
    store: Store, kind: str, what: Export, form: FileFormat, path: Path, *, status: str | None = None
) -> Exported:
    """Write a file completely or not at all: a reader of the old file can still read it to its end."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as out:
                rows = export(store, kind, what, form, out, status=status)
            if path.exists():
                # A new file is for its owner alone; an old one stays as open as somebody made it.
                Path(name).chmod(path.stat().st_mode & 0o777)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from None
    return Exported(kind, form, rows, str(path))


def form_of(path: str) -> FileFormat:
    """What a file's name says it is: CSV if it says nothing. Refuse a name that says something else."""
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending and ending not in list(FileFormat):
        raise UsageError(
            f"{path!r} cannot be written: the formats are {', '.join(FileFormat)}. Name the file so, or say "
            "which of them it is with --format"
        )
    return FileFormat(ending) if ending else FileFormat.CSV


def _value(data: Mapping[str, Any], column: str, between: str) -> Any:
    name, _, places = column.partition("=")
    value = next(
        (found for place in (places or name).split("|") if (found := _at(data, place)) not in (None, "")),
        None,
    )
    if isinstance(value, int) and name.endswith(_TIMES):
        return as_text(value) if value else None
    if isinstance(value, list | tuple):
        return between.join(map(str, value))
    return None if isinstance(value, Mapping) else value


def _at(data: Mapping[str, Any], place: str) -> Any:
    value: Any = data
    for name in place.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def whole(found: Found) -> dict[str, Any]:
    """A record with all that is known of it, for JSON lines."""
    times = {
        name: as_text(value) if value else None for name, value in found.data.items() if _is_time(name, value)
    }
    links = [f"{link.name}={link.target}" for link in found.links]
    return {"kind": found.kind, "key": found.key, **found.data, **times, "links": links}


def _is_time(name: str, value: Any) -> bool:
    return name.endswith(_TIMES) and isinstance(value, int) and not isinstance(value, bool)
