"""Rendering: one value, as JSON for programs or as a table for people. Imported by commands when they run."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table
from rich.text import Text

from thresher.admin.plain import jsonable
from thresher.cli.call import CommandCall
from thresher.cli.format import as_json, plain
from thresher.cli.links import host_of, link_of
from thresher.cli.numbers import MAX_ROWS, NumberedRows, ShortNumbers, short_numbers

PIPE_WIDTH = 200
# What --wide gives a table; the terminal wraps its lines.
WIDE = 10_000
TEXT_WIDTH = 16  # what a column of text keeps at least, if it has so much
PROSE_WIDTH = 36  # what a column of sentences keeps before columns of less weight may stand beside it
BETWEEN = 3  # two columns stand so far apart
COLOURS = {
    "succeeded": "green",
    "ok": "green",
    "open": "green",
    "alive": "green",
    "running": "cyan",
    "pending": "blue",
    "retryable": "yellow",
    "failed": "red",
    "fail": "red",
    "disabled": "red",
    "lost": "red",
    "tripped": "yellow",
    "paused": "yellow",
    "warn": "yellow",
    "full": "cyan",
    "rate": "cyan",
    "filtered": "magenta",
    "skipped": "magenta",
    "cancelled": "bright_black",
}


class SafeConsole(Console):
    """A console on which no text steers the terminal, whether or not the command has made it plain. With
    `numbers`, lists on it are numbered.
    """

    numbers: ShortNumbers | None = None

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain(text), **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print, and neither break nor cut a word: one that is longer than the line is left to the terminal,
        from which it can be clicked and copied whole. A link that was broken here would lead nowhere.
        """
        how = {"crop": False, **how}
        if self.is_terminal and all(isinstance(each, str | Text) for each in objects):
            objects, how = (self._wrapped(objects, how),), {**how, "soft_wrap": True}
        super().print(*objects, **how)

    def _wrapped(self, objects: Sequence[str | Text], how: Mapping[str, Any]) -> Text:
        parts = [self.render_str(each) if isinstance(each, str) else each for each in objects]
        whole = Text(how.get("sep", " ")).join(parts)
        if self.soft_wrap or how.get("soft_wrap"):
            return whole
        whole.overflow = "ignore"  # of words; given to `wrap`, it would stand for the whole line
        return Text("\n").join(whole.wrap(self, self.width))


def console(*, stderr: bool = False, wide: bool = False) -> SafeConsole:
    """Where people read. Without a terminal: with room, and without escape codes."""
    made = partial(SafeConsole, stderr=stderr, highlight=False, emoji=False, markup=False)
    out = made()
    if not out.is_terminal:
        return made(width=PIPE_WIDTH, no_color=True)
    return made(width=WIDE, soft_wrap=True) if wide else out


def screen(call: CommandCall) -> SafeConsole:
    """The console of a command, on which its lists are numbered if a person sits there."""
    out = console(wide=call.wide)
    out.numbers = short_numbers(call) if out.is_terminal else None
    return out


def answer(call: CommandCall, value: Any, draw: Callable[[Console, Any], None]) -> None:
    """Answer a command: JSON if asked for, else drawn."""
    if call.json:
        print_json(value)
    else:
        draw(screen(call), value)


def say(call: CommandCall, value: Any, sentence: str) -> None:
    """Answer a command that changed something: the value for programs, one sentence for people."""
    answer(call, value, lambda out, _: out.print(Text(plain(sentence))))


def print_json(value: Any) -> None:
    sys.stdout.write(as_json(jsonable(value), indent=2) + "\n")


def cell(value: Any, style: str | None = None) -> Text:
    """A value in a table: nothing in it is taken for markup, and no hostile text reaches the terminal as a
    command. A web address can be clicked.
    """
    text = "–" if value is None or value == "" else plain(str(value))
    return linked(text, text, style or COLOURS.get(text, ""))


def linked(value: Any, url: str | None, style: str = "") -> Text:
    """A value that leads to a web address when it is clicked. An address that is not safe is left out."""
    text = Text("–" if value is None or value == "" else plain(str(value)), style=style)
    link = None if url is None or url.endswith("…") else link_of(url)
    if link is not None:
        text.stylize(Style(link=link))
    return text


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column by its mark and name. `!`: a key, which is never broken and never goes, unless the rows have
    numbers that stand for it. `#`: numbers, never broken either. `-`: among the first to go where it is
    narrow. `+`: sentences, which need room to be read. `@`: web addresses, each shown by its host where there
    is no room for all of it. A mark may follow another: `!#id`.
    """

    name: str
    is_key: bool = False
    is_number: bool = False
    goes_first: bool = False
    is_address: bool = False
    is_prose: bool = False
    has_number: bool = False  # a key for which the number of its row stands

    @property
    def stays(self) -> bool:
        return self.is_key and not self.has_number

    @property
    def is_whole(self) -> bool:
        return self.is_key or self.is_number or self.is_address


def marked(text: str) -> ShownColumn:
    name = text.lstrip("!#-@+")
    marks = text[: len(text) - len(name)]
    return ShownColumn(name, "!" in marks, "#" in marks, "-" in marks, "@" in marks, "+" in marks)


NUMBER = ShownColumn("#", is_key=True, is_number=True)


def chosen(columns: Sequence[ShownColumn], widths: Sequence[int], width: int) -> list[int]:
    """Which columns a terminal of this width has room for. A key and the first column stay; else the last
    ones go, those that may go first before the others. What a wide one has left room for comes back.
    """
    kept, gone = list(range(len(columns))), list[int]()
    last = [at for at in reversed(kept[1:]) if not columns[at].stays]
    for at in sorted(last, key=lambda at: not columns[at].goes_first):
        if needed(columns, widths, kept, easily=columns[at].goes_first) > width:
            kept.remove(at)
            gone.append(at)
    for at in reversed(gone):
        if needed(columns, widths, more := sorted([*kept, at]), easily=True) <= width:
            kept = more
    return kept


def needed(
    columns: Sequence[ShownColumn], widths: Sequence[int], kept: Sequence[int], *, easily: bool = False
) -> int:
    """The width that these columns take at least, or take to be read easily."""
    return BETWEEN * len(kept) + sum(narrowest(columns[at], widths[at], easily=easily) for at in kept)


def narrowest(column: ShownColumn, width: int, *, easily: bool = False) -> int:
    least = PROSE_WIDTH if easily and column.is_prose else TEXT_WIDTH
    return width if column.is_whole else min(width, max(least, len(column.name)))


Cells = Sequence[Sequence[Text]]


class FittingTable:
    """A table that leaves columns out where the terminal is too narrow for them, and says which. Where no
    terminal is, it has all.

    With `numbered`, its rows are numbered on a terminal, and what the numbers mean is kept as they are shown.
    """

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        title: str | None,
        numbered: NumberedRows | None = None,
    ) -> None:
        self._columns = [marked(each) for each in columns]
        self._rows: Cells = [[each if isinstance(each, Text) else cell(each) for each in row] for row in rows]
        self._title, self._numbered = title, numbered

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        if not out.is_terminal:
            yield _drawn([replace(each, is_address=False) for each in self._columns], self._rows, self._title)
            return
        columns, rows = self._in_room(*self._with_numbers(out), options.max_width)
        widths = _widths(columns, rows)
        kept = chosen(columns, widths, options.max_width)
        least = needed(columns, widths, kept)
        made = _drawn([columns[at] for at in kept], [[row[at] for at in kept] for row in rows], self._title)
        # A key that is longer than the line is left to the terminal to wrap: cut, it would be of no use.
        yield from out.render(made, options.update(width=max(options.max_width, least)))
        if hidden := [each.name for at, each in enumerate(columns) if at not in kept]:
            yield Text(f"Not shown, for want of room: {', '.join(hidden)}. All columns: --wide", style="dim")

    def __rich_measure__(self, out: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(min(TEXT_WIDTH, options.max_width), options.max_width)

    def _with_numbers(self, out: Console) -> tuple[list[ShownColumn], Cells]:
        """The same with a column of short numbers, if this console keeps what they mean."""
        numbers = out.numbers if isinstance(out, SafeConsole) else None
        if numbers is None or self._numbered is None or not numbers.keep(self._numbered):
            return self._columns, self._rows
        first, *rest = self._columns
        rest = [replace(each, goes_first=True, has_number=True) if each.is_key else each for each in rest]
        return [NUMBER, first, *rest], [[_number(at), *row] for at, row in enumerate(self._rows, 1)]

    def _in_room(
        self, columns: list[ShownColumn], rows: Cells, width: int
    ) -> tuple[list[ShownColumn], Cells]:
        """The same with hosts for web addresses, if there is no room for everything."""
        if needed(columns, _widths(columns, rows), range(len(columns))) <= width:
            return columns, rows
        return [replace(each, is_address=False) for each in columns], [
            [_by_host(each) if column.is_address else each for column, each in zip(columns, row, strict=True)]
            for row in rows
        ]


def _widths(columns: Sequence[ShownColumn], rows: Cells) -> list[int]:
    return [max([len(each.name), *(_longest(row[at]) for row in rows)]) for at, each in enumerate(columns)]


def _number(at: int) -> Text:
    return Text(str(at) if at <= MAX_ROWS else "", style="dim")


def _by_host(address: Text) -> Text:
    """A web address by its host, leading to the whole of it. A host's name may be shown where anybody's text
    may not: it has no other characters.
    """
    link = link_of(address.plain)
    return address if link is None else linked(host_of(link), link)


def _drawn(columns: Sequence[ShownColumn], rows: Cells, title: str | None) -> Table:
    made = Table(
        box=SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        header_style="bold",
    )
    widths = _widths(columns, rows)
    for column, width in zip(columns, widths, strict=True):
        made.add_column(
            column.name,
            justify="right" if column.is_number else "left",
            overflow="fold",
            no_wrap=column.is_key,
            min_width=narrowest(column, width) if column.is_whole else None,
        )
    for row in rows:
        made.add_row(*row)
    return made


def _longest(text: Text) -> int:
    return max((cell_len(line) for line in text.plain.splitlines()), default=0)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str | None = None,
    numbered: NumberedRows | None = None,
) -> FittingTable:
    """A table of columns with marks (`ShownColumn`), the most important first. `numbered` are the keys of its
    rows, where commands take their short numbers.
    """
    return FittingTable(columns, rows, title, numbered)


def print_page(
    out: Console,
    found: Sequence[dict[str, Any]],
    limit: int,
    draw: Callable[[Any], RenderableType],
    nothing: str,
) -> None:
    """Rows that have an id, as a table; and how to ask for the next page, where there may be one."""
    if not found:
        out.print(nothing)
        return
    out.print(draw(found))
    if len(found) == limit:
        out.print(f"There may be more: --before {found[-1]['id']}")


def known(rows: Iterable[tuple[str, Any]]) -> Table:
    """Names with values, without those that nothing is known of."""
    return pairs((name, value) for name, value in rows if value is not None and value != "")


def pairs(rows: Iterable[tuple[str, Any]]) -> Table:
    """Names with values, one a line."""
    made = Table(box=None, show_header=False, pad_edge=False)
    made.add_column(style="bold")
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, value if isinstance(value, Text) else cell(value))
    return made
