"""`thresher doctor`: what is well, what is not, and what to do about it."""

import shlex
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.costs import check_ledger
from thresher.admin.health import (
    Examination,
    check_embeddings,
    check_file,
    check_models,
    check_name,
    check_notify,
    check_proxy_variables,
    check_store,
    check_waivers,
    reach,
    worst,
)
from thresher.admin.network import check_network, known_hosts, look_up
from thresher.cli.call import CommandCall, call_of
from thresher.cli.show import COLOURS, answer, cell, table
from thresher.config.project import Project, hide_password
from thresher.core.errors import ConfigError, ThresherError, UsageError
from thresher.core.extension import Check, CheckLevel
from thresher.engine.registry import Registry
from thresher.fetch.guard import Guard
from thresher.fetch.resolver import SystemResolver
from thresher.runtime import database_file, make_resolver, open_bare, project_registry, read_settings
from thresher.vectors.install import carry_out, plan

MARKS = {"ok": "✓", "warn": "!", "fail": "✗"}


def command(
    ctx: typer.Context,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Install the local embedding model first. Shows the commands and asks for confirmation.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: do not ask for confirmation.")] = False,
) -> None:
    """Check the installation, and say what to do.

    Python, SQLite, embeddings, the project, the apps, the database, workers, gates and the network. Exits 1
    if something fails. No site is asked for a page: a few names are looked up, and one connection is opened.
    """
    call = call_of(ctx)
    if fix:
        _mend(yes=yes)
    checks = _examine(call)
    verdict = worst(checks)
    answer(call, {"verdict": verdict, "checks": checks}, _draw)
    raise typer.Exit(1 if verdict is CheckLevel.FAIL else 0)


def _mend(*, yes: bool) -> None:
    """Bring the embedding model. What is said goes to the error stream: the answer may be JSON."""
    commands = plan(again=check_embeddings().verdict is not CheckLevel.OK)
    if not commands:
        typer.echo("The embedding model is installed; there is nothing to fix.", err=True)
        return
    typer.echo("The local embedding model (90 MB) needs:", err=True)
    for each in commands:
        typer.echo(f"  {shlex.join(each)}", err=True)
    if not yes and not _agreed():
        raise UsageError("nothing was installed; to install without confirmation, add --yes")
    problem = carry_out(commands, lambda line: typer.echo(line, err=True))
    if problem:
        raise ConfigError(problem)


def _agreed() -> bool:
    try:
        return typer.confirm("Run this now?", err=True)
    except typer.Abort:  # nobody is there to answer
        typer.echo(err=True)
        return False


def _examine(call: CommandCall) -> "list[Check]":

    exam = Examination()
    project = exam.attempt("project", call.project, lambda found: str(found.folder.resolve()))
    if project:
        exam.attempt("fetch", lambda: reach(project.fetch), str)
        exam.checks += check_proxy_variables(project.fetch)
        exam.checks.append(check_name(project.fetch))
        exam.checks += check_models(project.models)
        exam.checks += check_notify(project.notify)
    registry = _registry(exam, project, call.apps) if project else None
    url = call.url(project or Project(call.folder))
    store = exam.attempt("database", lambda: open_bare(url), lambda _: hide_password(url))
    hosts: tuple[str, ...] = ()
    if store:
        with closing(store):
            if project and registry:
                read_settings(store, project, registry)
            exam.checks += check_store(store, registry)
            exam.checks += check_waivers(store)
            exam.checks += check_ledger(store)
            hosts = known_hosts(store)
            file = database_file(url)
            exam.checks += check_file(file) if file else []
    if project:
        exam.checks += _network(project, hosts)
    return exam.checks


def _network(project: Project, hosts: Sequence[str]) -> list[Check]:
    """Try the network by the way that pages are fetched. What is wrong with that way has its own line. What
    is allowed by name is no sign of the network outside, and may have any port.
    """
    own = {each.partition(":")[0] for each in project.fetch.allow}
    hosts = [each for each in hosts if each not in own]
    try:
        guard, names = Guard(project.fetch.allow), SystemResolver(look=look_up)
        with closing(names):
            return [check_network(hosts, make_resolver(project.fetch, guard, names), guard)]
    except ConfigError:
        return []


def _registry(exam: "Examination", project: "Project", named: list[str]) -> "Registry | None":
    """Load the apps. Each that cannot be loaded fails a check, and the others are examined all the same."""
    problems: list[ThresherError] = []
    registry = exam.attempt("apps", lambda: project_registry(project, named, problems), _apps)
    exam.fail("apps", problems)
    if registry:
        catalogue = registry.settings.catalogue
        exam.attempt(
            "settings",
            lambda: project.checked_settings(catalogue, apps_are_missing=bool(problems)),
            _settings,
        )
    return registry


def _apps(registry: "Registry") -> str:
    if not registry.apps:
        return "none; add apps: [app.py] to thresher.yaml"
    kinds = {app.name: ", ".join(pipeline.kind for pipeline in app.pipelines) for app in registry.apps}
    return ", ".join(f"{name} ({each})" if each else name for name, each in kinds.items())


def _settings(given: dict[str, Any]) -> str:
    return f"{len(given)} in thresher.yaml" if given else "none in thresher.yaml"


def _draw(out: "Console", value: dict[str, Any]) -> None:
    rows = [
        [
            cell(f"{MARKS[check.verdict]} {check.verdict}", COLOURS[check.verdict]),
            check.name,
            check.found + (f"\n→ {check.advice}" if check.advice else ""),
        ]
        for check in value["checks"]
    ]
    out.print(table(["", "check", "found"], rows))
