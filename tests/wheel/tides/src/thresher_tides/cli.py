"""`thresher tides`."""

import json

import typer

from thresher.cli.call import call_of
from thresher_tides.store import levels

app = typer.Typer()


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the harbours, as JSON."""
    with call_of(ctx).store() as store:
        typer.echo(json.dumps(levels(store)))


@app.command()
def highest(ctx: typer.Context) -> None:
    """Name the harbour with the most water."""
    with call_of(ctx).store() as store:
        typer.echo(max(levels(store), key=lambda level: level["metres"])["harbour"])
