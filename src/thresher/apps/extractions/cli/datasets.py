"""`thresher datasets`: look at what extractions brought, compare it, and write it into files."""

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.export import FileFormat, form_of
from thresher.admin.times import read_now
from thresher.apps.extractions.differing import differing
from thresher.apps.extractions.service import datasets
from thresher.apps.extractions.service.datasets import DataSetDiff, DataSetView
from thresher.apps.extractions.store.datasets import DataItem
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short
from thresher.cli.show import answer, cell, known, print_json, say, table
from thresher.core.errors import UsageError

app = typer.Typer()

Name = Annotated[
    str, typer.Argument(metavar="DATASET", help="Number of the data set, or a recipe for its newest one.")
]
MAX_CELL = 40
NOTHING = "–"
_COLOURS = {"new": "green", "changed": "yellow", "gone": "red"}


@app.command("list")
def list_(
    ctx: typer.Context,
    recipe: Annotated[
        str | None, typer.Argument(metavar="[RECIPE]", help="Only those of this recipe.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 20,
) -> None:
    """List data sets, newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = datasets.list_views(store, recipe, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw_list(out, value, now))


def _draw_list(out: Console, found: list[DataSetView], now: int) -> None:
    if not found:
        out.print("There are no data sets yet: thresher extract run RECIPE")
        return
    rows = [
        [
            each.id,
            each.recipe,
            each.extraction,
            each.version,
            each.entity,
            each.items,
            each.unverified or None,
            ago(each.ended_at, now) if each.ended_at else "growing",
        ]
        for each in found
    ]
    columns = ["!#id", "!recipe", "#extraction", "#version", "entity", "#items", "#unverified", "#ended"]
    out.print(table(columns, rows))


@app.command()
def show(
    ctx: typer.Context,
    dataset: Name,
    item: Annotated[str | None, typer.Option(help="Show this item with its evidence: its key.")] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Only items with a value that is not found on their page.")
    ] = False,
    verified: Annotated[
        bool, typer.Option("--verified", help="Only items whose values are all found.")
    ] = False,
    after: Annotated[
        int, typer.Option(min=0, help="Only items after this one: the next page of the list.")
    ] = 0,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of items.")] = 20,
) -> None:
    """Show a data set: how much of each field it has, and its items."""
    call = call_of(ctx)
    if verified and unverified:
        raise UsageError("--verified and --unverified exclude each other; give one of them")
    only = True if verified else False if unverified else None
    with call.store() as store:
        if item is not None:
            answer(call, datasets.show_item(store, dataset, item), _draw_item)
            return
        view = datasets.show_dataset(store, dataset)
        found = datasets.list_items(store, dataset, verified=only, after=after, limit=limit)
    answer(call, {"dataset": view, "items": found}, lambda out, value: _draw_set(out, value, limit))


def _draw_set(out: Console, value: dict[str, Any], limit: int) -> None:
    view, found = value["dataset"], value["items"]
    out.print(
        known(
            [
                ("data set", f"{view.id}, version {view.version} of extraction {view.extraction}"),
                ("recipe", view.recipe),
                (
                    "items",
                    f"{view.items:,}" + (f", {view.unverified:,} unverified" if view.unverified else ""),
                ),
                ("fields", ", ".join(f"{each.field} {each.share:.0%}" for each in view.fields)),
            ]
        )
    )
    out.print()
    names = [each.field for each in view.fields if each.items][:6]
    rows = [
        [each.id, *(short(_said(each.values.get(name)), MAX_CELL) for name in names), _mark(each), each.url]
        for each in found
    ]
    out.print(table(["!#id", *names, "verified", "@url"], rows) if rows else "There are no such items.")
    if len(found) == limit:
        out.print(f"There may be more: --after {found[-1].id}")


def _said(value: Any) -> str | None:
    return "; ".join(map(str, value)) if isinstance(value, list) else None if value is None else str(value)


def _mark(item: DataItem) -> Any:
    return cell("yes", "green") if item.verified else cell("no", "yellow")


def _draw_item(out: Console, item: DataItem) -> None:
    quotes = datasets.quotes_of(item)
    rows = [[name, _said(value), quotes.get(name)] for name, value in item.values.items()]
    out.print(known([("item", item.item_key), ("page", item.url), ("read by", item.read_by)]))
    out.print()
    out.print(table(["field", "value", "on the page"], rows))
    for doubt in item.doubts:
        out.print(cell(f"In doubt: {doubt}", "yellow"))


@app.command()
def diff(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", help="Data set to compare with.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Data set to compare.")],
    only: Annotated[str | None, typer.Option(help="Only items that are new, changed or gone.")] = None,
    after: Annotated[
        str, typer.Option(help="Only items after the one with this key: the next page of --only.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of rows.")] = 50,
) -> None:
    """Compare two data sets: what is new, what has changed, what is gone."""
    call = call_of(ctx)
    with call.store() as store:
        found = datasets.diff(store, old, new, what=only, after=after, limit=limit)
    answer(call, found, lambda out, value: _draw_diff(out, value, only))


def _draw_diff(out: Console, found: DataSetDiff, only: str | None) -> None:
    counts = found.counts
    out.print(
        f"From data set {found.old.id} to {found.new.id}: {counts.new:,} new, {counts.changed:,} changed, "
        f"{counts.gone:,} gone, {counts.same:,} the same."
    )
    rows = [
        [
            cell(each.what, _COLOURS[each.what]),
            short(each.name, MAX_CELL),
            "; ".join(_change(name, was, is_) for name, (was, is_) in each.fields.items()),
            each.url,
        ]
        for each in found.changes
    ]
    if rows:
        out.print(table(["", "item", "changes", "@url"], rows))
    if found.more and only:
        out.print(cell(f"There are more: --only {only} --after {shlex.quote(found.changes[-1].item_key)}"))
    elif found.more:
        out.print(f"There are more: --only {', '.join(datasets.CHANGES)} lists each kind to its end.")


def _change(name: str, was: Any, is_: Any) -> str:
    before, after = differing(_said(was) or NOTHING, _said(is_) or NOTHING, MAX_CELL)
    return f"{name}: {before} → {after}"


@app.command()
def export(
    ctx: typer.Context,
    dataset: Name,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", help="Format: csv, jsonl, xlsx or parquet. Default: by the file name, else csv."
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Output file; - for standard output.")
    ] = "-",
    verified: Annotated[
        bool, typer.Option("--verified", help="Only items whose values are all found.")
    ] = False,
) -> None:
    """Write a data set into a file, with the words of the page behind every value."""
    call = call_of(ctx)
    if form is not None and form not in list(FileFormat):
        raise UsageError(f"the formats are {', '.join(FileFormat)}; got {form!r}")
    chosen = FileFormat(form) if form else form_of(output)
    only = True if verified else None
    with call.store() as store:
        if output == "-":
            datasets.export_dataset(store, dataset, chosen, sys.stdout.buffer, verified=only)
            return
        done = datasets.export_dataset(store, dataset, chosen, Path(output), verified=only)
    say(call, done, f"{number(done.rows, 'item')} written to {done.file}.")


@app.command()
def schema(ctx: typer.Context, dataset: Name) -> None:
    """Print the JSON Schema of the items of a data set."""
    call = call_of(ctx)
    with call.store() as store:
        print_json(datasets.json_schema(store, dataset))
