"""How the collection of prices goes: `thresher prices recent`, `stuck`, `workers` and `duplicates`."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.times import read_now, seconds
from thresher.apps.prices.service import monitoring
from thresher.apps.prices.service.monitoring import DuplicatePoint
from thresher.apps.prices.store.monitoring import MAX_RECENT, RecentTask, StuckTask, TaskCount
from thresher.cli.call import call_of
from thresher.cli.format import ago, short, span
from thresher.cli.show import answer, cell, table
from thresher.core.clock import SECOND


def recent(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = MAX_RECENT,
) -> None:
    """List the newest collections: their state, who performs them, and what went wrong."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = monitoring.recent_tasks(store, limit), read_now(store)
    answer(call, found, lambda out, value: _draw_recent(out, value, now))


def _draw_recent(out: Console, found: list[RecentTask], now: int) -> None:
    if not found:
        out.print("Nothing was looked for yet: thresher prices collect")
        return
    rows = [
        [
            each.id,
            cell(each.status),
            short(each.item, 30),
            each.source,
            each.locked_by,
            ago(each.heartbeat_at, now),
            ago(each.created_at, now),
            ago(each.completed_at, now),
            short(each.error_message, 60) or None,
        ]
        for each in found
    ]
    columns = [
        "!#task",
        "status",
        "item",
        "source",
        "-worker",
        "-#heartbeat",
        "-#created",
        "-#completed",
        "error",
    ]
    out.print(table(columns, rows))


def stuck(
    ctx: typer.Context,
    timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Without a heartbeat for so long: 5m. Default: worker.lease."),
    ] = None,
) -> None:
    """List collections that run without a heartbeat. Workers take them over by themselves."""
    call = call_of(ctx)
    with call.store() as store:
        found = monitoring.stuck_tasks(store, None if timeout is None else seconds(timeout))
        now = read_now(store)
    answer(call, found, lambda out, value: _draw_stuck(out, value, now))


def _draw_stuck(out: Console, found: list[StuckTask], now: int) -> None:
    if not found:
        out.print("No collection is stuck.")
        return
    rows = [
        [
            each.id,
            short(each.item, 30),
            each.source,
            each.locked_by,
            ago(each.started_at, now),
            "none" if each.time_since_heartbeat is None else span(each.time_since_heartbeat / SECOND),
        ]
        for each in found
    ]
    out.print(table(["!#task", "item", "source", "-worker", "#started", "#since heartbeat"], rows))


def workers(ctx: typer.Context) -> None:
    """Count collections by status and worker."""
    call = call_of(ctx)
    with call.store() as store:
        found = monitoring.tasks_by_worker(store)
    answer(call, found, _draw_workers)


def _draw_workers(out: Console, found: list[TaskCount]) -> None:
    if not found:
        out.print("Nothing was looked for yet: thresher prices collect")
        return
    out.print(
        table(
            ["status", "worker", "#tasks"],
            [[cell(each.status), each.locked_by, each.count] for each in found],
        )
    )


def duplicates(ctx: typer.Context) -> None:
    """List price points that are stored twice. There are none; exit with 1 if there are."""
    call = call_of(ctx)
    with call.store() as store:
        found = monitoring.duplicates(store)
    answer(call, found, _draw_duplicates)
    raise typer.Exit(1 if found else 0)


def _draw_duplicates(out: Console, found: list[DuplicatePoint]) -> None:
    if not found:
        out.print("0 duplicate price points.")
        return
    rows = [[each.item, each.source, each.dedupe_key, each.count] for each in found]
    out.print(table(["item", "source", "!key", "#points"], rows))
