"""`thresher tides`."""

import typer

from thresher.cli.call import call_of

READ = "select key, data from records where kind = 'tide' order by key"
app = typer.Typer()


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the harbours."""
    with call_of(ctx).store() as store, store.read() as session:
        for harbour, data in session.rows(READ):
            typer.echo(f"{harbour} {data}")


@app.command()
def count(ctx: typer.Context) -> None:
    """Count the harbours."""
    with call_of(ctx).store() as store, store.read() as session:
        typer.echo(len(session.rows(READ)))
