"""How fast a page of a search becomes companies and postings; and the driver's own bulk upsert beside it.

    python bench/queries.py --store sqlite|postgres [--offers 500] [--description 1200] [--rounds 7] [--json]

A page of offers is normalised into the records of companies and postings, and stored as one step of a cycle
stores it, in one transaction: records with their links and marks, what the query has found, and the signals
of the offers with their reposts. New offers, then the same ones as updates. In turns with it the rows that
this has written are upserted by the database's driver alone, ready as they are and in the order of their
keys, in one transaction, into the same tables with the same indexes of another database.

`ratio` is ours over the driver's, the medians of all rounds, with the least and the most of single rounds
beside it. Reading the body of a page and scoring its offers happen in processes of their own and are told
apart, per second of one processor.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from arrivals import TABLES, WORDS, Rows, upsert_postgres, upsert_sqlite

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
ALL = {**TABLES, **{table: (columns, THEN[table]) for table, columns in OWN.items()}}


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
class Case:
    """New or known offers, and the seconds of each round."""

    name: str
    ours: list[float] = field(default_factory=list)
    driver: list[float] = field(default_factory=list)
    read: list[float] = field(default_factory=list)
    scored: list[float] = field(default_factory=list)

    def told(self, offers: int) -> dict[str, Any]:
        ours, driver = self.ours[1:], self.driver[1:]
        single = [theirs / own for own, theirs in zip(ours, driver, strict=True)]
        return {
            "case": self.name,
            "ours_per_second": round(offers / statistics.median(ours)),
            "driver_per_second": round(offers / statistics.median(driver)),
            "ratio": round(statistics.median(driver) / statistics.median(ours), 2),
            "ratio_least": round(min(single), 2),
            "ratio_most": round(max(single), 2),
            "read_per_second": round(offers / statistics.median(self.read[1:])),
            "scored_per_second": round(offers / statistics.median(self.scored[1:])),
        }


def keyed(offers: tuple[Offer, ...]) -> dict[str, Offer]:
    return {key_of(CLIENT, each.posting): each for each in offers}


def measure_page(store: Store, upsert: Callable[[Rows], float], case: Case, page: Page) -> None:
    client, began = client_from(CLIENT, None), time.process_time()
    found = read_page(client, Search(today=TODAY), None, page)
    case.read.append(time.process_time() - began)
    offers, began = keyed(found.offers), time.process_time()
    wanted = [
        KeyedOffer(key, company_name_key(each.posting.company or ""), each) for key, each in offers.items()
    ]
    rows = offer_rows(wanted, parsed_rules(None), CLIENT)
    case.scored.append(time.process_time() - began)
    case.ours.append(stored(store, offers, rows, known=case.name != "new"))
    case.driver.append(upsert(rows_of(store, list(offers))))


def stored(store: Store, offers: dict[str, Offer], rows: list[dict[str, Any]], *, known: bool) -> float:
    """Seconds to normalise these offers and to store them, as the step of a cycle does."""
    began = time.perf_counter()
    companies = Companies.of(offers.values(), {})
    if known:
        companies = Companies.of(offers.values(), {key: key for key in companies.named})
    records = records_of(offers, set(offers), set(), set(), companies, QUERY, 1_800_000_000_000_000)
    filings = [(TASK, pack(each, LIMIT)) for each in records]
    with store.write() as session:
        now = store.backend.now(session)
        file_records(session, filings, now)
        file_finds(session, QUERY, list(offers), now)
        upsert_offers(session, {"offers": rows}, now)
    return time.perf_counter() - began


def rows_of(store: Store, keys: list[str]) -> Rows:
    """The rows that these offers have now, in the order of their keys."""
    with store.read() as session:
        ids = [row[0] for row in session.rows("select id from records where key in (:keys*)", {"keys": keys})]
        found = {
            table: session.rows(
                f"select {', '.join(f't.{column}' for column in columns)} from {table} t join records r "
                f"on r.id = t.{'id' if table == 'records' else 'record_id'} where r.id in (:ids*) order by r.key",
                {"ids": ids},
            )
            for table, (columns, _) in TABLES.items()
        }
        for table, columns in OWN.items():
            sql = f"select {', '.join(columns)} from {table} where posting in (:keys*) order by posting"
            found[table] = session.rows(sql, {"keys": keys})
    return found


def measure(url: str, other: str, given: argparse.Namespace) -> dict[str, Any]:
    new, known = Case("new"), Case("updated")
    apps = (hiring, queries)
    with closing(open_store(url, apps=apps)) as store, closing(open_store(other, apps=apps)):
        upsert = (upsert_sqlite if given.store == "sqlite" else upsert_postgres)(other, ALL)
        for at in range(given.rounds + 1):
            numbers = range(at * given.offers, (at + 1) * given.offers)
            measure_page(store, upsert, new, body(numbers, given.description))
            measure_page(store, upsert, known, body(numbers, given.description, changed=True))
    cases = [case.told(given.offers) for case in (new, known)]
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
        other = f"sqlite:///{Path(folder) / 'driver.db'}" if given.store == "sqlite" else f"{url}_driver"
        found = measure(url, other, given)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['store']}, load {found['load']}")
    print("\t".join(found["cases"][0]))
    for case in found["cases"]:
        print("\t".join(str(value) for value in case.values()))


if __name__ == "__main__":
    main()
