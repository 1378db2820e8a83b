"""`thresher prices rates`: exchange rates, from a file that you supply."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.apps.prices.cli.files import read_bytes
from thresher.apps.prices.service import rates
from thresher.apps.prices.service.rates import MAX_FILE, RatesImported, RatesView
from thresher.cli.call import call_of
from thresher.cli.format import number
from thresher.cli.show import answer, say, table

app = typer.Typer()


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.csv",
            help="CSV with day, currency and rate, or with a column for each currency; - for stdin.",
        ),
    ],
    base: Annotated[str, typer.Option(help="1 of this currency is worth the rate of the other one.")] = "EUR",
) -> None:
    """Import exchange rates, all or none. The reference rates of the ECB can be used as they are. Items with
    prices in other currencies are valued again.
    """
    call = call_of(ctx)
    name = "stdin" if file == "-" else file
    body = read_bytes(file, MAX_FILE)
    with call.runtime() as runtime:
        found = rates.import_rates(runtime.store, body, name, base)
    say(call, found, _imported(found))


def _imported(found: RatesImported) -> str:
    span = f", from {found.first} to {found.last}" if found.first else ""
    told = f"{number(found.rates, 'rate')} of {number(found.currencies, 'currency', 'currencies')} to {found.base}{span}"
    news = f"{found.changed:,} new or changed" if found.changed else "all of them known"
    again = f" {number(found.revalued, 'item')} valued again." if found.revalued else ""
    return f"{told}: {news}.{again}"


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the currencies that have rates, and of which days."""
    call = call_of(ctx)
    with call.store() as store:
        found = rates.list_rates(store)
    answer(call, found, _draw)


def _draw(out: Console, found: list[RatesView]) -> None:
    if not found:
        out.print(
            "No rates: prices in another currency than the item's do not count. Import some: "
            "thresher prices rates import FILE.csv"
        )
        return
    rows = [[each.currency, each.base, each.first, each.last, each.count] for each in found]
    out.print(table(["currency", "against", "first day", "last day", "#rates"], rows))
