"""`thresher schedules`: see, pause and resume what is asked for again and again."""

import json
from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.schedules import (
    ScheduleView,
    fire_schedule,
    list_schedules,
    pause_schedule,
    resume_schedule,
)
from thresher.admin.times import read_now
from thresher.cli.call import call_of
from thresher.cli.format import short, span, when
from thresher.cli.show import answer, say, table

app = typer.Typer()

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name.")]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List schedules: their rhythm, the last and the next firing, and the last result."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_schedules(store), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[ScheduleView]", now: int) -> None:

    if not found:
        out.print("No schedules: apps declare them, and they appear when an app first runs.")
        return
    rows = [
        [
            each.name,
            each.app,
            each.kind,
            f"{each.cron} {each.timezone}" if each.cron else f"every {span(each.every or 0)}",
            each.missed,
            "paused" if each.paused else "on",
            when(each.last_at, now),
            "–" if each.paused else when(each.next_at, now),
            None if each.result is None else short(json.dumps(each.result, ensure_ascii=False), 60),
        ]
        for each in found
    ]
    out.print(
        table(
            ["!schedule", "-app", "-kind", "rhythm", "-missed", "state", "-last", "next", "-last result"],
            rows,
        )
    )


@app.command()
def pause(ctx: typer.Context, name: Name) -> None:
    """Stop a schedule until it is resumed."""
    call = call_of(ctx)
    with call.store() as store:
        pause_schedule(store, name)
    say(
        call,
        {"name": name, "paused": True},
        f"Schedule {name} is paused; start it again with: thresher schedules resume {name}",
    )


@app.command()
def resume(ctx: typer.Context, name: Name) -> None:
    """Let a schedule fire again; missed firings are treated as it says."""
    call = call_of(ctx)
    with call.store() as store:
        resume_schedule(store, name)
    say(call, {"name": name, "paused": False}, f"Schedule {name} fires again.")


@app.command()
def fire(ctx: typer.Context, name: Name) -> None:
    """Add the task of a schedule now, paused or not. Its rhythm stays as it is."""
    call = call_of(ctx)
    with call.store() as store:
        task = fire_schedule(store, name)
    told = (
        f"Schedule {name} added nothing: its last task has not ended (thresher tasks list)."
        if task is None
        else f"Schedule {name} added task {task}."
    )
    say(call, {"name": name, "task": task}, told)
