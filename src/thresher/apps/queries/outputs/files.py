"""The table of companies as files in a folder (CSV, XLSX, JSON lines), and what people changed in them.

Every row says which export it comes from, so a file that somebody had open for a week is compared with the
values of a week ago, and only what was really changed in it is taken. A file is replaced only if all that is
in it is known: as it was written, or as it was read and stored.
"""

import csv
import hashlib
import io
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from thresher.admin.export import FileFormat, harmless, write_csv, write_jsonl, write_xlsx
from thresher.admin.file_rows import DELIMITERS, decoded
from thresher.apps.queries.outputs.columns import (
    COLUMNS,
    COMPANY_ID,
    HUMAN,
    checked_value,
    header_word,
    plain_text,
)
from thresher.apps.queries.outputs.merge import Company, Problem, find_layout
from thresher.apps.queries.outputs.options import SheetOptions
from thresher.apps.queries.outputs.sync import OutputContext, Result, load_companies
from thresher.apps.queries.outputs.workbook import read_workbook
from thresher.apps.queries.signals.rules import RESOLUTIONS, Resolutions
from thresher.core.compute import in_thread
from thresher.core.errors import UsageError
from thresher.core.outcome import Effect

STEM = "companies"
EXPORT = "export"  # the column that says which export a row comes from
FORMATS = (FileFormat.CSV, FileFormat.XLSX, FileFormat.JSONL)
WHOLE = "folder"  # the output that stands for all files together
MAX_FILE = 64 * 1024 * 1024  # bytes
MAX_PARKED = 20  # files that were put aside with edits nobody has read
MAX_NAMES = 1_000  # different names in the lines of a JSON file
KEYS_AT_ONCE = 1_000

_STAMP = re.compile(r"#([0-9]{1,17})")
_QUOTED = re.compile(r"^'(?=\s*[=+\-@\t\r\n＝＋－＠])")
_QUOTED_INSIDE = re.compile(r"(?<=[;\t\n])(\s*)'(?=[=+\-@＝＋－＠])")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One row of a file: the company, its human cells, and the time of the export that it comes from (0:
    unknown).
    """

    company: str
    human: Mapping[str, str]
    at: int = 0


# --- read


async def read_folder(ctx: OutputContext, options: SheetOptions, folder: Path) -> Result:
    """Take what people changed in the files of the folder. Files that cannot be read, or have something in
    them that cannot be taken, are alarms, and stay as they are.
    """
    states = await ctx.read("queries.output_states", {})
    effects: list[Effect] = []
    problems: list[Problem] = []
    taken = 0
    for path in await in_thread(_edited_files, folder):
        form = FileFormat(path.suffix[1:])
        body, digest = await in_thread(_read_file, path)
        if digest == (states.get(_output(path)) or {}).get("digest"):
            if path.stem != STEM:  # put aside once, and stored by now
                await in_thread(path.unlink)
            continue
        try:
            rows = await ctx.compute(read_table, body, form, options.columns_by_header(), path.name)
        except (ValueError, UsageError) as problem:
            problems.append(Problem("file_failed", path.name, f"{path.name} cannot be read: {problem}"))
            continue
        usual = int((states.get(form) or {}).get("written_at") or 0)
        takes, wrong = await _takes(ctx, rows, usual, path.name, options.resolutions)
        problems += wrong
        taken += len(takes)
        effects.append(Effect("queries.take_values", {"origin": form, "takes": takes}))
        if not wrong:
            effects.append(Effect("queries.note_output", {"output": _output(path), "digest": digest}))
    effects.append(_alarms(problems))
    note = f"{taken:,} values taken from files" + (f", {len(problems):,} to look at" if problems else "")
    return Result(tuple(effects), {"file_taken": taken}, note)


def _output(path: Path) -> str:
    """The output that a file is: one that was put aside is one of its own."""
    return path.suffix[1:] if path.stem == STEM else path.name


def _alarms(problems: Sequence[Problem]) -> Effect:
    found = [{"name": each.name, "subject": each.subject, "message": each.message} for each in problems]
    return Effect("queries.replace_alarms", {"names": ["file_failed", "file_value"], "alarms": found})


def _edited_files(folder: Path) -> list[Path]:
    """The files that may have edits in them, the latest last: of two people who disagree, the last wins."""
    found = [folder / f"{STEM}.{form}" for form in FORMATS]
    found += [
        path for form in FORMATS for path in sorted(folder.glob(f"{STEM}.unread-*.{form}"))[:MAX_PARKED]
    ]
    return sorted((path for path in found if path.is_file()), key=lambda path: path.stat().st_mtime_ns)


def _read_file(path: Path) -> tuple[bytes, str]:
    with path.open("rb") as file:
        body = file.read(MAX_FILE + 1)
    return body, hashlib.sha256(body).hexdigest()


async def _takes(
    ctx: OutputContext, rows: Sequence[FileRow], usual: int, name: str, resolutions: Resolutions
) -> tuple[list[list[str]], list[Problem]]:
    """What was changed since the export that each row comes from."""
    takes: list[list[str]] = []
    problems: list[Problem] = []
    by_time: dict[int, list[FileRow]] = {}
    for row in rows:
        by_time.setdefault(row.at or usual, []).append(row)
    for at, group in sorted(by_time.items()):
        for first in range(0, len(group), KEYS_AT_ONCE):
            part = group[first : first + KEYS_AT_ONCE]
            values = await ctx.read(
                "queries.values_at", {"companies": [row.company for row in part], "at": at}
            )
            for found in edits(part, values, name, resolutions):
                if isinstance(found, Problem):
                    problems.append(found)
                else:
                    takes.append(found)
    return takes, problems


def edits(
    rows: Sequence[FileRow],
    values: Mapping[str, Mapping[str, Mapping[str, str]]],
    name: str,
    resolutions: Resolutions = RESOLUTIONS,
) -> Iterator[list[str] | Problem]:
    """The cells that a person changed, each as company, column and value, or why it cannot be taken.
    `values` are those of now and of then, by company. Rows about no company that we know say nothing.
    """
    for row in rows:
        known = values.get(row.company)
        for column, shown in row.human.items() if known else ():
            assert known is not None
            if shown == exported(known["then"][column]):
                continue
            try:
                value = checked_value(column, unquoted(shown), resolutions)
            except ValueError as problem:
                yield Problem("file_value", f"{row.company}/{column}", f"{name}: {row.company}: {problem}")
                continue
            if value != known["now"][column]:
                yield [row.company, column, value]


def exported(value: str) -> str:
    """A value as a file shows it: no spreadsheet takes it for a formula."""
    return plain_text(harmless(value))


def unquoted(text: str) -> str:
    """What a person wrote into a cell, without the apostrophes that make it harmless."""
    return _QUOTED_INSIDE.sub(r"\1", _QUOTED.sub("", text)).strip()


def read_table(body: bytes, form: FileFormat, headers: Mapping[str, str], name: str) -> list[FileRow]:
    """The rows of a file. Raises `ValueError` or `UsageError` with the reason why it has none."""
    if len(body) > MAX_FILE:
        raise ValueError(f"it has more than {MAX_FILE:,} bytes")
    rows = _rows(body, form, name)
    layout = find_layout(rows, headers)
    if layout is None or COMPANY_ID not in layout.columns:
        raise ValueError(f"no row at its top names the column {COMPANY_ID}, or two columns do")
    stamps = [at for at, cell in enumerate(rows[layout.header_row]) if header_word(cell) == EXPORT]
    found: dict[str, FileRow] = {}
    for row in rows[layout.header_row + 1 :]:
        key = layout.key(row)
        human = {column: plain_text(layout.cell(row, column)) for column in HUMAN if column in layout.columns}
        stamp = _STAMP.fullmatch(plain_text(row[stamps[0]])) if stamps and stamps[0] < len(row) else None
        made = FileRow(key, human, int(stamp[1]) if stamp else 0)
        if key and found.setdefault(key, made).human != human:
            raise ValueError(f"{key} has several rows that differ; delete all but one")
    return list(found.values())


def _rows(body: bytes, form: FileFormat, name: str) -> list[list[str]]:
    if form is FileFormat.XLSX:
        return read_workbook(body)
    text = decoded(body, name)
    return _jsonl_rows(text) if form is FileFormat.JSONL else _csv_rows(text)


def _jsonl_rows(text: str) -> list[list[str]]:
    """The lines as a table, with their names as its first row. Values get the apostrophes that the other
    files have, so that all are compared alike.
    """
    lines = [_json_line(line, at) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    names = list(dict.fromkeys(name for line in lines for name in line))
    if len(names) > MAX_NAMES:
        raise ValueError(f"its lines have {len(names):,} different names; {MAX_NAMES:,} are the most")
    return [names, *([line.get(name, "") for name in names] for line in lines)]


def _json_line(line: str, at: int) -> dict[str, str]:
    try:
        said = orjson.loads(line)
    except orjson.JSONDecodeError as problem:
        raise ValueError(f"line {at:,} is not JSON: {problem}") from None
    match said:
        case dict():
            return {name: _json_cell(value, f"{name} in line {at:,}") for name, value in said.items()}
        case _:
            raise ValueError(f"line {at:,} is not an object")


def _json_cell(value: Any, where: str) -> str:
    match value:
        case None:
            return ""
        case str():
            return exported(value)
        case bool() | int() | float():
            return orjson.dumps(value).decode()
        case _:
            raise ValueError(f"{where} must be text or a number, got {type(value).__name__}")


def _csv_rows(text: str) -> list[list[str]]:
    first = text.lstrip("\n\r").partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    try:  # strictly: a quote that is never closed would hide all rows after it
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as problem:
        raise ValueError(f"it is not CSV: {problem}") from None


# --- write


async def write_folder(ctx: OutputContext, folder: Path) -> Result:
    """Write the files if the table has changed. A file with edits that were not stored yet is left alone, so
    read the folder first, and store what came of it.
    """
    companies = list((await load_companies(ctx)).values())
    states = await ctx.read("queries.output_states", {})
    content = await in_thread(_digest_of, companies)
    if content == (states.get(WHOLE) or {}).get("digest") and await in_thread(_are_all_there, folder):
        return Result(note="the files are up to date")
    effects: list[Effect] = []
    skipped: list[str] = []
    now = ctx.now()
    for form in FORMATS:
        known = (states.get(form) or {}).get("digest")
        digest = await in_thread(replace_file, folder, form, table_body(companies, form, now), known)
        if digest is None:
            skipped.append(f"{STEM}.{form}")
        else:
            effects.append(
                Effect(
                    "queries.note_output", {"output": form, "note": None, "digest": digest, "written_at": now}
                )
            )
    if not skipped:
        effects.append(Effect("queries.note_output", {"output": WHOLE, "note": None, "digest": content}))
    note = f"{len(companies):,} companies written to {folder.name}"
    if skipped:
        note += f"; {', '.join(skipped)} has edits that were not read yet, and was left alone"
    return Result(tuple(effects), {"file_rows": len(companies)}, note)


def _digest_of(companies: Sequence[Company]) -> str:
    return hashlib.sha256(table_body(companies, FileFormat.CSV, 0)).hexdigest()


def _are_all_there(folder: Path) -> bool:
    return all((folder / f"{STEM}.{form}").exists() for form in FORMATS)


def table_body(companies: Sequence[Company], form: FileFormat, now: int) -> bytes:
    """The table as a file of that format."""
    out = io.BytesIO()
    names = [*COLUMNS, EXPORT]
    if form is FileFormat.JSONL:
        write_jsonl(out, ({**_values(company), EXPORT: f"#{now}"} for company in companies))
    else:
        rows = ([*_values(company).values(), f"#{now}"] for company in companies)
        if form is FileFormat.CSV:
            write_csv(out, names, rows)
        else:
            write_xlsx(out, names, rows, STEM)
    return out.getvalue()


def _values(company: Company) -> dict[str, Any]:
    known = {COMPANY_ID: company.key, **company.machine, **company.human}
    return {column: known[column] for column in COLUMNS}


def replace_file(folder: Path, form: FileFormat, body: bytes, known: str | None) -> str | None:
    """Replace a file whose content is known (by its digest), and return the digest of the new one; None if
    there is something else in it. Nothing that somebody saves meanwhile is lost: it is put aside and read
    the next time.
    """
    path = folder / f"{STEM}.{form}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and _read_file(path)[1] != known:
            return None
        with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{path.name}.", delete=False) as out:
            out.write(body)
            out.flush()
            os.fsync(out.fileno())
        try:
            return hashlib.sha256(body).hexdigest() if _swap(Path(out.name), path, form, known) else None
        finally:
            Path(out.name).unlink(missing_ok=True)
    except OSError as problem:
        raise UsageError(f"{path} cannot be written: {problem.strerror}") from None


def _swap(made: Path, path: Path, form: FileFormat, known: str | None) -> bool:
    """Put a file in the place of another. Look at the other one once nobody can find it any more: between a
    look and a plain replacement somebody could save, and would lose it.
    """
    aside = made.with_suffix(".old")
    if path.exists():
        made.chmod(path.stat().st_mode & 0o777)
        path.rename(aside)
    try:
        os.link(made, path)
        is_ours = True
    except FileExistsError:  # saved by somebody in this very moment
        is_ours = False
    if aside.exists():
        digest = _read_file(aside)[1]
        if digest == known:
            aside.unlink()
        else:
            aside.rename(path.with_name(f"{STEM}.unread-{digest[:12]}.{form}"))
    return is_ours
