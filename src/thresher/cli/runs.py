"""`thresher runs`: see runs and groups of tasks while they run, and how they ended; cancel one."""

from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from thresher.admin.costs import dollars
from thresher.admin.runs import RunDetail, list_runs, run_ending, show_run
from thresher.admin.tasks import cancel_run
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short, when
from thresher.cli.show import answer, pairs, print_page, say, table
from thresher.core.clock import as_text

app = typer.Typer()


@app.command("list")
def list_(
    ctx: typer.Context,
    app_name: Annotated[
        str | None, typer.Option("--of", metavar="APP", help="Only runs of this app.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Only runs of this name.")] = None,
    key: Annotated[str | None, typer.Option(help="Only runs with this key.")] = None,
    running: Annotated[bool, typer.Option("--running", help="Only runs that have not ended.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Include groups that are not runs.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of runs.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only ids below this one (next page).")] = None,
) -> None:
    """List runs, the newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found = list_runs(
            store,
            app=app_name,
            name=name,
            key=key,
            running=running,
            groups_too=all_,
            limit=limit,
            before=before,
        )
        now = read_now(store)
    answer(
        call,
        found,
        lambda out, value: print_page(out, value, limit, lambda rows: _table(rows, now), "No runs match."),
    )


def _table(found: list[dict[str, Any]], now: int, title: str | None = None) -> "RenderableType":

    rows = [
        [
            each["id"],
            each["name"],
            short(each["subject"] or each["key"], 40),
            each["state"],
            ago(each["opened_at"], now),
            each["members"],
            each["live"] or None,
            each["failed"] or None,
            dollars(each["cost"]) if each["cost"] else None,
            short(_counts(each), 60),
            short(run_ending(each), 60),
        ]
        for each in found
    ]
    columns = [
        "!#id",
        "name",
        "subject",
        "state",
        "-#opened",
        "#tasks",
        "#live",
        "#failed",
        "#cost",
        "-counts",
        "ending",
    ]
    return table(columns, rows, title=title)


def _counts(run: dict[str, Any]) -> str | None:
    return ", ".join(f"{number:,} {name}" for name, number in run["counts"].items()) or None


@app.command()
def show(
    ctx: typer.Context, run_id: Annotated[int, typer.Argument(metavar="ID", help="The id of a run or group.")]
) -> None:
    """Show one run or group: its tasks by state, counters, cost, and the groups below it."""
    call = call_of(ctx)
    with call.store() as store:
        found = show_run(store, run_id)
        now = read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "RunDetail", now: int) -> None:

    run = found.run
    states = ("live", "succeeded", "filtered", "skipped", "failed", "cancelled", "refused")
    window = (
        " to ".join(as_text(at) or "now" for at in (run["since_at"], run["until_at"]))
        if run["since_at"]
        else None
    )
    facts: list[tuple[str, Any]] = [
        ("run" if run["subject"] is not None else "group", run["id"]),
        ("name", run["name"]),
        ("key", run["key"]),
        ("app", run["app"]),
        ("subject", run["subject"] or None),
        ("window", window),
        ("state", run["state"]),
        ("ending", run_ending(run)),
        (
            "tasks",
            f"{run['members']:,}: " + ", ".join(f"{run[state]:,} {state}" for state in states if run[state]),
        ),
        ("counts", _counts(run)),
        ("cost", dollars(run["cost"])),
        ("opened", f"{when(run['opened_at'], now)}, by task {run['opener_id']}"),
        ("ended", when(run["ended_at"], now) if run["ended_at"] else None),
        ("followed by", f"task {run['then_id']}" if run["then_id"] else None),
        ("inside", f"group {run['parent_id']}" if run["parent_id"] else None),
    ]
    out.print(pairs([(name, value) for name, value in facts if value is not None]))
    if found.below:
        out.print(_table(found.below, now, "groups below"))
    if run["failed"]:
        out.print(f"Its failed tasks: thresher tasks list --run {run['id']} --state failed")


@app.command()
def cancel(
    ctx: typer.Context,
    run_id: Annotated[int, typer.Argument(metavar="ID", help="The id of a run or group.")],
    reason: Annotated[str, typer.Option(help="Reason, stored with each task.")] = "cancelled with its run",
    wait: Annotated[
        float, typer.Option(min=0, max=3_600, help="Seconds to wait for running tasks to stop.")
    ] = 30.0,
) -> None:
    """Cancel all tasks of a run or group, and of the groups below it.

    Waiting tasks are cancelled at once. Running ones are asked to stop at their worker's next heartbeat; what
    they spawn until then is cancelled, too.
    """
    call = call_of(ctx)
    with call.store() as store:
        done = cancel_run(store, run_id, reason, wait=wait)
    asked = f"; {number(done.asked, 'running task')} asked to stop" if done.asked else ""
    left = f"; {done.live:,} not ended yet: run this again in a moment" if done.live else ""
    say(call, done, f"{number(done.cancelled, 'task')} cancelled{asked}{left}.")
