"""What a page of a search costs once it was read; and the driver's own bulk upsert beside it.

    python bench/queries.py --store sqlite|postgres [--offers 500] [--description 1200] [--changed 0.3]
        [--rounds 7] [--json]

A page of offers goes the way that it goes in a cycle: what is known of its offers and companies is asked for,
the records of what is new or has changed are made, checked and written as JSON, and everything is stored in
one transaction: records with their links and marks, what the query has found, and the signals of the offers
with their reposts. First the offers are new, then all of them have changed (`updated`), then three of ten
(`again`, as in a search that is repeated), and then none (`unchanged`). There are 701 companies: the first
two pages bring new ones, and the others hire again.

In turns with it the rows that this has written are upserted by the database's driver alone, ready as they are
and in the order of their keys, in one transaction, into the same tables with the same indexes of another
database: it asks nothing, and writes also what is there already. The driver does it twice, each time into a
database of its own:

    postings  the rows of the postings only, and no evidence: what this benchmark has always compared with
    page      every row and column that came of the page: evidence, companies and their signals too

`ratio` is ours over the driver's, the medians of all rounds, with the least and the most of single rounds
beside it; `cpu` is the same of this process's processor time, without PostgreSQL's own. Reading the body of
a page and scoring its offers happen in processes of their own and are told apart, per second of one
processor.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

from arrivals import TABLES, WORDS, Rows, Tables, upsert_postgres, upsert_sqlite

from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.clients.client import read_page
from thresher.apps.queries.clients.search import Offer, Search
from thresher.apps.queries.known_clients import client_from
from thresher.apps.queries.model import Query, QueryState
from thresher.apps.queries.offers import batch_of
from thresher.apps.queries.store.cycle import save_page
from thresher.apps.queries.store.runs import COUNTERS
from thresher.bench.queue import database_for
from thresher.core.clock import SystemClock
from thresher.core.page import Page
from thresher.core.record import pack
from thresher.core.task import Task, TaskId
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services, StageContext
from thresher.hiring.kinds import COMPANY, POSTING
from thresher.runtime import open_store
from thresher.store.records import file_records
from thresher.store.store import Store

CLIENT, TODAY = "arbeitnow", date(2026, 3, 1)
QUERY = QueryState("arbeitnow:0123456789ab", "queries.arbeitnow", Query(CLIENT, "bench"))
LIMIT = 65_536
TASK = Task(TaskId(7), 1, "query_cycle", "run", {}, {}, None, TaskId(7), None, 0, 0, 0)
RUN = {"task": TASK.id, "serial": 1}
THIRD = 2  # the look at which some have changed
T = TypeVar("T")
OWN = {
    "query_finds": ("query_key", "posting", "first_seen", "last_seen", "missed"),
    "query_offers": (
        "posting",
        "client",
        "company",
        "company_name",
        "title",
        "headline",
        "url",
        "location",
        "posted_on",
        "first_seen",
        "last_seen",
        "state",
        "held",
        "listed",
        "described",
        "fingerprint",
        "size",
        "canonical",
        "repost_why",
        "reposts",
        "score",
        "strong",
        "category",
        "rules",
        "categories",
        "signature",
        "hits",
        "sketch",
    ),
}
THEN = {
    "query_finds": "(query_key, posting) do update set last_seen = excluded.last_seen",
    "query_offers": "(posting) do update set last_seen = excluded.last_seen, listed = excluded.listed, hits = excluded.hits",
}
POSTINGS = {**TABLES, **{table: (columns, THEN[table]) for table, columns in OWN.items()}}
COMPANY_COLUMNS = ("company", "name", "first_seen", "updated_at", "dirty")
# What we write of a row that is there, the driver writes too.
PAGE: Tables = {
    **POSTINGS,
    "records": (
        (*TABLES["records"][0], "evidence", "seen"),
        """(kind, key) do update set data = excluded.data, evidence = excluded.evidence,
            last_task = excluded.last_task, seen = excluded.seen, updated_at = excluded.updated_at""",
    ),
    "query_offers": (
        OWN["query_offers"],
        "(posting) do update set "
        + ", ".join(f"{column} = excluded.{column}" for column in OWN["query_offers"][2:]),
    ),
    "company_signals": (COMPANY_COLUMNS, "(company) do update set dirty = excluded.dirty"),
}
DRIVERS = {"postings": POSTINGS, "page": PAGE}
APPS = (hiring, queries)


def row(number: int, characters: int, version: int) -> dict[str, Any]:
    """An offer as the API lists it, after so many changes."""
    pick = random.Random(number)
    text = f"Opening {number}{' again' * version}. "
    while len(text) < characters:
        text += " ".join(pick.choices(WORDS, k=12)) + ". "
    return {
        "slug": f"opening-{number}",
        "title": f"Senior Python Developer {number % 97}",
        "company_name": f"Company {number % 701}",
        "location": pick.choice(("Leeds", "Berlin, Germany", "Remote")),
        "url": f"https://www.arbeitnow.com/jobs/{number}",
        "created_at": 1_772_000_000 + number % 80_000,
        "description": text[:characters],
        "remote": False,
        "job_types": ["full time"],
        "tags": [],
    }


def body(numbers: range, given: argparse.Namespace, look: int) -> Page:
    """A page as a look finds it: all offers change with the second one, and some with the third."""
    some = [look == THIRD and random.Random(-number).random() < given.changed for number in numbers]
    versions = [min(look, 1) + is_changed for is_changed in some]
    rows = [row(*each) for each in zip(numbers, repeat(given.description), versions, strict=False)]
    url = "https://www.arbeitnow.com/api/job-board-api"
    text = json.dumps({"data": rows, "links": {"next": None}, "meta": {}}).encode()
    return Page(url, url, 200, {"content-type": "application/json"}, text)


@dataclass(slots=True)
class Times:
    """The seconds of each round: by the clock, and of this process's processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], T]) -> T:
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        return found

    def less(self, apart: "Times") -> None:
        """Take what was measured apart out of the last round."""
        self.wall[-1] -= sum(apart.wall)
        self.cpu[-1] -= sum(apart.cpu)

    def middle(self, name: str) -> float:
        """The median. The first round, in which everything warms up, is not counted."""
        return float(statistics.median(getattr(self, name)[1:]))

    def per_second(self, offers: int, name: str) -> int:
        return round(offers / self.middle(name))


@dataclass(slots=True)
class Case:
    """New, changed or known offers, and the times of ours and of each driver."""

    name: str
    ours: Times = field(default_factory=Times)
    drivers: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in DRIVERS})
    read: Times = field(default_factory=Times)
    scored: Times = field(default_factory=Times)
    offers_scored: int = 0

    def told(self, offers: int) -> Iterator[dict[str, Any]]:
        for name, driver in self.drivers.items():
            single = [theirs / own for own, theirs in zip(self.ours.wall[1:], driver.wall[1:], strict=True)]
            yield {
                "case": self.name,
                "driver": name,
                "ours_per_second": self.ours.per_second(offers, "wall"),
                "driver_per_second": driver.per_second(offers, "wall"),
                "ratio": round(driver.middle("wall") / self.ours.middle("wall"), 2),
                "ratio_least": round(min(single), 2),
                "ratio_most": round(max(single), 2),
                "ours_cpu_us": round(self.ours.middle("cpu") / offers * 1e6, 1),
                "driver_cpu_us": round(driver.middle("cpu") / offers * 1e6, 1),
                "ratio_cpu": round(driver.middle("cpu") / self.ours.middle("cpu"), 2),
                "read_per_second": self.read.per_second(offers, "cpu"),
                "scored_per_second": round(self.offers_scored / (sum(self.scored.cpu) or 1)),
            }


class Watched(StageContext):
    """The context of the stage. What it computes is scored here and not in a process of its own, so that its
    time can be told apart.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(TASK, store, SystemClock().now, Registry(APPS), Services())
        self.apart = Times()
        self.offers = 0

    async def compute(self, function: Callable[..., T], /, *args: Any, seconds: float | None = None) -> T:
        del seconds
        self.offers += len(args[0])
        return self.apart.take(partial(function, *args))


@dataclass(slots=True)
class Step:
    """One page on its way into the store."""

    page: Page
    offers: tuple[Offer, ...] = ()
    keys: list[str] = field(default_factory=list)  # of all postings,
    companies: list[str] = field(default_factory=list)  # of the companies whose records were brought,
    signals: list[str] = field(default_factory=list)  # and of those whose signals were

    def read(self) -> None:
        self.offers = read_page(client_from(CLIENT, None), Search(today=TODAY), None, self.page).offers

    async def store(self, store: Store, context: Watched) -> None:
        """Compare these offers with what is known and store them, as the step of a cycle does."""
        batch = await batch_of(context, client_from(CLIENT, None), QUERY, self.offers)
        filings = [(TASK.id, pack(each, LIMIT)) for each in batch.records]
        self.keys = [key for key, _ in batch.offers]
        data = {"run": RUN, "query": QUERY.key, "source": QUERY.source, "wanted": [], "found": self.keys}
        with store.write() as session:
            now = store.backend.now(session)
            file_records(session, filings, now)
            save_page(session, {**data, "offers": batch.rows, "progress": dict.fromkeys(COUNTERS, 0)}, now)
        self.companies = [each.key for each in batch.records if each.kind == COMPANY]
        self.signals = sorted({row["company"] for row in batch.rows})


def measure_page(
    loop: asyncio.AbstractEventLoop,
    store: Store,
    upserts: Mapping[str, Callable[[Rows], float]],
    case: Case,
    page: Page,
) -> None:
    step, context = Step(page), Watched(store)
    case.read.take(step.read)
    case.ours.take(lambda: loop.run_until_complete(step.store(store, context)))
    case.ours.less(context.apart)
    case.scored.wall += context.apart.wall
    case.scored.cpu += context.apart.cpu
    case.offers_scored += context.offers
    for name, upsert in upserts.items():
        rows = rows_of(store, step, name)
        case.drivers[name].take(partial(upsert, rows))


def rows_of(store: Store, step: Step, driver: str) -> Rows:
    """The rows that these offers have now, in the order of their keys."""
    tables = DRIVERS[driver]
    asked = (
        [(POSTING, step.keys)] if driver == "postings" else [(COMPANY, step.companies), (POSTING, step.keys)]
    )
    with store.read() as session:
        found: Rows = {table: [] for table in tables}
        for kind, some in asked:
            given = {"kind": kind, "keys": some}
            for table in TABLES:
                found[table] += session.rows(_of_records(table, tables[table][0]), given)
        for table, (columns, _) in tables.items():
            if table not in TABLES:
                key = columns[0] if table == "company_signals" else "posting"
                sql = f"select {', '.join(columns)} from {table} where {key} in (:keys*) order by {key}"
                found[table] = session.rows(sql, {"keys": step.signals if key == "company" else step.keys})
    return found


def _of_records(table: str, columns: tuple[str, ...]) -> str:
    return (
        f"select {', '.join(f't.{column}' for column in columns)} from {table} t join records r "
        f"on r.id = t.{'id' if table == 'records' else 'record_id'} "
        "where r.kind = :kind and r.key in (:keys*) order by r.key"
    )


def measure(url: str, others: Mapping[str, str], given: argparse.Namespace) -> dict[str, Any]:
    cases = [Case(name) for name in ("new", "updated", "again", "unchanged")]
    connect = upsert_sqlite if given.store == "sqlite" else upsert_postgres
    with closing(open_store(url, apps=APPS)) as store, closing(asyncio.new_event_loop()) as loop:
        for other in others.values():
            open_store(other, apps=APPS).close()  # its tables
        upserts = {name: connect(other, DRIVERS[name]) for name, other in others.items()}
        for at in range(given.rounds + 1):
            numbers = range(at * given.offers, (at + 1) * given.offers)
            for look, case in enumerate(cases):
                measure_page(loop, store, upserts, case, body(numbers, given, min(look, THIRD)))
    told = [each for case in cases for each in case.told(given.offers)]
    return {"store": given.store, "load": round(os.getloadavg()[0], 1), "cases": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--offers", type=int, default=500, help="offers of one page")
    parser.add_argument("--description", type=int, default=1_200, help="characters of a description")
    parser.add_argument("--changed", type=float, default=0.3, help="share of offers that change in `again`")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with database_for(given.store, None, "machine") as url, tempfile.TemporaryDirectory() as folder:
        place = f"sqlite:///{folder}/driver_{{}}.db" if given.store == "sqlite" else f"{url}_driver_{{}}"
        found = measure(url, {name: place.format(name) for name in DRIVERS}, given)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['store']}, load {found['load']}")
    print("\t".join(found["cases"][0]))
    for case in found["cases"]:
        print("\t".join(str(value) for value in case.values()))


if __name__ == "__main__":
    main()
