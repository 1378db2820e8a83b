"""How fast a page of a search becomes companies and postings; and the driver's own bulk upsert beside it.

    python bench/queries.py --store sqlite|postgres [--offers 500] [--description 1200] [--rounds 7] [--json]

A page of offers is normalised into the records of companies and postings, and stored as one step of a cycle
stores it, in one transaction: records with their links and marks, what the query has found, and the signals
of the offers with their reposts. New offers, then the same ones as updates. In turns with it the rows that
this has written are upserted by the database's driver alone, ready as they are and in the order of their
keys, in one transaction, into the same tables with the same indexes of another database. The driver does it
twice, each time into a database of its own:

    postings  the rows of the postings only, and no evidence: what this benchmark has always compared with
    page      every row and column that came of the page: evidence, companies and their signals too

`ratio` is ours over the driver's, the medians of all rounds, with the least and the most of single rounds
beside it; `cpu` is the same of this process's processor time, without PostgreSQL's own. Reading the body of
a page and scoring its offers happen in processes of their own and are told apart, per second of one
processor.
"""

import argparse
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
from typing import Any

from arrivals import TABLES, WORDS, Rows, Tables, upsert_postgres, upsert_sqlite

from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.clients.client import read_page
from thresher.apps.queries.clients.search import Offer, Search
from thresher.apps.queries.known_clients import client_from
from thresher.apps.queries.offers import Companies, records_of
from thresher.apps.queries.signals.offers import KeyedOffer, offer_rows
from thresher.apps.queries.signals.rules import parsed_rules
from thresher.apps.queries.store.offers import upsert_offers
from thresher.apps.queries.store.runs import file_finds
from thresher.bench.queue import database_for
from thresher.core.page import Page
from thresher.core.record import pack
from thresher.hiring.kinds import COMPANY, POSTING
from thresher.hiring.records import company_name_key
from thresher.hiring.row import key_of
from thresher.runtime import open_store
from thresher.store.records import file_records
from thresher.store.store import Store

QUERY, CLIENT, TODAY = "arbeitnow:0123456789ab", "arbeitnow", date(2026, 3, 1)
LIMIT = 65_536
TASK = 7
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


def row(number: int, characters: int, *, changed: bool) -> dict[str, Any]:
    """An offer as the API lists it."""
    pick = random.Random(number)
    text = f"Opening {number}{' again' if changed else ''}. "
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


def body(numbers: range, characters: int, *, changed: bool = False) -> Page:
    rows = [row(number, characters, changed=changed) for number in numbers]
    url = "https://www.arbeitnow.com/api/job-board-api"
    text = json.dumps({"data": rows, "links": {"next": None}, "meta": {}}).encode()
    return Page(url, url, 200, {"content-type": "application/json"}, text)


@dataclass(slots=True)
class Times:
    """The seconds of each round: by the clock, and of this process's processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], Any]) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    def middle(self, name: str) -> float:
        """The median. The first round, in which everything warms up, is not counted."""
        return float(statistics.median(getattr(self, name)[1:]))


@dataclass(slots=True)
class Case:
    """New or known offers, and the times of ours and of each driver."""

    name: str
    ours: Times = field(default_factory=Times)
    drivers: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in DRIVERS})
    read: Times = field(default_factory=Times)
    scored: Times = field(default_factory=Times)

    def told(self, offers: int) -> Iterator[dict[str, Any]]:
        for name, driver in self.drivers.items():
            single = [theirs / own for own, theirs in zip(self.ours.wall[1:], driver.wall[1:], strict=True)]
            yield {
                "case": self.name,
                "driver": name,
                "ours_per_second": round(offers / self.ours.middle("wall")),
                "driver_per_second": round(offers / driver.middle("wall")),
                "ratio": round(driver.middle("wall") / self.ours.middle("wall"), 2),
                "ratio_least": round(min(single), 2),
                "ratio_most": round(max(single), 2),
                "ours_cpu_us": round(self.ours.middle("cpu") / offers * 1e6, 1),
                "driver_cpu_us": round(driver.middle("cpu") / offers * 1e6, 1),
                "ratio_cpu": round(driver.middle("cpu") / self.ours.middle("cpu"), 2),
                "read_per_second": round(offers / self.read.middle("cpu")),
                "scored_per_second": round(offers / self.scored.middle("cpu")),
            }


@dataclass(slots=True)
class Step:
    """One page on its way into the store."""

    page: Page
    is_known: bool
    offers: dict[str, Offer] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    companies: list[str] = field(default_factory=list)  # whose records were brought

    def read(self) -> None:
        found = read_page(client_from(CLIENT, None), Search(today=TODAY), None, self.page)
        self.offers = {key_of(CLIENT, each.posting): each for each in found.offers}

    def score(self) -> None:
        wanted = [
            KeyedOffer(key, company_name_key(each.posting.company or ""), each)
            for key, each in self.offers.items()
        ]
        self.rows = offer_rows(wanted, parsed_rules(None), CLIENT)

    def store(self, store: Store) -> None:
        """Normalise these offers and store them, as the step of a cycle does."""
        offers = self.offers
        companies = Companies.of(offers.values(), {})
        if self.is_known:
            companies = Companies.of(offers.values(), {key: key for key in companies.named})
        records = records_of(offers, set(offers), set(), set(), companies, QUERY, 1_800_000_000_000_000)
        filings = [(TASK, pack(each, LIMIT)) for each in records]
        with store.write() as session:
            now = store.backend.now(session)
            file_records(session, filings, now)
            file_finds(session, QUERY, list(offers), now)
            upsert_offers(session, {"offers": self.rows}, now)
        self.companies = [each.key for each in records if each.kind == COMPANY]


def measure_page(
    store: Store, upserts: Mapping[str, Callable[[Rows], float]], case: Case, page: Page
) -> None:
    step = Step(page, case.name != "new")
    case.read.take(step.read)
    case.scored.take(step.score)
    case.ours.take(lambda: step.store(store))
    for name, upsert in upserts.items():
        rows = rows_of(store, step, name)
        case.drivers[name].take(partial(upsert, rows))


def rows_of(store: Store, step: Step, driver: str) -> Rows:
    """The rows that these offers have now, in the order of their keys."""
    tables, keys = DRIVERS[driver], list(step.offers)
    asked = [(POSTING, keys)] if driver == "postings" else [(COMPANY, step.companies), (POSTING, keys)]
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
                wanted = sorted({row["company"] for row in step.rows}) if key == "company" else keys
                found[table] = session.rows(sql, {"keys": wanted})
    return found


def _of_records(table: str, columns: tuple[str, ...]) -> str:
    return (
        f"select {', '.join(f't.{column}' for column in columns)} from {table} t join records r "
        f"on r.id = t.{'id' if table == 'records' else 'record_id'} "
        "where r.kind = :kind and r.key in (:keys*) order by r.key"
    )


def measure(url: str, others: Mapping[str, str], given: argparse.Namespace) -> dict[str, Any]:
    new, known = Case("new"), Case("updated")
    connect = upsert_sqlite if given.store == "sqlite" else upsert_postgres
    with closing(open_store(url, apps=APPS)) as store:
        for other in others.values():
            open_store(other, apps=APPS).close()  # its tables
        upserts = {name: connect(other, DRIVERS[name]) for name, other in others.items()}
        for at in range(given.rounds + 1):
            numbers = range(at * given.offers, (at + 1) * given.offers)
            measure_page(store, upserts, new, body(numbers, given.description))
            measure_page(store, upserts, known, body(numbers, given.description, changed=True))
    cases = [told for case in (new, known) for told in case.told(given.offers)]
    return {"store": given.store, "load": round(os.getloadavg()[0], 1), "cases": cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--offers", type=int, default=500, help="offers of one page")
    parser.add_argument("--description", type=int, default=1_200, help="characters of a description")
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
