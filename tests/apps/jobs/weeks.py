"""A search as it goes on for weeks: the real app, a real store, real HTTP to the practice web, and one
calendar for all of them.

A day begins at nine, as the practice web's do. What has to wait is waited for in hours of that day, by moving
the clock; the web stands still meanwhile, so what it says on a day is what `chronicle` says of that day.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from typing import Any

from tests.apps.jobs.scraping import ended
from tests.engine.workshop import Workshop
from tests.harness import tasks
from tests.harness.databases import Database
from tests.harness.ours import OURS
from thresher import App, NewTask
from thresher.ai.ask import Advisor
from thresher.ai.prices import Prices
from thresher.ai.prompt import Library
from thresher.ai.providers import open_provider
from thresher.apps.jobs.app import app
from thresher.apps.jobs.service.boards import ask_boards, enable_board
from thresher.apps.jobs.service.companies import Wish, ask_companies
from thresher.apps.jobs.service.postings import set_profile
from thresher.config.models import Models
from thresher.config.settings import Settings
from thresher.core.clock import DAY, HOUR, SECOND
from thresher.core.record import Found, Link
from thresher.engine.page_cache import StorePageCache
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.turns import WorkerTally
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.practice.web import (
    DAY_ZERO,
    Chronicle,
    Company,
    Knob,
    LogEntry,
    PracticePosting,
    PracticeWeb,
    chronicle,
    company,
    directory,
)
from thresher.runtime import install, install_models
from thresher.store import sources
from thresher.store.records import find_records

# Nothing here waits that long unless it is broken.
PATIENCE = 120.0
MAX_ROWS = 100_000
CONTACT = "https://example.com/bot"
# No waiting between requests and as many at once as there are; the lease of somebody who is never slow.
CALM = {
    "host.interval": 0.0,
    "host.in_flight": 4,
    "worker.concurrency": 16,
    "worker.lease": 30.0,
    "worker.poll": 0.05,
    "retry.jitter": 0.0,
    "fetch.read": 5.0,
    "fetch.total": 10.0,
}


class Search:
    """One person's search for openings, on one database."""

    def __init__(
        self,
        database: Database,
        web: PracticeWeb,
        *beside: App,
        models: Models | None = None,
        **settings: Any,
    ) -> None:
        self.web, self.shop, self.models = web, Workshop(database), models or Models()
        self.store, self.clock = self.shop.store, database.clock
        self.set(**CALM, **settings)
        gates = {name: self.models.providers[tier.provider].gate for name, tier in self.models.tiers.items()}
        self.registry = Registry([app, *beside], self.store.settings, tiers=gates)
        install(self.store, self.registry)
        install_models(self.store, self.models)
        set_profile(
            self.store,
            (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8"),
            "example_profile.yaml",
        )
        self.day = 0.0
        self.begin(0)

    def close(self) -> None:
        self.shop.close()

    def set(self, **settings: Any) -> None:
        """Settings as a project file would have them; two underlines stand for a dot."""
        wanted = self.store.project_settings | {
            name.replace("__", "."): value for name, value in settings.items()
        }
        self.store.project_settings, self.store.settings = wanted, Settings(wanted, OURS)

    # --- time

    def begin(self, day: float) -> None:
        """It is nine o'clock of that day, here and there."""
        self.day = day
        self.web.set_day(day)
        wanted = int((DAY_ZERO + timedelta(days=day)).timestamp()) * SECOND
        self.clock.advance(max(0, wanted - self.clock.now()))  # type: ignore[attr-defined]  # a clock that tests move

    def tomorrow(self) -> None:
        """A day later here, and not there: the web is what it was."""
        self.clock.advance(DAY)  # type: ignore[attr-defined]

    def work(self, hours: int = 8) -> WorkerTally:
        """Do what can be done, and what has to wait an hour later, and so on."""
        tally = self._drain()
        for _ in range(hours):
            if not self.unfinished():
                break
            self.clock.advance(HOUR)  # type: ignore[attr-defined]
            tally = self._drain()
        return tally

    def _drain(self) -> WorkerTally:
        async def until_idle() -> WorkerTally:
            guard, resolver = Guard(), MappedResolver(self.web.rules, SystemResolver())
            agent = agent_of(None, CONTACT)
            fetcher = Fetcher(
                HttpTransport(resolver, guard),
                guard,
                agent,
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
            return await asyncio.wait_for(worker.run(), PATIENCE)

        return asyncio.run(until_idle())

    def _reach(self, fetcher: Fetcher) -> Services:
        if not self.models.providers:
            return Services(fetcher)
        providers = {name: open_provider(thinker) for name, thinker in self.models.providers.items()}
        advisor = Advisor(
            providers,
            self.models.tiers,
            Prices(self.models),
            Library(apps=[app]),
            lambda: self.store.settings,
        )
        return Services(fetcher, advisor, providers)

    # --- what a person does

    def add(self, *tokens: str) -> None:
        """Ask for these companies, by name and site."""
        ask_companies(
            self.store,
            self.registry,
            [Wish(who.name, f"https://{who.site}/") for who in map(self.who, tokens)],
        )

    def put(self, *new: NewTask) -> list[int]:
        return self.shop.put(self.registry, *new)

    def confirm(self) -> None:
        """Have a look at every board that waits for a person, and have it read: one that a company's page
        names, or one that was found."""
        for each in self.records("company"):
            if each.data.get("board_url") and not self.records("board", Link("company", each.key)):
                ask_boards(
                    self.store,
                    self.registry,
                    [each.data["board_url"]],
                    company=each.key,
                    name=each.data["name"],
                )
        self.work()
        for board in self.records("board"):
            if board.data["status"] == "pending":
                enable_board(self.store, self.registry, board.key)
        self.work()

    def look(self, *knobs: Knob, day: float | None = None) -> None:
        """The next day: every board that is due is looked at, while these knobs are turned."""
        self.begin(self.day + 1 if day is None else day)
        self.web.web.panel.clear()
        self.web.turn(*knobs)
        self.scrape()
        self.work()
        self.web.web.panel.clear()

    def scrape(self) -> None:
        (plan,) = [each for each in app.schedules if each.task.kind == "scrape"]
        self.store.enqueue([self.registry.admit(plan.task)])

    def reopen(self) -> None:
        """Open every gate that a wall or trouble has closed, as a person does who has looked."""
        with self.store.read() as session:
            closed = [gate["name"] for gate in sources.find_gates(session) if gate["closed_tag"] is not None]
        for name in closed:
            sources.resume(self.store, name)

    # --- what is known

    def who(self, token: str) -> Company:
        return company(self.web.web.seed, token)

    def truth(self, token: str, since: float = 0, until: float | None = None) -> Chronicle:
        return chronicle(self.web.web.seed, token, since, self.day if until is None else until)

    def records(self, kind: str, link: Link | None = None) -> list[Found]:
        with self.store.read() as session:
            return find_records(session, kind=kind, link=link, limit=MAX_ROWS)

    def company(self, token: str) -> Found:
        (found,) = [each for each in self.records("company") if each.key.endswith(f"{token}.example")]
        return found

    def board(self, token: str) -> Found:
        (found,) = [
            each
            for each in self.records("board")
            if any(target.endswith(f"{token}.example") for target in each.linked("company"))
        ]
        return found

    def postings(self, token: str) -> list[Found]:
        return self.records("posting", Link("board", self.board(token).key))

    def unfinished(self) -> int:
        return int(tasks.rows(self.store, "select count(*) from tasks where finished_at is null")[0][0])

    def kinds(self) -> Counter[tuple[str, str]]:
        """How many tasks of each kind ended how."""
        return Counter(
            {
                (kind, state): count
                for kind, state, count in tasks.rows(
                    self.store, "select kind, state, count(*) from tasks group by kind, state"
                )
            }
        )

    def refusals(self) -> list[tuple[str, str, str, str]]:
        """(kind, url, rule, detail) of every child that was refused."""
        return tasks.rows(self.store, "select kind, url, rule, detail from refusals order by id")

    def requests(self, since: int = 0) -> list[LogEntry]:
        """What the web was asked, robots.txt aside."""
        return ended(self.web, since)


@dataclass(frozen=True, slots=True)
class Compared:
    """What a board shows beside what was written down: each planted posting with its record, and what has no
    partner."""

    pairs: Sequence[tuple[PracticePosting, Found]]
    missing: Sequence[PracticePosting]
    invented: Sequence[Found]


def compared(planted: Iterable[PracticePosting], found: Iterable[Found]) -> Compared:
    """Pair them by any name that a board may number a posting by. A record has one partner, and so has a
    posting."""
    left: dict[str, Found] = {each.key: each for each in found}
    said = {key: said_of(record) for key, record in left.items()}
    pairs, missing = [], []
    for posting in planted:
        names = names_of(posting)
        key = next((key for key in left if any(name in said[key] for name in names)), None)
        if key is None:
            missing.append(posting)
        else:
            pairs.append((posting, left.pop(key)))
    return Compared(pairs, missing, list(left.values()))


def names_of(posting: PracticePosting) -> tuple[str, ...]:
    """What a record of this posting may call it."""
    # A mark ends where it is written: R-10001-1 is not in R-10001-12.
    return tuple(
        name.lower() for name in (str(posting.id), posting.uuid, posting.shortcode, f"{posting.mark} ")
    )


def said_of(record: Found) -> str:
    """What a record says of who it is: its number and its address."""
    return f"{record.data.get('number') or ''} {record.data.get('url') or ''} {record.key} ".lower()


def shown(planted: Iterable[PracticePosting]) -> list[PracticePosting]:
    """Those that their board lists: Ashby has rows that it says not to."""
    return [each for each in planted if each.company.platform != "ashby" or each.place % 9 != 8]


def small(seed: int, platform: str, *, quiet: bool = False) -> str:
    """The token of a company of the seed's on a platform; `quiet`: on pages of its own that name no feed."""
    return next(
        who.token
        for who in directory(seed, 600)
        if who.platform == platform and 5 <= who.places <= 30 and (not quiet or who.layout == 1)
    )
