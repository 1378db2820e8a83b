"""All commands as one table: ours, then those of the apps. A command is imported when somebody calls it.

`thresher --help` reads the table and imports nothing that is in it. An app's rows come from its App value, so
its module is light; which apps there are is read from the project file and from the installed packages.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import typer
from typer.core import CompletionItem, TyperGroup  # type: ignore[attr-defined]

from thresher.cli.call import CommandCall
from thresher.config.apps import available, load_app, load_apps
from thresher.core.app import App
from thresher.core.errors import ConfigError, ThresherError, UnknownName
from thresher.core.extension import Command
from thresher.core.named import loaded

EPILOG = "--database, --project, --app, --json, --verbose and --wide may stand anywhere on the line."
ADD = "add"  # an app may bring `add SOMETHING`
PLAIN = (
    "--payload",
    "--url",
    "--key",
    "--from",
)  # with one of these a plain task is added, whatever its kind
TABLE = "thresher.table"

MACHINE = (
    Command("up", "Work and serve the dashboard, in one process.", "thresher.cli.up:command"),
    Command("demo", "Show every app at work, on a web on this machine.", "thresher.cli.demo:command"),
    Command("run", "Work until nothing is left to do.", "thresher.cli.run:command"),
    Command("worker", "Work until stopped.", "thresher.cli.worker:command"),
    Command("probe", "Check that a worker is at work, for containers.", "thresher.cli.probe:command"),
    Command("serve", "Serve the dashboard and the HTTP API.", "thresher.cli.serve:command"),
    Command("status", "Show the state of the queue.", "thresher.cli.status:command"),
    Command("add", "Add tasks.", "thresher.cli.add:command"),
    Command("tasks", "List, show, retry and cancel tasks.", "thresher.cli.tasks:app"),
    Command("runs", "List, show and cancel runs and groups of tasks.", "thresher.cli.runs:app"),
    Command("failures", "List failures by group, and retry them.", "thresher.cli.failures:app"),
    Command("sources", "List, limit, pause and test sources and other gates.", "thresher.cli.sources:app"),
    Command("schedules", "List, pause, resume and fire schedules.", "thresher.cli.schedules:app"),
    Command("records", "List records.", "thresher.cli.records:command"),
    Command("export", "Export all rows of one kind to a file.", "thresher.cli.export:command"),
    Command("explain", "Explain a decision or a state.", "thresher.cli.explain:command"),
    Command("costs", "Show the cost of models.", "thresher.cli.costs:command"),
    Command("events", "List events of gates, workers and the queue.", "thresher.cli.events:command"),
    Command("inspect", "Show what Thresher reads from a page.", "thresher.cli.inspect:command"),
    Command("read", "Parse a text: a price, a date, a URL.", "thresher.cli.read:app"),
    Command("extractors", "List, show and teach learned extractors.", "thresher.cli.extractors:app"),
)
SET_UP = (
    Command("init", "Create a project.", "thresher.cli.init:command"),
    Command("practice", "Serve a web to practise on, on this machine.", "thresher.cli.practice:command"),
    Command("migrate", "Migrate the database.", "thresher.cli.migrate:command"),
    Command("copy", "Copy the database: to move it, or as a backup.", "thresher.cli.copy:command"),
    Command("doctor", "Check the installation, and say what to do.", "thresher.cli.doctor:command"),
    Command("config", "Show and change settings.", "thresher.cli.config:app"),
    Command("keys", "Create and revoke API keys.", "thresher.cli.keys:app"),
    Command("admin", "Add and remove people, and set their roles.", "thresher.cli.admin:app"),
    Command("mcp", "Serve tools to an assistant, over stdin and stdout.", "thresher.cli.mcp:command"),
    Command("webhooks", "Tell other programs of events.", "thresher.cli.webhooks:app"),
    Command("audit", "Show who changed what.", "thresher.cli.audit:command"),
    Command("notify", "Send a test message to the notification targets.", "thresher.cli.notify:command"),
    Command("bench", "Run benchmarks.", "thresher.cli.bench:app"),
)
OURS = {each.name: each for each in (*MACHINE, *SET_UP)}


@dataclass(frozen=True, slots=True)
class Row:
    """A command with the app that brings it. One of an app that is not enabled here explains how to enable
    it.
    """

    command: Command
    app: str | None = None
    enabled: bool = True


@dataclass(slots=True)
class Table:
    """The commands of one call: ours, those of the apps of its project, and those of other installed apps."""

    rows: dict[str, Row] = field(default_factory=lambda: {name: Row(each) for name, each in OURS.items()})
    broken: list[str] = field(default_factory=list)

    def add(self, app: App, *, enabled: bool) -> None:
        """Add the commands of an app. Two enabled apps with one command are refused by name."""
        for each in app.commands:
            other = self.rows.get(each.name)
            if other is None:
                self.rows[each.name] = Row(each, app.name, enabled)
            elif enabled:
                owner = "Thresher itself" if other.app is None else f"the app {other.app!r}"
                raise ConfigError(
                    f"the command {each.name!r} is defined by the app {app.name!r} and by {owner}; "
                    "rename it in the app, or do not enable both"
                )

    def of(self, app: str) -> tuple[Command, ...]:
        """The commands of an enabled app."""
        return tuple(row.command for row in self.rows.values() if row.app == app and row.enabled)


def read_table(call: CommandCall) -> Table:
    """The table of a call. An app that cannot be loaded is told of in `broken`, and hides no other."""
    table = Table()
    problems: list[ThresherError] = []
    apps = load_apps(call.app_names(), call.folder, call.apps, problems)
    table.broken += map(str, problems)
    for app in apps:
        table.add(app, enabled=True)
    names = {app.name for app in apps}
    for each in available():
        if each.name not in names:
            try:
                table.add(load_app(each.name, call.folder), enabled=False)
            except ThresherError as problem:
                table.broken.append(str(problem))
    return table


class Commands(TyperGroup):
    """The commands of Thresher and of its apps. An app may add a second word to `add`: `add company`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name, row in table_of(ctx).rows.items() if row.enabled]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of a name, or None. Find our own without loading the apps."""
        if cmd_name in OURS:
            return build(OURS[cmd_name])
        table = table_of(ctx)
        row = table.rows.get(cmd_name)
        if row is None:
            if table.broken and not ctx.resilient_parsing:
                raise ConfigError(f"there is no command {cmd_name!r}, and {table.broken[0]}")
            return None
        if not row.enabled:
            raise UnknownName(
                f"`thresher {cmd_name}` belongs to the app {row.app!r}, which is installed but not "
                f"enabled in this project; to enable it, add it to thresher.yaml: apps: [{row.app}]"
            )
        return build(row.command)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0] == ADD and len(args) > 1 and not any(each.partition("=")[0] in PLAIN for each in args):
            words = " ".join(args[:2])
            if words in table_of(ctx).rows:
                return words, self.get_command(ctx, words), args[2:]
        if args[0] not in OURS:
            names: Any = dict.fromkeys(self.list_commands(ctx))
            self.commands = names  # a misspelt name is compared with these
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        options = super(TyperGroup, self).shell_complete(ctx, incomplete)
        rows = table_of(ctx).rows.items()
        found = {name.partition(" ")[0]: row.command.help for name, row in rows if row.enabled}
        names = (name for name in found if name.startswith(incomplete))
        return [*(CompletionItem(name, help=found[name]) for name in names), *options]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        table = table_of(ctx)
        apps = dict.fromkeys(row.app for row in table.rows.values() if row.app and row.enabled)
        sections = [
            ("Commands", MACHINE),
            ("Set-up", SET_UP),
            *((f"App {app}", table.of(app)) for app in apps),
        ]
        for title, commands in sections:
            with formatter.section(title):
                formatter.write_dl([(each.name, each.help) for each in commands])
        others = sorted({row.app for row in table.rows.values() if row.app and not row.enabled})
        lines = [f"Installed but not enabled in this project: {', '.join(others)}."] if others else []
        for line in [*lines, *(f"Not listed: {problem}" for problem in table.broken)]:
            formatter.write_paragraph()
            formatter.write_text(line)


def table_of(ctx: Any) -> Table:
    """The table of a call, read once."""
    root = ctx.find_root()
    if TABLE not in root.meta:
        root.meta[TABLE] = read_table(root.obj or CommandCall())
    found: Table = root.meta[TABLE]
    return found


@cache
def build(command: Command) -> Any:
    """Import a command."""
    target = loaded(command.target)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(target, typer.Typer):
        holder.add_typer(target, name=command.name, help=command.help, no_args_is_help=True, epilog=EPILOG)
        group: Any = typer.main.get_command(holder)
        return group.commands[command.name]
    if not callable(target):
        raise ConfigError(
            f"the command {command.name!r} leads to {type(target).__name__}; it must be a Typer app "
            "or a function"
        )
    holder.command(name=command.name, epilog=EPILOG)(target)
    return typer.main.get_command(holder)
