"""The context of a stage: everything it may use, governed, and on behalf of one task."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from thresher.ai.provider import Provider
from thresher.core.answer import Extract, ModelAnswer
from thresher.core.compute import in_thread
from thresher.core.credentials import Credentials
from thresher.core.errors import BudgetExhausted, ConfigError, NotYet, UsageError
from thresher.core.group import GroupStatus
from thresher.core.page import Page
from thresher.core.record import Found, Link, Mark, Neighbour, Where
from thresher.core.rendering import Rendering
from thresher.core.schema import Schema
from thresher.core.spans import Spans
from thresher.core.task import Task
from thresher.engine.fork_server import IsolatedContext
from thresher.engine.gate_governor import GateGovernor
from thresher.engine.model_budget import LOOK_AGAIN, StoreModelBudget
from thresher.engine.process_pool import ProcessPool
from thresher.engine.registry import Registry
from thresher.engine.spans import fetch_in_span
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import FetchOptions
from thresher.fetch.request import Bounds, Request, Response, order
from thresher.notify.notifier import Notifier
from thresher.store import blobs, groups, sources
from thresher.store.ledger import checked_budget
from thresher.store.records import find_by_ids, find_record, find_records, marks_of
from thresher.store.session import Session
from thresher.store.store import Store

if TYPE_CHECKING:
    from thresher.ai.ask import Advisor
    from thresher.engine.reader import Reader


@dataclass(frozen=True, slots=True)
class Services:
    """What a worker lends to its stages: the way out to the web, who asks the models, their providers, who
    tells people, and the processes that read pages. What is None, this worker cannot do.

    It belongs to one event loop and is closed there.
    """

    fetcher: Fetcher | None = None
    advisor: "Advisor | None" = None
    providers: Mapping[str, Provider] = field(default_factory=dict)
    notifier: Notifier | None = None
    pool: ProcessPool = field(default_factory=ProcessPool)
    # Another one: a stage may take long, and reading must not wait for it.
    stage_pool: ProcessPool = field(default_factory=ProcessPool)
    spans: Spans | None = None

    async def close(self) -> None:
        if self.fetcher:
            await self.fetcher.close()
        for provider in self.providers.values():
            await provider.close()
        await self.pool.close()
        await self.stage_pool.close()


MAX_STAGE = 2 * 86_400.0  # seconds: more than any stage may take
A_FEW = 50  # records that are looked up in passing
T = TypeVar("T")


class StageContext:
    """The context given to a stage."""

    def __init__(
        self, task: Task, store: Store, now: Callable[[], int], registry: Registry, services: Services
    ) -> None:
        self.task = task
        self._store, self._now, self._registry, self._services = store, now, registry, services
        self._loop: asyncio.AbstractEventLoop | None = None

    def now(self) -> int:
        return self._now()

    def setting(self, name: str) -> Any:
        return self._store.settings[name]

    async def save(self, body: bytes) -> str:
        return await self._store.run(blobs.save, self._store, body, self.task)

    async def load(self, content_hash: str) -> bytes:
        return await self._store.run(blobs.get, self._store, content_hash)

    async def record(self, kind: str, key: str) -> Found | None:
        return await self._pass_by(partial(find_record, kind=kind, key=key))

    async def records(
        self,
        kind: str,
        *,
        keys: Sequence[str] | None = None,
        link: Link | None = None,
        where: Sequence[Where] = (),
        order: str | None = None,
        before: int | None = None,
        limit: int = 100,
        linked: str | None = None,
    ) -> list[Found]:
        find = partial(
            find_records,
            kind=kind,
            keys=keys,
            link=link,
            where=where,
            order=order,
            before=before,
            limit=limit,
            linked=linked,
        )
        if limit > A_FEW or order is not None:
            return await self._store.run(self._read, find)
        return await self._pass_by(find)

    async def records_of(self, kind: str, ids: Sequence[int]) -> list[Found]:
        return await self._store.run(self._read, partial(find_by_ids, kind=kind, ids=ids))

    async def read(self, name: str, data: Mapping[str, Any] = {}) -> Any:
        ask = self._registry.check_read(self.task, name)
        return await self._store.run(
            self._read, lambda session: ask(session, data, self._store.backend.now(session))
        )

    async def points(self, kind: str, texts: Sequence[str]) -> Sequence[bytes | None]:
        from thresher.engine.points import points  # noqa: PLC0415  few stages ask, and it brings the embedder along

        return await points(self._store, kind, texts)

    async def near(self, kind: str, text: str, limit: int = 10) -> list[Neighbour]:
        return await in_thread(self._registry.near(kind), self._store, text, limit)

    async def group(self) -> GroupStatus | None:
        return await self._store.run(self._read, partial(groups.group_of, task_id=self.task.id))

    async def marks(self, kind: str, link: Link) -> Mapping[str, Mapping[str, Mark]]:
        return await self._store.run(self._read, partial(marks_of, kind=kind, link=link))

    async def _pass_by(self, look: Callable[[Session], T]) -> T:
        """A stage looks something up at every step. Where that costs less than the way to a database thread
        and back, it is done here.
        """
        return self._look_up(look) if self._store.backend.near else await self._store.run(self._look_up, look)

    def _look_up(self, look: Callable[[Session], T]) -> T:
        with self._store.read(autocommit=True) as session:
            return look(session)

    def _read(self, look: Callable[[Session], T]) -> T:
        with self._store.read() as session:
            return look(session)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        render: bool | None = False,
        rendering: Rendering | None = None,
        max_age: float | None = None,
        replay: bool = False,
        credentials: Credentials | None = None,
    ) -> Page:
        fetcher = self._services.fetcher
        if fetcher is None:
            raise UsageError("this worker has no fetcher; create it with runtime.opened_worker")
        request = order(url, method=method, headers=headers, body=body, credentials=credentials)
        sources = [gate for gate in self.task.lane if gate.startswith("source:")]
        if max_age is None:
            known = self._registry.max_ages
            max_age = next((known[gate] for gate in sources if gate in known), None)
        options = FetchOptions(
            self._governor,
            fetcher.page_cache,
            "\n".join(sources),
            max_age,
            render=render,
            replay=replay,
            rendering=rendering,
        )
        if self._services.spans is None:
            return await fetcher.fetch(request, options)
        return await fetch_in_span(self._services.spans, fetcher, request, options)

    async def post(self, request: Request, bounds: Bounds) -> Response:
        """For the machine's own messages: what an endpoint answers, whatever it is."""
        fetcher = self._services.fetcher
        if fetcher is None:
            raise UsageError("this worker has no fetcher; create it with runtime.opened_worker")
        return await fetcher.post(request, self._governor, bounds)

    async def ask(
        self,
        task_name: str,
        schema: Schema,
        inputs: Mapping[str, Any],
        *,
        tier: str | None = None,
        budget: float | None = None,
    ) -> ModelAnswer:
        advisor = self._services.advisor
        if advisor is None:
            raise UsageError(
                "this worker has no models; create it with runtime.opened_worker, which reads them "
                "from the project file"
            )
        try:
            return await advisor.ask(task_name, schema, inputs, self._model_budget(budget), tier=tier)
        except BudgetExhausted as problem:
            if problem.gate is None and problem.away is None:
                # Too dear for any one call: nobody else is concerned.
                problem.away = LOOK_AGAIN
            raise
        # a model without a price, say: the task is not to blame, and waits until somebody has mended it
        except ConfigError as problem:
            raise NotYet(str(problem), retry_after=LOOK_AGAIN) from problem

    async def can_ask(self, tier: str = "cheap") -> bool:
        gate = self._registry.tier(tier)
        return gate is not None and await self._store.run(sources.is_open, self._store, gate)

    async def extract(
        self,
        page: Page,
        schema: Schema,
        *,
        site: str | None = None,
        tier: str | None = None,
        budget: float | None = None,
    ) -> Extract:
        return await self._reader.extract(page, schema, site=site, tier=tier, budget=budget)

    async def learn(
        self, pages: Sequence[Page], schema: Schema, *, site: str | None = None
    ) -> tuple[str, ...]:
        return await self._reader.learn(pages, schema, site=site)

    async def compute(self, function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
        return await self._services.pool.run(function, *args, seconds=seconds)

    async def perform(self, stage: Callable[..., T]) -> T:
        """Perform a stage in a process of its own. The worker watches its time."""
        context = IsolatedContext(self.task, self.now(), dict(self._store.settings))
        return await self._services.stage_pool.run(stage, context, seconds=MAX_STAGE, helper=self)

    async def tell(self, title: str, body: str) -> bool:
        notifier = self._services.notifier
        try:
            return bool(notifier is not None and await notifier.send(title, body))
        except ConfigError as problem:
            # An address that is none: the message waits until somebody has mended it.
            raise NotYet(str(problem), retry_after=LOOK_AGAIN) from problem

    def lend(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the stage on its own thread; what it waits for runs on this loop."""
        self._loop = loop

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise UsageError(
                "ctx.wait is only for plain functions; in an async stage write: await ctx.fetch(url)"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @cached_property
    def _governor(self) -> GateGovernor:
        return GateGovernor(self._store, self.task)

    def _model_budget(self, budget: float | None) -> StoreModelBudget:
        if budget is not None:
            checked_budget(budget)
        app = self._registry.app_of(self.task.kind)
        about, spans = self._registry.about(self.task), self._services.spans
        return StoreModelBudget(self._store, self.task, app, self._governor, budget, about, spans)

    @cached_property
    def _reader(self) -> "Reader":
        from thresher.engine.reader import Reader  # noqa: PLC0415  most stages never read a page this way, and it brings much along

        return Reader(self._store, self)
