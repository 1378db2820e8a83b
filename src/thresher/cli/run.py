"""`thresher run`: work until nothing is left to do, with progress."""

import logging
from functools import partial
from signal import SIGTERM
from typing import Annotated, Any

import typer

from thresher.admin.costs import estimate, expectation
from thresher.admin.plain import jsonable
from thresher.admin.status import Progress, read_progress
from thresher.admin.tasks import start
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import number, span, when
from thresher.cli.progress import opened_board, watch
from thresher.cli.run_worker import WorkerEnd, labour, log_to_stderr
from thresher.cli.show import cell, console, print_json, table
from thresher.cli.status import gate_table
from thresher.cli.worker import NOT, ONLY, names_in
from thresher.core.clock import monotonic
from thresher.engine.supervisor import StallAlarm
from thresher.engine.worker import run_loop
from thresher.runtime import Runtime, opened_worker


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
) -> None:
    """Work until nothing is left to do. Ctrl-C is safe; the next run goes on. Exits 1 if a task failed."""
    call = call_of(ctx)
    log_to_stderr(verbose=call.verbose, usual=logging.WARNING)
    with call.workshop() as runtime:
        serves = runtime.registry.scopes(only=names_in(only), without=names_in(without))
        started = start(runtime.store, runtime.registry, again=again)
        expected = expectation(estimate(runtime.store)) if runtime.models else None
        if expected and not call.json:
            console().print(expected)
        before = monotonic()
        ended = _work(call, runtime, concurrency=concurrency, serves=serves)
        progress, seconds = read_progress(runtime.store), monotonic() - before
    if call.json:
        _print_summary(ended, progress, seconds, len(started))
    else:
        _draw_summary(ended, progress, seconds)
    ended.leave(1 if ended.failed else 128 + SIGTERM if ended.interrupted else 0)


def _work(call: CommandCall, runtime: "Runtime", **how: Any) -> "WorkerEnd":

    url = call.url(call.project())
    with opened_worker(runtime, url, until_idle=True, **how) as worker, StallAlarm() as alarm:

        def beat() -> bool:
            return alarm.beat(runtime.store.settings)

        if call.json:
            return run_loop(labour(worker, beat=beat))
        out, look = console(), partial(read_progress, runtime.store)
        with opened_board(out) as board:
            ended = run_loop(labour(worker, partial(watch, look, board), out.print, beat=beat))
            board.show(look())
        return ended


def _print_summary(ended: "WorkerEnd", progress: "Progress", seconds: float, started: int) -> None:

    facts: dict[str, Any] = {"seconds": round(seconds, 3), "started": started, **ended.summary()}
    print_json(facts | jsonable(progress))


def _draw_summary(ended: "WorkerEnd", progress: "Progress", seconds: float) -> None:

    out = console()
    if not progress.kinds:
        out.print(
            "There is nothing to do: no tasks, and no app that starts with any. Name apps in thresher.yaml or with --app."
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
    out.print(table(["kind", "#succeeded", "#filtered", "#skipped", "#failed", "#left", "#total"], rows))
    out.print(cell(f"{ended.sentence()} {span(seconds)}."))
    if progress.delayed:
        waiting = number(progress.delayed, "task waits", "tasks wait")
        out.print(
            cell(
                f"{waiting} for a later time, the next {when(progress.next_at, progress.at)}: run again then."
            )
        )
    shut = [gate for gate in progress.closed if gate.shut]
    if shut:
        out.print(gate_table(shut, progress.at, "closed"))
    if any(kind.failed for kind in progress.kinds):
        out.print("See what failed: thresher failures list")
    if (
        not ended.tally.claimed
        and not ended.interrupted
        and progress.kinds
        and all(kind.done == kind.total for kind in progress.kinds)
    ):
        out.print("Everything was done already; --again starts the apps' first tasks anew.")
    if ended.interrupted:
        out.print("Stopped before the end; the next run goes on.")
