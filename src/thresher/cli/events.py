"""`thresher events`: what happened to gates, workers and the queue itself."""

from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from thresher.admin.events import about_event, list_events
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago, short
from thresher.cli.show import answer, table


def command(
    ctx: typer.Context,
    kind: Annotated[
        str | None, typer.Option(help="Only events of this kind, such as gate_paused or worker_lost.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Only events of this source, or gate such as host:example.com.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 50,
) -> None:
    """Show events, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_events(store, kind=kind, source=source, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: list[dict[str, Any]], now: int) -> None:
    if found:
        out.print(event_table(found, now))
    else:
        out.print("Nothing to report.")


def event_table(found: list[dict[str, Any]], now: int) -> "RenderableType":
    """Events, one a line."""
    rows = [
        [
            ago(each["at"], now),
            each["kind"],
            each["gate"] or (f"task {each['task_id']}" if each["task_id"] else None),
            short(about_event(each), 110),
        ]
        for each in found
    ]
    return table(["#ago", "event", "about", "detail"], rows)
