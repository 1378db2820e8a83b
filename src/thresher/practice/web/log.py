"""The log of every request, kept where it cannot be argued with: at the server.

A request arrives when its head was read, before anything else is done with it, and ends when its last byte
was handed to the kernel or its connection was lost. Both are noted on the monotonic clock, for gaps, and on
the wall clock, for people.
"""

import itertools
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

HEADERS = (
    "user-agent",
    "accept",
    "accept-encoding",
    "authorization",
    "content-type",
    "cookie",
    "from",
    "if-modified-since",
    "if-none-match",
    "range",
    "referer",
)
MAX_ENTRIES = 200_000
BODY_KEPT = 4_000


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request. `concurrency` counts it and those of its host that had not ended when it arrived.

    `ended` and `status` are None while it runs; `whole` says whether the answer went out as it was meant to.
    """

    number: int
    host: str
    method: str
    target: str
    headers: Mapping[str, str]
    body: str
    arrived: float
    arrived_at: float
    concurrency: int
    ended: float | None = None
    ended_at: float | None = None
    status: int | None = None
    size: int = 0
    whole: bool = False

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Log:
    """All requests in the order of their arrival; the oldest go when there are more than `MAX_ENTRIES`."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._entries: dict[int, LogEntry] = {}
        self._order: deque[int] = deque()
        self._running: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._next = 1

    def arrive(
        self, host: str, method: str, target: str, headers: Mapping[str, str], at: tuple[float, float]
    ) -> LogEntry:
        with self._changed:
            self._running[host] += 1
            self._seen[host] += 1
            entry = LogEntry(self._next, host, method, target, headers, "", at[0], at[1], self._running[host])
            self._next += 1
            self._entries[entry.number] = entry
            self._order.append(entry.number)
            if len(self._order) > MAX_ENTRIES:
                del self._entries[self._order.popleft()]
            self._changed.notify_all()
            return entry

    def end(
        self, entry: LogEntry, at: tuple[float, float], *, body: bytes, status: int, size: int, whole: bool
    ) -> None:
        said = body[:BODY_KEPT].decode("utf-8", "replace")
        ended = replace(entry, ended=at[0], ended_at=at[1], body=said, status=status, size=size, whole=whole)
        with self._changed:
            self._running[entry.host] -= 1
            if entry.number in self._entries:
                self._entries[entry.number] = ended
            self._changed.notify_all()

    def seen(self, host: str) -> int:
        """How many requests this host has had."""
        return self._seen[host]

    def entries(self, host: str | None = None, since: int = 0) -> list[LogEntry]:
        """The requests after number `since`, of one host or of all."""
        with self._changed:
            return [
                each for each in self._entries.values() if each.number > since and host in (None, each.host)
            ]

    def clear(self) -> None:
        """Forget all requests. Those still running end unseen; counting goes on where it was."""
        with self._changed:
            self._entries.clear()
            self._order.clear()
            self._seen.clear()

    def until(self, holds: Callable[[list[LogEntry]], bool], seconds: float = 10.0) -> list[LogEntry]:
        """Wait on the log itself until something holds for it."""
        with self._changed:
            if not self._changed.wait_for(lambda: holds(list(self._entries.values())), seconds):
                raise TimeoutError(
                    f"the log did not come to this within {seconds} s; it has {len(self._entries)} requests"
                )
            return list(self._entries.values())


def entry_from(said: Mapping[str, Any]) -> LogEntry:
    return LogEntry(**said)


def gaps(entries: Iterable[LogEntry]) -> list[float]:
    """Seconds between the arrivals of one request and the next."""
    times = sorted(each.arrived for each in entries)
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def peak(entries: Iterable[LogEntry]) -> int:
    """How many of these were under way at once, at most."""
    return max((each.concurrency for each in entries), default=0)
