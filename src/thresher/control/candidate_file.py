"""A file of candidates: CSV with a header, or one JSON object a line. Every line is read before anything is
written.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.control.candidate import COLUMNS, By, Given, read_candidate
from thresher.control.rows import MAX_ROW, lines_of, read_rows
from thresher.core.errors import UsageError

MAX_SLIPS = 20  # told one by one
OTHER_WORDS = {
    "specialisations": "specializations",
    "specialization": "specializations",
    "location": "locations",
    "role": "roles",
    "key": "id",  # as an export calls it
}
OURS = "keywords"  # a column of an export that is made of the others
EXAMPLE = '{"name": "Anna", "title": "Python Developer", "skills": ["Python"]}'


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that cannot be used, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """The candidates of a file, and what in it could not be used."""

    candidates: tuple[Given, ...]
    slips: tuple[Slip, ...]

    def whole(self, name: str) -> "Sheet":
        """The same, if every line of it can be used."""
        if self.slips:
            told = "; ".join(f"{name}:{slip.line}: {slip.why}" for slip in self.slips[:MAX_SLIPS])
            more = f"; and {len(self.slips) - MAX_SLIPS:,} more lines" if len(self.slips) > MAX_SLIPS else ""
            raise UsageError(
                f"{told}{more}. Nothing was added; mend the file, or use --skip-bad to take the other lines."
            )
        return self


def read_sheet(text: str, name: str) -> Sheet:
    """The candidates of a file. Its name or its first line says what it is."""
    lines = lines_of(text, name)
    first = next(line for line in lines if line.strip()).lstrip()
    is_json = name.lower().endswith((".jsonl", ".ndjson", ".json")) or first.startswith(("{", "["))
    candidates: list[Given] = []
    slips: list[Slip] = []
    seen: dict[str, int] = {}
    for line, fields in _objects(lines) if is_json else _rows(lines, name):
        found = fields if isinstance(fields, str) else _read(fields)
        slip = found if isinstance(found, str) else _again(found, seen, line)
        if slip:
            slips.append(Slip(line, slip))
        elif isinstance(found, Given):
            candidates.append(found)
    return Sheet(tuple(candidates), tuple(slips))


def _rows(lines: Sequence[str], name: str) -> Iterator[tuple[int, Mapping[str, str] | str]]:
    for line, cells in read_rows(lines, name, (*COLUMNS, OURS), OTHER_WORDS):
        yield (
            line,
            cells
            if isinstance(cells, str)
            else {column: cell for column, cell in cells.items() if column != OURS},
        )


def _read(fields: Mapping[str, Any]) -> Given | str:
    try:
        return read_candidate(fields)
    except UsageError as problem:
        return str(problem)


def _again(found: Given, seen: dict[str, int], line: int) -> str | None:
    """Why a second line of the same key or address cannot be used: nobody knows which of the two is meant."""
    for word in {found.key: None, found.email or found.key: None}:
        first = seen.setdefault(word, line)
        if first != line and found.by is By.NAME:
            return f"{found.candidate.name!r} stands in line {first} too; give both an id or an email, so that they are two people"
        if first != line:
            return f"{word!r} stands in line {first} too; keep one of the two"
    return None


def _objects(lines: Sequence[str]) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, _object(line)


def _object(line: str) -> Mapping[str, Any] | str:
    if len(line) > MAX_ROW:
        return f"it has {len(line):,} characters; at most {MAX_ROW:,} are read"
    try:
        found = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return f"it is not JSON; a line is an object such as {EXAMPLE}"
    return found if isinstance(found, dict) else f"a line is one JSON object, such as {EXAMPLE}"


def _no_number(word: str) -> None:
    raise ValueError(word)
