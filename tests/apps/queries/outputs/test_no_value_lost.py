"""A thousand random edits, while syncs run and Google stumbles: no value that a person wrote is lost."""

import random
from collections.abc import Sequence
from functools import partial

from tests.apps.queries.outputs.office import Office
from thresher.apps.queries.outputs.columns import COLUMNS, COMPANY_ID, HUMAN, MACHINE, Feedback
from thresher.apps.queries.signals.rules import RESOLUTIONS
from thresher.apps.queries.store.outputs import output_rows
from thresher.practice.sheets import Sheet, SheetFault

EDITS = {"sqlite-file": 1_000, "postgres": 250}  # what people do is in the sheet, whichever store there is
COMPANIES = 25
OWN = "Comercial"  # a column of the team's own
FREE = "~"  # marks rows that are about no company
HASTE = (25, 5, 8, 14, 12, 22, 3, 4, 5, 2)  # what they rather do while a sync runs: move things
FAULTS = (
    SheetFault(500),
    SheetFault(503),
    SheetFault(429),
    SheetFault(429, retry_after="1"),
    SheetFault(502, applied=True),
    SheetFault(cut=True),
)


class People:
    """They edit the sheet at random, and remember what they wrote where.

    `wrote` is the last value in each human cell and in the team's own column; of a row that somebody deleted
    it is no longer known what it must be, only that it is one of a few (`may_be`).
    """

    def __init__(self, office: Office, rng: random.Random) -> None:
        self.office, self.rng = office, rng
        self.wrote: dict[tuple[str, str], str] = {}
        self.may_be: dict[tuple[str, str], set[str]] = {}
        self.free: dict[str, str] = {}
        self.edits = 0

    @property
    def sheet(self):
        return self.office.sheet

    def companies(self) -> list[tuple[int, str]]:
        at = self.sheet.column(COMPANY_ID)
        rows = ((row, self.sheet.get(row, at)) for row in range(self.header + 1, len(self.sheet.cells)))
        return [(row, key) for row, key in rows if isinstance(key, str) and key.startswith("company-")]

    @property
    def header(self) -> int:
        return next(at for at, row in enumerate(self.sheet.cells) if COMPANY_ID in row)

    def act(self, weights: Sequence[int] = (60, 10, 4, 3, 6, 5, 1, 4, 4, 1)) -> None:
        act = self.rng.choices(
            (
                self.edit,
                self.edit_own,
                self.insert_row,
                self.delete_row,
                self.sort,
                self.move_column,
                self.insert_column,
                self.type_over_metric,
                self.free_row,
                self.title_row,
            ),
            weights,
        )[0]
        act()
        self.edits += 1

    def interfere(self, chance: float, name: str, _sheet: Sheet) -> None:
        """Work on while a request is on its way; where it can do harm, more often."""
        for _ in range(2 if name in ("write", "change") else 1):
            if self.rng.random() < chance:
                self.act(HASTE)

    def value(self, column: str) -> str:
        if column == "resolution":
            return self.rng.choice((*RESOLUTIONS.active, *RESOLUTIONS.resolved))
        if column == "model_feedback":
            return self.rng.choice([*Feedback, ""])
        return self.rng.choice(["", f"note {self.rng.random()}", "=1+1", "4242", "'quoted", "två\nrader"])

    def edit(self) -> None:
        if rows := self.companies():
            row, key = self.rng.choice(rows)
            column = self.rng.choice(HUMAN)
            value = self.value(column)
            self.sheet.set(row, self.sheet.column(column), value)
            self.wrote[key, column] = value
            self.may_be.pop((key, column), None)

    def edit_own(self) -> None:
        if rows := self.companies():
            row, key = self.rng.choice(rows)
            value = f"own {self.rng.random()}"
            self.sheet.set(row, self.sheet.column(OWN), value)
            self.wrote[key, OWN] = value

    def insert_row(self) -> None:
        self.sheet.insert_row(self.rng.randint(self.header + 1, len(self.sheet.cells)))

    def delete_row(self) -> None:
        if rows := self.companies():
            row, key = self.rng.choice(rows)
            known = dict(zip(HUMAN, self.office.human(key), strict=True))
            for column in HUMAN:
                said = self.wrote.pop((key, column), None)
                before = self.may_be.get((key, column), set())
                self.may_be[key, column] = before | {known[column]} | ({said} if said is not None else set())
            self.wrote.pop((key, OWN), None)
            self.sheet.delete_row(row)

    def sort(self) -> None:
        column = self.rng.randrange(self.sheet.width)
        turn = self.rng.choice([1, -1])
        self.sheet.sort(
            self.header + 1, lambda row: [turn * ord(char) for char in str(row[column : column + 1])]
        )

    def move_column(self) -> None:
        width = self.sheet.width
        self.sheet.move_column(self.rng.randrange(width), self.rng.randrange(width))

    def insert_column(self) -> None:
        self.sheet.insert_column(self.rng.randrange(self.sheet.width))

    def type_over_metric(self) -> None:
        if rows := self.companies():
            self.sheet.set(self.rng.choice(rows)[0], self.sheet.column(self.rng.choice(MACHINE)), "oops")

    def free_row(self) -> None:
        at = self.rng.randint(self.header + 1, len(self.sheet.cells))
        self.sheet.insert_row(at)
        name, text = f"{FREE}{self.rng.random()}", f"text {self.rng.random()}"
        self.sheet.set(at, self.sheet.column(OWN), name)
        self.sheet.set(at, self.sheet.column("model_notes"), text)
        self.free[name] = text

    def title_row(self) -> None:
        if self.header < 5:
            self.sheet.insert_row(0)


def change_metrics(office: Office, rng: random.Random) -> None:
    for _ in range(rng.randint(0, 12)):
        office.metrics(
            f"company-{rng.randrange(COMPANIES)}",
            max_score=rng.randint(0, 10),
            posting_activity=rng.randint(0, 99),
        )


def test_no_human_value_is_lost_in_a_thousand_random_edits(office, database):
    rng = random.Random(database.name)
    office.settings["queries.sheet.update_batch"] = 5
    office.settings["queries.sheet.append_batch"] = 4
    for at in range(COMPANIES):
        office.company(f"company-{at}")
    office.sync()
    office.sheet.set(0, len(COLUMNS), OWN)
    people = People(office, rng)
    failed = syncs = 0
    while people.edits < EDITS[database.name]:
        for _ in range(rng.randint(0, 6)):
            people.act()
        change_metrics(office, rng)
        chance = rng.choice([0.0, 0.2, 0.4])
        office.book.before = partial(people.interfere, chance)
        office.book.fault = lambda *_: rng.choice(FAULTS) if rng.random() < 0.06 else None
        # Now and then a worker dies before it has stored what it read.
        result = office.sync(settle=rng.random() > 0.1)
        syncs += 1
        failed += "sheet is up to date" not in result.note
    office.book.before = lambda *_: None
    office.book.fault = lambda *_: None
    result = office.sync()
    assert "up to date" in result.note
    assert failed < syncs / 2, "most syncs have to get through, or nothing was tried"

    keys = sorted(key for _, key in people.companies())
    assert keys == sorted({f"company-{at}" for at in range(COMPANIES)})
    for (key, column), value in people.wrote.items():
        assert (office.shown(key, column) or "") == value, (key, column)
    for (key, column), values in people.may_be.items():
        assert (office.shown(key, column) or "") in values, (key, column)
    for key in keys:
        assert [str(office.shown(key, column) or "").strip() for column in HUMAN] == list(office.human(key))
    own, notes = office.sheet.column(OWN), office.sheet.column("model_notes")
    free = {
        row[own]: row[notes]
        for row in office.sheet.cells
        if len(row) > own and str(row[own]).startswith(FREE)
    }
    assert free == people.free
    metrics = {row["company"]: row["machine"] for row in all_rows(office)}
    for key in keys:
        assert {column: office.shown(key, column) for column in MACHINE} == metrics[key]


def all_rows(office: Office):
    with office.store.read() as session:
        return output_rows(session, {}, 0)["rows"]
