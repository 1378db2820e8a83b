"""Prices that a person knows: `thresher prices enter` and `thresher prices import-points`."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.apps.prices.cli.files import read_bytes
from thresher.apps.prices.model import PriceType
from thresher.apps.prices.service import manual
from thresher.apps.prices.service.manual import PointsAdded
from thresher.cli.call import call_of
from thresher.cli.format import number, short
from thresher.cli.show import answer, cell, table

MAX_FILE = 50_000_000  # bytes

Item = Annotated[str, typer.Argument(metavar="ITEM", help="Name or id of the item.")]
Source = Annotated[
    str | None,
    typer.Option(help="Manual source that the prices belong to. Default: manual, made when needed."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say how each price is judged, and enter nothing.")]


def enter(
    ctx: typer.Context,
    item: Item,
    price: Annotated[str, typer.Argument(metavar="PRICE", help="Price, such as 45.00 or €39,90.")],
    kind: Annotated[
        PriceType, typer.Option("--type", help="Whether it was sold, asked or bid.")
    ] = PriceType.SOLD,
    currency: Annotated[str | None, typer.Option(help="Currency. Default: that of the item.")] = None,
    title: Annotated[str | None, typer.Option(help="What was offered. Default: the item itself.")] = None,
    day: Annotated[
        str | None, typer.Option("--date", metavar="DAY", help="Day of the price: 2026-01-31.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="Page where it stands.")] = None,
    quantity: Annotated[int | None, typer.Option(min=1, help="How many it is for.")] = None,
    condition: Annotated[str | None, typer.Option(help="Condition of what was offered.")] = None,
    source: Source = None,
    dry_run: DryRun = False,
) -> None:
    """Enter a price that you know. It is judged and counts like that of any source."""
    said = {
        "price": price,
        "type": kind.value,
        "currency": currency,
        "title": title,
        "date": day,
        "url": url,
        "quantity": None if quantity is None else str(quantity),
        "condition": condition,
    }
    row = {name: value for name, value in said.items() if value is not None}
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = manual.add_points(
            runtime.store, runtime.registry, item, [row], source=source, dry_run=dry_run
        )
    answer(call, found, _draw)


def import_points(
    ctx: typer.Context,
    item: Item,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv", help="CSV with title, price, currency, type, date, url; - for stdin."
        ),
    ],
    source: Source = None,
    day_first: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="How to read 03/04/2026.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Import the prices of a CSV file for an item. Rows that cannot be read are named and left out."""
    call = call_of(ctx)
    body = read_bytes(file, MAX_FILE)
    with call.runtime() as runtime:
        found = manual.import_points(
            runtime.store, runtime.registry, item, body, source=source, day_first=day_first, dry_run=dry_run
        )
    answer(call, found, _draw)


def _draw(out: Console, found: PointsAdded) -> None:
    rows = [
        [
            each.place,
            each.type,
            each.price,
            f"{each.match_strength / 1_000:.2f}",
            "yes" if each.counts else short(each.reason, 50) or "no",
            short(each.title, 40),
        ]
        for each in found.points[:50]
    ]
    if len(found.points) > 1 or found.dry_run or not found.counted:
        out.print(table(["place", "type", "#price", "#match", "counts", "title"], rows))
    for each in found.bad:
        out.print(cell(f"left out: {each}", "yellow"))
    would = "would be entered" if found.dry_run else "entered"
    told = f"{number(len(found.points), 'price')} of {found.item} {would} at {found.source}: {found.counted:,} count"
    told += f", {number(found.bad_rows, 'row')} could not be read." if found.bad_rows else "."
    out.print(cell(told if found.dry_run else f"{told} A worker values it anew."))
