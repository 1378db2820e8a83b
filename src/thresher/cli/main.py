"""The entry point: all commands, and the options they share."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import thresher
from thresher.cli.call import CommandCall, exit_code
from thresher.cli.commands import EPILOG, Commands

# Shared options and whether they take a value. `hoist` moves them to the front, so that they may stand
# anywhere.
SHARED = {
    "--database": True,
    "--project": True,
    "--app": True,
    "--json": False,
    "--verbose": False,
    "--wide": False,
}

app = typer.Typer(
    cls=Commands,
    help="Thresher: a durable, polite task queue over fragile sources.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"thresher {thresher.__version__}")
        raise typer.Exit


@app.callback()
def shared(
    ctx: typer.Context,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Database URL. Default: THRESHER_DATABASE_URL, then thresher.yaml."),
    ] = None,
    project: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Folder that contains thresher.yaml.")
    ] = Path(),
    apps: Annotated[
        list[str] | None,
        typer.Option("--app", metavar="NAME", help="Additional app: file.py or package.module:name."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print more details, and tracebacks of unexpected errors.")
    ] = False,
    wide: Annotated[
        bool, typer.Option("--wide", help="Show all columns of tables, whatever the width of the terminal.")
    ] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Thresher: a durable, polite task queue over fragile sources."""
    logging.getLogger("psycopg.pool").setLevel(
        logging.ERROR
    )  # what it says of tries to connect, our errors say better
    ctx.obj = CommandCall(database, project, apps or [], as_json, verbose, wide=wide)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Every expected error ends as one clear line."""
    args = hoist(list(sys.argv[1:] if argv is None else argv))
    return exit_code(lambda: _run(args), args)


def _run(args: list[str]) -> object:
    command = typer.main.get_command(app)
    return command.main(args, prog_name="thresher", standalone_mode=False, obj=project_in(args))


def project_in(args: list[str]) -> CommandCall:
    """Which project a line is about. The help is printed before the options are read, and lists its apps."""
    found = CommandCall()
    words = iter(args)
    for word in words:
        name, said, value = word.partition("=")
        if name not in SHARED:
            break
        value = value if said or not SHARED[name] else next(words, "")
        if name == "--project":
            found.folder = Path(value)
        elif name == "--app":
            found.apps.append(value)
    return found


def hoist(args: list[str]) -> list[str]:
    """Bring the shared options to the front, wherever they stand; what follows `--` stays."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif (name := word.partition("=")[0]) in SHARED and (SHARED[name] or name == word):
            front.append(word)
            if SHARED[name] and name == word:
                front += [value for value in [next(words, None)] if value is not None]
        else:
            rest.append(word)
    return front + rest
