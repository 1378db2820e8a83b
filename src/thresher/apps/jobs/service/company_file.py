"""Import a file of companies: CSV with a header, JSON lines, or plain lines with a name or a URL each.

Good lines are imported and bad ones reported with their numbers: one mistake among a thousand lines costs one
line.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from thresher.apps.jobs.service.companies import Wish, read_wish, wish
from thresher.core.errors import ConfigError, UsageError

MAX_LINE = 20_000
MAX_LINES = 1_000_000
MAX_SPAN = 20  # lines of one row: a quote that nobody closed must not swallow the rest of the file
NAMES = ("name", "company", "company_name", "company name", "organisation", "organization")
SITES = ("website", "url", "site", "domain", "homepage", "web site")
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that could not be read, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Roster:
    """What a file asks for, and what in it could not be read."""

    wishes: tuple[Wish, ...]
    slips: tuple[Slip, ...]


def read_roster(text: str, name: str) -> Roster:
    """The companies of a file. Its first line says what it is; a file that is called `.csv` has a header."""
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    if len(lines) > MAX_LINES:
        raise UsageError(
            f"{name} has {len(lines):,} lines; at most {MAX_LINES:,} are taken at once, so split it"
        )
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith(("{", '"{')):
        found = _objects(lines)
    elif name.lower().endswith((".csv", ".tsv")) or _columns(first):
        found = _rows(lines, name)
    else:
        found = _plain(lines)
    read = list(found)
    wishes = tuple(each for each in read if isinstance(each, Wish))
    return Roster(wishes, tuple(each for each in read if isinstance(each, Slip)))


def _plain(lines: Sequence[str]) -> Iterator[Wish | Slip]:
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield _read(number, line, partial(read_wish, line))


def _objects(lines: Sequence[str]) -> Iterator[Wish | Slip]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _read(number, line, partial(_of_object, line))


def _read(number: int, line: str, read: Callable[[], Wish]) -> Wish | Slip:
    try:
        if len(line) > MAX_LINE:
            raise UsageError(f"it has {len(line):,} characters; at most {MAX_LINE:,} are read")
        return read()
    except ConfigError:
        raise  # nothing is wrong with the line
    except UsageError as problem:
        return Slip(number, str(problem))


def _of_object(line: str) -> Wish:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise UsageError(
            'it is not JSON; a line is an object such as {"name": "Acme", "website": "https://acme.com"}'
        ) from None
    if not isinstance(found, dict):
        raise UsageError('a line is an object such as {"name": "Acme", "website": "https://acme.com"}')
    fields = {str(key).strip().lower(): value for key, value in found.items()}
    return wish(_field(fields, NAMES), _field(fields, SITES))


def _field(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    value = next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{names[0]} wants text, got {json.dumps(value)[:60]}")
    return value


def _columns(line: str) -> tuple[str, int | None, int | None] | None:
    """The delimiter of a header, and in which columns the name and the site stand."""
    for delimiter in DELIMITERS:
        cells = [cell.strip().strip('"').lower() for cell in line.split(delimiter)]
        name = next((cells.index(each) for each in NAMES if each in cells), None)
        site = next((cells.index(each) for each in SITES if each in cells), None)
        if name is not None or site is not None:
            return delimiter, name, site
    return None


def _rows(lines: Sequence[str], name: str) -> Iterator[Wish | Slip]:
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    columns = _columns(lines[start]) if lines else None
    if columns is None:
        got = lines[start][:80] if lines else ""
        raise UsageError(
            f"{name}: the first line names the columns, with name or website among them; got {got!r}"
        )
    delimiter, *places = columns
    at = start + 1
    while at < len(lines):
        span = _span(lines, at)
        if lines[at].strip():
            found = _read(at + 1, lines[at], partial(_of_row, lines[at : at + span], delimiter, places))
            yield found
            span = (
                1 if isinstance(found, Slip) else span
            )  # the lines after a slip may well be rows of their own
        at += max(1, span)


def _span(lines: Sequence[str], at: int) -> int:
    """How many lines a row has: a cell in quotes may have line breaks. 0: its quotes are never closed."""
    quotes = 0
    for more, line in enumerate(lines[at : at + MAX_SPAN], 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            return more
    return 0


def _of_row(lines: Sequence[str], delimiter: str, places: Sequence[int | None]) -> Wish:
    if not lines:
        raise UsageError("a quote is opened and not closed")
    try:
        (row,) = csv.reader([f"{line}\n" for line in lines], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as problem:
        raise UsageError(f"it is no row of a CSV file: {problem}") from None
    name, site = ((row[place] if place is not None and place < len(row) else None) for place in places)
    if "\n" in (name or "") + (site or ""):
        raise UsageError("a name or a website goes on in the next line; is a quote missing?")
    return wish(name, site)
