"""What tests of the engine stand on: a store that says when something was settled, and workers that are easy
to start."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from tests.harness import tasks
from tests.harness.databases import Database
from tests.harness.ours import OURS
from thresher import App, NewTask, Pipeline, Source, Stage
from thresher.config.settings import Settings
from thresher.core.errors import DatabaseProblem
from thresher.core.settlement import Settlement
from thresher.engine.registry import Registry
from thresher.engine.turns import WorkerTally
from thresher.engine.worker import Worker
from thresher.runtime import install
from thresher.store.backend import Scopes, Turn
from thresher.store.store import Store

# Long enough for a slow machine; nothing waits that long unless it is broken.
PATIENCE = 30.0
# Short rhythms, so that nothing is waited for that a test is not about.
QUICK = {
    "worker.poll": 0.05,
    "worker.lease": 3.0,
    "worker.grace": 5.0,
    "reaper.every": 0.05,
    "retry.crash_spread": 0,
    "settings.every": 0.05,
    "schedule.every": 0.05,
}


class WatchedStore(Store):
    """A store that tells whoever waits for it after each turn and each settlement."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._moved = threading.Condition()
        self.turns = 0

    def turn(
        self, settlements: Sequence[Settlement], limit: int, worker_id: int, scopes: Scopes = None
    ) -> Turn:
        turn = super().turn(settlements, limit, worker_id, scopes)
        self._tell(turns=1)
        return turn

    async def take_turn(
        self, settlements: Sequence[Settlement], limit: int, worker_id: int, scopes: Scopes = None
    ) -> Turn:
        """By a thread, always: that is where tests stand that hold a turn up, lose its answer or look on."""
        return await self.run(self.turn, settlements, limit, worker_id, scopes)

    def settle(self, settlements: Sequence[Settlement], *, report: bool = True) -> list[Settlement]:
        stale = super().settle(settlements, report=report)
        self._tell()
        return stale

    def _tell(self, turns: int = 0) -> None:
        with self._moved:
            self.turns += turns
            self._moved.notify_all()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; looked at after each turn and settlement."""

        def wait() -> bool:
            with self._moved:
                return self._moved.wait_for(is_so, PATIENCE)

        assert await asyncio.get_running_loop().run_in_executor(None, wait), "it never came about"


class Workshop:
    """One database, several machines on it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock: Any = database.clock
        self._stores: list[Store] = []
        database.open()  # migrates
        self.store = self.machine()

    def machine(self, **settings: Any) -> WatchedStore:
        """Another machine; settings are named with `__` for the dot."""
        wanted = QUICK | {name.replace("__", "."): value for name, value in settings.items()}
        threads = 1 if self.database.name.startswith("sqlite") else 4
        store = WatchedStore(self.database.backend(), threads=threads, settings=Settings(wanted, OURS))
        store.project_settings = wanted
        self._stores.append(store)
        return store

    def set_up(self, app: App, **settings: Any) -> Registry:
        """The main machine with these settings, and the app's sources and schedules in place."""
        wanted = self.store.project_settings | {
            name.replace("__", "."): value for name, value in settings.items()
        }
        self.store.project_settings = wanted
        self.store.settings = Settings(wanted, OURS)
        registry = Registry([app], self.store.settings)
        install(self.store, registry)
        return registry

    def put(self, registry: Registry, *new: NewTask) -> list[int]:
        ids = self.store.enqueue([registry.admit(each) for each in new])
        assert None not in ids
        return [int(task_id) for task_id in ids if task_id is not None]

    def worker(
        self, registry: Registry, store: Store | None = None, *, beat: Store | None = None, **how: Any
    ) -> Worker:
        return Worker(store or self.store, registry, heartbeat_store=beat or self.machine(), **how)

    def drain(self, registry: Registry, **how: Any) -> WorkerTally:
        """Work until nothing is left that can be done now."""
        return asyncio.run(asyncio.wait_for(self.worker(registry, until_idle=True, **how).run(), PATIENCE))

    def drained(self, app: App, *new: NewTask, **settings: Any) -> list[int]:
        """Ask for these tasks, work until idle, and return their ids."""
        registry = self.set_up(app, **settings)
        ids = self.put(registry, *new)
        self.drain(registry)
        return ids

    def state(self, task_id: int) -> str:
        return tasks.state_of(self.store, task_id)

    def fields(self, task_id: int) -> dict[str, Any]:
        return tasks.fields_of(self.store, task_id)

    def endings(self, task_id: int) -> list[str]:
        return tasks.endings_of(self.store, task_id)

    def close(self) -> None:
        for store in self._stores:
            store.close()


@contextlib.asynccontextmanager
async def at_work(worker: Worker) -> AsyncIterator["asyncio.Task[WorkerTally]"]:
    """A worker that works for the length of a block, and is stopped whatever happens in it."""
    running = asyncio.create_task(worker.run())
    try:
        yield running
    finally:
        worker.stop()
        await asyncio.wait_for(running, PATIENCE)


async def soon(waiting: Any) -> Any:
    """Wait for something that comes at once unless it is broken."""
    return await asyncio.wait_for(waiting, PATIENCE)


def one_stage(
    kind: str,
    perform: Any,
    *,
    through: tuple[str, ...] = (),
    timeout: float | None = None,
    sources: tuple[Source, ...] = (),
) -> App:
    """The smallest app there is."""
    return App(
        "test",
        pipelines=(Pipeline(kind, Stage(perform, through=through, name="do", timeout=timeout)),),
        sources=sources,
    )


class Interruption:
    """Stands at the seam of a backend: lets a call through to the database, and loses its answer, the first
    few times."""

    def __init__(self, call: Callable[..., Any], times: int = 1) -> None:
        self._call, self.left = call, times
        self._mutex = threading.Lock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        answer = self._call(*args, **kwargs)
        with self._mutex:
            lost, self.left = self.left > 0, self.left - 1
        if lost:
            raise DatabaseProblem("the connection broke before the answer came")
        return answer
