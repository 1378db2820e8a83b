"""Everything of one kind as a file for other programs: which columns it has, and where their values come
from.
"""

import csv
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from xml.sax.saxutils import escape

from thresher.admin.plain import jsonable
from thresher.admin.records import PORTION, among, every, find
from thresher.apps.hiring import postings
from thresher.apps.jobs.service import boards, companies
from thresher.apps.jobs.status import Status
from thresher.apps.roles.candidate import CANDIDATE
from thresher.apps.roles.service.matches import FitView, list_fits
from thresher.apps.roles.store.matches import STATUSES
from thresher.core.clock import as_text
from thresher.core.controls import escape_unseen, without_controls
from thresher.core.errors import UsageError
from thresher.core.record import Found, Is, Where
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.store.store import Store

# Rows written as a file: CSV, JSON lines, or a spreadsheet. One row at a time, in the memory of one.

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


class FileFormat(StrEnum):
    """What a file is written as."""

    CSV = "csv"
    JSONL = "jsonl"
    XLSX = "xlsx"


class What(StrEnum):
    """What can be exported."""

    MATCHES = "matches"
    POSTINGS = "postings"
    COMPANIES = "companies"
    BOARDS = "boards"
    CANDIDATES = "candidates"
    FITS = "candidate-matches"


@dataclass(frozen=True, slots=True)
class Exported:
    """How many rows went where."""

    what: str
    form: str
    rows: int
    file: str


# A column is where its value stands in the data, or `name=place|place`: the first place that has one.
# `posting.` reaches into the posting of a match.
_PAY = (
    "pay=salary.text|facts.pay.text",
    "pay_low=salary.low|facts.pay.low",
    "pay_high=salary.high|facts.pay.high",
    "currency=salary.currency|facts.pay.currency",
    "period=salary.period|facts.pay.period",
)
_COLUMNS: Mapping[What, tuple[str, ...]] = {
    What.MATCHES: (
        "score",
        "priority",
        "status",
        "title",
        "company",
        "location=posting.location",
        "pay=posting.salary.text|posting.facts.pay.text",
        "url",
        "posted=posting.posted",
        "state=posting.state",
        "matched_skills",
        "skill_gaps",
        "note",
        "decided_at",
        "key",
    ),
    What.POSTINGS: (
        "title",
        "company_name",
        "location",
        "url",
        "posted",
        "state",
        "employment_type",
        *_PAY,
        "workplace=facts.workplace",
        "level=facts.level",
        "skills=facts.skills",
        "first_seen",
        "seen_at",
        "closed_at",
        "relisted",
        "board",
        "company",
        "group",
        "number",
        "key",
    ),
    What.COMPANIES: (
        "name",
        "website",
        "tier",
        "score",
        "status",
        "completeness",
        "size",
        "size_category",
        "headquarters",
        "industry",
        "founded",
        "tech",
        "remote_first",
        "ai_focus",
        "about",
        "mission",
        "culture",
        "careers_url",
        "board_url",
        "board_confidence",
        "analyzed_at",
        "key",
    ),
    What.BOARDS: (
        "company_name",
        "platform",
        "url",
        "status",
        "confidence",
        "open",
        "verdict=last_look.verdict",
        "reason=last_look.reason",
        "complete=last_look.complete",
        "failures",
        "scraped_at",
        "due_at",
        "alarms",
        "disabled_reason",
        "proof",
        "method",
        "company",
        "key",
    ),
    What.CANDIDATES: (
        "name",
        "email",
        "title",
        "roles",
        "skills",
        "tech_stack",
        "specializations",
        "experience_years",
        "locations",
        "salary_min",
        "currency",
        "remote",
        "keywords",
        "key",
    ),
    What.FITS: (
        "candidate_name",
        "score",
        "grade",
        "recommended",
        "status",
        "title",
        "company_name",
        "location",
        "pay",
        "url",
        "state",
        "skills=parts.skills",
        "experience=parts.experience",
        "place=parts.location",
        "salary=parts.salary",
        "semantic=parts.semantic",
        "note",
        "matched_at",
        "candidate",
        "posting",
    ),
}
_KINDS = {
    What.MATCHES: "match",
    What.POSTINGS: POSTING,
    What.COMPANIES: COMPANY,
    What.BOARDS: BOARD,
    What.CANDIDATES: CANDIDATE,
}
_STATUSES: Mapping[What, Iterable[str]] = {
    What.MATCHES: Status,
    What.POSTINGS: postings.STATES,
    What.COMPANIES: companies.STATUSES,
    What.BOARDS: boards.STATUSES,
    What.CANDIDATES: (),
    What.FITS: STATUSES,
}
_TIMES = ("_at", "first_seen")


def export(store: Store, what: What, form: FileFormat, out: BinaryIO, *, status: str | None = None) -> int:
    """Write everything of a kind; how many rows. JSON lines have all that is known, the others what fits into
    columns.
    """
    if status is not None and not _STATUSES[what]:
        raise UsageError(f"{what} have no status; leave it out")
    wanted = among(status, _STATUSES[what], f"the status of {what}")
    if what is What.FITS:
        return _write(out, what, form, (asdict(each) for each in _fits(store, wanted)))
    where: list[Where] = [Is("state" if what is What.POSTINGS else "status", wanted)] if wanted else []
    found = every(store, _KINDS[what], where=where)
    return _write(
        out, what, form, map(_whole, found) if form is FileFormat.JSONL else _data(store, what, found)
    )


def _fits(store: Store, status: str | None) -> Iterator[FitView]:
    """The matches of every candidate, the best of each first."""
    for candidate in every(store, CANDIDATE):
        after: str | None = None
        while some := list_fits(store, candidate=candidate.key, status=status, after=after, limit=PORTION):
            yield from some
            after = some[-1].posting


def _write(out: BinaryIO, what: What, form: FileFormat, found: Iterable[Mapping[str, Any]]) -> int:
    if form is FileFormat.JSONL:
        return write_jsonl(out, map(jsonable, found) if what is What.FITS else found)
    columns = _COLUMNS[what]
    between = "; " if what is What.CANDIDATES else ", "  # as the files have it that candidates come in by
    rows = ([_value(data, column, between) for column in columns] for data in found)
    names = [column.partition("=")[0] for column in columns]
    return write_csv(out, names, rows) if form is FileFormat.CSV else write_xlsx(out, names, rows, what.value)


def export_file(
    store: Store, what: What, form: FileFormat, path: Path, *, status: str | None = None
) -> Exported:
    """Write a file, whole or not at all: whoever reads the old one meanwhile reads it to its end."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as out:
                rows = export(store, what, form, out, status=status)
            if (
                path.exists()
            ):  # a new file is for its owner alone; an old one stays as open as somebody made it
                Path(name).chmod(path.stat().st_mode & 0o777)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from None
    return Exported(what, form, rows, str(path))


def form_of(path: str) -> FileFormat | None:
    """What a file's name says it is."""
    ending = path.rpartition(".")[2].lower()
    return FileFormat(ending) if ending in list(FileFormat) else None


def _data(store: Store, what: What, found: Iterable[Found]) -> Iterator[dict[str, Any]]:
    if what is not What.MATCHES:
        yield from ({**each.data, "key": each.key} for each in found)
        return
    some: list[Found] = []
    for each in found:
        some.append(each)
        if len(some) == PORTION:
            yield from _with_postings(store, some)
            some = []
    yield from _with_postings(store, some)


def _with_postings(store: Store, matches: list[Found]) -> Iterator[dict[str, Any]]:
    keys = [str(each.data.get("posting") or each.key) for each in matches]
    postings = (
        {each.key: each.data for each in find(store, POSTING, keys=keys, limit=len(keys))} if keys else {}
    )
    for key, each in zip(keys, matches, strict=True):
        yield {**each.data, "key": each.key, "posting": postings.get(key, {})}


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


def _whole(found: Found) -> dict[str, Any]:
    times = {
        name: as_text(value) if value else None for name, value in found.data.items() if _is_time(name, value)
    }
    links = [f"{link.name}={link.target}" for link in found.links]
    return {"kind": found.kind, "key": found.key, **found.data, **times, "links": links}


def _is_time(name: str, value: Any) -> bool:
    return name.endswith(_TIMES) and isinstance(value, int) and not isinstance(value, bool)
