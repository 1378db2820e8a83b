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
from collections.abc import Iterator, Sequence

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
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, stop.set)
    with _watched(loop, stop):
        await serve(site, listener, stop)


@contextlib.contextmanager
def _watched(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> Iterator[None]:
    """Stop when a pipe on standard input ends. A terminal or an empty input says nothing about who started
    us.
    """
    try:
        piped = stat.S_ISFIFO(os.fstat(0).st_mode)
    except OSError:
        piped = False
    if not piped:
        yield
        return

    def read() -> None:
        if not os.read(0, 4_096):
            loop.remove_reader(0)
            stop.set()

    loop.add_reader(0, read)
    try:
        yield
    finally:
        loop.remove_reader(0)


if __name__ == "__main__":
    sys.exit(main())
