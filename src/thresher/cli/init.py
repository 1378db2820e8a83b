"""`thresher init`: a project to begin with, of the answers to a handful of questions.

What is asked and written comes from the template of an app; the template of an app of your own is here.
"""

import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import plain
from thresher.cli.main import main as thresher
from thresher.cli.practice import PORT
from thresher.cli.show import answer
from thresher.config.apps import FILE_NAME, available, load_app, load_apps
from thresher.config.project import hide_password, read_project
from thresher.core.errors import ConfigError, ThresherError, UsageError
from thresher.core.template import ProjectDraft, ProjectQuestion, Template, checked, written
from thresher.runtime import migrate_database

PROJECT = """\
# A Thresher project. `thresher run` in this folder works until nothing is left to do; run it again to go on.

# Apps: those that come with Thresher by their names (thresher --help lists them), files in this folder that
# define `app`, or package.module:name.
apps: [{app}]

# The database: a file to begin with; postgresql://user@host/name for many machines.
# --database and THRESHER_DATABASE_URL win over this line. ${{NAME}} and ${{NAME:-default}} are read from the environment.
database: sqlite:///thresher.db

# How sites see us: their owners should be able to reach you.
{fetch}{section}
# Models to ask when rules and a page's own data are not enough. Everything else works without them.
# models:
#   providers:
#     openai: {{kind: openai, key: "${{OPENAI_API_KEY}}"}}
#   cheap: openai/gpt-5.4-mini

# This project's defaults. `thresher config list` shows every setting; `thresher config set` changes one at run time.
{settings}"""
NO_CONTACT = "# fetch:\n#   contact: you@example.com\n"
PRACTICE = (
    '  resolve: {{"*": "http://127.0.0.1:{port}"}}   # every name leads to the practice web on this machine\n'
)
NO_SETTINGS = "# settings:\n#   retry.max_retries: 5\n#   host.interval: 2\n"
# Nobody has to be spared there.
PRACTICE_SETTINGS = {"host.interval": 0.1, "run.patience": 5}
CONTACT = ProjectQuestion(
    "contact",
    "How can the owners of sites reach you (an address of mail or of a page)?",
    "",
    "https://example.com/about-this-bot",
)

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
OWN, OWN_FILE = "app", "app.py"
OWN_STEPS = (
    ("run", "work until nothing is left to do (Ctrl-C is safe)"),
    ("status", "see what waits, runs and has ended"),
    ("tasks tree 1", "see what became of the first task"),
    ('add visit --payload \'{"name": "You"}\'', "add one more"),
)


def _own(said: Mapping[str, str], practice: bool) -> ProjectDraft:  # noqa: ARG001  the shape of a template
    return ProjectDraft(files={OWN_FILE: APP}, steps=OWN_STEPS)


def command(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(help="Folder of the project. Default: the current folder.")
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What the project is for: the name of an app, or app for one of your own."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing; take the defaults.")] = False,
    practice: Annotated[
        bool, typer.Option("--practice", help="Write a project for the practice web, which needs no network.")
    ] = False,
) -> None:
    """Begin a project: thresher.yaml and what belongs to it, and the database.

    On a terminal it asks what the project is for, and a few questions about it. It overwrites nothing. `init
    --app NAME` is the same as `--template NAME`.
    """
    call = call_of(ctx)
    call.folder = folder or call.folder
    _refuse_if_there(call.folder, [FILE_NAME])
    asks = not yes and not call.json and sys.stdin.isatty()
    known = templates()
    name = _chosen(call, template, known, asks=asks)
    said = _answers(known[name], asks=asks, practice=practice)
    draft = known[name].write(said, practice)
    files = {FILE_NAME: project_file(name, said, draft, practice=practice), **draft.files}
    call.apps = []
    steps, url = _make(call, files)
    _prepare(call, draft)
    paths = [str(call.folder / each) for each in files]
    told = {"written": paths, "database": hide_password(url), "applied": steps, "template": name}
    made = f"Wrote {', '.join(paths)}; the database is {hide_password(url)}."
    answer(call, told, partial(_draw, made=made, steps=next_steps(call.folder, draft, practice=practice)))


def _draw(out: Console, _: object, made: str, steps: Sequence[tuple[str, str]]) -> None:
    out.print(Text(plain(made)))
    out.print("\nNext:")
    lines = Table(box=None, show_header=False, pad_edge=False, padding=(0, 3, 0, 0))
    lines.add_column(no_wrap=True)
    lines.add_column()
    for command, why in steps:
        lines.add_row(Text(f"  {plain(command)}"), Text(why))
    out.print(lines)


def templates() -> dict[str, Template]:
    """What a project may be for, by the name of the app that brings it. An app that cannot be loaded brings
    none.
    """
    found: dict[str, Template] = {}
    for each in available():
        try:
            template = load_app(each.name, Path()).template
        except ThresherError:
            continue
        if template is not None:
            found[each.name] = template
    return found | {OWN: Template("Write an app of your own", (), _own)}


def _chosen(call: CommandCall, template: str | None, known: Mapping[str, Template], *, asks: bool) -> str:
    names = [each for each in (template, *call.apps) if each is not None]
    if len(names) > 1:
        raise UsageError("init makes a project of one template; name it once, with --template or --app")
    if names:
        if names[0] not in known:
            raise UsageError(f"there is no template {names[0][:80]!r}; there are {', '.join(known)}")
        return names[0]
    if not asks:
        return OWN
    typer.echo("What do you want to do?")
    width = max(map(len, known))
    for at, (name, each) in enumerate(known.items(), 1):
        typer.echo(f"  {at}  {name:{width}}  {each.title}")
    while True:
        answer = typer.prompt("Number or name").strip()
        at = int(answer) - 1 if answer.isascii() and answer.isdigit() else -1
        if answer in known:
            return str(answer)
        if 0 <= at < len(known):
            return list(known)[at]
        typer.echo(f"  Write a number from 1 to {len(known)}, or a name.")


def _answers(template: Template, *, asks: bool, practice: bool) -> dict[str, str]:
    """An answer to each question; to some an empty one. What reaches the web also says whose it is."""
    questions = (*template.questions, CONTACT) if template.questions else ()
    usual = {each.name: each.practice if practice else each.default for each in questions}
    if not asks:
        return usual
    return {each.name: _asked(each, usual[each.name]) for each in questions}


def _asked(question: ProjectQuestion, usual: str) -> str:
    while True:
        answer = typer.prompt(question.asks, default=usual, show_default=bool(usual))
        try:
            return checked(question, answer)
        except ThresherError as problem:
            typer.echo(f"  {problem}")


def project_file(app: str, said: Mapping[str, str], draft: ProjectDraft, *, practice: bool) -> str:
    """The text of thresher.yaml."""
    contact = said.get(CONTACT.name, "")
    fetch = "fetch:\n" if contact or practice else NO_CONTACT
    fetch += f"  contact: {written(contact)}\n" if contact else ""
    fetch += PRACTICE.format(port=PORT) if practice else ""
    numbers = {**draft.settings, **(PRACTICE_SETTINGS if practice else {})}
    settings = "".join(f"  {name}: {value:g}\n" for name, value in numbers.items())
    return PROJECT.format(
        app=OWN_FILE if app == OWN else app,
        fetch=fetch,
        section=f"\n{draft.section}" if draft.section else "",
        settings=f"settings:\n{settings}" if settings else NO_SETTINGS,
    )


def _refuse_if_there(folder: Path, names: list[str]) -> None:
    there = [str(folder / name) for name in names if (folder / name).exists()]
    if there:
        raise UsageError(
            f"{' and '.join(there)} already there; init never overwrites a file. Choose another "
            "folder: thresher init FOLDER"
        )


def _make(call: CommandCall, files: Mapping[str, str]) -> tuple[list[str], str]:
    """Write the files, then the database; what was applied, and where it is."""
    folder = call.folder
    _refuse_if_there(folder, list(files))
    try:
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise UsageError(f"cannot write in {folder}: {problem.strerror}") from None
    project = read_project(folder)
    url = call.url(project)
    return migrate_database(url, load_apps(project.apps, project.folder)), url


def _prepare(call: CommandCall, draft: ProjectDraft) -> None:
    """Run the commands of a template, as a person would type them."""
    shared = ["--project", str(call.folder), *(["--database", call.database] if call.database else [])]
    for words in draft.commands:
        line = [str(call.folder / each) if each in draft.files else each for each in words]
        with redirect_stdout(sys.stderr) if call.json else nullcontext():
            code = thresher([*shared, *line])
        if code:
            raise ConfigError(
                f"the project is written, but this has failed: thresher {' '.join(words)}. Mend what "
                "it says, and run it again"
            )


def next_steps(folder: Path, draft: ProjectDraft, *, practice: bool) -> list[tuple[str, str]]:
    """The commands to go on with, each with what it does."""
    lines = [] if folder == Path() else [(f"cd {shlex.quote(str(folder))}", "")]
    lines += [("thresher practice", "in a terminal of its own: serve the practice web")] if practice else []
    return lines + [
        (each[2:] if each.startswith("$ ") else f"thresher {each}", why) for each, why in draft.steps
    ]
