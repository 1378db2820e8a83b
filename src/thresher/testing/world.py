"""A project in memory: tasks are claimed, performed, decided and settled by the real engine, one turn after
the other.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from thresher.admin.events import list_events
from thresher.config.settings import Settings, catalogue_of
from thresher.core.app import App
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND, FrozenClock, to_us
from thresher.core.compute import compute_in_thread
from thresher.core.errors import UsageError
from thresher.core.event import EventKind
from thresher.core.group import GroupStatus
from thresher.core.record import Found
from thresher.core.settlement import Settlement
from thresher.core.task import NewTask, Task
from thresher.engine.attempts import attempt
from thresher.engine.chores import fire_schedules
from thresher.engine.page_cache import StorePageCache
from thresher.engine.process_pool import ProcessPool
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services, StageContext
from thresher.engine.subscribers import Subscribers
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.notify.notifier import Notifier, Sent
from thresher.runtime import install, open_backend
from thresher.store import groups, permits, tasks, workers
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.records import find_records
from thresher.store.schedules import read_plans
from thresher.store.store import Store
from thresher.testing.loop import ClockLoop
from thresher.testing.web import FakeWeb, Page

T = TypeVar("T")

MAX_TURNS = 10_000
MAX_ROWS = 100_000
THREADS = 8
LEASE_US = 3_650 * DAY  # nobody takes the tasks of this worker away, however far the clock is moved
START = 1_700_000_000 * SECOND


class World:
    """One database in memory with the apps given, a fake web of `pages`, and a clock that stands at `now`
    (microseconds).

    `settings` are named as in thresher.yaml. `database` is the URL of a database to use instead; what an
    earlier world has left unfinished there is taken over once its lease of a minute is over. Use it in a
    `with` block.
    """

    def __init__(
        self,
        *apps: App,
        pages: Mapping[str, Page] = {},
        settings: Mapping[str, int | float] = {},
        now: int = START,
        database: str | None = None,
    ) -> None:
        self._database = database
        self.clock = FrozenClock(now)
        self.web = FakeWeb(pages, self.clock.now)
        self.messages: list[tuple[str, str]] = []
        self._apps, self._settings = apps, Settings(dict(settings), catalogue_of(apps))

    def __enter__(self) -> Self:
        self._loop = ClockLoop(self.clock)
        self._threads = ThreadPoolExecutor(THREADS, "stage")
        backend = open_backend(self._database or "sqlite:///:memory:", clock=self.clock)
        self.store = Store(backend, settings=self._settings)
        self.store.backend.migrate()
        migrate_apps(self.store.backend, app_schemas(self._apps, self.store.backend.dialect))
        self._registry = Registry(self._apps, self._settings)
        install(self.store, self._registry)
        self._services = Services(self._fetcher(), notifier=_Messages(self.messages), pool=_Threads())
        self._subscribers = Subscribers(self.store, self._apps, self.clock.now)
        self._loop.run_until_complete(self._subscribers.begin())
        lease = LEASE_US if self._database is None else MINUTE
        self._worker = workers.register(self.store, name="world", host="test", pid=0, lease_us=lease)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run_until_complete(self._subscribers.finish())
        self._loop.run_until_complete(self._services.close())
        self._loop.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self.store.close()

    def _fetcher(self) -> Fetcher:
        return Fetcher(
            self.web,
            Guard(),
            agent_of(),
            settings=lambda: self.store.settings,
            page_cache=StorePageCache(self.store),
            clock=self.clock,
        )

    @property
    def registry(self) -> Registry:
        """What the services of an app ask for beside the store."""
        return self._registry

    # --- what a test does

    def enqueue(self, *new: NewTask) -> list[int | None]:
        """Enqueue tasks; return their ids. None where a live task of that kind has the key."""
        return list(self.store.enqueue([self._registry.admit(each) for each in new]))

    def start(self) -> list[int | None]:
        """Enqueue the tasks that the apps start with."""
        return self.enqueue(*(new for app in self._apps for new in app.start))

    def run_until_idle(self, *, within: float = 60.0) -> int:
        """Perform what is due, and what becomes due within so many seconds of it: retries, rates, short
        waits. The clock moves along.

        Returns the number of attempts.
        """
        return self._loop.run_until_complete(self._run(to_us(within)))

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> int:
        """Move the clock forward. The next `run_until_idle` performs what is due then. Returns the time in
        microseconds.
        """
        return self.clock.advance(round(days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND))

    def cancel(self, *ids: int, reason: str = "cancelled by a test") -> None:
        """Cancel tasks, as an operator would."""
        tasks.cancel(self.store, ids, reason)

    def retry(self, *ids: int) -> None:
        """Send ended tasks back to waiting, as an operator would."""
        tasks.revive(self.store, ids)

    # --- what a test looks at

    def records(self, kind: str) -> list[Found]:
        """Return the records of a kind, by key."""
        return sorted(
            self._read(lambda session: find_records(session, kind=kind, limit=MAX_ROWS)),
            key=lambda found: found.key,
        )

    def record(self, kind: str, key: str) -> Found | None:
        """Return one record."""
        return next(
            iter(self._read(lambda session: find_records(session, kind=kind, keys=[key], limit=1))), None
        )

    def tasks(self, kind: str | None = None, state: str | None = None) -> list[dict[str, Any]]:
        """Return tasks, oldest first: kind, state, payload, reason, error and everything that `thresher tasks
        show` prints.
        """
        return self._read(lambda session: tasks.find(session, limit=MAX_ROWS, kind=kind, state=state))[::-1]

    def events(self, kind: EventKind | str | None = None) -> list[dict[str, Any]]:
        """Return events, oldest first."""
        return list_events(self.store, kind=kind, limit=MAX_ROWS)[::-1]

    def groups(self, name: str | None = None) -> list[GroupStatus]:
        """Return groups and runs, oldest first."""
        return self._read(lambda session: groups.find(session, limit=MAX_ROWS, name=name))[::-1]

    def refusals(self) -> list[dict[str, Any]]:
        """Return refused spawns, with the tasks that wanted them."""
        roots = {task["tracking_id"] for task in self.tasks()}
        return self._read(
            lambda session: [each for root in sorted(roots) for each in tasks.refusals(session, root)]
        )

    def _read(self, look: Callable[[Any], T]) -> T:
        with self.store.read() as session:
            return look(session)

    # --- the engine

    async def _run(self, within_us: int) -> int:
        claimed: list[Task] = []
        settled: list[Settlement] = []
        attempts = 0
        for _ in range(MAX_TURNS):
            if self._database is not None:
                await self.store.run(self._take_over)
            await self.store.run(fire_schedules, self.store)
            turn = await self.store.run(
                self.store.turn, settled, self.store.settings.count("worker.batch"), self._worker
            )
            for task, settlement in zip(claimed, settled, strict=True):
                self._subscribers.settled(task, settlement)
            claimed, settled = turn.tasks, list(await asyncio.gather(*map(self._attempt, turn.tasks)))
            attempts += len(settled)
            if settled or turn.more:
                continue
            await self._subscribers.tell()
            next_at = await self.store.run(self._next_at, turn.next_at)
            if next_at is None or next_at > self.clock.now() + within_us:
                return attempts
            self.clock.advance(max(0, next_at - self.clock.now()))
        raise UsageError(f"there is still work after {MAX_TURNS:,} turns; does a task spawn itself forever?")

    def _take_over(self) -> None:
        """Take over what an earlier world has left behind. Ours is alive, however far its clock was moved."""
        workers.renew(self.store, self._worker)
        workers.reap(self.store, MAX_ROWS)
        permits.sweep(self.store, MAX_ROWS)

    def _next_at(self, queue: int | None) -> int | None:
        """Return when the next task, gate or schedule is due."""
        plans = self._read(read_plans)
        return min(
            (at for at in (queue, *(plan.next_at for plan in plans if not plan.paused)) if at is not None),
            default=None,
        )

    async def _attempt(self, task: Task) -> Settlement:
        context = _WorldContext(task, self.store, self.clock.now, self._registry, self._services)
        return await attempt(task, context, self._registry, self.store.settings, self._submit)

    def _submit(self, stage: Callable[[StageContext], Any], context: StageContext) -> "Future[Any]":
        # A future of this loop, which counts its threads; `attempt` awaits either kind.
        return cast("Future[Any]", self._loop.run_in_executor(self._threads, stage, context))


class _WorldContext(StageContext):
    """Lets the clock move while a plain-function stage waits."""

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.wait_from_thread(work) if isinstance(self._loop, ClockLoop) else super().wait(work)


class _Threads(ProcessPool):
    """Computes on threads: a world's clock jumps, and a process would be taken for one that hangs."""

    async def run(
        self,
        function: Callable[..., T],
        /,
        *args: object,
        seconds: float | None = None,
        helper: object = None,
    ) -> T:
        del helper
        return await compute_in_thread(function, *args, seconds=seconds)


class _Messages(Notifier):
    """Keeps what `ctx.tell` sends."""

    def __init__(self, messages: list[tuple[str, str]]) -> None:
        super().__init__(())
        self._messages = messages

    async def send(self, title: str, body: str) -> Sent:
        self._messages.append((title, body))
        return Sent(delivered=("test",))
