"""`thresher worker`: work until told to stop. And what `run` and `up` share with it: signals, and how a
worker ended.
"""

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from thresher.cli.call import CommandCall, call_of, exit_code
from thresher.cli.format import number
from thresher.cli.logs import Format, log_to_stderr
from thresher.cli.metrics_file import MetricsFile, check_metrics_file, keep_writing
from thresher.cli.otel import Otel, with_spans
from thresher.cli.show import say
from thresher.config.project import hide_password
from thresher.core.clock import monotonic
from thresher.core.errors import ConfigError, UsageError
from thresher.core.limits import MAX_NAME_BYTES, brief
from thresher.core.settlement import Ending
from thresher.engine.signals import signals_passed_to
from thresher.engine.supervisor import PULSE_SECONDS, RESTART, Beat, supervise
from thresher.engine.turns import WorkerTally
from thresher.engine.worker import Worker, run_loop
from thresher.runtime import opened_worker

# A worker at the command line: signals, and how it ended.

LEAVING_SECONDS = 1.0
NAME_VARIABLE = "THRESHER_WORKER"


def worker_name(flag: str | None, environ: Mapping[str, str]) -> str | None:
    """The name of the worker of this process: `--name`, else what the environment says; None: host:pid."""
    name = (environ.get(NAME_VARIABLE, "") if flag is None else flag).strip()
    if not name and flag is None:
        return None
    if name and name.isprintable() and len(name.encode()) <= MAX_NAME_BYTES:
        return name
    message = f"is {brief(name)!r}; set it to 1 to {MAX_NAME_BYTES} bytes of visible text, such as crawler-1"
    raise ConfigError(f"{NAME_VARIABLE} {message}") if flag is None else UsageError(f"--name {message}")


class Stoppable(Protocol):
    """What works until it is told to stop: a worker, or a worker with a server beside it."""

    @property
    def done(self) -> bool: ...
    def stop(self) -> None: ...
    def stop_now(self) -> None: ...


class StopSignals:
    """What signals ask for: the first to finish, the second to hand back at once, the third to drop
    everything. A first one that comes when all is done interrupts nothing, and does not count.
    """

    def __init__(self, worker: Stoppable, tell: Callable[[str], None]) -> None:
        self._worker, self._tell = worker, tell
        self.signals: list[int] = []
        self._late = False

    def __call__(self, signalled: int) -> None:
        if self._worker.done and not self._late:
            self._late = True
            self._tell("All is done; ending.")
            return
        self.signals.append(signalled)
        match len(self.signals) + self._late:
            case 1:
                self._worker.stop()
                self._tell(
                    "Stopping: running tasks may finish, the rest goes back to waiting. Press "
                    "Ctrl-C again to hand back all at once."
                )
            case 2:
                self._worker.stop_now()
                self._tell("Handing back at once.")
            case _:
                os._exit(128 + signalled)


@dataclass(frozen=True, slots=True)
class WorkerEnd:
    """How a worker's time ended."""

    tally: WorkerTally
    signals: list[int]
    worn_out: bool = False

    @property
    def failed(self) -> int:
        return self.tally.endings[Ending.FAILED]

    @property
    def interrupted(self) -> bool:
        return bool(self.signals)

    def summary(self) -> dict[str, Any]:
        return {"attempts": dict(self.tally.endings), "failed": self.failed, "interrupted": self.interrupted}

    def sentence(self) -> str:
        parts = ", ".join(f"{count:,} {ending}" for ending, count in self.tally.endings.most_common())
        return f"{number(self.tally.settled, 'attempt')} settled{f': {parts}' if parts else ''}."

    def leave(self, code: int = 0) -> None:
        """End the process. A thread whose stage was cut short may never end, and is not waited for."""
        if self.signals and self.signals[0] == signal.SIGINT:
            code = 128 + signal.SIGINT
        if _stuck_threads():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        raise typer.Exit(code)


def _stuck_threads() -> bool:
    """Whether stages still run on threads, after a moment for those that are just leaving."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("stage")]
    deadline = monotonic() + LEAVING_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - monotonic()))
    return any(thread.is_alive() for thread in threads)


async def labour(
    worker: Worker,
    watch: Callable[[], Awaitable[None]] | None = None,
    tell: Callable[[str], None] | None = None,
    *,
    beat: Callable[[], bool],
) -> WorkerEnd:
    """Run a worker until it is idle or signalled, under supervision. `beat` is called as long as the loop
    moves.
    """
    stops = StopSignals(worker, tell or logging.getLogger("thresher").warning)
    work = asyncio.create_task(worker.run())
    await asyncio.sleep(0)  # the worker is on its feet before anybody can tell it to stop
    with signals_passed_to(stops):
        beside = [
            asyncio.create_task(keep_beating(beat, worker)),
            *([asyncio.create_task(_watch(watch))] if watch else []),
        ]
        try:
            return WorkerEnd(await work, stops.signals, worker.worn_out is not None)
        finally:
            for task in beside:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def keep_beating(beat: Callable[[], bool], worker: Stoppable) -> None:
    """Show whoever supervises this process that its loop moves, and stop when nobody does any more."""
    while beat():  # noqa: ASYNC110  what is waited for is that nobody listens any more, and nothing tells of that but the next try
        await asyncio.sleep(PULSE_SECONDS)
    logging.getLogger("thresher").error("the process that supervised this worker is gone; stopping")
    worker.stop()


async def _watch(watch: Callable[[], Awaitable[None]]) -> None:
    await watch()


ONLY = "Apps and kinds to serve, separated by commas; else all."
NOT = "Apps and kinds to leave to other workers, separated by commas."


def names_in(text: str | None) -> list[str]:
    """The names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def command(
    ctx: typer.Context,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=10_000, help="Maximum number of concurrent tasks. Default: worker.concurrency."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the worker. Default: THRESHER_WORKER, then host:pid.")
    ] = None,
    only: Annotated[str | None, typer.Option("--only", help=ONLY)] = None,
    without: Annotated[str | None, typer.Option("--not", help=NOT)] = None,
    log_format: Format = None,
    otel: Otel = None,
    metrics_file: MetricsFile = None,
) -> None:
    """Work until stopped, in a child process that is started again if it dies or hangs.

    SIGTERM or Ctrl-C: finish or hand back running tasks; a second one hands back at once.
    """
    call, known_as = call_of(ctx), worker_name(name, os.environ)
    log_to_stderr(verbose=call.verbose, form=log_format)
    check_metrics_file(metrics_file)

    def work(pulse: Beat) -> int:
        return exit_code(
            lambda: _work(call, pulse, concurrency, known_as, only, without, otel, metrics_file), call.words
        )

    raise typer.Exit(supervise(work))


def _work(
    call: CommandCall,
    pulse: Beat,
    concurrency: int | None,
    name: str | None,
    only: str | None,
    without: str | None,
    otel: bool | None,
    metrics_file: Path | None,
) -> None:
    url = call.url(call.project())
    with call.runtime() as opened, with_spans(opened, url, otel) as runtime:
        serves = runtime.registry.scopes(only=names_in(only), without=names_in(without))
        kinds = (
            ", ".join(dict.fromkeys(kind for kind, _ in serves))
            or "none: add an app to thresher.yaml or use --app"
        )
        logging.getLogger("thresher").info("working on %s; kinds: %s", hide_password(url), kinds)
        with opened_worker(
            runtime, url, name=name, concurrency=concurrency, recycle=True, serves=serves
        ) as worker:
            writing = metrics_file and partial(keep_writing, metrics_file, runtime.traffic, worker.name)
            ended = run_loop(labour(worker, writing or None, beat=lambda: pulse.beat(runtime.store.settings)))
    say(call, ended.summary(), ended.sentence())
    ended.leave(RESTART if ended.worn_out and not ended.interrupted else 0)
