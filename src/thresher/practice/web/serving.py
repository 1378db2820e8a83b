"""A practice web that is served: in a thread of this process, for tests that steer it directly, or in another
process, for several workers and for the demo.
"""

import asyncio
import contextlib
import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Any, Protocol, Self
from urllib.parse import quote

from thresher.practice.web.control import CONTROL
from thresher.practice.web.knob import Knob
from thresher.practice.web.log import LogEntry, entry_from
from thresher.practice.web.server import ADDRESS, listening, new_loop, serve
from thresher.practice.web.web import Web

START_SECONDS = 30


class PracticeWeb:
    """A practice web in a thread: `with PracticeWeb(seed=7) as web: ...`. `web.url` is where every host name
    leads.
    """

    def __init__(self, seed: int = 7, *, day: float = 0, port: int = 0) -> None:
        self.web = Web(seed, day)
        self._wanted = port
        self._port = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self._port}"

    @property
    def rules(self) -> dict[str, str]:
        return {"*": self.url}

    def __enter__(self) -> Self:
        listener = listening(self._wanted)
        self._port = listener.getsockname()[1]
        started = threading.Event()

        async def live() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            started.set()
            await serve(self.web, listener, self._stop)

        def run() -> None:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(live())

        listener.listen()
        self._thread = threading.Thread(target=run, name="practice-web", daemon=True)
        self._thread.start()
        started.wait(START_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Close every connection and the socket, and wait for the thread."""
        if self._loop and self._stop and self._thread:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_SECONDS)
            self._loop = self._stop = self._thread = None

    def turn(self, *knobs: Knob) -> None:
        with self.web.lock:
            self.web.panel.turn(*knobs)

    def knobs(self) -> list[Knob]:
        with self.web.lock:
            return list(self.web.panel.knobs)

    def set_day(self, day: float) -> None:
        self.web.set_day(day)

    def set_time(self, at: datetime) -> None:
        self.web.set_time(at)

    def now(self) -> datetime:
        return self.web.calendar.now

    def log(self, host: str | None = None, since: int = 0) -> list[LogEntry]:
        return self.web.log.entries(host, since)

    def until(self, holds: Callable[[list[LogEntry]], bool], seconds: float = 10.0) -> list[LogEntry]:
        return self.web.log.until(holds, seconds)

    def reset(self) -> None:
        self.web.reset()


# What can be done with a practice web, wherever it runs: in a thread of this process or in a process of its
# own.


class Steering(Protocol):
    """What can be done with a practice web, wherever it runs."""

    @property
    def port(self) -> int: ...

    @property
    def url(self) -> str:
        """Where every host name leads."""
        ...

    @property
    def rules(self) -> dict[str, str]:
        """The same for a resolver: patterns of host names, and where they lead."""
        ...

    def turn(self, *knobs: Knob) -> None:
        """Turn knobs, in the order in which they are to act."""
        ...

    def knobs(self) -> list[Knob]: ...

    def set_day(self, day: float) -> None: ...

    def set_time(self, at: datetime) -> None: ...

    def now(self) -> datetime: ...

    def log(self, host: str | None = None, since: int = 0) -> list[LogEntry]:
        """The requests in the order of their arrival: of one host or of all, after number `since`."""
        ...

    def until(self, holds: Callable[[list[LogEntry]], bool], seconds: float = 10.0) -> list[LogEntry]:
        """Wait until something holds for the log, and return it then."""
        ...

    def reset(self) -> None: ...


# A practice web in another process: for politeness seen from outside, for the demo, and for several workers
# at once.

ANSWER_SECONDS = 30
LOOK_SECONDS = 0.02
STOP_SECONDS = 30


class RemoteWeb:
    """A practice web in another process, by its port."""

    def __init__(self, port: int) -> None:
        self._port = port

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self._port}"

    @property
    def rules(self) -> dict[str, str]:
        return {"*": self.url}

    def turn(self, *knobs: Knob) -> None:
        self._ask("POST", "/knobs", [each.as_json() for each in knobs])

    def knobs(self) -> list[Knob]:
        return [Knob(**each) for each in self._ask("GET", "/knobs")["knobs"]]

    def set_day(self, day: float) -> None:
        self._ask("POST", "/clock", {"day": day})

    def set_time(self, at: datetime) -> None:
        self._ask("POST", "/clock", {"at": at.isoformat()})

    def now(self) -> datetime:
        return datetime.fromisoformat(self._ask("GET", "/clock")["now"])

    def log(self, host: str | None = None, since: int = 0) -> list[LogEntry]:
        wanted = f"&host={quote(host)}" if host else ""
        return [entry_from(each) for each in self._ask("GET", f"/log?since={since}{wanted}")["log"]]

    def until(self, holds: Callable[[list[LogEntry]], bool], seconds: float = 10.0) -> list[LogEntry]:
        deadline = time.monotonic() + seconds
        while not holds(entries := self.log()):
            if time.monotonic() > deadline:
                raise TimeoutError(
                    f"the log did not come to this within {seconds} s; it has {len(entries)} requests"
                )
            time.sleep(LOOK_SECONDS)  # another process cannot wake us
        return entries

    def reset(self) -> None:
        self._ask("POST", "/reset")

    def _ask(self, method: str, target: str, said: Any = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection(ADDRESS, self._port, timeout=ANSWER_SECONDS)
        try:
            body = None if said is None else json.dumps(said).encode()
            connection.request(method, target, body, {"Host": CONTROL})
            answer = connection.getresponse()
            found: dict[str, Any] = json.loads(answer.read())
        finally:
            connection.close()
        if answer.status != 200:
            raise ValueError(found["error"])
        return found


@contextlib.contextmanager
def practice_process(seed: int = 7, *, day: float = 0, port: int = 0) -> Iterator[RemoteWeb]:
    """A practice web in a process of its own, for the length of a block."""
    line = [
        sys.executable,
        "-m",
        "thresher.practice.web",
        "--seed",
        str(seed),
        "--day",
        str(day),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"the practice web did not start: {' '.join(line[1:])}")
        yield RemoteWeb(json.loads(said)["port"])
    finally:
        # Its standard input ends, and it stops: that works even when we are killed.
        process.communicate(timeout=STOP_SECONDS)
