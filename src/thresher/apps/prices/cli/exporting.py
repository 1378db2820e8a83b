"""`thresher prices export`: what `thresher export` writes of this app, where one looks for it."""

from typing import Annotated

import typer

from thresher.apps.prices.exports import EXPORTS
from thresher.cli import export as machine
from thresher.core.errors import UsageError


def export(
    ctx: typer.Context,
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help=f"What to export: {', '.join(EXPORTS)}.")
    ] = "prices",
    form: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", help="Format: csv, jsonl, xlsx or parquet. Default: by the file name, else csv."
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Output file; - for standard output.")
    ] = "-",
    status: Annotated[str | None, typer.Option(help="Only rows with this status.")] = None,
) -> None:
    """Write items with their values, or their prices, into a file."""
    if what not in EXPORTS:
        raise UsageError(f"the prices app exports {', '.join(EXPORTS)}; got {what!r}")
    machine.command(ctx, what, form, output, status)
