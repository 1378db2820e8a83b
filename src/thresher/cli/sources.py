"""`thresher sources`: see, limit, pause, test the sources and other gates."""

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.console import Console

from thresher.admin import sources
from thresher.admin.events import list_events
from thresher.admin.gates import (
    Activity,
    GateView,
    could_start,
    gate_activity,
    list_gates,
    rate_words,
    show_gate,
)
from thresher.admin.times import read_now
from thresher.cli.call import CommandCall, call_of
from thresher.cli.events import event_table
from thresher.cli.format import ago, bars, clock_time, opens, short, span, when
from thresher.cli.numbers import numbered
from thresher.cli.show import answer, cell, pairs, say, table
from thresher.cli.status import GATES

app = typer.Typer()


class Robots(StrEnum):
    """Whether robots.txt is kept to."""

    ON = "on"
    OFF = "off"


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Name of a source, a gate such as host:example.com, or its number in the last list.",
        callback=numbered(GATES),
    ),
]
NewName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the source.")]
Rate = Annotated[str | None, typer.Option(help="Starts per second: 2, 0.5, 30/m, none.")]
Burst = Annotated[str | None, typer.Option(help="Burst: starts allowed at once.")]
InFlight = Annotated[str | None, typer.Option(help="Maximum number of concurrent tasks, or none.")]
TripAfter = Annotated[str | None, typer.Option(help="Consecutive failures that trip the breaker, or none.")]
Cooldown = Annotated[str | None, typer.Option(help="Cooldown of a tripped breaker: 5m.")]


@app.command("list")
def list_(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Include all gates, such as hosts.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number of rows.")] = 1_000,
) -> None:
    """List sources with their limits, health, and the reason for every pause."""
    call = call_of(ctx)
    with call.store() as store:
        gates = list_gates(store, every=every, limit=limit)
        now = read_now(store)
    answer(call, gates, lambda out, value: _draw_list(out, value, now, every))


def _draw_list(out: "Console", gates: "list[GateView]", now: int, every: bool) -> None:

    if not gates:
        what = "gates" if every else "sources"
        out.print(
            f"No {what} yet: apps declare them when they first run, or add one with: thresher sources add NAME"
        )
        return
    rows = [
        [
            gate.name if every else gate.source,
            gate.state,
            _rate(gate),
            _slots(gate),
            _breaker(gate),
            gate.waiting or None,
            ago(gate.last_success_at, now),
            short(_why(gate), 200),
            opens(gate.state, gate.opens_at, now),
        ]
        for gate in gates
    ]
    out.print(
        table(
            [
                "!gate" if every else "!source",
                "state",
                "-rate",
                "-in flight",
                "-breaker",
                "#waiting",
                "-#success",
                "+why",
                "-opens",
            ],
            rows,
            numbered=GATES.rows([gate.name for gate in gates]),
        )
    )


def _why(gate: "GateView") -> str | None:
    """Say why it is closed, and whether robots.txt is ignored, so that no one forgets it."""
    off = None if gate.robots_off_at is None else f"robots off: {gate.robots_off_reason}"
    return "; ".join(word for word in (gate.reason, off) if word) or None


def _rate(gate: "GateView") -> str | None:
    return None if gate.rate is None else rate_words(gate.rate, gate.burst)


def _slots(gate: "GateView") -> str | None:
    return None if gate.max_in_flight is None else f"{gate.in_flight} of {gate.max_in_flight}"


def _robots(gate: "GateView", now: int) -> str:

    return (
        "asked"
        if gate.robots_off_at is None
        else f"ignored since {clock_time(gate.robots_off_at, now)}: {gate.robots_off_reason}"
    )


def _breaker(gate: "GateView") -> str | None:
    return None if gate.trip_after is None else f"{gate.failures} of {gate.trip_after}"


@app.command()
def show(ctx: typer.Context, name: Name) -> None:
    """Show one source or gate, and what happened to it lately."""
    call = call_of(ctx)
    with call.store() as store:
        gate = show_gate(store, name)
        events = list_events(store, source=name, limit=10)
        day = gate_activity(store, [gate.name]).get(gate.name, Activity())
        now = read_now(store)
    found = {"gate": gate, "day": day, "events": events}
    answer(call, found, lambda out, _: _draw_one(out, gate, day, events, now))


def _draw_one(
    out: "Console", gate: "GateView", day: Activity, events: list[dict[str, Any]], now: int
) -> None:

    out.print(
        pairs(
            [
                ("gate", gate.name),
                ("declared by", gate.app),
                ("state", cell(gate.state)),
                ("why", gate.reason),
                ("opens", opens(gate.state, gate.opens_at, now)),
                ("rate", _rate(gate) or "no limit"),
                ("in flight", _slots(gate) or "not limited"),
                (
                    "breaker",
                    f"{_breaker(gate)} failures in a row, cooldown {span(gate.cooldown)}"
                    if gate.trip_after
                    else "none",
                ),
                ("robots.txt", _robots(gate, now)),
                ("waiting here", gate.waiting),
                ("looks in a day", _day(day.ended, f"{sum(day.ended):,} ended, {sum(day.failed):,} failed")),
                ("finds in a day", _day(day.found, f"{sum(day.found):,} new records, {day.yields}")),
                ("last success", when(gate.last_success_at, now) if gate.last_success_at else "never"),
                (
                    "last trouble",
                    f"{when(gate.last_error_at, now)}: {gate.last_error}" if gate.last_error else "none",
                ),
            ]
        )
    )
    if events:
        out.print(event_table(events, now))


def _day(hours: list[int], says: str) -> str:
    """A day hour by hour, and in words."""
    drawn = bars(hours)
    return f"{drawn} {says}" if drawn else "none"


@app.command()
def add(
    ctx: typer.Context,
    name: NewName,
    rate: Rate = None,
    burst: Burst = None,
    in_flight: InFlight = None,
    trip_after: TripAfter = None,
    cooldown: Cooldown = None,
) -> None:
    """Make a source. Without options: no rate, no slots, a breaker that trips after 5 failures."""
    call = call_of(ctx)
    with call.store(migrate=True) as store:
        sources.add(store, name, _limits(rate, burst, in_flight, trip_after, cooldown))
        _answer(call, store, name, f"Source {name} added; stages go through it as source:{name}.")


@app.command()
def limit(
    ctx: typer.Context,
    name: Name,
    rate: Rate = None,
    burst: Burst = None,
    in_flight: InFlight = None,
    trip_after: TripAfter = None,
    cooldown: Cooldown = None,
) -> None:
    """Change limits; those not named stay. "none" takes one away."""
    call = call_of(ctx)
    with call.store() as store:
        sources.limit(store, name, _limits(rate, burst, in_flight, trip_after, cooldown))
        _answer(call, store, name, None)


def _limits(
    rate: str | None, burst: str | None, in_flight: str | None, trip_after: str | None, cooldown: str | None
) -> dict[str, str | None]:
    return {
        "rate": rate,
        "burst": burst,
        "in_flight": in_flight,
        "trip_after": trip_after,
        "cooldown": cooldown,
    }


@app.command()
def pause(
    ctx: typer.Context,
    name: Name,
    for_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Duration: 90s, 10m, 2h, 1d.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="End of the pause, with its time zone: '2026-11-20 08:00 UTC', '... +01:00', '... Europe/Berlin'.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Reason, shown with the pause.")] = "paused manually",
) -> None:
    """Close a source for a time (--for) or until a time (--until). Its tasks wait and lose nothing; it opens
    by itself.
    """
    call = call_of(ctx)
    with call.store() as store:
        sources.pause_as_asked(store, name, for_, until, reason)
        _answer(call, store, name, None)


@app.command()
def resume(ctx: typer.Context, name: Name) -> None:
    """End a pause, or a breaker's cooldown, now."""
    call = call_of(ctx)
    with call.store() as store:
        sources.resume(store, name)
        _answer(call, store, name, None)


@app.command()
def disable(
    ctx: typer.Context,
    name: Name,
    reason: Annotated[str, typer.Option(help="Reason, shown with the source.")] = "disabled manually",
) -> None:
    """Close a source until you enable it. Its tasks wait and lose nothing."""
    call = call_of(ctx)
    with call.store() as store:
        sources.disable(store, name, reason)
        _answer(call, store, name, None)


@app.command()
def enable(ctx: typer.Context, name: Name) -> None:
    """Open a source, whatever closed it, and forget its failures."""
    call = call_of(ctx)
    with call.store() as store:
        sources.enable(store, name)
        _answer(call, store, name, None)


@app.command()
def robots(
    ctx: typer.Context,
    name: Name,
    state: Annotated[Robots, typer.Argument(help="on: obey robots.txt. off: ignore it, with a reason.")],
    reason: Annotated[
        str,
        typer.Option(help="Reason for ignoring robots.txt, stored with the date and shown with the source."),
    ] = "",
) -> None:
    """Switch robots.txt off for one source or host, by name and with a reason, or on again. It is on
    everywhere else.
    """
    call = call_of(ctx)
    with call.store() as store:
        if state is Robots.OFF:
            sources.waive_robots(store, name, reason)
        else:
            sources.mind_robots(store, name)
        _answer(
            call, store, name, f"robots.txt is {'ignored' if state is Robots.OFF else 'obeyed'} at {name}."
        )


@app.command()
def test(ctx: typer.Context, name: Name) -> None:
    """Run the source's probe, tell its gate how it went, and say whether a task could start now."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        probe = sources.test(runtime.store, runtime.registry, name)
        gate = show_gate(runtime.store, name)
    verdict = could_start(gate)
    found = {"probe": probe, "could_start": gate.state == "open", "verdict": verdict, "gate": gate}
    answer(call, found, lambda out, _: _draw_test(out, probe, verdict))
    raise typer.Exit(0 if probe.ok else 1)


def _draw_test(out: "Console", probe: Any, verdict: str) -> None:

    if probe.ran:
        out.print(
            cell("probe: ok" if probe.ok else "probe: failed", "green" if probe.ok else "red"),
            cell(probe.says or ""),
        )
    else:
        out.print("No app declares a probe for it, so nothing was tried.")
    out.print(cell(verdict))


def _answer(call: CommandCall, store: Any, name: str, sentence: str | None) -> None:
    """Say how the gate stands after a change."""
    gate = show_gate(store, name)
    limits = f"rate {_rate(gate) or 'no limit'}, in flight {_slots(gate) or 'not limited'}, breaker {_breaker(gate) or 'none'}"
    say(call, gate, sentence or f"{could_start(gate)}\n{limits}")
