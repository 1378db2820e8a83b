"""`thresher prices alerts`: what you want to be told of. `thresher prices watch` adds them."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.times import read_now
from thresher.apps.prices.service import alerts
from thresher.apps.prices.service.alerts import AlertView
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short
from thresher.cli.show import answer, say, table

app = typer.Typer()


@app.command("list")
def list_(
    ctx: typer.Context,
    item: Annotated[str | None, typer.Argument(metavar="[ITEM]", help="Only alerts of this item.")] = None,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Start after this alert: the next page.")
    ] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")] = 100,
) -> None:
    """List alerts: what you are told of, and when you were told last."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = alerts.list_alerts(store, item, after=after, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now, limit))


def _draw(out: Console, found: list[AlertView], now: int, limit: int) -> None:
    if not found:
        out.print("No alerts. Add one: thresher prices watch ITEM --below 50")
        return
    rows = [
        [
            each.id,
            each.says,
            "yes" if each.armed else "told",
            ago(each.told_at, now),
            short(each.told, 60) or None,
        ]
        for each in found
    ]
    out.print(table(["!#id", "you are told when", "armed", "#told", "what was said"], rows))
    if len(found) == limit:
        out.print(f"There may be more: --after {found[-1].id}")


@app.command()
def remove(
    ctx: typer.Context,
    numbers: Annotated[list[int], typer.Argument(metavar="ID...", min=1, help="Ids of alerts.")],
) -> None:
    """Remove alerts, all or none."""
    call = call_of(ctx)
    with call.store() as store:
        found = alerts.remove_alerts(store, numbers)
    say(call, found, f"{number(len(found), 'alert')} removed.")
