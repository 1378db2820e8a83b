"""Use the queue from any program: enqueue tasks, look at them, cancel them, wait for their results.

A client opens a database that is there and migrated; it runs no tasks. `AsyncClient` is the same for programs
on an event loop.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from thresher.admin import tasks as control
from thresher.admin.tasks import Added, Waiter, add_entries, add_within, status_of
from thresher.config.apps import load_apps
from thresher.config.project import Project, database_url, read_project
from thresher.core.app import App
from thresher.core.errors import NotAllowed, UsageError
from thresher.core.task import Entry, NewTask, TaskStatus
from thresher.engine.registry import Registry
from thresher.runtime import install_sources, model_gates, open_store
from thresher.store.session import Params, Row
from thresher.store.store import Transaction

P = ParamSpec("P")
T = TypeVar("T")
REASON = "cancelled by a program"


class Client:
    """The queue for other programs. Safe to use from several threads; each process opens its own.

    `url` is a database URL; without it, THRESHER_DATABASE_URL or the project file names the database. `apps`
    are the App values whose tasks are enqueued, or `project` is the folder of a thresher.yaml that lists
    them: only the app knows the first stage of a kind and its gates. Without either, the client can only
    read, cancel, retry and wait for tasks.
    """

    def __init__(
        self, url: str | None = None, *, apps: Iterable[App] = (), project: str | Path | None = None
    ) -> None:
        found = Project(Path()) if project is None else read_project(Path(project))
        named = [] if project is None else load_apps(found.apps, found.folder)
        self._registry = Registry([*named, *apps], tiers=model_gates(found))
        self._store = open_store(database_url(url, found), found, self._registry.apps, migrate=False)
        self.waiter = Waiter(self._store)
        try:
            install_sources(self._store, self._registry)
        except BaseException:
            self.close()
            raise

    def enqueue(self, task: NewTask, *, connection: object | None = None) -> Added:
        """Enqueue one task. If a live task of its kind has the same key, return that one.

        With `connection` (a psycopg.Connection, or an apsw.Connection to the same file) the task joins the
        open transaction there: it is enqueued if and when that transaction commits.
        """
        return self.enqueue_many([task], connection=connection)[0]

    def enqueue_many(self, tasks: Sequence[NewTask], *, connection: object | None = None) -> list[Added]:
        """Enqueue several tasks."""
        entries = [self._admit(task) for task in tasks]
        if connection is None:
            return add_entries(self._store, entries)
        with self._store.joined(connection) as transaction:
            return add_within(transaction, entries)

    def transaction(self) -> AbstractContextManager["ClientTransaction"]:
        """Open a transaction on one of the client's connections: everything enqueued and written in it
        happens as a whole, or not at all.
        """
        return self._transaction()

    @contextmanager
    def _transaction(self) -> Iterator["ClientTransaction"]:
        with self._store.transaction() as transaction:
            yield ClientTransaction(transaction, self._admit)

    def get(self, task_id: int) -> TaskStatus:
        """Return a task."""
        return status_of(self._store, task_id)

    def cancel(self, task_id: int, reason: str = REASON) -> TaskStatus:
        """Cancel a task. A running task is asked to stop, and is still running in the result."""
        control.cancel(self._store, [task_id], reason)
        return self.get(task_id)

    def retry(self, task_id: int) -> TaskStatus:
        """Send a task that ended without success back to waiting."""
        if control.retry(self._store, [task_id]).key_taken:
            raise NotAllowed(f"task {task_id} is unchanged: a live task of its kind has its key")
        return self.get(task_id)

    def wait(self, task_id: int, timeout: float | None = None) -> TaskStatus:
        """Wait until a task has ended, in whatever state. Raise TimeoutError after `timeout` seconds."""
        return self.waiter.wait(task_id, timeout)

    def close(self) -> None:
        """Close the connections to the database."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _admit(self, task: NewTask) -> Entry:
        if not self._registry.kinds:
            raise UsageError(
                "this client has no apps, so it cannot enqueue: pass apps=[app] or project=FOLDER. "
                "A program without the app's code can use the HTTP API: POST /api/tasks."
            )
        return self._registry.admit(task)


class ClientTransaction:
    """An open transaction of a client."""

    def __init__(self, transaction: Transaction, admit: Callable[[NewTask], Entry]) -> None:
        self._transaction, self._admit = transaction, admit

    def execute(self, sql: str, params: Params = {}) -> list[Row]:
        """Run your own statement, with `:name` for values; return its rows."""
        return self._transaction.execute(sql, params)

    def enqueue(self, task: NewTask) -> Added:
        """Enqueue a task if and when this transaction commits."""
        return add_within(self._transaction, [self._admit(task)])[0]


class AsyncClient:
    """A `Client` for an event loop. Open it with `async with`; every call is awaited and runs on a thread."""

    def __init__(
        self, url: str | None = None, *, apps: Iterable[App] = (), project: str | Path | None = None
    ) -> None:
        self._open = lambda: Client(url, apps=apps, project=project)
        self._client: Client | None = None

    async def __aenter__(self) -> Self:
        self._client = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def client(self) -> Client:
        """Return the underlying client."""
        if self._client is None:
            raise UsageError("open the client first: async with AsyncClient(...) as client")
        return self._client

    async def _run(self, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(act, *args, **kwargs)

    async def enqueue(self, task: NewTask, *, connection: object | None = None) -> Added:
        """Enqueue one task, as `Client.enqueue` does."""
        return await self._run(self.client.enqueue, task, connection=connection)

    async def enqueue_many(
        self, tasks: Sequence[NewTask], *, connection: object | None = None
    ) -> list[Added]:
        """Enqueue several tasks."""
        return await self._run(self.client.enqueue_many, tasks, connection=connection)

    async def get(self, task_id: int) -> TaskStatus:
        """Return a task."""
        return await self._run(self.client.get, task_id)

    async def cancel(self, task_id: int, reason: str = REASON) -> TaskStatus:
        """Cancel a task."""
        return await self._run(self.client.cancel, task_id, reason)

    async def retry(self, task_id: int) -> TaskStatus:
        """Send an ended task back to waiting."""
        return await self._run(self.client.retry, task_id)

    async def wait(self, task_id: int, timeout: float | None = None) -> TaskStatus:  # noqa: ASYNC109  as of the other client
        """Wait until a task has ended. It holds no thread between two checks, so that many tasks can be
        waited for at once.
        """
        looks = self.client.waiter.looks(task_id, timeout)
        while not isinstance(look := await self._run(next, looks), TaskStatus):  # noqa: ASYNC110  what is waited for is in a database
            await asyncio.sleep(look)
        return look

    async def close(self) -> None:
        """Close the connections to the database."""
        if self._client is not None:
            await self._run(self._client.close)
