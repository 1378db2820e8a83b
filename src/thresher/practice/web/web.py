"""The web itself, without a network: what is asked goes in, what is answered comes out, and everything is
noted.

One object holds the seed, the day, the knobs and the log. It may be used from any thread.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl, unquote

from thresher.practice.web.answer import WebRequest, WebResponse
from thresher.practice.web.clock import Calendar
from thresher.practice.web.hosts import site_for
from thresher.practice.web.knob import DELIVERIES, TWISTS, Knob, Panel
from thresher.practice.web.log import HEADERS, Log, LogEntry
from thresher.practice.web.stand_in import stand_in, twisted


@dataclass(frozen=True, slots=True)
class ServedExchange:
    """A request that has arrived: its line in the log and the knobs that act on it."""

    entry: LogEntry
    count: int
    knobs: tuple[Knob, ...]


class Web:
    """A seeded web."""

    def __init__(self, seed: int, day: float = 0) -> None:
        self.seed = seed
        self.calendar = Calendar(day)
        self.panel = Panel()
        self.log = Log()
        self.lock = threading.RLock()

    def arrive(self, host: str, method: str, target: str, headers: Mapping[str, str]) -> ServedExchange:
        """Note a request and see which knobs act on it. To be called the moment its head was read."""
        now = (time.monotonic(), time.time())
        of_interest = {name: headers[name] for name in HEADERS if name in headers}
        with self.lock:
            count = self.log.seen(host)
            entry = self.log.arrive(host, method, target, of_interest, now)
            return ServedExchange(entry, count, self.panel.take(host, target.partition("?")[0]))

    def answer(
        self, exchange: ServedExchange, headers: Mapping[str, str], body: bytes
    ) -> tuple[WebResponse, Knob | None]:
        """What is answered, and the knob that says how it is to be brought."""
        entry = exchange.entry
        path, _, query = entry.target.partition("?")
        twists = {each.trouble: each for each in exchange.knobs if each.trouble in TWISTS}
        ask = WebRequest(
            host=entry.host,
            path=unquote(path),
            seed=self.seed,
            now=self.calendar.now,
            method=entry.method,
            headers=headers,
            body=body,
            query=dict(parse_qsl(query)) if query else {},
            count=exchange.count,
            twists=twists,
        )
        delivery = next((each for each in exchange.knobs if each.trouble in DELIVERIES), None)
        instead = next(
            (
                each
                for each in exchange.knobs
                if each.trouble not in TWISTS and each.trouble not in DELIVERIES
            ),
            None,
        )
        site = site_for(entry.host)
        answer = stand_in(instead, ask, site) if instead else site(ask)
        return (twisted(ask, answer) if twists else answer), delivery

    def end(self, exchange: ServedExchange, body: bytes, status: int, size: int, *, whole: bool) -> None:
        """Note that a request is over."""
        self.log.end(
            exchange.entry, (time.monotonic(), time.time()), body=body, status=status, size=size, whole=whole
        )

    def set_day(self, day: float) -> None:
        with self.lock:
            self.calendar.set_day(day)

    def set_time(self, at: datetime) -> None:
        with self.lock:
            self.calendar.set_time(at)

    def reset(self) -> None:
        """No knobs, no log, the first day."""
        with self.lock:
            self.panel.clear()
            self.log.clear()
            self.calendar.reset()
