"""Real processes that begin with everything loaded: each is forked from one that has imported it all and done
nothing.

A fresh interpreter costs a second of a core until it has loaded us; a test that is about what a process does,
and not about how it starts, need not pay that for each of them.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TextIO

ROOM = Path(__file__).resolve().parents[2]
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "tests.chaos.crawl",
        "tests.chaos.worker",
        "tests.chaos.test_money",
        "thresher.apps.jobs.app",
        "thresher.apps.roles.app",
        "thresher.cli.main",
        "thresher.cli.up",
        "thresher.fetch.http",
        "thresher.fetch.browser",
        "thresher.store.postgres.backend",
        "thresher.web.server",
    ]
)


@cache
def prepare() -> None:
    """The one that all are forked from must run in this folder to find what it has to load, wherever a test
    has gone meanwhile."""
    with contextlib.chdir(ROOM):
        forkserver.ensure_running()


class Fork:
    """A process that does one thing, in the words of `subprocess.Popen`."""

    def __init__(self, does: Callable[..., None], *args: Any) -> None:
        prepare()
        self._process = CONTEXT.Process(target=does, args=args, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self._process.name), timeout or 0.0)
        return self._process.exitcode

    def send_signal(self, what: signal.Signals) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended in this moment
                os.kill(self.pid, what)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Command(Fork):
    """`thresher` with these words; what it says comes line by line. Where and in which surroundings as ours,
    if nothing else is said."""

    def __init__(self, *words: str, folder: Path | None = None, **surroundings: str) -> None:
        (out, said), (err, wrong) = (CONTEXT.Pipe(duplex=False) for _ in range(2))
        super().__init__(_obey, words, folder or Path.cwd(), {**os.environ, **surroundings}, said, wrong)
        said.close()
        wrong.close()
        self.stdout, self.stderr = _lines(out), _lines(err)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What else it said, when it has ended."""
        self.wait(timeout)
        return self.stdout.read(), self.stderr.read()

    def close(self) -> None:
        """When nobody listens any more."""
        self.wait()
        self.stdout.close()
        self.stderr.close()


def _lines(end: Connection) -> TextIO:
    with end:
        return os.fdopen(os.dup(end.fileno()), encoding="utf-8")


def _obey(
    words: tuple[str, ...], folder: Path, surroundings: dict[str, str], said: Connection, wrong: Connection
) -> None:
    from thresher.cli import main  # noqa: PLC0415  nothing of it is loaded in the process of the tests because of this file

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(surroundings)
    sys.path[:0] = filter(None, surroundings.get("PYTHONPATH", "").split(os.pathsep))
    with said, wrong:
        os.dup2(said.fileno(), 1)
        os.dup2(wrong.fileno(), 2)
    # Those that were opened before remember what they wrote to, and whether one can seek there.
    sys.stdout, sys.stderr = (os.fdopen(end, "w", 1, "utf-8", closefd=False) for end in (1, 2))
    sys.exit(main(words))
