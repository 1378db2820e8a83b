"""Companies looked at on a real store, through real HTTP, against the practice web."""

import asyncio
from typing import Any

from tests.engine.workshop import Workshop
from tests.harness import tasks
from tests.harness.ours import OURS
from thresher import App, Done, NewTask, Pipeline, Record, Stage
from thresher.admin.records import write_records
from thresher.ai.ask import Advisor
from thresher.ai.prices import Prices
from thresher.ai.prompt import Library
from thresher.ai.providers import open_provider
from thresher.apps.jobs.app import app as jobs
from thresher.apps.jobs.company.pipeline import company
from thresher.config.models import Models
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
from thresher.runtime import install_models
from thresher.store.records import find_records

PATIENCE = 60.0
CALM = {
    "host.interval": 0.0,
    "host.in_flight": 8,
    "worker.lease": 30.0,
    "retry.jitter": 0.0,
    "retry.base": 0.0,
    "breaker.trip_after": 1_000,
}


async def _discover(_: Any) -> Done:
    return Done()


APP = App("test", pipelines=(company, Pipeline("source_discovery", Stage(_discover, name="discover"))))


class Analyst:
    """One database, and a practice web with companies. What would look for their boards does nothing."""

    def __init__(
        self, shop: Workshop, web: PracticeWeb, *, models: Models | None = None, **settings: Any
    ) -> None:
        self.shop, self.web, self.store, self.models = shop, web, shop.store, models or Models()
        wanted = self.store.project_settings | CALM | settings
        self.store.project_settings, self.store.settings = wanted, Settings(wanted, OURS)
        gates = {name: self.models.providers[tier.provider].gate for name, tier in self.models.tiers.items()}
        self.registry = Registry([APP], self.store.settings, tiers=gates)
        install_models(self.store, self.models)

    def look(self, url: str | None = None, **payload: Any) -> dict[str, Any]:
        """Look at a company until nothing is left to do; how the task ended."""
        (task_id,) = self.shop.put(self.registry, NewTask("company", payload, url=url))
        asyncio.run(asyncio.wait_for(self._worker().run(), PATIENCE))
        return self.shop.fields(task_id)

    def company(self, key: str) -> Found:
        return self.records("company")[key]

    def records(self, kind: str) -> dict[str, Found]:
        with self.store.read() as session:
            return {each.key: each for each in find_records(session, kind=kind, limit=1_000)}

    def write(self, *records: Record) -> None:
        write_records(self.store, records)

    def asked(self) -> list[str]:
        """What the web was asked, robots.txt aside."""
        return [each.path for each in self.web.log() if each.path != "/robots.txt"]

    def discoveries(self) -> list[tuple[str, str | None]]:
        """The payloads and addresses of the boards that are to be looked at."""
        return tasks.rows(
            self.store, "select payload, url from tasks where kind = 'source_discovery' order by id"
        )

    def _worker(self) -> Worker:
        guard, resolver = Guard(), MappedResolver(self.web.rules, SystemResolver())
        fetcher = Fetcher(
            HttpTransport(resolver, guard),
            guard,
            agent_of(None, "https://example.com/bot"),
            settings=lambda: self.store.settings,
            page_cache=StorePageCache(self.store),
            clock=self.shop.clock,
        )
        providers = {name: open_provider(thinker) for name, thinker in self.models.providers.items()}
        advisor = Advisor(
            providers,
            self.models.tiers,
            Prices(self.models),
            Library(apps=[jobs]),
            lambda: self.store.settings,
        )
        return Worker(
            self.store,
            self.registry,
            heartbeat_store=self.shop.machine(),
            until_idle=True,
            services=Services(fetcher, advisor, providers),
            clock=self.shop.clock,
        )
