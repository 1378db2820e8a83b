"""The practice web as a process: `python -m thresher.practice.web --seed 7`. It prints one line of JSON and
serves.

It ends with SIGTERM or Ctrl-C, or when its standard input ends and was a pipe: whoever started it is gone
then.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Sequence

from thresher.practice.web.control import CONTROL
from thresher.practice.web.server import ADDRESS, listening, new_loop, serve
from thresher.practice.web.web import Web


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m thresher.practice.web", description="A seeded web on loopback, for practice."
    )
    parser.add_argument("--seed", type=int, default=7, help="the same seed, the same web (7)")
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1 (any free port)")
    parser.add_argument("--day", type=float, default=0, help="the day it is there (0)")
    chosen = parser.parse_args(words)
    try:
        site, listener = Web(chosen.seed, chosen.day), listening(chosen.port)
    except (OSError, OverflowError, ValueError) as error:
        print(f"practice web: {error}", file=sys.stderr)
        return 2
    port = listener.getsockname()[1]
    listener.listen()
    print(
        json.dumps(
            {
                "port": port,
                "url": f"http://{ADDRESS}:{port}",
                "control": CONTROL,
                "seed": chosen.seed,
                "day": chosen.day,
            }
        ),
        flush=True,
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_live(site, listener))
    return 0


async def _live(site: Web, listener: socket.socket) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def end(*_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended already
            loop.call_soon_threadsafe(stop.set)

    for each in (signal.SIGTERM, signal.SIGINT):  # not the loop's own handlers: Windows has none
        signal.signal(each, end)
    if _is_piped():
        threading.Thread(target=_await_end, args=(end,), daemon=True).start()
    await serve(site, listener, stop)


def _is_piped() -> bool:
    """A terminal or an empty input says nothing about who started us."""
    try:
        return stat.S_ISFIFO(os.fstat(0).st_mode)
    except OSError:
        return False


def _await_end(end: Callable[[], None]) -> None:
    """Call `end` when standard input ends. On a thread: not every loop can wait for a pipe."""
    with contextlib.suppress(OSError):
        while os.read(0, 4_096):
            pass
    end()


if __name__ == "__main__":
    sys.exit(main())
