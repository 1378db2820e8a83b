"""`thresher init`: a project to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.call import call_of
from thresher.cli.show import say
from thresher.config.apps import load_apps
from thresher.config.project import hide_password
from thresher.core.errors import UsageError
from thresher.runtime import migrate_database

PROJECT = """\
# A Thresher project. `thresher run` in this folder works until nothing is left to do; run it again to go on.

# Apps: files in this folder that define `app`, or package.module:name.
apps: [app.py]

# The database: a file to begin with; postgresql://user@host/name for many machines.
# --database and THRESHER_DATABASE_URL win over this line. ${NAME} and ${NAME:-default} are read from the environment.
database: sqlite:///thresher.db

# How sites see us: their owners should be able to reach you.
# fetch:
#   contact: you@example.com

# Models to ask when rules and a page's own data are not enough. Everything else works without them.
# models:
#   providers:
#     openai: {kind: openai, key: "${OPENAI_API_KEY}"}
#   cheap: openai/gpt-5.4-mini

# This project's defaults. `thresher config list` shows every setting; `thresher config set` changes one at run time.
# settings:
#   retry.max_retries: 5
#   host.interval: 2
"""

APP = '''\
"""A first app: one task greets, and asks for three more."""

from thresher import App, Context, Done, NewTask, Outcome, Pipeline, Record, Source, Stage


async def greet(ctx: Context) -> Outcome:
    """Read what you need, call out, and return what you found. Nothing is written until this returns."""
    names = ctx.task.payload["names"]
    return Done(children=tuple(NewTask("visit", {"name": name}, key=name) for name in names))


def visit(ctx: Context) -> Outcome:
    """A plain function runs on a thread. Raise thresher.Transient to be tried again, return Filtered to say no."""
    name = ctx.task.payload["name"]
    return Done(records=(Record("greeting", name, {"says": f"Hello, {name}!"}),))


app = App(
    "hello",
    pipelines=(Pipeline("greet", Stage(greet)), Pipeline("visit", Stage(visit, through=("source:doors",)))),
    sources=(Source("doors", rate=2, in_flight=1),),  # at most two visits a second, one at a time, everywhere
    start=(NewTask("greet", {"names": ["Ada", "Grace", "Katherine"]}),),
)
'''

NEXT = """\
Next:
  thresher run                 work until nothing is left to do (Ctrl-C is safe)
  thresher status              see what waits, runs and has ended
  thresher tasks tree 1        see what became of the first task
  thresher add visit --payload '{"name": "You"}'
"""


def command(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of the project. Default: the current folder.")
    ] = None,
) -> None:
    """Begin a project: thresher.yaml, a small app, the database.

    Overwrites nothing.
    """
    call = call_of(ctx)
    if folder is not None:
        call.folder = folder
    written = _write(call.folder)
    project = call.project()
    url = call.url(project)
    steps = migrate_database(url, load_apps(project.apps, project.folder, call.apps))
    made = f"Wrote {' and '.join(map(str, written))}; the database is {hide_password(url)}."
    say(
        call,
        {"written": [str(path) for path in written], "database": hide_password(url), "applied": steps},
        f"{made}\n\n{NEXT}",
    )


def _write(folder: Path) -> list[Path]:

    files = {folder / "thresher.yaml": PROJECT, folder / "app.py": APP}
    there = [str(path) for path in files if path.exists()]
    if there:
        raise UsageError(
            f"{' and '.join(there)} already there; init never overwrites a file. Choose another "
            "folder: thresher init FOLDER"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write in {folder}: {problem.strerror}") from None
    return list(files)
