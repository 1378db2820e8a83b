"""Servers to kill: `python -m tests.chaos.nursery` loads everything once, and makes a real `thresher serve`
process whenever it is asked.

A server that starts from nothing needs a second of a core; a fork of one that has loaded everything needs
hardly any, so that a test can afford to kill many. One order a line on standard input: {"argv": [...],
"doom": n} starts a server, {"kill": pid} ends one, {"ended": pid} asks whether it has ended by itself.

`doom` n: the server kills itself with SIGKILL at the n-th point around the statements that write, counted
from its first request on.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import thresher.apps.roles.app
import thresher.store.postgres.backend  # noqa: F401  loaded before the first fork, like all the others
from thresher.cli.main import main as thresher_command
from thresher.reading.platforms.platform import platforms
from thresher.store.store import Store
from thresher.web import server

ROOM = Path(__file__).resolve().parents[2]


class Nursery:
    """The other end, for tests."""

    def __init__(self, log: Path) -> None:
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOM,
        )

    def serve(self, folder: Path, port: int, doom: int = 0) -> int:
        """Start a server; its process id."""
        return int(
            self._order({"argv": ["--project", str(folder), "serve", "--port", str(port)], "doom": doom})
        )

    def kill(self, pid: int) -> int:
        """End a server in the middle of whatever it does; what it had ended with."""
        return int(self._order({"kill": pid}))

    def has_ended(self, pid: int) -> bool:
        """Whether a server has died by itself."""
        return bool(int(self._order({"ended": pid})))

    def _order(self, order: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, Path(self._log.name).read_text()[-2_000:]
        return answer

    def close(self) -> None:
        """End everything that was started here."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._log.close()


@contextlib.contextmanager
def nursery(folder: Path) -> Iterator[Nursery]:
    made = Nursery(folder / "servers.log")
    try:
        yield made
    finally:
        made.close()


class Doom:
    """Counts points, and ends the process at one of them."""

    def __init__(self, number: int) -> None:
        self._left = number

    def pass_by(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Doomed:
    """A transaction before each of whose statements the process may end."""

    def __init__(self, session: Any, doom: Doom) -> None:
        self._session, self._doom = session, doom

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        if not callable(found):
            return found

        def passing(*args: Any, **kwargs: Any) -> Any:
            self._doom.pass_by()
            return found(*args, **kwargs)

        return passing


def doom_writes(number: int) -> None:
    """Let this process die at a point: before a statement of a transaction that writes, before its commit, or
    after it."""
    doom, write = Doom(number), Store.write

    @contextlib.contextmanager
    def doomed(self: Any, **how: Any) -> Iterator[Any]:
        with write(self, **how) as session:
            yield Doomed(session, doom)
            doom.pass_by()
        doom.pass_by()

    Store.write = doomed  # type: ignore[method-assign]


def _child(order: dict[str, Any]) -> None:
    """Become a server. Nothing of the nursery's is used any more."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    if order.get("doom"):
        _at_first_request(order["doom"])
    os._exit(thresher_command(order["argv"]))


def _at_first_request(number: int) -> None:
    """Starting up writes too, and is not what is tried here."""
    ready = server._Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        await ready(self, sockets)
        doom_writes(number)

    server._Server.startup = startup  # type: ignore[method-assign]


def main() -> None:
    platforms()  # read once, and inherited
    alive: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "argv" in order:
            answer = os.fork()
            if answer == 0:
                _child(order)
            alive.add(answer)
        elif "ended" in order:
            answer = os.waitpid(order["ended"], os.WNOHANG)[0]
            alive.discard(answer)
        else:
            os.kill(order["kill"], signal.SIGKILL)  # not yet waited for, so the number is still its own
            answer = os.waitpid(order["kill"], 0)[1]
            alive.discard(order["kill"])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
