"""`thresher audit`: who changed what."""

from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.audit import list_changes
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago
from thresher.cli.show import answer, table


def command(
    ctx: typer.Context,
    who: Annotated[
        str | None, typer.Option(help="Only changes by this person, key or user of the command line.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
    before: Annotated[int | None, typer.Option(min=1, help="Only rows with an id below this one.")] = None,
) -> None:
    """Show who changed what, the newest first: on the dashboard, through the API and on the command line."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_changes(store, who=who, limit=limit, before=before), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: list[dict[str, Any]], now: int) -> None:
    if not found:
        out.print("No change is kept.")
        return
    rows = [
        [
            each["id"],
            ago(each["at"], now),
            each["who"],
            each["role"] or each["kind"],
            each["via"],
            each["action"],
        ]
        for each in found
    ]
    out.print(table(["!#id", "#ago", "who", "-as", "-by way of", "what was asked for"], rows))
