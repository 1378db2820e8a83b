"""`thresher failures`: see what failed or is tried again, grouped, and send back what failed."""

from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.failures import FailureGroup, failure_filters, group_failures, retry_failures
from thresher.admin.tasks import show_task
from thresher.admin.times import read_now, seconds
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, number, short, when
from thresher.cli.show import answer, say, table
from thresher.cli.tasks import draw_detail
from thresher.core.trace import with_place

app = typer.Typer()

Error = Annotated[str | None, typer.Option(help="Error class, such as TimedOut.")]
Kind = Annotated[str | None, typer.Option(help="The kind of task.")]
Source = Annotated[str | None, typer.Option(help="Name of a source, or a gate such as host:example.com.")]
Older = Annotated[
    str | None, typer.Option(metavar="AGE", help="Only failures older than this: 90s, 10m, 2h, 1d.")
]
Newer = Annotated[str | None, typer.Option(metavar="AGE", help="Only failures of the last 90s, 10m, 2h, 1d.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    error: Error = None,
    kind: Kind = None,
    source: Source = None,
    older: Older = None,
    newer: Newer = None,
    state: Annotated[
        str | None, typer.Option(help="failed (for good) or retrying (to be tried again). Default: both.")
    ] = None,
) -> None:
    """List failures by error, kind and source, with an example of each.

    Tasks that had an error and are tried again are listed, too, with the time of the next attempt.
    """
    call = call_of(ctx)
    with call.store() as store:
        wanted = failure_filters(store, error=error, kind=kind, source=source, **_ages(older, newer))
        groups, now = group_failures(store, state, **wanted), read_now(store)
    answer(call, groups, lambda out, value: _draw(out, value, now))


@app.command()
def show(ctx: typer.Context, task_id: Annotated[int, typer.Argument(metavar="ID")]) -> None:
    """Show one task with its errors: what it said and in which line, and every attempt."""
    call = call_of(ctx)
    with call.store() as store:
        detail, now = show_task(store, task_id), read_now(store)
    answer(call, detail, lambda out, value: draw_detail(out, value, now))


@app.command()
def retry(
    ctx: typer.Context,
    error: Error = None,
    kind: Kind = None,
    source: Source = None,
    older: Older = None,
    newer: Newer = None,
    apply: Annotated[bool, typer.Option("--apply", help="Carry it out. Without this, only count.")] = False,
) -> None:
    """Send failed tasks that match back to waiting: a dry run, unless --apply."""
    call = call_of(ctx)
    with call.store() as store:
        wanted = failure_filters(store, error=error, kind=kind, source=source, **_ages(older, newer))
        done = retry_failures(store, apply=apply, **wanted)
    _report(call, done)


def _report(call: CommandCall, done: Any) -> None:

    if not done.applied:
        advice = " Nothing was changed: add --apply to send them back." if done.matched else ""
        say(call, done, f"{number(done.matched, 'failed task')} would be sent back.{advice}")
        return
    taken = len(done.result.key_taken)
    left = f"; {number(taken, 'task')} skipped, because a live task has their key" if taken else ""
    say(call, done, f"{number(len(done.result.retried), 'task')} sent back to waiting{left}.")


def _ages(older: str | None, newer: str | None) -> dict[str, float | None]:

    return {"older": seconds(older) if older else None, "newer": seconds(newer) if newer else None}


def _draw(out: "Console", groups: "list[FailureGroup]", now: int) -> None:

    if not groups:
        out.print("No failures match.")
        return
    rows = [
        [
            each.count,
            each.state,
            each.error,
            each.kind,
            each.source,
            ago(each.last_at, now),
            _next(each, now),
            each.example,
            short(with_place(each.message), 300),
        ]
        for each in groups
    ]
    columns = ["#count", "state", "error", "-kind", "-source", "-#last", "-next", "!#example", "+message"]
    out.print(table(columns, rows))
    failed = sum(group.count for group in groups if group.state == "failed")
    retrying = sum(group.count for group in groups) - failed
    counts = [number(failed, "failed task")] if failed else []
    counts += [f"{number(retrying, 'task')} to be tried again"] if retrying else []
    advice = " Send back what failed: thresher failures retry" if failed else ""
    out.print(f"{', '.join(counts)}. Look at one: thresher failures show {groups[0].example}.{advice}")


def _next(group: "FailureGroup", now: int) -> str:
    if group.state == "failed":
        return "–"
    return "now" if group.next_at is None or group.next_at <= now else when(group.next_at, now)
