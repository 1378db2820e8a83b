"""What happens, told to the functions that apps name for it. Hints: the rows in the database are what counts.

Events and refusals are read from their tables after they are committed, whichever process wrote them. Ends of
tasks are told by the worker that settled them. Delivery stands beside the work: it holds up no settlement,
and a subscriber that raises is logged.
"""

import asyncio
import contextlib
import inspect
import logging
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import orjson

from thresher.core.app import App
from thresher.core.clock import monotonic
from thresher.core.errors import DatabaseProblem
from thresher.core.event import SPAWN_REFUSED, TASK_ENDED, TASK_FAILED, Event
from thresher.core.log_context import log_context
from thresher.core.settlement import Settlement
from thresher.core.task import TERMINAL, State, Task
from thresher.store.session import Row, Session
from thresher.store.store import Store

log = logging.getLogger("thresher.subscribers")

MAX_WAITING = 10_000
MAX_ROWS = 1_000
# Rows get their numbers before they are committed. So those of the last seconds are looked at again, for one
# that came late.
LATE_SECONDS = 10.0
FINISH_SECONDS = 5.0

_EVENTS = """select e.id, e.at, e.kind, e.task_id, g.name, e.detail from events e left join gates g on g.id = e.gate_id
    where e.id > :after order by e.id limit :most"""
_REFUSALS = """select id, at, :kind, parent_id, null, kind, url, lineage_key, rule, detail from refusals
    where id > :after order by id limit :most"""
_NEWEST = {
    "events": "select coalesce(max(id), 0) from events",
    "refusals": "select coalesce(max(id), 0) from refusals",
}


class _Tail:
    """The new rows of one table, each once."""

    def __init__(self, look: Callable[[Session, int], list[Row]], after: int) -> None:
        self._look, self._after = look, after
        self._seen: dict[int, float] = {}

    def rows(self, session: Session) -> list[Row]:
        now = monotonic()
        found = [row for row in self._look(session, self._after) if row[0] not in self._seen]
        self._seen |= {row[0]: now for row in found}
        old = [
            row_id
            for row_id, at in self._seen.items()
            if at < now - LATE_SECONDS or len(self._seen) >= MAX_ROWS
        ]
        self._after = max((self._after, *old))
        self._seen = {row_id: at for row_id, at in self._seen.items() if row_id > self._after}
        return found


class Subscribers:
    """The subscribers of these apps. Does nothing at all where there are none."""

    def __init__(self, store: Store, apps: Sequence[App], now: Callable[[], int]) -> None:
        self._store, self._now = store, now
        self._wanted = [(app, kind, tell) for app in apps for kind, tell in app.on.items()]
        self._kinds = {kind for _, kind, _ in self._wanted}
        self._waiting: deque[tuple[Event, Callable[[Event], Any]]] = deque()
        self._tails: list[_Tail] | None = None
        self._ending = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(1, "subscriber") if self._wanted else None

    @property
    def wants_tasks(self) -> bool:
        return bool(self._kinds & {TASK_ENDED, TASK_FAILED})

    async def begin(self) -> None:
        """What has happened up to here is not told any more."""
        if self._reads:
            await self._store.run(self._news)

    def start(self) -> None:
        """Tell what happens, in a task of its own, until `finish`."""
        if self._wanted:
            self._telling = asyncio.create_task(self._keep_telling())

    async def _keep_telling(self) -> None:
        while not self._ending.is_set():
            await self.tell()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), float(self._store.settings["worker.poll"]))
        await self.tell()

    async def finish(self) -> None:
        """Tell what is left to tell, as far as that takes no longer than a few seconds."""
        if self._threads is None:
            return
        self._ending.set()
        try:
            await asyncio.wait_for(self._telling or self.tell(), FINISH_SECONDS)
        except TimeoutError:
            log.warning("a subscriber took too long; %d events were not delivered", len(self._waiting))
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def settled(self, task: Task, settlement: Settlement) -> None:
        """A settlement of this worker's has been committed."""
        if settlement.state not in TERMINAL:
            return
        error = settlement.error and settlement.error.name
        detail = {
            "kind": task.kind,
            "state": settlement.state.value,
            "reason": settlement.reason,
            "error": error,
            "url": task.url,
        }
        kinds = (TASK_ENDED, TASK_FAILED) if settlement.state is State.FAILED else (TASK_ENDED,)
        for app, kind, tell in self._wanted:
            if kind in kinds and any(each.kind == task.kind for each in app.pipelines):
                self._put(Event(kind, self._now(), task.id, None, detail), tell)

    async def tell(self) -> None:
        """Tell what is new."""
        try:
            for event in await self._store.run(self._news) if self._reads else ():
                for _, kind, tell in self._wanted:
                    if kind == event.kind:
                        self._put(event, tell)
        except DatabaseProblem as problem:
            # The worker says so, too; what is missed is read in the next round.
            log.debug("events cannot be read: %s", problem)
        while self._waiting:
            await self._tell(*self._waiting.popleft())

    @property
    def _reads(self) -> bool:
        return bool(self._kinds - {TASK_ENDED, TASK_FAILED})

    def _put(self, event: Event, tell: Callable[[Event], Any]) -> None:
        if len(self._waiting) >= MAX_WAITING:
            dropped, _ = self._waiting.popleft()
            log.warning(
                "an event %s was dropped: the subscribers are %d events behind", dropped.kind, MAX_WAITING
            )
        self._waiting.append((event, tell))

    async def _tell(self, event: Event, tell: Callable[[Event], Any]) -> None:
        with log_context(task_id=event.task_id):
            try:
                await self._call(event, tell)
            except Exception:
                log.exception("the subscriber to %s raised; nothing else is affected", event.kind)

    async def _call(self, event: Event, tell: Callable[[Event], Any]) -> None:
        if inspect.iscoroutinefunction(tell):
            await tell(event)
        else:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, copy_context().run, tell, event)

    def _news(self) -> list[Event]:
        with self._store.read() as session:
            if self._tails is None:
                newest = {name: int(session.rows(sql)[0][0]) for name, sql in _NEWEST.items()}
                self._tails = [_Tail(_events, newest["events"]), _Tail(_refusals, newest["refusals"])]
            return [_event(row) for tail in self._tails for row in tail.rows(session)]


def _events(session: Session, after: int) -> list[Row]:
    return session.rows(_EVENTS, {"after": after, "most": MAX_ROWS})


def _refusals(session: Session, after: int) -> list[Row]:
    return session.rows(_REFUSALS, {"after": after, "most": MAX_ROWS, "kind": SPAWN_REFUSED})


def _event(row: Row) -> Event:
    _, at, kind, task_id, gate, *detail = row
    if kind != SPAWN_REFUSED:
        return Event(kind, at, task_id, gate, orjson.loads(detail[0]))
    return Event(
        kind, at, task_id, gate, dict(zip(("kind", "url", "key", "rule", "detail"), detail, strict=True))
    )
