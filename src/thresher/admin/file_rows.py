"""Read the rows of a file that a person adds, CSV or JSON lines, each with its line number or its error.

An unclosed quote must not swallow the rest of the file, and a malformed line must not stop the lines after
it.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from thresher.core.errors import InvalidPayload, UsageError

MAX_ROW = 100_000  # characters of one row
MAX_SPAN = 50  # lines of one row
MAX_LINES = 1_000_000
MAX_NAMED = 10  # unknown columns in one message
IGNORE = "--ignore-unknown-columns"  # the option of every command that reads such a file
DELIMITERS = (",", ";", "\t", "|")
MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16", b"PK": "a workbook or an archive"}

Cells = Mapping[str, str]


def decoded(body: bytes, name: str) -> str:
    """The text of a file, or an error that says where it stops being one."""
    kind = next((kind for mark, kind in MARKS.items() if body.startswith(mark)), None)
    if kind is not None:
        raise InvalidPayload(
            f"{name} is {kind}, not UTF-8 text; save it as CSV (UTF-8) and add it again. Nothing was added."
        )
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = body.count(b"\n", 0, problem.start) + 1
        raise InvalidPayload(
            f"{name}:{line}: not UTF-8 text; save the file as UTF-8 and add it again. Nothing was added."
        ) from None


def lines_of(text: str, name: str) -> list[str]:
    """The lines of a text that has some, without their ends."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(lines) > MAX_LINES:
        raise UsageError(f"{name} has {len(lines):,} lines; the limit is {MAX_LINES:,}, so split it")
    if not any(line.strip() for line in lines):
        raise UsageError(f"{name} is empty")
    return lines


def read_rows(
    lines: Sequence[str],
    name: str,
    known: Sequence[str],
    other_words: Mapping[str, str] = {},
    ignored: list[str] | None = None,
) -> Iterator[tuple[int, Cells | str]]:
    """The rows of a CSV file under a header that has `name` among its columns: cells by column, or why a row
    cannot be used. An unknown column is an error, because a misspelt one would be lost silently; with
    `ignored` it is left out, and its name is put there.
    """
    start = next(at for at, line in enumerate(lines) if line.strip())
    delimiter, columns = _header(lines[start], f"{name}:{start + 1}", known, other_words, ignored)
    return rows_under(lines, start + 1, delimiter, columns)


def rows_under(
    lines: Sequence[str],
    at: int,
    delimiter: str,
    columns: Sequence[str],
    refuse: Callable[[Cells], str | None] | None = None,
) -> Iterator[tuple[int, Cells | str]]:
    """The rows from line `at` on, by the columns of the header. If `refuse` gives a reason, only
    the first line of the row is refused: its others are read again, as rows of their own.
    """
    while at < len(lines):
        span = _span(lines, at)
        row = _row(lines[at : at + span], delimiter, columns) if lines[at].strip() else {}
        why = row if isinstance(row, str) else refuse(row) if refuse else None
        # Spreadsheets end with rows of nothing.
        if why or (not isinstance(row, str) and any(cell.strip() for cell in row.values())):
            yield at + 1, why or row
        at += 1 if why and not isinstance(row, str) else max(1, span)


def read_objects(lines: Sequence[str], example: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    """The objects of a file with one JSON object per line, or why a line cannot be used."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, _object(line, example)


def _object(line: str, example: str) -> Mapping[str, Any] | str:
    if len(line) > MAX_ROW:
        return f"it has {len(line):,} characters; the limit is {MAX_ROW:,}"
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return f"it is not JSON; a line must be an object such as {example}"
    return found if isinstance(found, dict) else f"a line must be one JSON object, such as {example}"


def _no_number(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity are not JSON


def _header(
    line: str, where: str, known: Sequence[str], other_words: Mapping[str, str], ignored: list[str] | None
) -> tuple[str, list[str]]:
    """The delimiter, and the column of each cell; one that is ignored has no name."""

    def cells(delimiter: str) -> list[str]:
        return [_column(cell, other_words) for cell in line[:MAX_ROW].split(delimiter)]

    delimiter = max(DELIMITERS, key=lambda each: sum(cell in known for cell in cells(each)))
    columns = cells(delimiter)
    unknown = [column for column in columns if column not in known]
    if unknown and ignored is None:
        raise UsageError(
            f"{where}: there is no column {_quoted(unknown)}; the columns are {', '.join(known)}. Rename or "
            f"remove what is unknown, or leave it out with {IGNORE}. Nothing was added."
        )
    if ignored is not None:
        ignored += unknown
    columns = [column if column in known else "" for column in columns]
    for at, column in enumerate(columns):
        if column and column in columns[:at]:
            raise UsageError(f"{where}: the column {column!r} appears twice. Nothing was added.")
    if "name" not in columns:
        raise UsageError(
            f"{where}: the column name is missing; the columns are {', '.join(known)}. Nothing was added."
        )
    return delimiter, columns


def _quoted(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(repr(name[:60]) for name in names[:MAX_NAMED]) + more


def _column(cell: str, other_words: Mapping[str, str]) -> str:
    word = "_".join(cell.strip().strip('"').strip().casefold().replace("-", " ").split())
    return other_words.get(word, word)


def _span(lines: Sequence[str], at: int) -> int:
    """How many lines a row has: a cell in quotes may have line breaks. 0: its quotes are never closed."""
    quotes = 0
    for more in range(min(MAX_SPAN, len(lines) - at)):
        quotes += lines[at + more].count('"')
        if quotes % 2 == 0:
            return more + 1
    return 0


def _row(lines: Sequence[str], delimiter: str, columns: Sequence[str]) -> Cells | str:
    if not lines:
        return "a quote is not closed"
    size = sum(map(len, lines))
    if size > MAX_ROW:
        return f"it has {size:,} characters; the limit is {MAX_ROW:,}"
    try:
        (cells,) = csv.reader([f"{line}\n" for line in lines], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as problem:
        return f"it is not a CSV row: {problem}"
    if any(cells[len(columns) :]):
        return (
            f"it has {len(cells)} cells and the header {len(columns)}; put text that contains "
            f"{delimiter!r} in quotes"
        )
    return {column: cell for column, cell in zip(columns, cells, strict=False) if column}
