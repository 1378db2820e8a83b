"""`thresher prices sources`: where prices come from, what each source is worth, and how it is."""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin.times import read_now
from thresher.apps.prices.model import Adapter, RuleKind
from thresher.apps.prices.service import sources, trial
from thresher.apps.prices.service.cache import set_cache
from thresher.apps.prices.service.sources import RULE_WORDS, SourceChanged, SourceView
from thresher.apps.prices.service.trial import TriedSource
from thresher.cli.call import call_of
from thresher.cli.format import ago, number, short, span, when
from thresher.cli.show import answer, cell, known, say, table
from thresher.core.clock import SECOND
from thresher.core.errors import UsageError
from thresher.runtime import DirectFetch, opened_fetcher

app = typer.Typer()
rules_app = typer.Typer()
app.add_typer(rules_app, name="rules", help="Add and remove rules of a source.", no_args_is_help=True)

NONE = ("none", "null", "")
Name = Annotated[str, typer.Argument(metavar="SOURCE", help="Name of the source.")]
Definition = Annotated[
    str | None,
    typer.Option(
        help="Definition that comes with the app, or that of a file in the project's folder sources."
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="Parameter of the definition. Repeatable."),
]
Tier = Annotated[int | None, typer.Option(help="From 1, the best, to 10.")]
Reputation = Annotated[float | None, typer.Option(help="How much its prices count, from 0 to 1.")]
Rate = Annotated[
    str | None,
    typer.Option("--rate-per-minute", metavar="NUMBER", help="Requests a minute, or none for no limit."),
]
Cache = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="SECONDS",
        help="How long an answer is used again; 0: never, none: prices.cache_ttl.",
    ),
]


@app.command("list")
def list_(
    ctx: typer.Context,
    retired: Annotated[bool, typer.Option("--retired", help="Show retired sources too.")] = False,
) -> None:
    """List price sources: whether each is open, its failures in a row, and when it last worked."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = sources.list_views(store, retired=retired), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: Console, found: list[SourceView], now: int) -> None:
    if not found:
        out.print(
            "No price sources. Add one: thresher prices sources add NAME --adapter csv --option file=prices.csv"
        )
        return
    rows = [
        [
            each.name,
            each.adapter,
            cell("retired", "bright_black") if each.retired_at else cell(each.state),
            each.tier,
            f"{each.reputation:g}",
            f"{each.rate_per_minute:g}" if each.rate_per_minute else None,
            each.failure_streak or None,
            ago(each.last_success_at, now),
            ago(each.last_failure_at, now),
            short(_why(each, now), 60) or None,
        ]
        for each in found
    ]
    columns = [
        "!source",
        "adapter",
        "state",
        "#tier",
        "-#reputation",
        "-#a minute",
        "#failures",
        "-#success",
        "-#failure",
        "why",
    ]
    out.print(table(columns, rows))


def _why(source: SourceView, now: int) -> str | None:
    opens = f"opens in {span((source.paused_until - now) / SECOND)}" if source.paused_until else None
    lacks = f"not set here: {', '.join(source.missing)}" if source.missing else None
    return "; ".join(each for each in (opens, source.why, lacks) if each) or None


@app.command()
def show(ctx: typer.Context, name: Name) -> None:
    """Show one price source with its options, rules and health."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = sources.show_source(store, name), read_now(store)
    answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: SourceView, now: int) -> None:
    out.print(
        known(
            [
                ("source", found.name),
                ("adapter", found.adapter),
                ("definition", found.definition),
                ("options", ", ".join(f"{name}={_written(value)}" for name, value in found.options.items())),
                ("state", cell("retired" if found.retired_at else found.state)),
                ("why", found.why),
                ("opens", when(found.paused_until, now) if found.paused_until else None),
                ("gate", found.gate),
                ("tier", found.tier),
                ("reputation", f"{found.reputation:g}"),
                ("rate", f"{found.rate_per_minute:g} a minute" if found.rate_per_minute else "no limit"),
                ("answers", _kept(found.cache_seconds)),
                ("needs", ", ".join(_variable(found, each) for each in found.needs)),
                ("failures in a row", found.failure_streak or None),
                ("last success", when(found.last_success_at, now) if found.last_success_at else "never"),
                ("last failure", when(found.last_failure_at, now) if found.last_failure_at else "never"),
                ("last error", found.last_error),
                ("items looked for", f"{found.items:,}, {found.found:,} of them found"),
                ("declared in", "thresher.yaml" if found.declared_in == "file" else None),
            ]
        )
    )
    if found.rules:
        rows = [
            [at, each.kind, ", ".join(each.values), each.priority, "yes" if each.active else "no"]
            for at, each in enumerate(found.rules, 1)
        ]
        out.print()
        out.print(table(["#rule", "kind", "values", "#priority", "active"], rows))


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kept(seconds: int | None) -> str:
    if seconds is None:
        return "used again as long as prices.cache_ttl says"
    return f"used again for {seconds:,} seconds" if seconds else "never used again"


def _variable(source: SourceView, name: str) -> str:
    return f"{name} (not set here)" if name in source.missing else name


@app.command()
def add(
    ctx: typer.Context,
    name: Name,
    adapter: Annotated[Adapter, typer.Option(help="How its listings are had.")],
    definition: Definition = None,
    options: Options = None,
    tier: Tier = None,
    reputation: Reputation = None,
    rate: Rate = None,
    cache: Cache = None,
) -> None:
    """Add a price source, or have one that is known be as it is said now. Every item that names no source is
    looked for there.
    """
    said = _said(definition, options, tier, reputation, rate, cache)
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = sources.add_source(
            runtime.store, runtime.registry, name, {"adapter": adapter.value, **said}, call.project().folder
        )
    say(call, found, _changed(found))


@app.command()
def change(
    ctx: typer.Context,
    name: Name,
    definition: Definition = None,
    options: Options = None,
    tier: Tier = None,
    reputation: Reputation = None,
    rate: Rate = None,
    cache: Cache = None,
) -> None:
    """Change a price source; what is not named stays. --option NAME= takes an option away."""
    said = _said(definition, None, tier, reputation, rate, cache)
    if not said and not options:
        raise UsageError(
            "name what to change: --tier, --reputation, --rate-per-minute, --cache, --option, --definition"
        )
    call = call_of(ctx)
    with call.runtime() as runtime:
        folder = call.project().folder
        found = sources.change_source(
            runtime.store, runtime.registry, name, said, options=_options(options), folder=folder
        )
    say(call, found, _changed(found))


@app.command("test")
def try_(
    ctx: typer.Context,
    name: Name,
    item: Annotated[
        str | None, typer.Argument(metavar="[ITEM]", help="Item to ask for. Default: the newest.")
    ] = None,
) -> None:
    """Ask a source once for an item, show what is read and how it is judged, and keep nothing. Exits 1 if
    that proves nothing.
    """
    call = call_of(ctx)
    project = call.project()
    with call.store() as store:
        source, wanted = trial.trial_of(store, name, item)
        settings, needed = store.settings, int(store.settings["prices.match_needed"])
        now = read_now(store)

    async def look() -> TriedSource:
        async with opened_fetcher(project, settings) as fetcher:
            return await trial.try_source(source, wanted, DirectFetch(fetcher), lambda: now, needed)

    found = asyncio.run(look())
    answer(call, found, _draw_trial)
    raise typer.Exit(0 if found.works else 1)


def _draw_trial(out: Console, found: TriedSource) -> None:
    total = "" if found.total is None else f" of {found.total:,}"
    if found.verdict is None:
        out.print(cell(f"{found.source} cannot be asked for {found.item}: {found.reason}", "red"))
        return
    out.print(cell(f"{found.verdict}: {found.reason}", "green" if found.works else "yellow"))
    out.print(
        f"{found.listings:,}{total} listings on the first page, {found.counted:,} are about {found.item}."
    )
    for each in found.notes:
        out.print(cell(each, "yellow"))
    rows = [
        [
            each.price,
            each.price_type,
            f"{each.match_strength:.2f}",
            "yes" if each.counts else short(each.reason, 40) or "no",
            short(each.title, 50),
        ]
        for each in found.sample
    ]
    if rows:
        out.print(table(["#price", "type", "#match", "counts", "title"], rows))


@app.command()
def cache(
    ctx: typer.Context,
    name: Name,
    seconds: Annotated[
        str,
        typer.Argument(
            metavar="SECONDS", help="0: ask every time and forget what was kept; none: as the source says."
        ),
    ],
) -> None:
    """Set for how long the answers of a source are used again, whatever the project file says."""
    call = call_of(ctx)
    with call.store() as store:
        set_cache(store, name, _number(seconds, "SECONDS"))
        found = sources.show_source(store, name)
    say(call, found, f"Answers of {found.name} are {_kept(found.cache_seconds)}.")


@app.command()
def retire(ctx: typer.Context, name: Name) -> None:
    """Ask a source no more. The prices that it has brought are kept and go on counting."""
    call = call_of(ctx)
    with call.store() as store:
        found = sources.retire_source(store, name)
    say(call, found, f"Source {found.name} is retired; what it has brought is kept.")


def _said(
    definition: str | None,
    options: list[str] | None,
    tier: int | None,
    reputation: float | None,
    rate: str | None,
    cache: str | None,
) -> dict[str, Any]:
    said: dict[str, Any] = {"definition": definition, "tier": tier, "reputation": reputation}
    said = {key: value for key, value in said.items() if value is not None}
    if options:
        said["options"] = {name: value for name, value in _options(options).items() if value is not None}
    if rate is not None:
        said["rate_per_minute"] = _number(rate, "--rate-per-minute")
    if cache is not None:
        said["cache_seconds"] = _number(cache, "--cache")
    return said


def _number(text: str, option: str) -> int | None:
    if text.strip().lower() in NONE:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UsageError(f"{option} {text[:40]!r} is wrong; write a whole number, or none")
    return int(text)


def _options(texts: list[str] | None) -> dict[str, Any]:
    """Options by name. A value that is JSON is what it says: 5, true, ["a", "b"]; any other is text."""
    found: dict[str, Any] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--option {text[:60]!r} has no value; write --option NAME=VALUE")
        found[name.strip()] = _value(value) if value else None
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _changed(found: SourceChanged) -> str:
    source = found.source
    what = "added" if found.new else "changed" if found.changed else "as it was; nothing was changed"
    told = f"Source {source.name} is {what}."
    if found.items:
        told += f" {number(found.items, 'item')} will be looked for there."
    if source.missing:
        told += f" It needs {', '.join(source.missing)}, which is not set here: set it where the workers run."
    return told


# Rules


@rules_app.command("add")
def add_rule(
    ctx: typer.Context,
    name: Name,
    kind: Annotated[RuleKind, typer.Argument(metavar="KIND", help=f"Kind of rule: {', '.join(RuleKind)}.")],
    values: Annotated[
        list[str], typer.Argument(metavar="VALUE...", help="Words, paths, or requests a minute.")
    ],
    priority: Annotated[
        int, typer.Option(help="Of two rules of a kind the one with the higher number comes first.")
    ] = 0,
) -> None:
    """Add a rule to a source: words that a listing must or must not have, paths that count, another rate."""
    call = call_of(ctx)
    rule: Mapping[str, Any] = {"kind": kind.value, "values": values, "priority": priority}
    with call.runtime() as runtime:
        found = sources.add_rule(runtime.store, runtime.registry, name, rule)
    say(call, found, f"Source {found.source.name} has rule {len(found.source.rules)}: {RULE_WORDS[kind]}.")


@rules_app.command("remove")
def remove_rule(
    ctx: typer.Context,
    name: Name,
    which: Annotated[
        int, typer.Argument(metavar="NUMBER", min=1, help="Number of the rule, as show lists them.")
    ],
) -> None:
    """Remove a rule of a source."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = sources.remove_rule(runtime.store, runtime.registry, name, which)
    say(call, found, f"Rule {which} of source {found.source.name} is removed.")
