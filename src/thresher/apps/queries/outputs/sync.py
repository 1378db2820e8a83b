"""Sync the sheet: read what people wrote, write what has changed, and read again until nothing is left to do.

People work in the sheet meanwhile. These rules keep what they write:

- An update goes to columns that carry our mark, which moves with the column, and never to a human one.
- Before each batch one answer of Google's shows that headers, marks and ids are where they were planned.
- A batch of new rows is numbered, and a number is taken once: rows are never added twice.
- Afterwards everything is read and compared again. If rows moved between the check and the write, metrics
  stand in a wrong row now; the next round finds and corrects them.

See docs/decisions/057-columns-are-marked.md.
"""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol, TypeVar

from thresher.apps.queries.outputs.access import Access, read_access
from thresher.apps.queries.outputs.columns import COLUMNS, COMPANY_ID, MACHINE, Cell, plain_text
from thresher.apps.queries.outputs.google import (
    Budget,
    ColumnWrite,
    Fetch,
    Interrupted,
    Rejected,
    SheetFailed,
    Sheets,
    Tab,
    read_rows,
)
from thresher.apps.queries.outputs.hours import next_window
from thresher.apps.queries.outputs.merge import (
    MISPLACED,
    Company,
    Layout,
    Problem,
    SheetPlan,
    Update,
    find_layout,
    is_misplaced,
    merge,
    new_row,
)
from thresher.apps.queries.outputs.options import SheetOptions
from thresher.core.clock import as_text
from thresher.core.outcome import Effect

MAX_ROUNDS = 6  # of reading and writing; people who sort all the time are not waited for
MAX_LOOKS = 2  # at rows that were added in the last of them
ORIGIN = "sheet"

T = TypeVar("T")


class OutputContext(Protocol):
    """What is used of a stage's context."""

    def now(self) -> int: ...
    def setting(self, name: str) -> Any: ...
    async def read(self, name: str, data: Mapping[str, Any]) -> Any: ...
    async def compute(self, function: Callable[..., T], /, *args: object) -> T: ...
    @property
    def fetch(self) -> Fetch: ...


@dataclass(frozen=True, slots=True)
class Result:
    """What a stage returns of it: effects to be stored, numbers for the run, and a sentence for people."""

    effects: tuple[Effect, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


async def sync_sheet(
    ctx: OutputContext,
    options: SheetOptions,
    *,
    by_hand: bool = False,
    environ: Mapping[str, str] = os.environ,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> Result:
    """Sync the sheet if it is configured, and if it is night or a person asks for it. A failure is an alarm
    in the result, and what was read until then is kept.
    """
    access = read_access(environ)
    if access is None:
        return Result(note="the sheet is off")
    window = next_window(ctx.now(), options.hours)
    if not by_hand and not window.has(ctx.now()):
        return Result(note=f"the sheet is synced from {as_text(window.start)} on")
    until = None if by_hand else window.end
    return await _Sync(ctx, options, access, until, sleep).run()


async def load_companies(ctx: OutputContext) -> dict[str, Company]:
    """All companies, as the database has them."""
    return {
        row["company"]: Company(row["company"], row["machine"], row["human"], row["base"])
        for row in await _load_rows(ctx)
    }


async def _load_rows(ctx: OutputContext) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    after: str | None = ""
    while after is not None:
        part = await ctx.read("queries.output_rows", {"after": after})
        found += part["rows"]
        after = part["next"]
    return found


class _Sync:
    """One sync, and what it has found so far."""

    def __init__(
        self,
        ctx: OutputContext,
        options: SheetOptions,
        access: Access,
        until: int | None,
        sleep: Callable[[float], Awaitable[None]] | None,
    ) -> None:
        self._ctx, self._options, self._until = ctx, options, until
        budget = Budget(
            int(ctx.setting("queries.sheet.retries")),
            float(ctx.setting("queries.sheet.backoff")),
            int(ctx.setting("queries.sheet.per_minute")),
        )
        if sleep is not None:
            budget.sleep = sleep
        self._sheets = Sheets(ctx.fetch, access, budget)
        self._headers = options.columns_by_header()
        self._companies: dict[str, Company] = {}
        self._takes: dict[tuple[str, str], str] = {}
        self._seen: dict[str, Mapping[str, str]] = {}
        self._problems: tuple[Problem, ...] = ()
        self._wrote: dict[str, set[str]] = {}  # what went into which column, to know a header that it hit
        self._counts: dict[str, int] = {}
        self._rejected = 0
        self._fresh: dict[str, Sequence[Cell | None]] = {}  # rows that were added and not seen yet

    async def run(self) -> Result:
        for row in await _load_rows(self._ctx):
            key = row["company"]
            self._companies[key] = Company(key, row["machine"], row["human"], row["base"])
            if row["unseen"] is not None:
                self._fresh[key] = row["unseen"]
        try:
            note = await self._rounds()
        except SheetFailed as problem:
            return self._result(str(problem), failed=True)
        return self._result(note, failed=False)

    async def _rounds(self) -> str:
        rounds, looks, rejected = 0, 0, None
        while True:
            look_only = self._is_over() or rounds >= MAX_ROUNDS
            # Rows that were just added are looked at once more, whatever the hour.
            if look_only and (not self._fresh or looks >= MAX_LOOKS):
                break
            looks += look_only
            try:
                if await self._round(look_only=look_only):
                    return ""
                rounds += 1
            except Interrupted:
                continue  # the budget of retries bounds this
            except Rejected as problem:
                rounds, rejected = rounds + 1, problem  # perhaps rows were deleted under it
                self._rejected += rounds > 2  # the first times it is our own batch, and arrived after all
        if self._is_over():
            return "the night is over; the rest follows in the next one"
        raise rejected or SheetFailed(
            f"after {MAX_ROUNDS} rounds the sheet still does not show what was written: people move its rows, "
            "or its cells do not keep their values"
        )

    def _is_over(self) -> bool:
        return self._until is not None and self._ctx.now() >= self._until

    async def _round(self, *, look_only: bool) -> bool:
        """Read and compare, and write a part of what is to be written; True if nothing is."""
        tab = await self._sheets.tab(self._options.tab)
        if tab is None:
            await self._sheets.add_tab(self._options.tab)
            return False
        rows = await self._ctx.compute(read_rows, await self._sheets.rows(self._options.tab))
        if not any(any(cell is not None for cell in row) for row in rows):
            await self._sheets.append(
                tab, [[self._options.header(column) for column in COLUMNS]], self._rejected
            )
            return False
        layout = find_layout(rows, self._headers)
        if layout is None or COMPANY_ID not in layout.columns:
            raise SheetFailed(
                f"no row at the top of the tab {self._options.tab!r} names the column {COMPANY_ID}, or two columns do: "
                "without it nobody knows which row is whose. Write the header back"
            )
        if damaged := self._damaged_headers(tab, rows, layout):
            await self._sheets.write(damaged)
            return False
        if misplaced := self._misplaced_rows(rows, layout):
            await self._sheets.rename(tab.sheet_id, layout.columns[COMPANY_ID], misplaced)
            return False
        plan = await self._ctx.compute(
            merge, tuple(self._companies.values()), rows, layout, self._options.resolutions
        )
        self._remember(plan)
        if not plan.updates and not plan.appends:
            return True
        if look_only:
            return False
        if not await self._mark(tab, layout):
            return False
        await self._update(plan.updates, layout)
        await self._append(plan.appends, layout)
        return False

    def _remember(self, plan: SheetPlan) -> None:
        """Keep what people wrote, and go on with it: a row that is added in a later round must show it."""
        self._problems, self._seen = plan.problems, {**self._seen, **plan.seen}
        self._counts["sheet_elsewhere"] = plan.elsewhere
        for take in plan.takes:
            self._takes[take.company, take.column] = take.value
        for key in {take.company for take in plan.takes}:
            said = {take.column: take.value for take in plan.takes if take.company == key}
            self._companies[key] = replace(self._companies[key], human={**self._companies[key].human, **said})
        for key, values in plan.seen.items():
            self._companies[key] = replace(self._companies[key], base=values)

    def _misplaced_rows(self, rows: Sequence[Sequence[Cell | None]], layout: Layout) -> dict[str, str]:
        """New names for rows that we added while somebody moved a column: what stands in their human cells
        was never written by a person. Their companies are added again.
        """
        found = {}
        for row in rows[layout.header_row + 1 :]:
            key = layout.key(row)
            if key not in self._fresh:
                continue
            if is_misplaced(row, self._fresh[key], self._companies[key], layout):
                found[key] = f"{MISPLACED}{key}"  # and looked at again, until it has that name
            else:
                del self._fresh[key]
        return found

    def _damaged_headers(
        self, tab: Tab, rows: Sequence[Sequence[Cell | None]], layout: Layout
    ) -> list[ColumnWrite]:
        """Headers that we wrote over: a row was inserted above them between our check and our write. The
        column carries our mark, and shows what we wrote there.
        """
        row = rows[layout.header_row]
        found = []
        for place, marks in enumerate(tab.marks):
            shown = plain_text(row[place] if place < len(row) else None)
            for column, mark in marks.items():
                if column not in layout.columns and shown in self._wrote.get(column, ()):
                    found.append(ColumnWrite(mark, {layout.header_row: self._options.header(column)}))
        return found

    async def _mark(self, tab: Tab, layout: Layout) -> bool:
        """Mark the machine's columns; True if all of them were. A mark counts only once it has been seen
        under its header.
        """
        wanted = {column: layout.columns[column] for column in MACHINE if column in layout.columns}
        there = {
            (column, place): mark for place, marks in enumerate(tab.marks) for column, mark in marks.items()
        }
        missing = {column: place for column, place in wanted.items() if (column, place) not in there}
        outdated = [mark for (column, place), mark in there.items() if wanted.get(column) != place]
        if missing or outdated:
            await self._sheets.mark_columns(tab.sheet_id, missing, outdated)
        return not missing

    async def _update(self, updates: Sequence[Update], layout: Layout) -> None:
        size = int(self._ctx.setting("queries.sheet.update_batch"))
        for batch in _batches(updates, size):
            tab = None if self._is_over() else await self._checked_tab(layout, batch)
            if tab is None:
                return
            await self._sheets.write(self._columns(batch, tab, layout))
            self._count("sheet_updated", len(batch))

    async def _checked_tab(self, layout: Layout, updates: Sequence[Update] = ()) -> Tab | None:
        """The tab as it is now, if the plan still holds for it."""
        tab = await self._sheets.tab(self._options.tab, layout.columns[COMPANY_ID])
        if tab is None:
            return None
        now = find_layout(tab.header, self._headers)
        if now is None or (now.header_row, now.columns) != (layout.header_row, layout.columns):
            return None
        for update in updates:
            shown = tab.ids[update.row] if update.row < len(tab.ids) else None
            if plain_text(shown) != update.company:
                return None
        is_marked = all(
            column in (tab.marks[place] if place < len(tab.marks) else {})
            for column, place in layout.columns.items()
            if column in MACHINE
        )
        return tab if is_marked else None

    def _columns(self, batch: Sequence[Update], tab: Tab, layout: Layout) -> list[ColumnWrite]:
        values: dict[str, dict[int, Cell]] = {}
        for update in batch:
            for column, cell in update.cells.items():
                values.setdefault(column, {})[update.row] = cell
                self._wrote.setdefault(column, set()).add(plain_text(cell))
        return [
            ColumnWrite(tab.marks[layout.columns[column]][column], cells) for column, cells in values.items()
        ]

    async def _append(self, keys: Sequence[str], layout: Layout) -> None:
        size = int(self._ctx.setting("queries.sheet.append_batch"))
        for batch in _batches(keys, size):
            tab = None if self._is_over() else await self._checked_tab(layout)
            if tab is None:
                return
            there = {plain_text(cell) for cell in tab.ids}
            rows = {key: new_row(self._companies[key], layout) for key in batch if key not in there}
            if rows:
                self._fresh |= rows
                await self._sheets.append(tab, list(rows.values()), self._rejected)
                self._count("sheet_appended", len(rows))

    def _count(self, name: str, number: int) -> None:
        self._counts[name] = self._counts.get(name, 0) + number

    def _result(self, note: str, *, failed: bool) -> Result:
        takes = [[company, column, value] for (company, column), value in sorted(self._takes.items())]
        counts = {
            **{name: number for name, number in self._counts.items() if number},
            "sheet_taken": len(takes),
            "sheet_requests": self._sheets.budget.requests,
            "sheet_retries": self._sheets.budget.spent,
        }
        effects = [
            Effect(
                "queries.take_values",
                {"origin": ORIGIN, "takes": takes, "seen": self._seen, "unseen": self._fresh},
            ),
            Effect("queries.note_output", {"output": ORIGIN, "note": note or None, "failed": failed}),
            _alarm_or_clear("sheet_failed", ORIGIN, note if failed else None),
        ]
        if not failed:
            found = [
                {"name": each.name, "subject": each.subject, "message": each.message}
                for each in self._problems
            ]
            names = ["sheet_column", "sheet_row", "sheet_value"]
            effects.append(Effect("queries.replace_alarms", {"names": names, "alarms": found}))
        return Result(tuple(effects), counts, note or _summary(counts, len(self._problems)))


def _alarm_or_clear(name: str, subject: str, message: str | None) -> Effect:
    if message is None:
        return Effect("queries.clear_alarm", {"name": name, "subject": subject})
    return Effect("queries.alarm", {"name": name, "subject": subject, "message": message})


def _summary(counts: Mapping[str, int], problems: int) -> str:
    said = [
        f"{counts.get(name, 0):,} {words}"
        for name, words in (
            ("sheet_appended", "rows added"),
            ("sheet_updated", "rows updated"),
            ("sheet_taken", "values taken"),
        )
    ]
    trouble = f", {problems:,} to look at" if problems else ""
    return f"the sheet is up to date: {', '.join(said)}{trouble}"


def _batches(items: Sequence[T], size: int) -> list[list[T]]:
    rest = iter(items)
    return list(iter(lambda: list(islice(rest, size)), []))
