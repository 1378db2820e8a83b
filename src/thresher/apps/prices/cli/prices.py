"""`thresher prices`: what is to be valued, what it is worth and why, and where its prices come from."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from thresher.admin.file_rows import IGNORE, decoded
from thresher.admin.status import worker_notice
from thresher.admin.times import read_now
from thresher.apps.prices.cli import alerts, charts, entries, exporting, monitoring, rates, sources
from thresher.apps.prices.cli.files import read_bytes
from thresher.apps.prices.item_file import read_item_sheet
from thresher.apps.prices.model import ItemStatus
from thresher.apps.prices.service import items, prices, refresh
from thresher.apps.prices.service.alerts import add_alerts
from thresher.apps.prices.service.items import (
    ItemChanged,
    ItemDetail,
    ItemsImported,
    ItemView,
    KindView,
    ValueView,
)
from thresher.apps.prices.service.prices import (
    PointEvidenceView,
    PointFilter,
    PointView,
    PriceExplanation,
    PriceHistory,
    checked_price_type,
)
from thresher.apps.prices.service.refresh import Collected, CollectionView
from thresher.apps.prices.store.overview import ItemFilter
from thresher.cli.call import call_of
from thresher.cli.format import ago, clock_time, number, short, span, when
from thresher.cli.show import answer, cell, console, known, say, table
from thresher.core.errors import UsageError

app = typer.Typer()
app.add_typer(
    sources.app,
    name="sources",
    help="See, add, change and retire price sources, and their rules.",
    no_args_is_help=True,
)
app.add_typer(
    alerts.app, name="alerts", help="See and remove what you want to be told of.", no_args_is_help=True
)

app.add_typer(rates.app, name="rates", help="Import and list exchange rates.", no_args_is_help=True)
app.command()(charts.chart)
app.command()(entries.enter)
app.command()(entries.import_points)
app.command()(exporting.export)
app.command()(monitoring.recent)
app.command()(monitoring.stuck)
app.command()(monitoring.workers)
app.command()(monitoring.duplicates)

MAX_FILE = 200 * 1024 * 1024  # bytes
Item = Annotated[str, typer.Argument(metavar="ITEM", help="Name or id of the item.")]
Limit = Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of rows.")]
Attributes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Attribute of its kind, such as year=1921. Repeatable."),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="WORD", help="Word to look for; a listing without it matches less. Repeatable."),
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="WORD", help="Word that a listing must not have. Repeatable.")
]
Currency = Annotated[str | None, typer.Option(help="Currency of its value: USD, EUR, JPY. New items: USD.")]
Urls = Annotated[
    list[str] | None, typer.Option("--url", metavar="URL", help="Its own product page. Repeatable.")
]
AtSources = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="NAME", help="Look only at this source. Repeatable. Default: all."),
]
Every = Annotated[
    str | None, typer.Option("--every", metavar="TIME", help="Look for it this often: 12h, 7d, or auto.")
]
_COLOURS = {"priced": "green", "attributed": "cyan", "pending": "yellow", "archived": "bright_black"}


# Items


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the item, as you like.")],
    kind: Annotated[str, typer.Option(help="Kind of item; thresher prices kinds lists them.")] = "product",
    attributes: Attributes = None,
    include: Include = None,
    exclude: Exclude = None,
    currency: Currency = None,
    urls: Urls = None,
    at: AtSources = None,
    every: Every = None,
) -> None:
    """Add an item and look for it. One that is known takes all that is said now and keeps its prices."""
    said = _said(include, exclude, currency, urls, at, every)
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = items.add_item(
            runtime.store,
            runtime.registry,
            name,
            {"kind": kind, "attributes": dict(map(_pair, attributes or ())), **said},
        )
        notice = worker_notice(runtime.store) if found.collections else None
    say(call, found, _added(found))
    if notice and not call.json:
        console(stderr=True).print(cell(notice))


def _said(
    include: list[str] | None,
    exclude: list[str] | None,
    currency: str | None,
    urls: list[str] | None,
    at: list[str] | None,
    every: str | None,
) -> dict[str, Any]:
    """What was named, and nothing else."""
    named = {
        "include": include,
        "exclude": exclude,
        "currency": currency,
        "urls": urls,
        "sources": at,
        "refresh": every,
    }
    return {key: value for key, value in named.items() if value is not None}


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"--set {text[:60]!r} has no value; write --set NAME=VALUE")
    return name.strip(), value


def _added(found: ItemChanged) -> str:
    item = found.item
    what = "added" if found.new else "changed" if found.changed else "as it was; nothing was changed"
    told = f"Item {item.id}, {item.name}, is {what}."
    if item.lacks:
        example = " ".join(f"--set {each}=..." for each in item.lacks)
        return f"{told} It lacks {', '.join(item.lacks)}: thresher prices change {item.id} {example}"
    if found.collections:
        return f"{told} {number(found.collections, 'source')} will be asked: thresher prices show {item.id}"
    return f"{told} Nothing is asked now: thresher prices show {item.id}" if found.changed else told


@app.command("import")
def import_(
    ctx: typer.Context,
    file: Annotated[
        str, typer.Argument(metavar="FILE.csv", help="CSV or JSON lines with items; - for stdin.")
    ],
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out lines that cannot be used.")
    ] = False,
    ignore_unknown: Annotated[
        bool, typer.Option(IGNORE, help="Leave out columns that an item does not have.")
    ] = False,
) -> None:
    """Add the items of a file, all or none. Columns: name, kind, currency, include, exclude, urls, sources,
    refresh, and one for each attribute. ; stands between several values of a cell.
    """
    call = call_of(ctx)
    name = "stdin" if file == "-" else file
    sheet = read_item_sheet(decoded(read_bytes(file, MAX_FILE), name), name, ignore_unknown=ignore_unknown)
    if not skip_bad:
        sheet.whole(name)
    with call.runtime() as runtime:
        found = items.import_items(
            runtime.store,
            runtime.registry,
            sheet.wishes,
            skipped=len(sheet.slips),
            ignored=sheet.ignored,
        )
    say(call, found, _imported(found))
    for slip in sheet.slips[:20] if not call.json else ():
        console(stderr=True).print(cell(f"{name}:{slip.line}: {slip.why}"))


def _imported(found: ItemsImported) -> str:
    parts = [
        f"{number(found.new, 'item')} added",
        f"{found.changed:,} changed",
        f"{found.unchanged:,} as they were",
    ]
    told = ", ".join(parts)
    if found.skipped:
        told += f"; {number(found.skipped, 'line')} left out"
    if found.ignored:
        told += f"; columns left out: {', '.join(found.ignored)}"
    return f"{told}. {number(found.collections, 'collection')} asked for."


@app.command()
def change(
    ctx: typer.Context,
    item: Item,
    attributes: Attributes = None,
    include: Include = None,
    exclude: Exclude = None,
    currency: Currency = None,
    urls: Urls = None,
    at: AtSources = None,
    every: Every = None,
) -> None:
    """Change an item; what is not named stays. --set NAME= takes an attribute away."""
    said = _said(include, exclude, currency, urls, at, every)
    pairs = dict(map(_pair, attributes or ()))
    if not said and not pairs:
        raise UsageError(
            "name what to change: --set year=1921, --include, --exclude, --currency, --url, --source, --every"
        )
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = items.change_item(runtime.store, runtime.registry, item, said, attributes=pairs)
    say(call, found, _added(found))


@app.command("kinds")
def kinds_(ctx: typer.Context) -> None:
    """List the kinds of items and their attributes."""
    answer(call_of(ctx), items.list_kinds(), _draw_kinds)


def _draw_kinds(out: Console, found: list[KindView]) -> None:
    rows = [
        [kind.name, each.name, "yes" if each.required else None, each.takes, each.help]
        for kind in found
        for each in kind.attributes
    ]
    out.print(table(["kind", "attribute", "required", "takes", "what it is"], rows))


@app.command("list")
def list_(
    ctx: typer.Context,
    status: Annotated[str | None, typer.Option(help=f"Only items that are {', '.join(ItemStatus)}.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only items of this kind.")] = None,
    text: Annotated[
        str | None, typer.Option("--name", metavar="TEXT", help="Only items with this in their name.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="Show archived items too.")] = False,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Start after this item: the next page.")
    ] = 0,
    limit: Limit = 50,
) -> None:
    """List items: what each is worth, how sure that is, and when it was last looked for."""
    call = call_of(ctx)
    wanted = ItemFilter(items.checked_status(status), kind, text, archived)
    with call.store() as store:
        found, now = items.list_views(store, wanted, after=after, limit=limit), read_now(store)
    answer(
        call,
        found,
        lambda out, value: _draw_list(out, value, now, limit, asked=bool(status or kind or text or after)),
    )


def _draw_list(out: Console, found: list[ItemView], now: int, limit: int, *, asked: bool) -> None:
    if not found:
        none = "No items yet. Add one: thresher prices add NAME --set model=..., or thresher prices import FILE.csv"
        out.print("No items match; thresher prices list shows all." if asked else none)
        return
    rows = [
        [
            each.id,
            short(each.name, 40),
            cell(each.status, _COLOURS.get(each.status)),
            each.value.median if each.value else None,
            _band(each.value),
            f"{each.value.confidence}/10" if each.value and each.value.confidence else None,
            each.value.comp_count if each.value else None,
            ago(each.collected_at, now),
        ]
        for each in found
    ]
    out.print(
        table(
            ["!#id", "item", "status", "#median", "#quick sale to premium", "#sure", "#prices", "#looked"],
            rows,
        )
    )
    if len(found) == limit:
        out.print(f"There may be more: --after {found[-1].id}")


def _band(value: ValueView | None) -> str | None:
    if value is None or value.quick_sale is None or value.premium is None:
        return None
    low, high = str(value.quick_sale).rpartition(" ")[0], str(value.premium).rpartition(" ")[0]
    return f"{low} to {high}"


@app.command()
def show(ctx: typer.Context, item: Item) -> None:
    """Show one item: what it is worth, its sources, and what it waits for."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = items.show_item(store, item), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: ItemDetail, now: int) -> None:
    item, value = found.item, found.item.value
    out.print(
        known(
            [
                ("item", item.name),
                ("id", item.id),
                ("kind", item.kind),
                ("status", cell(item.status, _COLOURS.get(item.status))),
                ("attributes", _named(item.attributes)),
                ("with the words", ", ".join(item.include)),
                ("must not have", ", ".join(item.exclude)),
                ("pages", "\n".join(item.urls)),
                ("looked for at", ", ".join(item.sources) or "all sources"),
                (
                    "looked for every",
                    span(item.refresh_seconds) if item.refresh_seconds else "as its prices move",
                ),
                ("last looked for", when(item.collected_at, now) if item.collected_at else "never"),
                *_value_rows(value, now),
                ("price points", _points(found)),
                ("declared in", "thresher.yaml" if item.declared_in == "file" else None),
            ]
        )
    )
    if found.collections:
        out.print()
        out.print(_collections(found.collections, now))
    if found.waits:
        out.print()
        for each in found.waits:
            out.print(cell(f"Waits: {each}"))
    if value is not None:
        out.print()
        out.print(cell(f"Why: thresher prices explain {item.id}"))


def _named(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _points(found: ItemDetail) -> str | None:
    figures = found.points
    if not (figures.counted or figures.left_out or figures.ended):
        return None
    return f"{figures.counted:,} match, {figures.left_out:,} do not, {figures.ended:,} are asked no more"


def _value_rows(value: ValueView | None, now: int) -> list[tuple[str, Any]]:
    if value is None:
        return [("worth", "not valued yet")]
    if value.median is None:
        return [("worth", f"there is no evidence to go by ({when(value.computed_at, now)})")]
    return [
        ("worth", value.median),
        ("quick sale", value.quick_sale),
        ("fair", f"{value.fair_low} to {value.fair_high}"),
        ("premium", value.premium),
        ("confidence", f"{value.confidence} of 10" if value.confidence else None),
        (
            "rests on",
            (
                f"{number(value.comp_count, 'price')} from {number(value.source_count, 'source')}: "
                f"{value.sold_count:,} sold, {value.ask_count:,} asked"
            ),
        ),
        ("valued", when(value.computed_at, now)),
    ]


def _collections(found: list[CollectionView], now: int) -> Any:
    rows = [
        [
            each.source,
            cell(
                each.verdict or "not yet",
                {"found": "green", "blocked": "red", "unknown": "yellow"}.get(each.verdict or ""),
            ),
            each.listings if each.ended_at else None,
            each.counted if each.ended_at else None,
            ago(each.ended_at, now),
            f"in {span(max(0, each.due_at - now) / 1_000_000)}"
            if each.due_at and each.due_at > now
            else None,
            short(each.reason, 60) or None,
        ]
        for each in found
    ]
    return table(["!source", "last look", "#listings", "#count", "#ago", "#next", "why"], rows)


@app.command()
def watch(
    ctx: typer.Context,
    item: Item,
    every: Every = None,
    below: Annotated[
        str | None, typer.Option(metavar="AMOUNT", help="Tell me when its value falls below this.")
    ] = None,
    above: Annotated[
        str | None, typer.Option(metavar="AMOUNT", help="Tell me when its value rises above this.")
    ] = None,
    change: Annotated[
        str | None, typer.Option(metavar="PERCENT", help="Tell me when its value changes by this: 10%.")
    ] = None,
) -> None:
    """Look for an item this often, or be told when its value passes a threshold. Amounts are in the item's
    currency.
    """
    if every is None and below is None and above is None and change is None:
        raise UsageError("say what to watch for: --every 12h, --below 50, --above 100 or --change 10%")
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = (
            items.watch_item(runtime.store, item, every)
            if every is not None
            else items.show_item(runtime.store, item).item
        )
        made = add_alerts(runtime.store, item, below=below, above=above, change=change)
    told = []
    if every is not None:
        lasts = span(found.refresh_seconds) if found.refresh_seconds else "as its prices move"
        told.append(
            f"{found.name} is looked for every {lasts}."
            if found.refresh_seconds
            else f"{found.name} is looked for {lasts}."
        )
    told += [f"You are told when {each.says} (alert {each.id})." for each in made]
    say(call, {"item": found, "alerts": made}, " ".join(told))


@app.command()
def archive(ctx: typer.Context, item: Item) -> None:
    """Look for an item no more. What is known of it is kept."""
    call = call_of(ctx)
    with call.store() as store:
        found = items.archive_item(store, item)
    say(call, found, f"{found.name} is archived; thresher prices unarchive {found.id} brings it back.")


@app.command()
def unarchive(ctx: typer.Context, item: Item) -> None:
    """Look for an archived item again."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = items.unarchive_item(runtime.store, runtime.registry, item)
    say(call, found, _added(found))


# Prices


@app.command()
def explain(
    ctx: typer.Context,
    item: Item,
    every: Annotated[
        bool, typer.Option("--all", help="Show every price point, not the first 20 of each.")
    ] = False,
) -> None:
    """Explain what an item is worth: in words, with every price that counts and every one that does not."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = prices.explain_item(store, item), read_now(store)
    answer(call, found, lambda out, value: _draw_explanation(out, value, now, None if every else 20))


def _draw_explanation(out: Console, found: PriceExplanation, now: int, most: int | None) -> None:
    value = found.item.value
    head = f"{found.item.name}: {value.median}" if value and value.median else found.item.name
    out.print(cell(head, "bold"))
    out.print(cell(found.explanation))
    if found.confidence:
        out.print()
        rows = [[each.name, f"{each.points:+g}", each.because] for each in found.confidence]
        out.print(table(["confidence", "#points", "because"], rows))
    for title, points in (
        ("Prices that count", found.counted),
        ("Prices that do not count", found.not_counted),
    ):
        if points:
            out.print()
            out.print(cell(f"{title} ({len(points):,})", "bold"))
            for each in points[:most]:
                _draw_evidence(out, each, now)
            if most is not None and len(points) > most:
                out.print(f"{len(points) - most:,} more: --all")
    if not found.shown_all:
        out.print(f"There are more points: thresher prices points {found.item.id}")


def _draw_evidence(out: Console, found: PointEvidenceView, now: int) -> None:
    point = found.point
    day = point.listing_date or clock_time(point.observed_at, now)
    unit = f" ({point.unit} each of {point.quantity})" if point.quantity > 1 else ""
    head = (
        f"  {point.price}{unit} {point.price_type} at {point.source}, {day}, match {point.match_strength:.2f}"
    )
    out.print(cell(head, None if point.counts else "dim"))
    out.print(cell(f"    {short(point.title, 70)}"))
    if point.reason:
        out.print(cell(f"    {point.reason}", "yellow"))
    if found.quote:
        out.print(cell(f"    read from: {short(found.quote, 60)}", "dim"))
    if point.url:
        out.print(Text(f"    {cell(point.url)}", "dim"), soft_wrap=True)


@app.command()
def points(
    ctx: typer.Context,
    item: Item,
    counts: Annotated[
        bool | None,
        typer.Option("--counting/--left-out", help="Only points that count, or only those that do not."),
    ] = None,
    price_type: Annotated[str | None, typer.Option("--type", help="Only sold, ask or bid.")] = None,
    source: Annotated[str | None, typer.Option(help="Only points of this source.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Leave out asks that have ended.")] = False,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Start after this point: the next page.")
    ] = 0,
    limit: Limit = 50,
) -> None:
    """List the price points of an item, and why those that do not count do not."""
    call = call_of(ctx)
    wanted = PointFilter(counts, checked_price_type(price_type), source, not live)
    with call.store() as store:
        found, now = prices.list_points(store, item, wanted, after=after, limit=limit), read_now(store)
    answer(call, found, lambda out, value: _draw_points(out, value, now, limit))


def _draw_points(out: Console, found: list[PointView], now: int, limit: int) -> None:
    if not found:
        out.print("There are no such price points.")
        return
    rows = [
        [
            each.id,
            each.source,
            each.price_type if each.ended_at is None else f"{each.price_type}, ended",
            each.price,
            each.unit if each.quantity > 1 else None,
            f"{each.match_strength:.2f}",
            "yes" if each.counts else short(each.reason, 40) or "no",
            each.listing_date or clock_time(each.observed_at, now),
            short(each.title, 50),
        ]
        for each in found
    ]
    out.print(
        table(["!#id", "source", "type", "#price", "-#of one", "-#match", "-counts", "-day", "title"], rows)
    )
    if len(found) == limit:
        out.print(f"There may be more: --after {found[-1].id}")


@app.command()
def history(
    ctx: typer.Context,
    item: Item,
    limit: Limit = 50,
) -> None:
    """Show how the value of an item and the prices of its points have moved, newest first."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = prices.show_history(store, item, limit), read_now(store)
    answer(call, found, lambda out, value: _draw_history(out, value, now))


def _draw_history(out: Console, found: PriceHistory, now: int) -> None:
    if not found.values and not found.observations:
        out.print("Nothing has moved yet.")
        return
    if found.values:
        rows = [
            [
                clock_time(each.computed_at, now),
                each.median,
                each.p20,
                each.p80,
                each.confidence,
                each.comp_count,
            ]
            for each in found.values
        ]
        out.print(table(["valued", "#median", "#quick sale", "#premium", "#sure", "#prices"], rows))
    if found.observations:
        rows = [
            [clock_time(each.observed_at, now), each.what, each.price_type, each.price, each.point_id]
            for each in found.observations
        ]
        out.print(table(["seen", "what", "type", "#price", "#point"], rows))


@app.command()
def collect(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[ITEM]...", help="Only these items.")] = None,
    source: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this source. Repeatable.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked, and why not, and ask nothing.")
    ] = False,
) -> None:
    """Look for items now. Each source is asked in its turn; a paused one waits."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = refresh.collect_now(
            runtime.store, runtime.registry, names or (), source or (), dry_run=dry_run
        )
        notice = worker_notice(runtime.store) if found.added else None
    answer(call, found, _draw_collected)
    if notice and not call.json:
        console(stderr=True).print(cell(notice))


def _draw_collected(out: Console, found: Collected) -> None:
    if not found.plans:
        out.print(
            "There is nothing to look for: thresher prices add --help, thresher prices sources add --help"
        )
        return
    rows = [
        [
            short(each.item, 40),
            each.source,
            cell("yes", "green") if each.asked else cell("no", "yellow"),
            each.task,
            each.why,
        ]
        for each in found.plans
    ]
    if found.dry_run or len(rows) <= 50:
        out.print(table(["item", "source", "asked", "#task", "why"], rows))
    would = "would be " if found.dry_run else ""
    asked = sum(each.asked for each in found.plans)
    out.print(
        f"{number(asked if found.dry_run else found.added, 'collection')} {would}asked for, {found.already:,} under way, {found.not_asked:,} not asked for."
    )
