"""`thresher tides`."""

import json

import typer

from thresher.cli.call import call_of
from thresher_tides.store import cost, levels

app = typer.Typer()


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the harbours, as JSON."""
    with call_of(ctx).store() as store:
        typer.echo(json.dumps(levels(store)))


@app.command("cost")
def cost_(ctx: typer.Context, task: int) -> None:
    """Say what a task has spent on models."""
    with call_of(ctx).store() as store:
        typer.echo(f"{cost(store, task)} millionths of a dollar")


@app.command()
def highest(ctx: typer.Context) -> None:
    """Name the harbour with the most water."""
    with call_of(ctx).store() as store:
        typer.echo(max(levels(store), key=lambda level: level["metres"])["harbour"])
