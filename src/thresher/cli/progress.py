"""The progress of a run: live bars on a terminal, an occasional plain line elsewhere."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from thresher.admin.gates import GateView
from thresher.admin.status import KindProgress, Progress
from thresher.cli.format import opens, short
from thresher.cli.show import cell
from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem

BAR_WIDTH = 32
GATES_SHOWN = 5
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
