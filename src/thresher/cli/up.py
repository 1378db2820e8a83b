"""`thresher up`: worker, schedules, dashboard and API in one process, and the browser opened.

It is `worker` and `serve` on one event loop, each with its own connections to the database: a page that reads
for long must not hold up a worker that settles.
"""

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

import typer
import uvicorn

from thresher.admin.status import other_workers
from thresher.cli.call import CommandCall, call_of, exit_code
from thresher.cli.logs import Format
from thresher.cli.otel import Otel, with_spans
from thresher.cli.serve import HOST, PORT, announce, log_as_server, setup_link
from thresher.cli.worker import StopSignals, WorkerEnd, keep_beating, worker_name
from thresher.engine.signals import signals_passed_to
from thresher.engine.supervisor import RESTART, Beat, supervise
from thresher.engine.worker import Worker, run_loop
from thresher.runtime import opened_beside, opened_worker
from thresher.web import server

MAX_PORTS = 20  # that are tried from the usual one on
# A browser of a terminal would take ours over, so it is opened only where there is a desktop.
DESKTOPS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")

log = logging.getLogger("thresher")


Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65_535,
        help=f"Port to listen on; 0 for any free port. Default: {PORT}, or the next free one.",
        show_default=False,
    ),
]
Browser = Annotated[
    bool | None,
    typer.Option(
        "--browser/--no-browser",
        help="Open the dashboard in the browser. Default: if this is a terminal on a desktop.",
        show_default=False,
    ),
]


def command(
    ctx: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = HOST,
    port: Port = None,
    browser: Browser = None,
    log_format: Format = None,
    otel: Otel = None,
) -> None:
    """Run everything in one process: a worker, the schedules, the dashboard and the API. The database is
    created or migrated first.

    SIGTERM or Ctrl-C: running tasks and answers finish, the rest goes back to waiting; a second one drops
    them.
    """
    call = call_of(ctx)
    log_as_server(call, log_format)
    opens = has_desktop() if browser is None else browser
    raise typer.Exit(up(call, host, port, opens=opens and not call.json, otel=otel))


def up(
    call: CommandCall,
    host: str = HOST,
    port: int | None = None,
    *,
    opens: bool = False,
    otel: bool | None = None,
) -> int:
    """Run everything until a signal comes; the exit code."""
    name = worker_name(None, os.environ)
    # Bound before there is a child process: one that is started again is found at the same address.
    with server.bind(host, PORT, MAX_PORTS) if port is None else server.bind(host, port) as bound:
        taken = bound.getsockname()[1]
        if port is None and taken != PORT:
            log.warning("port %d is taken; using %d. Choose one with --port", PORT, taken)

        def work(pulse: Beat) -> int:
            return exit_code(
                lambda: _work(call, pulse, bound, host, name, opens=opens and not pulse.restarted, otel=otel),
                call.words,
            )

        return supervise(work)


def has_desktop() -> bool:
    """Tell whether a browser can be opened beside this terminal."""
    return sys.stdout.isatty() and (
        os.name == "nt" or sys.platform == "darwin" or any(os.environ.get(name) for name in DESKTOPS)
    )


def _work(
    call: CommandCall,
    pulse: Beat,
    bound: socket.socket,
    host: str,
    name: str | None,
    *,
    opens: bool,
    otel: bool | None,
) -> None:
    project = call.project()
    url, address = call.url(project), server.address_of(bound)
    with (
        call.runtime() as opened,
        with_spans(opened, url, otel) as runtime,
        opened_beside(runtime, url, project) as beside,
        opened_worker(runtime, url, name=name, recycle=True) as worker,
    ):
        server.check_address(beside, host)

        def ready() -> None:
            link = setup_link(beside.store, address)
            others = [] if pulse.restarted else other_workers(runtime.store, worker.name)
            announce(call, beside, address, link, _beside(others, link))
            if opens:
                open_browser(link or f"{address}/")

        web = server.make_server(beside, ready)
        ended = run_loop(_live(Both(worker, web), bound, lambda: pulse.beat(runtime.store.settings)))
    ended.leave(RESTART if ended.worn_out and not ended.interrupted else 0)


def _beside(others: list[str], link: str | None) -> str | None:
    """What somebody should know who starts this twice."""
    if not others:
        return None
    only = "; only the link above is valid now" if link else ""
    return f"Another worker is on this database, or ended just now: {', '.join(others)}. They share its tasks{only}."


@dataclass(frozen=True, slots=True)
class Both:
    """A worker and a server that stop together."""

    worker: Worker
    web: uvicorn.Server
    done: bool = False  # it ends only when it is told to

    def stop(self) -> None:
        """Claim no more and accept no more; what is under way may end."""
        self.worker.stop()
        self.web.should_exit = True

    def stop_now(self) -> None:
        """Hand back all tasks, and drop all answers."""
        self.worker.stop_now()
        server.drop(self.web)


async def _live(both: Both, bound: socket.socket, beat: Callable[[], bool]) -> WorkerEnd:
    """Run both until a signal comes or one of them ends."""
    stops = StopSignals(both, log.warning)
    work = asyncio.create_task(both.worker.run())
    await asyncio.sleep(0)  # the worker is on its feet before anybody can tell it to stop
    with signals_passed_to(stops):
        serving = asyncio.create_task(_serve(both, bound))
        beating = asyncio.create_task(keep_beating(beat, both))
        try:
            await asyncio.wait((work, serving), return_when=asyncio.FIRST_COMPLETED)
            both.stop()
            if not both.worker.registered.is_set():
                serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
            return WorkerEnd(await work, stops.signals, both.worker.worn_out is not None)
        finally:
            beating.cancel()
            await asyncio.gather(beating, work, return_exceptions=True)


async def _serve(both: Both, bound: socket.socket) -> None:
    """Serve as soon as the worker is known: no page says that there is none."""
    await both.worker.registered.wait()
    await both.web.serve([bound])


# The browser.


def open_browser(link: str) -> None:
    """Open a link, and say so where that fails. A browser that does not return holds up nothing."""
    threading.Thread(target=_open, args=(link,), name="browser", daemon=True).start()


def _open(link: str) -> None:
    try:
        is_open = webbrowser.open(link)
    except (webbrowser.Error, OSError, subprocess.SubprocessError):
        is_open = False
    if not is_open:
        log.warning("no browser could be opened; open the link yourself")
