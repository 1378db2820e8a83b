"""A scraper at work for tests: its two pipelines on a real store, with real HTTP to the practice web, and one
clock for all."""

import asyncio
import time
from typing import Any

import orjson

from tests.engine.asking import models
from tests.engine.workshop import Workshop
from tests.harness import tasks
from tests.harness.databases import Database
from thresher import App, Done, NewTask, Pipeline, Stage
from thresher.admin.records import write_records
from thresher.ai.ask import Advisor
from thresher.ai.prices import Prices
from thresher.ai.prompt import Library
from thresher.ai.providers import open_provider
from thresher.apps.jobs.app import app as jobs
from thresher.apps.jobs.review import review
from thresher.apps.jobs.scraping.learned_rows import OPENINGS
from thresher.apps.jobs.scraping.pipeline import scrape, scrape_source
from thresher.core.clock import DAY, SECOND
from thresher.core.record import Found, Link, Record
from thresher.engine.page_cache import StorePageCache
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.hiring.records import board_key, entry
from thresher.practice.web import (
    DAY_ZERO,
    Company,
    Knob,
    LogEntry,
    PracticePosting,
    PracticeWeb,
    board_url,
    company,
    postings,
)
from thresher.reading.platforms.boards import Board, recognise
from thresher.runtime import install_models
from thresher.store import sources
from thresher.store.records import find_records

MAX_LOOKS = 200
PATIENCE = 120.0
MAX_ROWS = 100_000
CALM = {
    "host__interval": 0.0,
    "host__in_flight": 4,
    "worker__lease": 30.0,
    "retry__jitter": 0.0,
    "fetch__read": 5.0,
    "fetch__total": 10.0,
}


async def note_job(ctx: Any) -> Done:
    return Done()


APP = App(
    "scraping",
    pipelines=(scrape, scrape_source, review, Pipeline("job", Stage(note_job))),
    schemas=(OPENINGS,),
    events=jobs.events,
)


def ended(web: PracticeWeb, since: int = 0) -> list[LogEntry]:
    """What was asked. An answer may be here before the web has noted that it went out; what hangs is not
    waited for."""
    found: list[LogEntry] = []
    for _ in range(MAX_LOOKS):
        found = [each for each in web.log(since=since) if each.path != "/robots.txt"]
        if all(each.status is not None for each in found):
            break
        time.sleep(0.01)
    return found


class Scraping:
    """One database, the practice web, and boards on it."""

    def __init__(
        self, database: Database, web: PracticeWeb, *, thinks: bool = False, **settings: Any
    ) -> None:
        self.web, self.shop = web, Workshop(database)
        self.store, self.clock = self.shop.store, database.clock
        self.registry = self.shop.set_up(APP, **(CALM | settings))
        self.models = models(web) if thinks else None
        if self.models is not None:
            gates = {
                name: self.models.providers[tier.provider].gate for name, tier in self.models.tiers.items()
            }
            self.registry = Registry([APP], self.store.settings, tiers=gates)
            install_models(self.store, self.models)
        wanted = int(DAY_ZERO.timestamp()) * SECOND
        self.clock.advance(wanted - self.clock.now())  # type: ignore[attr-defined]  # a clock that tests move
        self.day = 0.0

    # --- boards

    def add(self, token: str, **fields: Any) -> str:
        """The board of a company of the practice web; its key."""
        who = self.who(token)
        url = board_url(who)
        board = recognise(url)
        return self.add_board(
            board if board and board.token else Board("site", None, url),
            who.name,
            f"{token}.example",
            **fields,
        )

    def add_board(
        self, board: Board, name: str | None = None, company_key: str | None = None, **fields: Any
    ) -> str:
        key = board_key(board)
        data = {
            "url": board.url,
            "platform": board.platform,
            "token": board.token,
            "parts": dict(board.parts),
            "status": "active",
            "failures": 0,
            "due_at": 0,
            "scraped_at": 0,
            "company": company_key,
            "company_name": name,
            **fields,
        }
        self.write(entry("board", key, data, *((Link("company", company_key),) if company_key else ())))
        return key

    def write(self, *records: Record) -> None:
        write_records(self.store, records)

    # --- looks

    def look(self, *keys: str, day: float | None = None, knobs: tuple[Knob, ...] = ()) -> list[int]:
        """Look at these boards, a day later than the last time; the tasks. A look that still waits is not
        asked for again."""
        self.begin(self.day + 1 if day is None else day)
        self.web.turn(*knobs)
        wanted = (NewTask("scrape_source", {"board": key, "failures": 0}, key=key) for key in keys)
        ids = self.store.enqueue([self.registry.admit(each) for each in wanted])
        self.work()
        self.web.web.panel.clear()
        return [int(each) for each in ids if each is not None]

    def begin(self, day: float) -> None:
        self.clock.advance(round((day - self.day) * DAY))  # type: ignore[attr-defined]
        self.day = day
        self.web.set_day(day)

    def work(self) -> None:
        async def until_idle() -> None:
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
                services=self._reach(fetcher),
                clock=self.clock,
            )
            await asyncio.wait_for(worker.run(), PATIENCE)

        asyncio.run(until_idle())

    def _reach(self, fetcher: Fetcher) -> Services:
        if self.models is None:
            return Services(fetcher)
        providers = {name: open_provider(thinker) for name, thinker in self.models.providers.items()}
        advisor = Advisor(
            providers,
            self.models.tiers,
            Prices(self.models),
            Library(apps=[jobs]),
            lambda: self.store.settings,
        )
        return Services(fetcher, advisor, providers)

    def reopen(self) -> None:
        with self.store.read() as session:
            closed = [gate["name"] for gate in sources.find_gates(session) if gate["closed_tag"] is not None]
        for name in closed:
            sources.resume(self.store, name)

    # --- what came of it

    def who(self, token: str) -> Company:
        return company(self.web.web.seed, token)

    def planted(self, token: str) -> tuple[PracticePosting, ...]:
        return postings(self.web.web.seed, self.who(token), self.web.now())

    def board(self, key: str) -> dict[str, Any]:
        return dict(self.records("board", keys=[key])[0].data)

    def last_look(self, key: str) -> dict[str, Any]:
        return dict(self.board(key)["last_look"])

    def postings(self, key: str, state: str | None = "open") -> list[Found]:
        found = self.records("posting", link=Link("board", key))
        return [each for each in found if state is None or each.data["state"] == state]

    def titles(self, key: str, state: str | None = "open") -> list[str]:
        return sorted(each.data["title"] for each in self.postings(key, state))

    def records(self, kind: str, **how: Any) -> list[Found]:
        with self.store.read() as session:
            return find_records(session, kind=kind, limit=MAX_ROWS, **how)

    def jobs(self) -> list[str]:
        """The keys of all postings that were spawned as tasks, in order."""
        found = tasks.rows(self.store, "select payload from tasks where kind = 'job' order by id")
        return [orjson.loads(row[0])["posting"] for row in found]

    def requests(self, since: int = 0) -> list[LogEntry]:
        return ended(self.web, since)

    def close(self) -> None:
        self.shop.close()
