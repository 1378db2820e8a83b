"""A practice web in another process: for politeness seen from outside, for the demo, and for several workers
at once.
"""

import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from thresher.practice.web.control import CONTROL
from thresher.practice.web.knob import Knob
from thresher.practice.web.log import Entry, entry_from
from thresher.practice.web.server import ADDRESS

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

    def log(self, host: str | None = None, since: int = 0) -> list[Entry]:
        wanted = f"&host={quote(host)}" if host else ""
        return [entry_from(each) for each in self._ask("GET", f"/log?since={since}{wanted}")["log"]]

    def until(self, holds: Callable[[list[Entry]], bool], seconds: float = 10.0) -> list[Entry]:
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
