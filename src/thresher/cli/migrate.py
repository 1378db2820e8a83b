"""`thresher migrate`: bring the database to the schema that this version and its apps know."""

from typing import Annotated

import typer

from thresher.cli.call import call_of
from thresher.cli.format import number
from thresher.cli.show import say
from thresher.config.apps import load_apps
from thresher.runtime import migrate_database, pending_migrations


def command(
    ctx: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 1 if the schema is out of date.")
    ] = False,
) -> None:
    """Bring the database up to date.

    From empty or from any earlier version. Safe to run from several processes at once.
    """
    call = call_of(ctx)
    project = call.project()
    url, apps = call.url(project), load_apps(project.apps, project.folder, call.apps)
    if check:
        steps = pending_migrations(url, apps)
        missing = f"{number(len(steps), 'step')} missing: {', '.join(steps)}. Run: thresher migrate"
        say(call, {"pending": steps}, missing if steps else "The database is up to date.")
        raise typer.Exit(1 if steps else 0)
    steps = migrate_database(url, apps)
    say(
        call,
        {"applied": steps},
        "\n".join(f"applied {step}" for step in steps) or "The database was up to date already.",
    )
