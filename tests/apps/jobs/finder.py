"""Discoveries on a real store, through real HTTP, against the practice web."""

import asyncio
from typing import Any

import orjson

from tests.engine.workshop import Workshop
from tests.harness.ours import OURS
from tests.harness.tasks import rows
from thresher import App, Done, NewTask, Pipeline, Stage
from thresher.apps.jobs.app import app as jobs
from thresher.apps.jobs.discovery.pipeline import discovery
from thresher.config.settings import Settings
from thresher.core.record import Found
from thresher.engine.page_cache import StorePageCache
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.practice.web import PracticeWeb
from thresher.store.records import find_records

PATIENCE = 60.0
CALM = {
    "host.interval": 0.0,
    "host.in_flight": 8,
    "worker.lease": 30.0,
    "retry.jitter": 0.0,
    "breaker.trip_after": 1_000,
}


async def _scrape(_: Any) -> Done:
    return Done()


APP = App(
    "test",
    pipelines=(discovery, Pipeline("scrape_source", Stage(_scrape, name="scrape"))),
    events=jobs.events,
)


class Finder:
    """One database, and a practice web to find boards on. What would scrape them does nothing."""

    def __init__(self, shop: Workshop, web: PracticeWeb) -> None:
        self.shop, self.web, self.store = shop, web, shop.store
        self.set(CALM)

    def set(self, settings: dict[str, Any]) -> None:
        wanted = self.store.project_settings | settings
        self.store.project_settings, self.store.settings = wanted, Settings(wanted, OURS)
        self.registry = Registry([APP], self.store.settings)
        self.store.app_events = self.registry.events

    def fetcher(self) -> Fetcher:
        guard, resolver = Guard(), MappedResolver(self.web.rules, SystemResolver())
        return Fetcher(
            HttpTransport(resolver, guard),
            guard,
            agent_of(None, "https://example.com/bot"),
            settings=lambda: self.store.settings,
            page_cache=StorePageCache(self.store),
            clock=self.shop.clock,
        )

    def work(self) -> None:
        async def until_idle() -> None:
            worker = Worker(
                self.store,
                self.registry,
                heartbeat_store=self.shop.machine(),
                until_idle=True,
                services=Services(self.fetcher()),
                clock=self.shop.clock,
            )
            await asyncio.wait_for(worker.run(), PATIENCE)

        asyncio.run(until_idle())

    def ask(self, url: str | None = None, **payload: Any) -> int:
        (task_id,) = self.shop.put(self.registry, NewTask("source_discovery", payload, url=url))
        return task_id

    def find(self, url: str | None = None, **payload: Any) -> dict[str, Any]:
        """Look for a board until nothing is left to do; how the task ended."""
        task_id = self.ask(url, **payload)
        self.work()
        return self.shop.fields(task_id)

    def records(self, kind: str) -> dict[str, Found]:
        with self.store.read() as session:
            return {each.key: each for each in find_records(session, kind=kind, limit=10_000)}

    def board(self) -> Found:
        """The only board there is."""
        (found,) = self.records("board").values()
        return found

    def asked(self, host: str | None = None) -> list[str]:
        """What the web was asked, robots.txt aside."""
        return [f"{each.host}{each.path}" for each in self.web.log(host) if each.path != "/robots.txt"]

    def scrapes(self) -> list[dict[str, Any]]:
        """The scrapes that were asked for: their payloads."""
        return [
            orjson.loads(payload)
            for (payload,) in rows(self.store, "select payload from tasks where kind = 'scrape_source'")
        ]
