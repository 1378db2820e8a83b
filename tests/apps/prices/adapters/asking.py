"""Somebody who asks price sources: real stages on a real store, real HTTP to the practice web, and one clock
for both."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.engine.workshop import Workshop
from tests.harness import tasks
from tests.harness.databases import Database
from thresher import App, Done, NewTask, Pipeline, Stage
from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked
from thresher.apps.prices.adapters.catalogue import adapter_of
from thresher.apps.prices.model import (
    Adapter,
    Item,
    ItemSpec,
    ItemStatus,
    Listing,
    PriceType,
    SourceSpec,
    gate_name,
)
from thresher.config.settings import Settings, catalogue_of
from thresher.core.clock import DAY, SECOND
from thresher.core.gate import GateLimits
from thresher.core.stored import read, written
from thresher.core.zstd import zstd
from thresher.engine.page_cache import StorePageCache
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.practice.web import DAY_ZERO, Knob, PracticeWeb
from thresher.practice.web.sites.marketplace_goods import Offer, thing
from thresher.store.app_migrations import app_schemas, migrate_apps
from thresher.store.sources import add_source_within, find_gates, resume
from thresher.store.store import Store

PATIENCE = 60.0
CALM = {
    "host__interval": 0.0,
    "host__in_flight": 8,
    "worker__lease": 30.0,
    "retry__jitter": 0.0,
    # What a busy machine may need for an answer; a test of slow servers takes less (`IMPATIENT`).
    "fetch__read": 15.0,
    "fetch__total": 30.0,
    "fetch__keep_all": 1,
}
IMPATIENT = {"fetch__read": 1.0, "fetch__total": 2.0}
EBAY = SourceSpec("ebay", Adapter.MARKETPLACE)
ZSTD = b"\x28\xb5\x2f\xfd"  # how a compressed body begins
KEYS = ("state", "reason", "error")


class Asker:
    """One database, the practice web, and a worker that asks."""

    def __init__(self, database: Database, web: PracticeWeb, app: App | None = None, **settings: Any) -> None:
        self.web, self.shop, self.clock = web, Workshop(database), database.clock
        self.found: dict[str, list[ListingPage]] = {}
        self.not_asked: dict[str, str] = {}
        app = app or App("asking", pipelines=(Pipeline("ask", Stage(self._ask, through=_gates)),))
        migrate_apps(self.shop.store.backend, app_schemas([app], self.shop.store.backend.dialect))
        self.store: Store = self.shop.store
        self.registry = self.shop.set_up(app, **(CALM | settings))
        self.store.settings = Settings(self.store.project_settings, catalogue_of((app,)))
        wanted = int(DAY_ZERO.timestamp()) * SECOND
        self.clock.advance(wanted - self.clock.now())  # type: ignore[attr-defined]  # a clock that tests move
        self.day = 0.0
        self._runner: asyncio.Runner | None = None

    async def _ask(self, ctx: Any) -> Done:
        """All pages of a source about an item, as a collection reads them."""
        said = ctx.task.payload
        spec = read(SourceSpec, said["source"], name=said["name"], adapter=Adapter(said["adapter"]))
        item = Item(1, read(ItemSpec, said["item"], name=said["item_name"]), ItemStatus.ATTRIBUTED)
        adapter = adapter_of(spec)
        query = adapter.query(item)
        if isinstance(query, NotAsked):
            self.not_asked[said["key"]] = query.reason
            return Done()
        pages: list[ListingPage] = []
        cursor = None
        for _ in range(100):
            page = await adapter.fetch(ctx, query, cursor)
            await ctx.save(page.body)
            pages.append(await adapter.read(ctx, query, cursor, page))
            cursor = pages[-1].next
            if cursor is None or not pages[-1].verdict.is_proof:
                break
        self.found[said["key"]] = pages
        return Done(result={"pages": len(pages)})

    def ask(
        self, item: ItemSpec, spec: SourceSpec = EBAY, *knobs: Knob, key: str = "one"
    ) -> list[ListingPage]:
        """The pages of a source about an item; none if its task has not come to its end."""
        return self.ask_all({key: item}, spec, *knobs)[key]

    def ask_all(
        self, items: Mapping[str, ItemSpec], spec: SourceSpec = EBAY, *knobs: Knob
    ) -> dict[str, list[ListingPage]]:
        self.found.clear()
        self.web.turn(*knobs)
        with self.store.write() as session:
            add_source_within(session, gate_name(spec.name), GateLimits(), "prices", self.clock.now())
        new = [
            NewTask(
                "ask",
                {
                    "key": key,
                    "name": spec.name,
                    "adapter": spec.adapter.value,
                    "source": written(spec),
                    "item_name": item.name,
                    "item": written(item),
                },
                key=key,
            )
            for key, item in items.items()
        ]
        self.store.enqueue([self.registry.admit(each) for each in new])
        self.work()
        self.web.web.panel.clear()
        return {key: self.found.get(key, []) for key in items}

    def work(self) -> None:
        """Work until nothing is left that can be done now; in a loop of its own, unless one is kept open."""
        if self._runner is not None:
            self._runner.run(self._until_idle())
        else:
            asyncio.run(self._until_idle())

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """One process that goes on working: what it keeps in memory stays."""
        with asyncio.Runner() as self._runner:
            yield
        self._runner = None

    async def _until_idle(self) -> None:
        guard, resolver = Guard(), MappedResolver(self.web.rules, SystemResolver())
        fetcher = Fetcher(
            HttpTransport(resolver, guard),
            guard,
            agent_of(None, "https://example.com/bot"),
            settings=lambda: self.store.settings,
            page_cache=StorePageCache(self.store),
            clock=self.clock,
        )
        worker = Worker(
            self.store,
            self.registry,
            heartbeat_store=self.shop.machine(),
            until_idle=True,
            services=Services(fetcher),
            clock=self.clock,
        )
        await asyncio.wait_for(worker.run(), PATIENCE)

    def move_to(self, day: float) -> None:
        self.clock.advance(round((day - self.day) * DAY))  # type: ignore[attr-defined]
        self.day = day
        self.web.set_day(day)

    # --- what came of it

    def task(self) -> dict[str, Any]:
        """The latest task."""
        row = tasks.rows(self.store, "select state, reason, error_name from tasks order by id desc limit 1")[
            0
        ]
        return dict(zip(KEYS, row, strict=True))

    def said(self) -> str:
        """What is said of the latest task, as it stands and of its attempts."""
        told = tasks.rows(self.store, "select error_name, reason from attempts order by task_id, claim")
        return f"{self.task()} {told}"

    def gate(self, name: str) -> dict[str, Any]:
        with self.store.read() as session:
            return next((each for each in find_gates(session) if each["name"] == name), {})

    def reopen(self, *names: str) -> None:
        for name in names:
            resume(self.store, name)

    def requests(self, path: str) -> int:
        return sum(each.path.startswith(path) for each in self.web.log())

    def everything(self) -> list[tuple[str, str]]:
        """Each text and each body that the database holds, with its table."""
        return whole_database(self.store)


def _gates(trip: Any) -> tuple[str, ...]:
    return (f"source:{gate_name(trip.payload['name'])}",)


def whole_database(store: Store) -> list[tuple[str, str]]:
    """Every value of every table as text."""
    found, names = [], table_names(store)
    with store.read() as session:
        for table in names:
            for row in session.rows(f"select * from {table}"):
                found += [(table, _text(each)) for each in row]
    return found


def table_names(store: Store) -> list[str]:
    with store.read() as session:
        if store.backend.dialect.name == "sqlite":
            return [row[0] for row in session.rows("select name from sqlite_master where type = 'table'")]
        return [
            row[0]
            for row in session.rows(
                "select table_name from information_schema.tables where table_schema = current_schema()"
            )
        ]


def _text(value: Any) -> str:
    if not isinstance(value, bytes | memoryview):
        return str(value)
    body = bytes(value)
    return (zstd.decompress(body) if body[:4] == ZSTD else body).decode("latin-1")


def item_of(key: str, **more: Any) -> ItemSpec:
    """The item that a thing of the practice marketplace is."""
    known = thing(key)
    return ItemSpec(known.name, known.kind, dict(known.attributes), **more)


def listings(pages: Sequence[ListingPage], kind: PriceType | None = None) -> dict[str, Listing]:
    """The listings of all pages by their ids."""
    return {
        each.external_id or each.title: each
        for page in pages
        for each in page.listings
        if kind in (None, each.price_type)
    }


def ids(offers: Sequence[Offer]) -> set[str]:
    return {f"v1|{each.id}|0" for each in offers}
