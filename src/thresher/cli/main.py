"""The front door: all commands, and the options they share."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import thresher
from thresher.cli import (
    add,
    admin,
    bench,
    boards,
    candidates,
    companies,
    config,
    costs,
    doctor,
    events,
    explain,
    export,
    extractors,
    failures,
    init,
    inspect,
    jobs,
    keys,
    late,
    migrate,
    notify,
    platforms,
    postings,
    read,
    records,
    roles,
    run,
    runs,
    schedules,
    serve,
    sessions,
    sources,
    status,
    tasks,
    worker,
)
from thresher.cli.call import Call
from thresher.cli.exits import exit_code

EPILOG = "--database, --project, --app, --json and --verbose may stand anywhere on the line."

# Shared options and whether they take a value: `hoist` brings them to the front, so that they may stand
# anywhere.
SHARED = {"--database": True, "--project": True, "--app": True, "--json": False, "--verbose": False}

app = typer.Typer(
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
        str | None, typer.Option(metavar="URL", help="Else THRESHER_DATABASE_URL, else thresher.yaml.")
    ] = None,
    project: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of thresher.yaml.")] = Path(),
    apps: Annotated[
        list[str] | None,
        typer.Option("--app", metavar="NAME", help="One more app: file.py or package.module:name."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with JSON.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say more; show where unexpected errors come from.")
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
    ctx.obj = Call(database, project, apps or [], as_json, verbose)


for each in (init, run, worker, serve, status, add):
    app.command(epilog=EPILOG, name=each.__name__.rsplit(".", 1)[-1])(each.command)
for group, sentence in (
    (tasks, "See tasks, send them back, cancel them."),
    (runs, "See runs and groups of tasks: members, failures, counters, cost."),
    (failures, "See what failed, grouped, and send it back."),
    (sources, "See, limit, pause, test the sources and other gates."),
    (schedules, "See, pause and resume schedules."),
    (jobs, "The openings that suit you, and the profile they are measured by."),
    (companies, "See the companies that are followed."),
    (boards, "See, test, enable, disable the boards that postings come from."),
    (postings, "See postings, and which of them are the same opening."),
    (candidates, "Who looks for work, which roles they want, and which postings suit them."),
    (roles, "The roles that candidates want: see, add, merge, split, name and rank them, and try a title."),
    (sessions, "What scrapers outside are doing, and what they brought."),
    (late, "What scrapers sent when their session was over: see, import, drop it."),
    (platforms, "Where scrapers outside look: add, limit, pause, remove platforms."),
    (extractors, "See what was learned of which site, and teach it."),
    (config, "See and change settings."),
    (keys, "Who may use the HTTP API: make and revoke keys."),
    (admin, "Who may log in: make and remove administrators."),
    (read, "Say what Thresher makes of a string: a price, an address, a board, a date, a robots.txt."),
):
    app.add_typer(
        group.app, name=group.__name__.rsplit(".", 1)[-1], help=sentence, no_args_is_help=True, epilog=EPILOG
    )
for each in (explain, export, records, costs, events, migrate, doctor, inspect, notify):
    app.command(epilog=EPILOG, name=each.__name__.rsplit(".", 1)[-1])(each.command)
app.add_typer(bench.app, name="bench", help="Measure.", no_args_is_help=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Every expected error ends as one clear line."""
    args = hoist(list(sys.argv[1:] if argv is None else argv))
    return exit_code(
        lambda: typer.main.get_command(app).main(args, prog_name="thresher", standalone_mode=False), args
    )


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
