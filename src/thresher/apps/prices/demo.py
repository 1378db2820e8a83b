"""The prices app's part of the demo: two things that a marketplace of the practice web sells, valued with
every price that counts and the reason for each that does not.

On every later day they are looked for again: asks have changed, vanished or been sold meanwhile.
"""

from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from thresher import Demo, DemoRun
from thresher.apps.prices.service import items, prices
from thresher.apps.prices.service.items import ItemView
from thresher.apps.prices.service.prices import ObservationView, PointEvidenceView
from thresher.cli.format import short
from thresher.store.store import Store

SOURCE = "bay"
COIN, CAMERA = "1881-S Morgan dollar, raw", "Fieldmaster K7, used"
# What opens the marketplace of the practice web, and nothing else. A real one wants keys of your own.
KEYS: Mapping[str, str] = {
    "EBAY_CLIENT_ID": "practice-client",
    "EBAY_CLIENT_SECRET": "practice-secret-of-the-marketplace",
}
SHOWN, LEFT_OUT, MOVES = 3, 3, 5
MAX_CELL = 60
LOOK = (f'prices show "{COIN}"', f'prices explain "{COIN}"', f'prices chart "{COIN}" -o coin.svg')


def ask(run: DemoRun) -> None:
    """On the first day, add the source and the items. On every later day, look for them again."""
    if run.day:
        run.command("prices", "collect")
        return
    run.command(
        *("prices", "sources", "add", SOURCE, "--adapter", "marketplace", "--definition", "ebay"),
        *("--tier", "2", "--reputation", "0.8", "--cache", "0"),
    )
    coin = ("denomination=dollar", "year=1881", "mintmark=S", "series=Morgan", "grade=raw")
    run.command("prices", "add", COIN, "--kind", "coin", *_attributes(coin))
    camera = ("brand=Fieldmaster", "model=K7", "condition=used")
    run.command("prices", "add", CAMERA, "--kind", "product", *_attributes(camera))


def _attributes(said: Sequence[str]) -> Iterator[str]:
    for each in said:
        yield from ("--set", each)


def report(run: DemoRun, store: Store) -> Iterator[Table | str]:
    """What the things are worth, what that rests on, and what has moved since the last time."""
    found = [each for each in items.list_views(store) if each.name in (COIN, CAMERA)]
    if not found:
        return
    yield worth(found)
    explained = prices.explain_item(store, COIN)
    yield escape(f"{COIN}: {explained.explanation}")
    yield evidence(explained.counted[:SHOWN], explained.not_counted[:LEFT_OUT])
    if run.day:
        seen = prices.show_history(store, COIN).observations
        yield from moves([each for each in seen if each.what != "new" and each.observed_at >= run.began])


def counts(run: DemoRun, store: Store) -> dict[str, int]:  # noqa: ARG001  every app is asked alike
    """How many things were looked for, what was found for them, and how many have a value."""
    found = items.list_views(store)
    points = [items.show_item(store, each.name).points for each in found]
    return {
        "items": len(found),
        "points": sum(each.counted + each.left_out + each.ended for each in points),
        "valuations": sum(each.value is not None and each.value.median is not None for each in found),
    }


def worth(found: Sequence[ItemView]) -> Table:
    names = ("thing", "quick sale", "fair", "premium", "sure", "rests on")
    table = _table("What things are worth", names, names[1:5])
    for each in found:
        value = each.value
        if value is None or value.median is None:
            table.add_row(escape(each.name), "–", "–", "–", "–", "nothing was found yet")
            continue
        figures = (str(value.quick_sale), str(value.median), str(value.premium), f"{value.confidence} of 10")
        rests = f"{value.sold_count} sold, {value.ask_count} asked"
        table.add_row(escape(each.name), *figures, rests)
    return table


def evidence(counted: Sequence[PointEvidenceView], others: Sequence[PointEvidenceView]) -> Table:
    table = _table("Some of its prices", ("price", "listing", "counts"), ("price",))
    for each in (*counted, *others):
        point = each.point
        why = "yes" if point.counts and not point.reason else f"no: {point.reason}"
        table.add_row(f"{point.unit} {point.price_type}", escape(short(point.title, MAX_CELL)), escape(why))
    return table


def moves(found: Sequence[ObservationView]) -> Iterator[Table | str]:
    """Asks that have changed, ended or come back."""
    if not found:
        yield "None of its prices has moved since the last time."
        return
    table = _table("Since the last time", ("what", "price"), ("price",))
    for each in found[:MOVES]:
        table.add_row(each.what, f"{each.price} {each.price_type}")
    yield table


def _table(title: str, names: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(
        title=f"\n{escape(title)}", title_justify="left", title_style="bold", box=None, pad_edge=False
    )
    for name in names:
        table.add_column(name, justify="right" if name in numbers else "left")
    return table


DEMO = Demo(ask, report, counts, environ=KEYS, look=LOOK)
