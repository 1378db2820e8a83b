"""A practice web in a thread of this process: for tests that want to hold it in their hands."""

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Self

from thresher.practice.web.knob import Knob
from thresher.practice.web.log import Entry
from thresher.practice.web.loop import new_loop
from thresher.practice.web.server import ADDRESS, listening, serve
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

    def log(self, host: str | None = None, since: int = 0) -> list[Entry]:
        return self.web.log.entries(host, since)

    def until(self, holds: Callable[[list[Entry]], bool], seconds: float = 10.0) -> list[Entry]:
        return self.web.log.until(holds, seconds)

    def reset(self) -> None:
        self.web.reset()
