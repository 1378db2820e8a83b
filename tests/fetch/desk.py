"""A fetcher at its desk: everything that it asks others, kept in memory, and a web that is real but local."""

import asyncio
from dataclasses import dataclass, field

import pytest

from tests.fetch.site import Site, open_site
from thresher.config.settings import Settings
from thresher.engine.page_cache import StorePageCache
from thresher.fetch.agent import agent_of
from thresher.fetch.browser import Browser
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.governor import FetchOptions, Passage
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.request import order
from thresher.fetch.resolver import MappedResolver, SystemResolver

SHOP = "https://shop.example"
FRESH = {"cache_control": "max-age=60"}


@dataclass
class Book:
    """A governor that lets everybody through and writes it down."""

    passed: list[str] = field(default_factory=list)
    held: list[tuple[str, float]] = field(default_factory=list)
    slowed: list[tuple[str, float]] = field(default_factory=list)
    waived: bool = False

    async def reserve(self, gate, *, preparing=False):
        return Passage(gate, preparing)

    async def start(self, passage):
        self.passed.append(passage.gate)

    async def release(self, passage, problem):
        pass

    async def hold_back(self, gate, seconds, reason):
        self.held.append((gate, seconds))
        return seconds

    async def slow_down(self, gate, seconds):
        self.slowed.append((gate, seconds))

    async def waiver(self, gate):
        return "since today: we may" if self.waived else None


class Desk:
    """A fetcher on a site, with a shelf and a clock that moves by hand."""

    def __init__(self, site: Site, store, clock, **settings):
        self.site, self.clock, self.book = site, clock, Book()
        self.page_cache = StorePageCache(store)
        self._settings = Settings({name.replace("__", "."): value for name, value in settings.items()})
        self.fetcher = self.another_worker()

    def another_worker(self, *, browser=False):
        """Another process: it shares the shelf, and nothing in memory."""
        guard = Guard()
        resolver = MappedResolver({"*": self.site.address}, SystemResolver())
        agent = agent_of(contact="me@example.com")
        return Fetcher(
            HttpTransport(resolver, guard),
            guard,
            agent,
            settings=lambda: self._settings,
            clock=self.clock,
            browser=Browser(1, resolver, guard) if browser else None,
        )

    async def fetch(
        self,
        url=f"{SHOP}/a",
        *,
        source="",
        max_age=None,
        replay=False,
        render=False,
        rendering=None,
        by=None,
        **how,
    ):
        options = FetchOptions(
            self.book, self.page_cache, source, max_age, render=render, replay=replay, rendering=rendering
        )
        return await (by or self.fetcher).fetch(order(url, **how), options)

    def pages(self):
        return [path for path in self.site.paths() if path != "/robots.txt"]


@pytest.fixture
def at(store, clock):
    """Runs a test's story at a desk: `at(says, story, **settings)`."""

    def run(says, story, **settings):
        async def whole():
            async with open_site(says) as site:
                desk = Desk(site, store, clock, **settings)
                try:
                    return await story(desk)
                finally:
                    await desk.fetcher.close()

        return asyncio.run(whole())

    return run
