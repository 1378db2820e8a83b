"""`thresher run`: work until nothing is left to do, with progress."""

import asyncio
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from signal import SIGTERM
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from thresher.admin.costs import estimate, expectation
from thresher.admin.failures import FailureGroup
from thresher.admin.gates import GateView
from thresher.admin.health import needs_person
from thresher.admin.plain import jsonable
from thresher.admin.status import KindProgress, Progress, RunRest, read_progress, read_rest
from thresher.admin.tasks import start
from thresher.admin.times import read_now
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import number, opens, short, span, when
from thresher.cli.logs import Format, log_to_stderr
from thresher.cli.otel import Otel, with_spans
from thresher.cli.show import cell, console, print_json, table
from thresher.cli.status import gate_table, need_sentence
from thresher.cli.worker import NOT, ONLY, WorkerEnd, labour, names_in, worker_name
from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem
from thresher.engine.supervisor import StallAlarm
from thresher.engine.worker import run_loop
from thresher.runtime import Runtime, opened_worker

# The progress of a run: live bars on a terminal, an occasional plain line elsewhere.

BAR_WIDTH = 32
GATES_SHOWN = GROUPS_SHOWN = 5
LIVE_SECONDS = 0.25
PLAIN_SECONDS = 1.0
# Reading progress must stay cheap: at most this share of the time.
LOOKING_SHARE = 0.1


class ProgressView(Protocol):
    """Where progress is shown. `every` is how often, in seconds."""

    every: float

    def show(self, progress: Progress) -> None: ...


class LiveBoard:
    """One bar per kind, and the gates that are closed."""

    def __init__(self, live: Live) -> None:
        self._live, self.every = live, LIVE_SECONDS

    def show(self, progress: Progress) -> None:
        self._live.update(picture(progress), refresh=True)


class PlainBoard:
    """A line for each look that saw something new."""

    def __init__(self, out: Console) -> None:
        self._out, self._last, self.every = out, "", PLAIN_SECONDS

    def show(self, progress: Progress) -> None:
        line = plain_line(progress)
        if line != self._last:
            self._last = line
            self._out.print(cell(line))


@contextmanager
def opened_board(out: Console) -> Iterator[ProgressView]:
    """The board that suits where people read."""
    if not out.is_terminal:
        yield PlainBoard(out)
        return
    with Live(console=out, auto_refresh=False) as live:
        yield LiveBoard(live)


async def watch(look: Callable[[], Progress], board: ProgressView) -> None:
    """Show progress until cancelled. A look that fails is only a look."""
    while True:
        before = monotonic()
        with suppress(DatabaseProblem):  # the worker says what is wrong with the database; once is enough
            board.show(await asyncio.to_thread(look))
        await asyncio.sleep(max(board.every, (monotonic() - before) / LOOKING_SHARE))


def picture(progress: Progress) -> RenderableType:
    """The bars and the closed gates."""
    grid = Table.grid(padding=(0, 1))
    for kind in progress.kinds:
        bar = ProgressBar(
            total=max(1, kind.total),
            completed=kind.done,
            width=BAR_WIDTH,
            complete_style="cyan",
            finished_style="green",
        )
        grid.add_row(
            cell(kind.kind, "bold"),
            bar,
            Text(f"{kind.done:,} / {kind.total:,}"),
            Text(_asides(kind), style="dim"),
        )
    gates = progress.closed[:GATES_SHOWN]
    lines = [
        Text.assemble(
            "  ", cell(gate.name), " ", cell(gate.state), cell(f" {_gate(gate, progress.at)}", "dim")
        )
        for gate in gates
    ]
    return Group(grid, *lines)


def _asides(kind: KindProgress) -> str:
    counts = {
        "running": kind.running,
        "retrying": kind.retrying,
        "filtered": kind.filtered,
        "skipped": kind.skipped,
        "failed": kind.failed,
    }
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def _bracketed(text: str) -> str:
    return f" ({text})" if text else ""


def _gate(gate: GateView, now: int) -> str:
    why = short(gate.reason, 70)
    until = "" if gate.state in ("full", "rate") else f", opens {opens(gate.state, gate.opens_at, now)}"
    return f"{why}{until}, {gate.waiting:,} waiting"


def plain_line(progress: Progress) -> str:
    """All of it in one line, without the ordinary work of full gates."""
    kinds = "; ".join(
        f"{kind.kind} {kind.done:,}/{kind.total:,}{_bracketed(_asides(kind))}" for kind in progress.kinds
    )
    shut = "; ".join(
        f"{gate.name} {gate.state}: {_gate(gate, progress.at)}"
        for gate in progress.closed[:GATES_SHOWN]
        if gate.shut
    )
    return f"{kinds or 'no tasks yet'}{f' | {shut}' if shut else ''}"


def command(
    ctx: typer.Context,
    again: Annotated[
        bool, typer.Option("--again", help="Enqueue the apps' first tasks even if they ran here before.")
    ] = False,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Maximum number of concurrent tasks. Default: worker.concurrency."
        ),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", help=ONLY)] = None,
    without: Annotated[str | None, typer.Option("--not", help=NOT)] = None,
    log_format: Format = None,
    otel: Otel = None,
) -> None:
    """Work until nothing is left to do. Ctrl-C is safe; the next run goes on. Exits 1 if a task failed or
    the code of an app raised an unexpected error.
    """
    call = call_of(ctx)
    log_to_stderr(verbose=call.verbose, usual=logging.WARNING, form=log_format)
    with call.runtime() as opened, with_spans(opened, call.url(call.project()), otel) as runtime:
        serves = runtime.registry.scopes(only=names_in(only), without=names_in(without))
        since = read_now(runtime.store)
        started = start(runtime.store, runtime.registry, again=again)
        expected = expectation(estimate(runtime.store)) if runtime.models else None
        if expected and not call.json:
            console().print(expected)
        before = monotonic()
        ended = _work(call, runtime, concurrency=concurrency, serves=serves)
        facts = {"seconds": round(monotonic() - before, 3), "started": len(started), **ended.summary()}
        rest: RunRest | None = None
        try:
            rest = read_rest(runtime.store, serves, since)
            _sum_up(call, runtime, ended, facts, rest)
        except KeyboardInterrupt:  # the work has ended: nothing is interrupted but the report
            console(stderr=True).print("The work is done; the rest of the summary: thresher status")
    wrong = ended.failed or (rest and rest.unexpected)
    ended.leave(1 if wrong else 128 + SIGTERM if ended.interrupted else 0)


def _sum_up(
    call: CommandCall, runtime: "Runtime", ended: "WorkerEnd", facts: dict[str, Any], rest: RunRest
) -> None:
    progress = read_progress(runtime.store)
    needs = needs_person(runtime.store, runtime.registry.apps)
    if call.json:
        print_json(facts | jsonable(progress) | jsonable(rest) | {"needs_you": jsonable(needs)})
        return
    _draw_summary(ended, progress, rest, facts["seconds"])
    for check in needs[:GROUPS_SHOWN] if progress.kinds else ():
        console().print(cell(need_sentence(check)))


def _work(call: CommandCall, runtime: "Runtime", **how: Any) -> "WorkerEnd":

    url, name = call.url(call.project()), worker_name(None, os.environ)
    with opened_worker(runtime, url, until_idle=True, name=name, **how) as worker, StallAlarm() as alarm:

        def beat() -> bool:
            return alarm.beat(runtime.store.settings)

        if call.json:
            return run_loop(labour(worker, beat=beat))
        out, look = console(), partial(read_progress, runtime.store)
        with opened_board(out) as board:
            ended = run_loop(labour(worker, partial(watch, look, board), out.print, beat=beat))
            board.show(look())
        return ended


def _draw_summary(ended: "WorkerEnd", progress: "Progress", rest: RunRest, seconds: float) -> None:

    out = console()
    if not progress.kinds:
        out.print(
            "There is nothing to do: no tasks, and no app that starts with any. Add apps to "
            "thresher.yaml or use --app."
        )
        return
    rows = [
        [
            kind.kind,
            kind.succeeded,
            kind.filtered,
            kind.skipped,
            cell(kind.failed, "red" if kind.failed else ""),
            kind.total - kind.done,
            kind.total,
        ]
        for kind in progress.kinds
    ]
    out.print(table(["!kind", "#succeeded", "-#filtered", "-#skipped", "#failed", "#left", "-#total"], rows))
    out.print(cell(f"{ended.sentence()} {span(seconds)}."))
    _draw_waits(out, progress, rest)
    _draw_failures(out, rest.failures)
    if any(kind.failed for kind in progress.kinds):
        out.print("See what failed: thresher failures list")
    if (
        not ended.tally.claimed
        and not ended.interrupted
        and progress.kinds
        and all(kind.done == kind.total for kind in progress.kinds)
    ):
        out.print("Everything was done already; --again starts the apps' first tasks again.")
    if ended.interrupted:
        out.print("Stopped before the end; the next run continues.")


def _draw_waits(out: Console, progress: "Progress", rest: RunRest) -> None:
    """What waits, and for what: a time, a gate, or a worker."""
    if progress.delayed:
        waiting = number(progress.delayed, "task waits", "tasks wait")
        next_at = when(progress.next_at, progress.at)
        out.print(cell(f"{waiting} for a later time, the next {next_at}: run again then."))
    for group in rest.waits[:GROUPS_SHOWN]:
        said = f"{group.error}: {group.reason}" if group.error else group.reason or "asked for at that time"
        out.print(
            _entry(group.count, group.kind, f"{short(said, 160)}; next {when(group.next_at, progress.at)}")
        )
    _more(out, len(rest.waits), "thresher tasks list --state pending, or retryable")
    shut = [gate for gate in progress.closed if gate.shut]
    if shut:
        out.print(gate_table(shut[:GATES_SHOWN], progress.at, "closed"))
        _more(out, len(shut), "thresher status")
    for kind, count in list(rest.unserved.items())[:GROUPS_SHOWN]:
        out.print(_entry(count, kind, "waits for a worker that serves it; this run does not"))


def _draw_failures(out: Console, groups: list[FailureGroup]) -> None:
    for group in groups[:GROUPS_SHOWN]:
        said, *where = f"{group.error}: {group.message}".splitlines()
        out.print(_entry(group.count, group.kind, short(said, 300), "red"))
        for line in where:
            out.print(cell(f"      {short(line, 160)}"))
    _more(out, len(groups), "thresher failures list")


def _entry(count: int, kind: str, said: str, style: str = "") -> Text:
    return Text.assemble("  ", cell(f"{count:,} × {kind}", style), cell(f"  {said}"))


def _more(out: Console, groups: int, where: str) -> None:
    if groups > GROUPS_SHOWN:
        out.print(f"  and {number(groups - GROUPS_SHOWN, 'more group')}: {where}")
