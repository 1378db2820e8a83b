"""One call of the command line: the options that every command shares, the way from them to a store, and the
exit code in the end.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from thresher.config.apps import FILE_NAME, load_apps, own_apps

if TYPE_CHECKING:
    from thresher.config.project import Project
    from thresher.core.app import App
    from thresher.core.errors import ThresherError
    from thresher.runtime import Runtime
    from thresher.store.store import Store
import os
import re
import sys
from difflib import get_close_matches

from thresher.cli.format import as_json, plain
from thresher.core.errors import ConfigError, ThresherError

T = TypeVar("T")
# Commands that are the machine at work, and no change that somebody made.
MACHINE = ("bench", "demo", "mcp", "migrate", "run", "serve", "up", "worker")


@dataclass(slots=True)
class CommandCall:
    """What was asked for besides the command itself."""

    database: str | None = None
    folder: Path = Path()
    apps: list[str] = field(default_factory=list)
    json: bool = False
    verbose: bool = False
    asked: str = ""  # the command with its arguments, for the audit log
    is_machine: bool = False
    wide: bool = False

    @property
    def words(self) -> list[str]:
        """The shared options that say how an error is told."""
        return [word for word, wanted in (("--json", self.json), ("--verbose", self.verbose)) if wanted]

    def project(self) -> "Project":
        from thresher.config.project import read_project
        from thresher.core.redaction import learn_secrets

        found = read_project(self.folder)
        learn_secrets(found.secrets)
        # Who names an app where no project file is wants that one, and not ours besides.
        return replace(found, apps=()) if self.apps and not (found.folder / FILE_NAME).exists() else found

    def app_names(self) -> tuple[str, ...]:
        """The apps that the project enables, read without the rest of its file."""
        if not (self.folder / FILE_NAME).exists():
            return () if self.apps else own_apps()
        from thresher.config.project import enabled_apps

        return enabled_apps(self.folder)

    def load_apps(self, broken: "list[ThresherError] | None" = None) -> "list[App]":
        """The apps that this call is about, as the lists that they are. What cannot be loaded is put into
        `broken`, if there is one.
        """
        return load_apps(self.app_names(), self.folder, self.apps, broken)

    def learn_platforms(self) -> None:
        """Make the hiring platforms known that the project describes: for commands that read pages without
        its apps.
        """
        from thresher.config.platforms import install_platforms

        install_platforms(self.folder)

    def url(self, project: "Project") -> str:
        from thresher.config.project import database_url
        from thresher.core.redaction import learn_secrets, secrets_in_url

        url = database_url(self.database, project)
        learn_secrets(secrets_in_url(url))
        return url

    def store(self, *, migrate: bool = False) -> "AbstractContextManager[Store]":
        """The database as it is. Looking at a queue never makes one.

        An app that cannot be loaded is reported and left out: looking at a queue, or stopping it, needs no
        code of any app.
        """
        from thresher.runtime import opened_store

        project, problems = self.project(), list["ThresherError"]()
        apps = load_apps(project.apps, project.folder, self.apps, problems)
        for problem in problems:
            typer.echo(f"warning: {problem}. Its settings and tables are left alone.", err=True)
        return self._acting(
            opened_store(self.url(project), project, apps, migrate=migrate, apps_are_missing=bool(problems))
        )

    def runtime(self) -> "AbstractContextManager[Runtime]":
        """The database brought up to date, with the apps and what they declare."""
        from thresher.runtime import opened_runtime

        project = self.project()
        if self.is_machine and not self.json and not self.apps and not (project.folder / FILE_NAME).exists():
            typer.echo(
                f"note: there is no {FILE_NAME} in {project.folder.resolve()}, so all installed apps work here; "
                "your project's folder is named with --project FOLDER, and begun with: thresher init",
                err=True,
            )
        return self._acting(opened_runtime(self.url(project), project, self.apps))

    @contextmanager
    def _acting(self, opened: "AbstractContextManager[T]") -> "Iterator[T]":
        """Act for whoever sits at the command line. A command that is the machine itself acts for nobody."""
        from thresher.admin.audit import acting, user_of

        actor = None if self.is_machine else user_of(user_name(), self.asked)
        with opened as found, acting(actor):
            yield found


def call_of(ctx: typer.Context) -> CommandCall:
    """The call that a command belongs to."""
    call = ctx.find_root().obj
    assert isinstance(call, CommandCall)
    call.asked, call.is_machine = _asked(ctx), ctx.find_root().invoked_subcommand in MACHINE
    return call


def _asked(ctx: typer.Context) -> str:
    """A command with what was given to it. Without the shared options: a database's URL has a password."""
    from thresher.admin.audit import with_values

    given = ((each, ctx.params.get(each.name or "")) for each in ctx.command.params)
    said = [
        (each.name or "", value) for each, value in given if value not in (None, False, (), [], each.default)
    ]
    words, at = list[str](), ctx
    while at.parent is not None:
        words, at = [at.info_name or "", *words], at.parent  # type: ignore[assignment]  # a context of the same kind
    return with_values(" ".join(("thresher", *words)), said)


def user_name() -> str:
    """The name of whoever sits at the command line; in a container they may have none."""
    try:
        return getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}" if hasattr(os, "getuid") else "somebody"


# Map the result or error of a command to an exit code and one clear line.

INTERRUPTED = 130
BUG = 70


def exit_code(act: Callable[[], object], args: Sequence[str]) -> int:
    """Do it and return the exit code. `args` say whether the line about an error is JSON, and how much it
    tells.
    """
    try:
        result = act()
        sys.stdout.flush()
    except ThresherError as problem:
        return _tell(str(problem), type(problem).__name__, problem.exit_code, args)
    except typer.Exit as ending:
        return ending.exit_code
    except typer.TyperException as problem:
        return _usage(problem, args)
    except (KeyboardInterrupt, typer.Abort):
        return _tell("interrupted", "Interrupted", INTERRUPTED, args)
    except BrokenPipeError:
        # Whoever read our output has left (`| head`): nothing to tell them, and nothing more to flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except PermissionError as problem:
        return _forbidden(problem, args)
    except Exception as problem:  # noqa: BLE001  the last line of defence: a person gets advice, not a wall of text
        return _surprise(problem, args)
    return result if isinstance(result, int) else 0


def _usage(problem: Any, args: Sequence[str]) -> int:
    context = getattr(problem, "ctx", None)
    if type(problem).__name__ == "NoArgsIsHelpError":
        sys.stdout.write(f"{problem.format_message()}\n")
        return 0
    advice = f" (see: {context.command_path} --help)" if context is not None else ""
    said = f"{_in_words(problem.format_message())}{_meant(problem)}{advice}"
    return _tell(said, "UsageError", problem.exit_code, args)


def _in_words(said: str) -> str:
    """The parser's message without the words of a programmer."""
    whole = re.sub(r"is not a valid int(?:eger)?(?: range)?\.", "is not a whole number.", said)
    return re.sub(r"is not a valid float(?: range)?\.", "is not a number.", whole)


def _meant(problem: Any) -> str:
    """Which shared option a misspelt one may be; of a command's own the parser knows."""
    name, context = getattr(problem, "option_name", None), getattr(problem, "ctx", None)
    if name is None or context is None:
        return ""
    shared = [each for param in context.find_root().command.params for each in param.opts]
    near = get_close_matches(name, shared, n=1, cutoff=0.7)
    return f" Did you mean {near[0]}?" if near else ""


def _forbidden(problem: PermissionError, args: Sequence[str]) -> int:
    where = "a file or folder" if problem.filename is None else Path(str(problem.filename)).absolute()
    said = f"you may not read or write {where}: change its permissions, or run this as the user it belongs to"
    return _tell(said, "PermissionError", ConfigError.exit_code, args)


def _surprise(problem: Exception, args: Sequence[str]) -> int:
    if "--verbose" in args:
        import traceback

        from thresher.core.redaction import redact

        sys.stderr.write(plain(redact("".join(traceback.format_exception(problem)))))
    advice = "" if "--verbose" in args else " Run it again with --verbose to see where."
    said = (
        f"{type(problem).__name__}: {problem}. This is unexpected and may be a bug in Thresher or in an "
        f"app; nothing is lost.{advice}"
    )
    return _tell(said, type(problem).__name__, BUG, args)


def _tell(message: str, name: str, code: int, args: Sequence[str]) -> int:
    import logging

    from thresher.cli.logs import is_json_log
    from thresher.core.redaction import redact

    message = redact(message)
    if is_json_log():  # whoever reads the lines of this process reads objects
        logging.getLogger("thresher").error("%s", message, extra={"event": "command_failed", "error": name})
        return code
    text = as_json({"error": message, "class": name}) if "--json" in args else plain(f"thresher: {message}")
    sys.stderr.write(f"{text}\n")
    return code
