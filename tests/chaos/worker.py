"""One worker process of a campaign: `python -m tests.chaos.worker URL --control PAGE [--doom HOW@POINT:N]
[--fsize BYTES] [--version old]`.

A point is a place around the store. At the N-th time it comes by, the process kills itself there with
SIGKILL, or freezes with SIGSTOP: one that freezes between knowing that its lease is good and writing is a
zombie when it thaws.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from tests.chaos.app import SETTINGS, VERSIONS
from tests.chaos.control import Control, JumpingClock
from tests.chaos.effects import LOG, LOG_VARIABLE
from thresher.config.project import Project
from thresher.core.errors import DatabaseProblem
from thresher.engine.registry import Registry
from thresher.engine.supervisor import PULSE_SECONDS, StallAlarm
from thresher.engine.worker import Worker
from thresher.runtime import PUMPS, open_backend, open_store
from thresher.store.postgres.connection import PostgresSession
from thresher.store.store import Store

POINTS = (
    "turn.before",
    "turn.during",
    "turn.after",
    "settle.before",
    "settle.after",
    "commit.before",
    "commit.after",
    "renew.before",
)
# The database was away when it was needed: an honest ending, not a bug.
AWAY = 75


class Doom:
    """Counts visits to one point, and does what is to be done there."""

    def __init__(self, spec: str | None) -> None:
        how, _, where = (spec or "kill@none:0").partition("@")
        point, _, number = where.partition(":")
        self._signal = signal.SIGSTOP if how == "freeze" else signal.SIGKILL
        self._point, self._left = point, int(number)
        self._mutex = threading.Lock()

    def reached(self, point: str) -> bool:
        if point != self._point:
            return False
        with self._mutex:
            self._left -= 1
            return self._left == 0

    def at(self, point: str) -> None:
        if self.reached(point):
            os.kill(os.getpid(), self._signal)

    def around(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """The same act, with points before, during and after."""

        def doomed(*args: Any, **kwargs: Any) -> Any:
            self.at(f"{name}.before")
            if self.reached(f"{name}.during"):
                threading.Thread(target=_kill_soon, daemon=True).start()
            answer = act(*args, **kwargs)
            self.at(f"{name}.after")
            return answer

        return doomed

    def around_awaited(self, name: str, act: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """The same for an act that is awaited."""

        async def doomed(*args: Any) -> Any:
            self.at(f"{name}.before")
            if self.reached(f"{name}.during"):
                threading.Thread(target=_kill_soon, daemon=True).start()
            answer = await act(*args)
            self.at(f"{name}.after")
            return answer

        return doomed


def _kill_soon() -> None:
    time.sleep(0.0015)
    os.kill(os.getpid(), signal.SIGKILL)


class TroubledConnection:
    """A SQLite connection whose disk may be full, and whose commits may be the last thing its process
    does."""

    def __init__(self, connection: Any, doom: Doom, control: Control) -> None:
        self._connection, self._doom, self._control = connection, doom, control
        self._full = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *args: Any) -> Any:
        if sql == "begin immediate" and self._full != self._control.disk_full:
            self._full = self._control.disk_full
            # No page more than there are: the next one that is needed finds the disk full.
            self._connection.execute(f"pragma max_page_count = {1 if self._full else 1_073_741_823}")
        if sql != "commit":
            return self._connection.execute(sql, *args)
        self._doom.at("commit.before")
        answer = self._connection.execute(sql, *args)
        self._doom.at("commit.after")
        return answer


def trouble(store: Store, doom: Doom, control: Control) -> None:
    """Stand between the store and its database."""
    backend: Any = store.backend
    backend.turn = doom.around("turn", backend.turn)
    if backend.turn_on_loop:
        backend.turn_on_loop = doom.around_awaited("turn", backend.turn_on_loop)
    store.settle = doom.around("settle", store.settle)  # type: ignore[method-assign]
    if backend.dialect.name == "sqlite":
        backend._file._writer = TroubledConnection(backend._file._writer, doom, control)
        return
    postgres = backend._postgres

    @contextlib.contextmanager
    def transaction() -> Iterator[PostgresSession]:
        with postgres.connection() as connection:
            with connection.transaction():
                yield PostgresSession(connection)
                doom.at("commit.before")
            doom.at("commit.after")

    postgres.transaction = transaction


def choke(limit: int) -> None:
    """No file may grow beyond this: writing fails as on a broken disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


async def work(url: str, control: Control, doom: Doom, name: str) -> None:
    clock = JumpingClock(control) if url.startswith("sqlite:") else None
    store = open_store(url, Project(Path(), settings=SETTINGS), clock=clock)
    trouble(store, doom, control)
    beat = Store(open_backend(url, clock=clock, connections=2), settings=store.settings)
    beat_backend: Any = beat.backend
    beat_backend.write = doom.around("renew", beat_backend.write)
    registry = Registry([VERSIONS[LOG.version]], store.settings)
    worker = Worker(store, registry, heartbeat_store=beat, name=name, pumps=PUMPS[store.backend.dialect.name])
    for ending in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(ending, worker.stop)
    try:
        with StallAlarm() as alarm:
            beating = asyncio.create_task(keep_beating(alarm, store))
            await worker.run()
            beating.cancel()
    finally:
        beat.close()
        store.close()


async def keep_beating(alarm: StallAlarm, store: Store) -> None:
    while alarm.beat(store.settings):
        await asyncio.sleep(PULSE_SECONDS)


def begin(words: list[str], effects: Path, log: Path) -> None:
    """Be a worker in a process that was forked: `log` has all that it says."""
    os.environ[LOG_VARIABLE] = str(effects)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    main(words)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--control", type=Path, required=True)
    parser.add_argument("--doom")
    parser.add_argument("--fsize", type=int)
    parser.add_argument("--name", default="worker")
    parser.add_argument(
        "--version", choices=VERSIONS, default="new", help="which version of the app it knows"
    )
    asked = parser.parse_args(words)
    logging.basicConfig(
        format=f"%(asctime)s {asked.name} %(levelname)s %(name)s %(message)s", level=logging.INFO
    )
    LOG.version = asked.version
    if asked.fsize:
        choke(asked.fsize)
    try:
        asyncio.run(work(asked.url, Control(asked.control), Doom(asked.doom), asked.name))
    except DatabaseProblem as problem:
        logging.getLogger("chaos").warning("the database was away: %s", problem)
        sys.exit(AWAY)


if __name__ == "__main__":
    main()
