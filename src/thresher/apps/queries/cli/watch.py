"""`thresher queries watch`: how far queries have come, beside the worker that runs them."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from thresher.admin.plain import jsonable
from thresher.admin.status import worker_notice
from thresher.admin.times import read_now
from thresher.apps.queries.model import IngestionRun
from thresher.apps.queries.service.queries import QueryProgress, read_progress, recent_runs, run_sentence
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import as_json, short, span
from thresher.cli.show import cell, console
from thresher.core.clock import SECOND
from thresher.store.store import Store

EVERY = 1.0  # seconds between two looks
BAR_WIDTH = 32
MAX_RUNS = 200  # of one look: more than a second can bring


class WatchView(Protocol):
    """Where progress is shown: the queries as they stand, and each run that has ended."""

    def show(self, found: Sequence[QueryProgress], now: int) -> None: ...
    def end(self, run: IngestionRun, name: str) -> None: ...


class LiveView:
    """One bar for each query, and above them a line for each run that has ended."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, found: Sequence[QueryProgress], now: int) -> None:
        self._live.update(picture(found, now), refresh=True)

    def end(self, run: IngestionRun, name: str) -> None:
        self._live.console.print(cell(run_sentence(run, name)))


class PlainView:
    """A line for each query that has come further, and for each run that has ended."""

    def __init__(self, out: Console) -> None:
        self._out, self._last = out, dict[str, str]()

    def show(self, found: Sequence[QueryProgress], now: int) -> None:  # noqa: ARG002  both views are asked alike
        for each in found:
            line = days(each)
            if self._last.get(each.query.query_key) != line:
                self._last[each.query.query_key] = line
                self._out.print(cell(f"{each.query.name}: {line}"))

    def end(self, run: IngestionRun, name: str) -> None:
        self._out.print(cell(run_sentence(run, name)))


class JsonView:
    """The same as lines of JSON."""

    def __init__(self) -> None:
        self._last: dict[str, dict[str, Any]] = {}

    def show(self, found: Sequence[QueryProgress], now: int) -> None:  # noqa: ARG002
        for each in found:
            key = each.query.query_key
            said = {
                "query": key,
                "name": each.query.name,
                "status": each.query.status,
                "running": each.query.running,
                "days_seen": each.days_seen,
                "days_wanted": each.days_wanted,
            }
            if self._last.get(key) != said:
                self._last[key] = said
                _line(said)

    def end(self, run: IngestionRun, name: str) -> None:
        _line({"run": jsonable(run), "name": name, "said": run_sentence(run, name)})


def _line(said: Any) -> None:
    sys.stdout.write(as_json(said) + "\n")
    sys.stdout.flush()


def watch(
    ctx: typer.Context,
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]", help="Only this query.")] = None,
) -> None:
    """Show how many of their days queries have seen, and each run that ends, until nothing is due. A worker
    does the work: thresher run, or thresher worker. Ctrl-C ends the watching and nothing else.
    """
    call = call_of(ctx)
    with call.store() as store:
        last = _last_run(store, query)
        with opened_view(call) as view:
            try:
                found = _follow(store, query, last, view)
            except KeyboardInterrupt:
                return
        if not call.json:
            console().print(cell(_ended(found, read_now(store))))


@contextmanager
def opened_view(call: CommandCall) -> Iterator[WatchView]:
    """The view that suits whoever reads."""
    out = console()
    if call.json:
        yield JsonView()
    elif not out.is_terminal:
        yield PlainView(out)
    else:
        with Live(console=out, auto_refresh=False) as live:
            yield LiveView(live)


def _follow(store: Store, query: str | None, last: int, view: WatchView) -> list[QueryProgress]:
    pause, warned = threading.Event(), False
    while True:
        found, now = read_progress(store, query), read_now(store)
        names = {each.query.query_key: each.query.name for each in found}
        for run in _new_runs(store, query, last):
            view.end(run, names.get(run.query_key, run.query_key))
            last = run.id
        view.show(found, now)
        if not any(each.is_busy for each in found):
            return found
        if not warned and (notice := worker_notice(store)):
            console(stderr=True).print(cell(notice))
            warned = True
        pause.wait(EVERY)


def _last_run(store: Store, query: str | None) -> int:
    """The newest run that ended before anybody watched. One that is under way is told when it ends."""
    runs = recent_runs(store, query, MAX_RUNS)
    return next((run.id for run in runs if run.finished_at), 0)


def _new_runs(store: Store, query: str | None, last: int) -> list[IngestionRun]:
    """The runs that have ended since, the oldest first. Runs end in the order in which they began."""
    found = [run for run in recent_runs(store, query, MAX_RUNS) if run.id > last and run.finished_at]
    return found[::-1]


def picture(found: Sequence[QueryProgress], now: int) -> Table:
    """The bars."""
    grid = Table.grid(padding=(0, 1))
    for each in found:
        total = each.days_wanted or 1
        done = each.days_seen if each.days_wanted else int(bool(each.query.last_success_at))
        bar = ProgressBar(
            total=total, completed=done, width=BAR_WIDTH, complete_style="cyan", finished_style="green"
        )
        grid.add_row(
            cell(short(each.query.name, 40), "bold"), bar, Text(days(each)), cell(_does(each, now), "dim")
        )
    return grid


def days(progress: QueryProgress) -> str:
    """How far a query has come, in words."""
    if progress.days_wanted is None:
        return f"{progress.query.offers:,} offers, whatever their days"
    return f"{progress.days_seen:,} of {progress.days_wanted:,} days seen, {progress.query.offers:,} offers"


def _does(progress: QueryProgress, now: int) -> str:
    query = progress.query
    if query.running:
        return "is running"
    if query.paused_at:
        return "is paused"
    if query.client_closed_until:
        return f"{query.client} rests: {short(query.client_closed_reason, 60)}"
    if query.due_at and query.due_later:
        return f"next run in {span((query.due_at - now) / SECOND)}"
    return "is due"


def _ended(found: Sequence[QueryProgress], now: int) -> str:
    if not found:
        return "There are no queries. thresher queries add --help"
    soon = min(
        (each.query.due_at for each in found if each.query.due_at and each.query.due_later), default=None
    )
    when = f" The next is due in {span((soon - now) / SECOND)}." if soon else ""
    return f"No query is due.{when}"
