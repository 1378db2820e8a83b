"""`thresher export`: everything of one kind, as a file for other programs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from thresher.admin.export import FileFormat, export, export_file, find_export, form_of
from thresher.cli.call import call_of
from thresher.cli.format import number
from thresher.cli.show import say
from thresher.core.errors import UsageError


def command(
    ctx: typer.Context,
    what: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="What to export: a kind that an app of the project provides."),
    ],
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
    """Write everything of one kind into a file.

    JSON lines have all that is known. CSV and XLSX have the columns people look at; a text that a spreadsheet
    would take for a formula gets an apostrophe before it.
    """
    call = call_of(ctx)
    found = find_export(call.load_apps(), what)
    if form is not None and form not in list(FileFormat):
        raise UsageError(f"the formats are {', '.join(FileFormat)}; got {form!r}")
    chosen = FileFormat(form) if form else form_of(output)
    if output != "-":
        with call.store() as store:
            done = export_file(store, what, found, chosen, Path(output), status=status)
        say(call, done, f"{number(done.rows, 'row')} written to {done.file}.")
        return
    if chosen in (FileFormat.XLSX, FileFormat.PARQUET) and sys.stdout.isatty():
        raise UsageError(f"{chosen} cannot be printed to a terminal; write it to a file: -o FILE.{chosen}")
    with call.store() as store:
        export(store, what, found, chosen, sys.stdout.buffer, status=status)
