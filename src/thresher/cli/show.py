"""Rendering: one value, as JSON for programs or as a table for people. Imported by commands when they run."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thresher.admin.plain import jsonable
from thresher.cli.call import CommandCall
from thresher.cli.format import as_json, plain

PIPE_WIDTH = 200
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
    """A console on which no text steers the terminal, whether or not the command has made it plain."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(plain(text), **how)


def console(*, stderr: bool = False) -> Console:
    """Where people read. Without a terminal: wide, and without escape codes."""
    made = partial(SafeConsole, stderr=stderr, highlight=False, emoji=False, markup=False)
    out = made()
    return out if out.is_terminal else made(width=PIPE_WIDTH, no_color=True)


def answer(call: CommandCall, value: Any, draw: Callable[[Console, Any], None]) -> None:
    """Answer a command: JSON if asked for, else drawn."""
    if call.json:
        print_json(value)
    else:
        draw(console(), value)


def say(call: CommandCall, value: Any, sentence: str) -> None:
    """Answer a command that changed something: the value for programs, one sentence for people."""
    answer(call, value, lambda out, _: out.print(Text(plain(sentence))))


def print_json(value: Any) -> None:
    sys.stdout.write(as_json(jsonable(value), indent=2) + "\n")


def cell(value: Any, style: str | None = None) -> Text:
    """A value in a table: nothing in it is taken for markup, and no hostile text reaches the terminal as a
    command.
    """
    text = "–" if value is None or value == "" else plain(str(value))
    return Text(text, style=style or COLOURS.get(text, ""))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> Table:
    """A table; a column whose name starts with `#` holds numbers."""
    made = Table(
        box=SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        header_style="bold",
    )
    for column in columns:
        made.add_column(
            column.lstrip("#"), justify="right" if column.startswith("#") else "left", overflow="fold"
        )
    for row in rows:
        made.add_row(*(value if isinstance(value, Text) else cell(value) for value in row))
    return made


def print_page(
    out: Console, found: Sequence[dict[str, Any]], limit: int, draw: Callable[[Any], Table], nothing: str
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
