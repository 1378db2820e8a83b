"""`thresher late`: what scrapers sent when their session was over. It is kept until a person decides."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.times import read_now
from thresher.apps.roles.service.arrivals import drop_late, import_late, late_posts
from thresher.apps.roles.store.posts import Late
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short
from thresher.cli.show import answer, say, table

app = typer.Typer()

Id = Annotated[
    int, typer.Argument(metavar="ID", min=1, help="Number of the post (see `thresher late list`).")
]


@app.command("list")
def list_(
    ctx: typer.Context,
    every: Annotated[
        bool, typer.Option("--all", help="Include posts that were imported or dropped.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 100,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="Start after this number (next page).")] = 0,
) -> None:
    """List what came too late, the oldest first: from whom, for which role, how much, and why it did not
    count.
    """
    call = call_of(ctx)
    with call.store() as store:
        found, now = (
            late_posts(store, decided=None if every else False, limit=limit, after=after),
            read_now(store),
        )
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[Late]", now: int) -> None:

    if not found:
        out.print("Nothing arrived too late.")
        return
    rows = [
        [
            each.id,
            each.scraper_name,
            short(each.role_name, 40),
            each.postings,
            ago(each.created_at, now),
            short(each.reason, 80),
            each.decision,
        ]
        for each in found
    ]
    out.print(table(["!#id", "scraper", "role", "#postings", "-#ago", "why", "decided"], rows))


@app.command("import")
def import_(ctx: typer.Context, late_id: Id) -> None:
    """Import the postings of a late body under its role after all, and have them matched."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        done = import_late(runtime.store, runtime.registry, late_id)
    counts = f"{done.imported} new, {done.linked} linked, {done.updated} updated, {done.skipped} skipped"
    say(call, done, f"{done.role_name}: {number(done.found, 'posting')}, {counts}.")


@app.command()
def drop(ctx: typer.Context, late_id: Id) -> None:
    """Let go of a late body."""
    call = call_of(ctx)
    with call.store() as store:
        done = drop_late(store, late_id)
    say(call, done, f"Dropped {number(done.postings, 'posting')} that arrived too late for {done.role_name}.")
