"""docs/reference/cli.md: the help of every command, as it prints it."""

from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import Any

import typer

from tests.house.pages.markdown import fence, join
from thresher.cli.call import CommandCall
from thresher.cli.main import app

WIDTH = 110
HELP = ["-h", "--help"]

INTRO = """\
`thresher COMMAND --help` prints the same. The options of `thresher` itself may stand anywhere on the line. Without `--json` a
command answers in words and tables; with it, in one JSON value, and an error as `{"error": ..., "class": ...}` on stderr. What a
command ends with is listed under [exit codes](errors.md#exit-codes)."""


@cache
def root() -> Any:
    """The command tree."""
    return typer.main.get_command(app)


def walk(command: Any, path: tuple[str, ...] = ("thresher",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that lead to it."""
    yield path, command
    if hasattr(command, "list_commands"):
        context = typer.Context(command, obj=CommandCall())
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*path, name))


def page() -> str:
    parts = [
        f"## {' '.join(path)}\n\n{fence('text', _help(path, command))}" for path, command in walk(root())
    ]
    return join("Commands", INTRO, *parts)


def _help(path: tuple[str, ...], command: Any) -> str:
    if len(path) > 1:
        command = copy(command)
        command.epilog = None  # said once, above
    context = typer.Context(command, info_name=" ".join(path), terminal_width=WIDTH, help_option_names=HELP)
    return "\n".join(line.rstrip() for line in context.get_help().splitlines())
