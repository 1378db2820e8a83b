"""Compare the companies with the rows of a sheet: what to write where, and what to take back. Pure.

Columns are found by their headers and rows by their company id, so a sheet may be sorted, and have columns of
its own, moved columns, blank lines and other rows. What cannot be told for certain is left alone and
reported.

A human cell is taken if it differs from what the sheet last showed (`Company.base`): then a person has
changed it there. Where nobody knows what it last showed, the sheet wins.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from thresher.apps.queries.outputs.columns import (
    COLUMNS,
    COMPANY_ID,
    COMPANY_NAME,
    HUMAN,
    MACHINE,
    Cell,
    checked_value,
    header_word,
    plain_text,
)
from thresher.apps.queries.signals.rules import RESOLUTIONS, Resolutions

MAX_HEADER_ROW = 20  # the header is looked for in this many rows
MAX_NAMED = 5  # rows that one message names
MISPLACED = "misplaced: "  # before the id of a row that is not the row of that company

Row = Sequence[Cell | None]


@dataclass(frozen=True, slots=True)
class Company:
    """A company as the database has it. `human` has its human columns as text, '' for nothing; `base` what
    the sheet last showed in them, None if it never did.
    """

    key: str
    machine: Mapping[str, Cell]
    human: Mapping[str, str]
    base: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a person has to put right in the sheet. `subject` is a column or a company."""

    name: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the header is (counted from 0), and which column of the sheet is which of ours."""

    header_row: int
    columns: Mapping[str, int]
    problems: tuple[Problem, ...] = ()

    def cell(self, row: Row, column: str) -> Cell | None:
        """What stands in a column of this row."""
        at = self.columns.get(column)
        return row[at] if at is not None and at < len(row) else None

    def key(self, row: Row) -> str:
        """The company that a row is about; empty for a row about none."""
        return plain_text(self.cell(row, COMPANY_ID))


@dataclass(frozen=True, slots=True)
class Take:
    """A person has changed a cell: the new value, and what the database has until now."""

    company: str
    column: str
    value: str
    was: str


@dataclass(frozen=True, slots=True)
class Update:
    """Machine cells of one row that have to change. `row` is counted from 0."""

    row: int
    company: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class SheetPlan:
    """What follows from one look at a sheet. `seen` is what its human cells show, `elsewhere` how many of
    them the database has a newer value for that the sheet does not show.
    """

    takes: tuple[Take, ...] = ()
    updates: tuple[Update, ...] = ()
    appends: tuple[str, ...] = ()
    seen: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    elsewhere: int = 0


def find_layout(rows: Sequence[Row], headers: Mapping[str, str]) -> Layout | None:
    """Find the header: the first row that names the column of ids. `headers` is the column of each header
    word. None: there is no such row.
    """
    for at, row in enumerate(rows[:MAX_HEADER_ROW]):
        named = [(headers.get(header_word(plain_text(cell))), place) for place, cell in enumerate(row)]
        if any(column == COMPANY_ID for column, _ in named):
            return _layout(at, [(column, place) for column, place in named if column])
    return None


def _layout(header_row: int, named: Sequence[tuple[str, int]]) -> Layout:
    places: dict[str, list[int]] = {}
    for column, place in named:
        places.setdefault(column, []).append(place)
    columns = {column: found[0] for column, found in places.items() if len(found) == 1}
    return Layout(header_row, columns, tuple(_column_problems(places)))


def _column_problems(places: Mapping[str, Sequence[int]]) -> Iterator[Problem]:
    for column in COLUMNS:
        found = places.get(column, ())
        if not found:
            lost = "its values are not written" if column in MACHINE else "nothing is read from it"
            yield Problem("sheet_column", column, f"no column is named {column}: {lost}")
        elif len(found) > 1:
            named = " and ".join(column_letters(place) for place in found)
            yield Problem("sheet_column", column, f"the columns {named} are both named {column}; rename one")


def column_letters(place: int) -> str:
    """A column as spreadsheets call it: A for 0, AA for 26."""
    letters = ""
    place += 1
    while place:
        place, left = divmod(place - 1, 26)
        letters = chr(ord("A") + left) + letters
    return letters


def same(shown: Cell | None, wanted: Cell | None) -> bool:
    """Tell whether a cell shows what it should, be it a number or its text."""
    return plain_text(shown) == plain_text(wanted)


def merge(
    companies: Sequence[Company],
    rows: Sequence[Row],
    layout: Layout,
    resolutions: Resolutions = RESOLUTIONS,
) -> SheetPlan:
    """Compare them. Rows about no company that we know are nobody's business but people's."""
    if COMPANY_ID not in layout.columns:
        return SheetPlan(problems=layout.problems)
    places = _places(rows, layout)
    taken: list[Take] = []
    updates: list[Update] = []
    seen: dict[str, dict[str, str]] = {}
    problems = list(layout.problems)
    elsewhere = 0
    for company in companies:
        found = places.get(company.key, ())
        if not found:
            continue
        if len(found) > 1:
            problems.append(_doubled(company, found))
        seen[company.key] = dict(company.base or company.human)
        for column in HUMAN:
            shown = _shown(rows, found, layout, column)
            if shown is None:
                continue
            value, problem = _decided(company, column, shown, resolutions)
            if problem is not None:
                problems.append(problem)
                continue
            seen[company.key][column] = value
            if _is_news(company, column, value):
                taken.append(Take(company.key, column, value, company.human[column]))
            elif value != company.human[column]:
                elsewhere += 1
        updates += (each for at in found if (each := _update(rows[at], at, company, layout)).cells)
    problems += _misplaced(companies, rows, layout)
    missing = tuple(company.key for company in companies if company.key not in places)
    return SheetPlan(
        tuple(taken),
        tuple(sorted(updates, key=lambda each: each.row)),
        missing,
        seen,
        tuple(problems),
        elsewhere,
    )


def _places(rows: Sequence[Row], layout: Layout) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at in range(layout.header_row + 1, len(rows)):
        if key := layout.key(rows[at]):
            found.setdefault(key, []).append(at)
    return found


def _shown(rows: Sequence[Row], found: Iterable[int], layout: Layout, column: str) -> list[str] | None:
    """What the rows of one company show in a column, each value once; None without that column."""
    if column not in layout.columns:
        return None
    return list(dict.fromkeys(plain_text(layout.cell(rows[at], column)) for at in found))


def _decided(
    company: Company, column: str, shown: Sequence[str], resolutions: Resolutions
) -> tuple[str, Problem | None]:
    """The one value that a person wrote, or why there is none. Rows that disagree say nothing: to take the
    one that was changed would take the other one the next time.
    """
    subject = f"{company.key}/{column}"
    if len(shown) > 1:
        words = " and ".join(repr(value[:60]) for value in shown[:2])
        return "", Problem(
            "sheet_value",
            subject,
            f"the rows of {company.key} differ in {column}: {words}; delete one of them",
        )
    if shown[0] == (company.human if company.base is None else company.base)[column]:
        return shown[0], None
    try:
        return checked_value(column, shown[0], resolutions), None
    except ValueError as problem:
        return "", Problem("sheet_value", subject, f"{company.key}: {problem}; it was not taken")


def _is_news(company: Company, column: str, value: str) -> bool:
    base = company.human if company.base is None else company.base
    return value != base[column] and value != company.human[column]


def _update(row: Row, at: int, company: Company, layout: Layout) -> Update:
    cells = {
        column: company.machine[column]
        for column in MACHINE
        if column in layout.columns and not same(layout.cell(row, column), company.machine[column])
    }
    return Update(at, company.key, cells)


def _doubled(company: Company, found: Sequence[int]) -> Problem:
    rows = ", ".join(str(at + 1) for at in found[:MAX_NAMED])
    return Problem(
        "sheet_row", company.key, f"{company.key} stands in {len(found)} rows ({rows}); delete all but one"
    )


def _misplaced(companies: Sequence[Company], rows: Sequence[Row], layout: Layout) -> Iterator[Problem]:
    """Rows that were added at the moment when somebody moved a column: they were renamed, or id and name
    stand beside their columns.
    """
    known = {company.key: plain_text(company.machine[COMPANY_NAME]) for company in companies}
    for at in range(layout.header_row + 1, len(rows)):
        key = layout.key(rows[at])
        if key in known:
            continue
        words = {plain_text(cell) for cell in rows[at]}
        beside = [word for word in words if word in known and known[word] in words]
        for about in [key.removeprefix(MISPLACED)] if key.startswith(MISPLACED) else beside:
            yield Problem(
                "sheet_row", about, f"row {at + 1} is about {about}, but not in its columns; delete that row"
            )


def is_misplaced(row: Row, written: Row, company: Company, layout: Layout) -> bool:
    """Tell whether a row that was just added stands beside its columns: a human cell shows what was written
    for another one, or what it should show is elsewhere in the row. A person who has edited the row already
    wrote something else.
    """
    there = {plain_text(cell) for cell in row} - {""}
    ours = {plain_text(cell) for cell in written} - {""}
    for column in HUMAN:
        shown, wanted = plain_text(layout.cell(row, column)), company.human[column]
        if shown != wanted and (shown in ours or (not shown and wanted in there)):
            return column in layout.columns
    return False


def new_row(company: Company, layout: Layout) -> list[Cell | None]:
    """The row of a company that the sheet does not have, with all that the database knows: a company that was
    rejected comes back rejected.
    """
    row: list[Cell | None] = [None] * (max(layout.columns.values()) + 1)
    for column, place in layout.columns.items():
        if column == COMPANY_ID:
            row[place] = company.key
        else:
            row[place] = company.human[column] if column in HUMAN else company.machine[column]
    return row
