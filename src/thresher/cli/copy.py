"""`thresher copy`: the whole database into an empty one, to move it or to keep it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from thresher.cli.call import call_of
from thresher.cli.format import number
from thresher.cli.show import answer, console, table
from thresher.config.apps import load_apps, with_installed
from thresher.config.project import hide_password
from thresher.core.errors import ThresherError
from thresher.runtime import copy_database
from thresher.store.copying import Copied, Told

HASH_SHOWN = 16


def command(
    ctx: typer.Context,
    to: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where to: sqlite:///FILE or postgresql://HOST/NAME?schema=NAME. It must be empty.",
        ),
    ],
) -> None:
    """Copy the whole database into an empty one, on SQLite or PostgreSQL.

    The copy has everything as it was at one moment, also while workers work; what happens later is not in it.
    Rows and hashes of each table are compared at the end. If anything goes wrong, the target stays empty.
    """
    call = call_of(ctx)
    project = call.project()
    problems: list[ThresherError] = []
    apps = with_installed(load_apps(project.apps, project.folder, call.apps, problems), project.folder)
    for problem in problems:
        typer.echo(f"warning: {problem}", err=True)
    with _progress(console(stderr=True)) as told:
        copied = copy_database(call.url(project), to, apps, told)
    shown = {
        "to": hide_password(to),
        "tables": copied.tables,
        "left_out": copied.left_out,
        "workers": copied.workers,
    }
    answer(call, shown, lambda out, _: _draw(out, hide_password(to), copied))


@contextmanager
def _progress(out: Console) -> Iterator[Told]:
    """A bar for the table that is being copied; on a terminal only."""
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bars:
        bar = bars.add_task("")
        yield lambda name, done, total: bars.update(
            bar, description=name, completed=done, total=max(done, total)
        )


def _draw(out: Console, to: str, copied: Copied) -> None:
    rows = ((each.table, f"{each.rows:,}", each.hash[:HASH_SHOWN]) for each in copied.tables if each.rows)
    out.print(table(("table", "#rows", "hash"), rows))
    empty = sum(not each.rows for each in copied.tables)
    out.print(
        f"{number(copied.rows, 'row')} in {number(len(copied.tables), 'table')} copied to {to} "
        f"({number(empty, 'table is', 'tables are')} empty). Every table has the same rows there."
    )
    if copied.left_out:
        out.print(f"Not copied, because no migration made them: {', '.join(copied.left_out)}")
    if copied.workers:
        out.print(
            f"{number(copied.workers, 'worker')} at work in the source: what they do from now on is not in the copy. "
            "To move, stop them and copy again."
        )
