"""`thresher platforms`: where scrapers outside look, how often, and how many at once."""

from typing import Annotated

import typer
from rich.console import Console

from thresher.admin.times import read_now, seconds
from thresher.apps.roles.service import platforms
from thresher.apps.roles.service.platforms import PRESETS, PlatformView, add_preset, list_views, save
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import short, span, when
from thresher.cli.show import answer, say, table
from thresher.core.errors import UsageError
from thresher.store.store import Store

app = typer.Typer()

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the platform, such as dice.")]
Every = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Minimum time between two searches for a role: 12h, 1d, none."),
]
PerMinute = Annotated[
    str | None,
    typer.Option(metavar="N", help="Requests per minute that scrapers are asked to keep, or none."),
]
InFlight = Annotated[
    str | None, typer.Option(metavar="N", help="Maximum number of concurrent sessions, or none.")
]

Preset = Annotated[
    str | None,
    typer.Option(
        metavar="PRESET",
        help=f"Add well-known platforms with their limits: {', '.join(PRESETS)}. Platforms that are there stay as they are.",
    ),
]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List platforms: their limits, their failures, and why one is paused."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_views(store), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: "Console", found: "list[PlatformView]", now: int) -> None:

    if not found:
        out.print(
            "No platforms: every scraper may search anywhere. Add one with: thresher platforms add NAME, or "
            "well-known job boards with: thresher platforms add --preset job-boards"
        )
        return
    rows = [
        [
            each.name,
            each.state,
            span(each.every_seconds) if each.every_seconds else None,
            each.requests_per_minute,
            each.in_flight,
            each.failures,
            when(each.opens_at, now),
            short(each.reason, 80),
        ]
        for each in found
    ]
    out.print(
        table(["!platform", "state", "every", "#per minute", "#in flight", "#failures", "opens", "why"], rows)
    )


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of the platform, such as dice.", show_default=False),
    ] = None,
    every: Every = None,
    per_minute: PerMinute = None,
    in_flight: InFlight = None,
    preset: Preset = None,
) -> None:
    """Add a platform, or change one that is there. What is not said stays as it is.

    With platforms every role is looked for on each of them in its turn, and a key may be kept to some.
    """
    call = call_of(ctx)
    wanted = {"every": every, "per_minute": per_minute, "in_flight": in_flight}
    if preset is not None:
        if name is not None or any(wanted.values()):
            raise UsageError(
                "--preset brings names and limits of its own; use it without NAME and other options"
            )
        _add_preset(call, preset)
        return
    if name is None:
        raise UsageError(
            "name the platform to add, or add well-known ones: thresher platforms add --preset job-boards"
        )
    with call.store(migrate=True) as store:
        save(store, name, wanted)
        _answer(call, store, name, f"Scrapers search {name}.")


def _add_preset(call: CommandCall, preset: str) -> None:
    with call.store(migrate=True) as store:
        found = add_preset(store, preset)
        limits = {each.name: each.requests_per_minute for each in list_views(store)}
    told = ", ".join(f"{name} ({limits[name]} requests per minute)" for name in found.added)
    lines = [f"Added {told}."] if told else []
    if found.kept:
        lines.append(f"Already there, and left as they are: {', '.join(found.kept)}.")
    say(call, found, " ".join(lines))


@app.command()
def remove(ctx: typer.Context, name: Name) -> None:
    """Remove a platform. Sessions under way may finish."""
    call = call_of(ctx)
    with call.store() as store:
        platforms.remove(store, name)
    say(call, {"removed": name}, f"Scrapers no longer search {name}.")


@app.command()
def pause(
    ctx: typer.Context,
    name: Name,
    lasts: Annotated[
        str | None,
        typer.Option("--for", metavar="TIME", help="Duration: 90s, 2h, 1d. Default: until it is resumed."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Reason, shown with the pause.")] = "paused manually",
) -> None:
    """Let no scraper begin there for a time. Roles wait and lose nothing."""
    call = call_of(ctx)
    with call.store() as store:
        platforms.pause(store, name, None if lasts is None else seconds(lasts), reason)
        _answer(call, store, name, f"{name} is paused: {reason}.")


@app.command()
def resume(ctx: typer.Context, name: Name) -> None:
    """Let scrapers begin there again, and forget its failures."""
    call = call_of(ctx)
    with call.store() as store:
        platforms.resume(store, name)
        _answer(call, store, name, f"{name} is open.")


def _answer(call: CommandCall, store: "Store", name: str, sentence: str) -> None:
    """Say how the platform stands after a change."""
    (view,) = [each for each in list_views(store) if each.name == name.lower()]
    say(call, view, sentence)
