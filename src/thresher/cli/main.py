"""The front door: all commands, the options they share, and what an error looks like."""

import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

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
    schedules,
    serve,
    sessions,
    sources,
    status,
    tasks,
    worker,
)
from thresher.cli.call import Call
from thresher.cli.words import plain
from thresher.core.errors import ThresherError

INTERRUPTED = 130
BUG = 70
EPILOG = "--database, --project, --app, --json and --verbose may stand anywhere on the line."

# Shared options and whether they take a value: `hoist` brings them to the front, so that they may stand anywhere.
SHARED = {"--database": True, "--project": True, "--app": True, "--json": False, "--verbose": False}

app = typer.Typer(
    help="Thresher: a durable, polite task queue over fragile sources.", epilog=EPILOG, no_args_is_help=True, add_completion=False,
    rich_markup_mode=None, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


@app.callback()
def shared(
    ctx: typer.Context,
    database: Annotated[str | None, typer.Option(metavar="URL", help="Else THRESHER_DATABASE_URL, else thresher.yaml.")] = None,
    project: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of thresher.yaml.")] = Path(),
    apps: Annotated[list[str] | None, typer.Option("--app", metavar="NAME", help="One more app: file.py or package.module:name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer with JSON.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say more; show where unexpected errors come from.")] = False,
) -> None:
    """Thresher: a durable, polite task queue over fragile sources."""
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what it says of tries to connect, our errors say better
    ctx.obj = Call(database, project, apps or [], as_json, verbose)


for each in (init, run, worker, serve, status, add):
    app.command(epilog=EPILOG, name=each.__name__.rsplit(".", 1)[-1])(each.command)
for group, sentence in (
    (tasks, "See tasks, send them back, cancel them."),
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
    app.add_typer(group.app, name=group.__name__.rsplit(".", 1)[-1], help=sentence, no_args_is_help=True, epilog=EPILOG)
for each in (explain, export, records, costs, events, migrate, doctor, inspect, notify):
    app.command(epilog=EPILOG, name=each.__name__.rsplit(".", 1)[-1])(each.command)
app.add_typer(bench.app, name="bench", help="Measure.", no_args_is_help=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Every expected error ends as one clear line."""
    args = hoist(list(sys.argv[1:] if argv is None else argv))
    try:
        result = typer.main.get_command(app).main(args, prog_name="thresher", standalone_mode=False)
        sys.stdout.flush()
    except ThresherError as problem:
        return _tell(str(problem), type(problem).__name__, problem.exit_code, args)
    except typer.TyperException as problem:
        return _usage(problem, args)
    except (KeyboardInterrupt, typer.Abort):
        return _tell("interrupted", "Interrupted", INTERRUPTED, args)
    except BrokenPipeError:
        # Whoever read our output has left (`| head`): nothing to tell them, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:  # noqa: BLE001  the last line of defence: a person gets advice, not a wall of text
        return _surprise(problem, args)
    return result if isinstance(result, int) else 0


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


def _usage(problem: Any, args: Sequence[str]) -> int:
    context = getattr(problem, "ctx", None)
    if type(problem).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{problem.format_message()}\n")
        return 0
    advice = f" (see: {context.command_path} --help)" if context is not None else ""
    return _tell(f"{problem.format_message()}{advice}", "UsageError", problem.exit_code, args)


def _surprise(problem: Exception, args: Sequence[str]) -> int:
    if "--verbose" in args:
        import traceback

        traceback.print_exception(problem)
    advice = "" if "--verbose" in args else " Run it again with --verbose to see where."
    said = f"{type(problem).__name__}: {problem}. This was not expected and may be a bug of Thresher or of an app; nothing is lost.{advice}"
    return _tell(said, type(problem).__name__, BUG, args)


def _tell(message: str, name: str, code: int, args: Sequence[str]) -> int:
    text = json.dumps({"error": message, "class": name}, ensure_ascii=False) if "--json" in args else plain(f"thresher: {message}")
    sys.stderr.write(f"{text}\n")
    return code
