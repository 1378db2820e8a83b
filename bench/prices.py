"""How fast pages of listings become price points; and the driver's own bulk upsert beside it.

    python bench/prices.py --store sqlite|postgres [--points 1000000] [--filled 0] [--page 500]
        [--changed 0.3] [--json]

Judged listings, ready as rows, are filed a page at a time, each page in a transaction of its own, as the
settlement of a task files it: first all as new, then all again as a later look at the same lists, in which a
share of the asking prices has changed. In turns with it, page by page, the rows that this has written
(points, observations, the owner of the page's body) are upserted by the database's driver alone, ready as
they are and in the order of their keys, in one transaction, into the same tables with the same indexes of
another database. Both begin empty and grow alike.

With `--filled` so many of the points are put into both databases by SQL before the clock starts, and the rest
is filed; without it all are filed.

`ratio` is ours over the driver's: the medians of all pages, with the tenth and the ninetieth percentile of
single pages beside it; `cpu` is the same of this process's processor time, without PostgreSQL's own. Making
a row of a judged listing happens before the transaction and is told apart. When all is stored, `item_page`
says how long it takes to read what the page of an item shows: its points, their observations, its valuation.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from arrivals import Rows, Tables, upsert_postgres, upsert_sqlite

from thresher.apps.prices.app import app as prices
from thresher.apps.prices.model import JudgedListing, Listing, PriceType, Signal
from thresher.apps.prices.point_row import PointRow, point_row
from thresher.apps.prices.store.points import file_points, observations_of, points_of
from thresher.bench.queue import database_for
from thresher.runtime import open_store
from thresher.store.store import Store

SOURCES = 2  # pages of one item
LOOKS = 400
SOLD = 0.3  # share of the listings
POINTS = (
    "id",
    "item_id",
    "source_id",
    *PointRow._fields,
    "first_seen",
    "observed_at",
    "judged_at",
    "ended_at",
)
OBSERVATIONS = (
    "item_id",
    "observed_at",
    "point_id",
    "price",
    "currency",
    "price_type",
    "unit",
    "match_strength",
    "what",
)
FIXED = ("id", "item_id", "source_id", "dedupe_key", "external_id", "first_seen")
TABLES: Tables = {
    "price_points": (
        POINTS,
        "(item_id, source_id, dedupe_key) do update set "
        + ", ".join(f"{name} = excluded.{name}" for name in POINTS if name not in FIXED),
    ),
    "price_observations": (
        OBSERVATIONS,
        "(item_id, observed_at, point_id) do update set price = excluded.price, what = excluded.what",
    ),
    "blob_owners": (("hash", "kind", "owner"), "(hash, kind, owner) do nothing"),
}
_WRITTEN = {
    "price_points": "select {} from price_points where item_id = :item and source_id = :source order by dedupe_key",
    "price_observations": """select {} from price_observations where item_id = :item and observed_at = :at
        order by point_id""",
    "blob_owners": "select {} from blob_owners where hash = :body and owner = :item",
}
_BLOB = """insert into blobs (hash, size, body, created_at, saved) values (:body, 1, :bytes, :at, 0)
    on conflict (hash) do nothing"""
# Of items beyond those that are filed, 1,000 points each, with the text that a listing has.
_FILL = """insert into price_points (item_id, source_id, dedupe_key, external_id, price, currency, price_type, unit,
        quantity, match_strength, counts, title, url, item_condition, grade, first_seen, observed_at, judged_at, evidence)
    with recursive n(i) as (select 0 union all select i + 1 from n where i < :number - 1)
    select 1000000 + i / 1000, i % 2, 'ext_v1|' || i || '|0', 'v1|' || i || '|0', 500 + i % 90000, 'USD', 'ask',
        500 + i % 90000, 1, 300 + i % 700, 1, '1921-D Morgan Silver Dollar MS64 lot ' || i || ' fast shipping',
        'https://bay.example/itm/v1|' || i || '|0?hash=item' || i, 'Ungraded', 'raw', 1, 1, 1, :evidence from n"""
_FILL_OBSERVATIONS = """insert into price_observations (item_id, observed_at, point_id, price, currency, price_type,
        unit, match_strength, what)
    select item_id, 1, id, price, currency, price_type, unit, match_strength, 'new' from price_points order by id"""
_VALUED = """insert into price_valuations (item_id, currency, median, confidence, comp_count, sold_count, ask_count,
    source_count, explanation, components, basis, computed_at)
    select distinct item_id, 'USD', 4500, 7, 100, 40, 60, 2, 'enough', '{}', 'basis', 1 from price_points"""
_VALUATION = "select * from price_valuations where item_id = :item"


@dataclass(frozen=True, slots=True)
class BenchPage:
    """One page of listings of an item at a source. `look` 0 is the first that anybody takes."""

    number: int
    look: int

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "item": self.number // SOURCES + 1,
            "source": self.number % SOURCES + 1,
            "at": 1_772_000_000_000_000 + self.look * 86_400_000_000 + self.number,
            "body": f"{self.number * 2 + self.look:064x}",
        }

    def judged(self, listings: int, changed: float) -> Iterator[JudgedListing]:
        for place in range(listings):
            pick = random.Random(self.number * listings + place)
            amount, strength = pick.randrange(500, 90_000), pick.randrange(300, 1_000)
            is_sold, is_changed = pick.random() < SOLD, pick.random() < changed / (1 - SOLD)
            if self.look and is_changed and not is_sold:
                amount += 100
            yield self._judged(place, amount, strength, is_sold, pick)

    def _judged(
        self, place: int, amount: int, strength: int, is_sold: bool, pick: random.Random
    ) -> JudgedListing:
        name = f"v1|{self.number:06}{place:04}{pick.randrange(10_000):04}|0"
        listing = Listing(
            f"1921-D Morgan Silver Dollar {pick.choice(('MS64', 'AU55', 'raw'))} lot {place} fast shipping",
            PriceType.SOLD if is_sold else PriceType.ASK,
            amount,
            "USD",
            f"${amount / 100:.2f}",
            f"/itemSummaries/{place}/price/value",
            name,
            f"https://bay.example/itm/{name}?hash=item{pick.randrange(10**9)}",
            shipping=450,
            condition="Ungraded",
            listed_on=date(2026, 2, 1 + place % 20) if is_sold else None,
        )
        signals = tuple(
            Signal(what, wanted, "matches", 250, wanted)
            for what, wanted in (("year", "1921"), ("mintmark", "D"), ("series", "Morgan"))
        )
        return JudgedListing(listing, amount, 1, strength, signals, "raw", strength >= 600, None)


@dataclass(slots=True)
class Times:
    """The seconds of each page: by the clock, and of this process's processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        return found


@dataclass(slots=True)
class Case:
    """New or known points, and the times of ours and of the driver."""

    name: str
    ours: Times = field(default_factory=Times)
    driver: Times = field(default_factory=Times)
    made: Times = field(default_factory=Times)

    def told(self, listings: int) -> dict[str, Any]:
        single = sorted(theirs / own for own, theirs in zip(self.ours.wall, self.driver.wall, strict=True))
        ours, driver = (statistics.median(each.wall) for each in (self.ours, self.driver))
        return {
            "case": self.name,
            "pages": len(single),
            "ours_per_second": round(listings / ours),
            "driver_per_second": round(listings / driver),
            "ratio": round(driver / ours, 2),
            "ratio_p10": round(single[len(single) // 10], 2),
            "ratio_p90": round(single[len(single) * 9 // 10], 2),
            "ratio_of_sums": round(sum(self.driver.wall) / sum(self.ours.wall), 2),
            "ours_cpu_us": round(statistics.median(self.ours.cpu) / listings * 1e6, 1),
            "driver_cpu_us": round(statistics.median(self.driver.cpu) / listings * 1e6, 1),
            "ratio_cpu": round(statistics.median(self.driver.cpu) / statistics.median(self.ours.cpu), 2),
            "row_cpu_us": round(statistics.median(self.made.cpu) / listings * 1e6, 1),
        }


def made(page: BenchPage, listings: Sequence[JudgedListing]) -> list[PointRow]:
    """The rows of a page, as the stage that reads it makes them."""
    asked = page.asked
    found = (point_row(each, asked["at"], asked["body"]) for each in listings)
    return [row for row in found if row is not None]


def filed(store: Store, page: BenchPage, rows: Sequence[PointRow]) -> None:
    """File a page, as the settlement of its task does."""
    asked = page.asked
    data = {
        "item": asked["item"],
        "source": asked["source"],
        "rows": rows,
        "bodies": [asked["body"]],
        "observed_at": asked["at"],
    }
    with store.write() as session:
        counts = file_points(session, data, asked["at"])
    assert counts.get("price_points_new", 0) == (0 if page.look else len(rows)), counts


def rows_of(store: Store, page: BenchPage) -> Rows:
    """What the page has written."""
    with store.read() as session:
        return {
            table: session.rows(_WRITTEN[table].format(", ".join(columns)), page.asked)
            for table, (columns, _) in TABLES.items()
        }


def measure_page(
    store: Store, upsert: Callable[[Rows], float], case: Case, page: BenchPage, given: argparse.Namespace
) -> None:
    listings = list(page.judged(given.page, given.changed))
    rows = case.made.take(lambda: made(page, listings))
    with store.write() as session:
        session.run(_BLOB, {name: page.asked[name] for name in ("body", "at")} | {"bytes": b"x"})
    case.ours.take(lambda: filed(store, page, rows))
    written = rows_of(store, page)
    case.driver.take(lambda: upsert(written))


def fill(store: Store, number: int) -> None:
    """Put points in place, as if they had been filed long ago."""
    (row,) = made(BenchPage(0, 0), list(BenchPage(0, 0).judged(1, 0)))
    with store.write() as session:
        session.run(_FILL, {"number": number, "evidence": row.evidence})
        session.run(_FILL_OBSERVATIONS)
        session.run("analyze")


def item_page(store: Store, pages: int) -> dict[str, Any]:
    """Milliseconds to read what the page of an item shows."""
    with store.write() as session:
        session.run(_VALUED)
    items, taken, cpu = max(1, pages // SOURCES), [], []
    pick = random.Random(7)
    for _ in range(LOOKS):
        item = pick.randrange(items) + 1
        began, spent = time.perf_counter(), time.process_time()
        with store.read() as session:
            shown = (points_of(session, item), observations_of(session, item, 200))
            assert all(shown), item
            assert session.rows(_VALUATION, {"item": item})
        taken.append((time.perf_counter() - began) * 1e3)
        cpu.append((time.process_time() - spent) * 1e3)
    taken.sort()
    return {
        "p50_ms": round(statistics.median(taken), 2),
        "p99_ms": round(taken[len(taken) * 99 // 100], 2),
        "cpu_ms": round(statistics.median(cpu), 2),
    }


def measure(url: str, other: str, given: argparse.Namespace) -> dict[str, Any]:
    pages = max(1, (given.points - given.filled) // given.page)
    cases = [Case("new"), Case("known")]
    connect = upsert_sqlite if given.store == "sqlite" else upsert_postgres
    loads = []
    with closing(open_store(url, apps=(prices,))) as store:
        with closing(open_store(other, apps=(prices,))) as theirs:  # its tables
            for each in (store, theirs) if given.filled else ():
                fill(each, given.filled)
        upsert = connect(other, TABLES)
        for look, case in enumerate(cases):
            for number in range(pages):
                measure_page(store, upsert, case, BenchPage(number, look), given)
                if number % 50 == 0:
                    loads.append(os.getloadavg()[0])
                    print(number, "of", pages, case.told(given.page), file=sys.stderr)
        shown = item_page(store, pages)
    return {
        "store": given.store,
        "points": pages * given.page + given.filled,
        "load": round(statistics.median(loads), 1),
        "cases": [case.told(given.page) for case in cases],
        "item_page": shown,
    }


def show(found: Mapping[str, Any]) -> None:
    print(f"{found['store']}, {found['points']:,} points, load {found['load']}")
    print("\t".join(found["cases"][0]))
    for case in found["cases"]:
        print("\t".join(str(value) for value in case.values()))
    print("item page", *(f"{name} {value}" for name, value in found["item_page"].items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--filled", type=int, default=0, help="of these, put in place before")
    parser.add_argument("--page", type=int, default=500, help="listings of one page")
    parser.add_argument("--changed", type=float, default=0.3, help="share of the prices that change")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with database_for(given.store, None, "machine") as url, tempfile.TemporaryDirectory() as folder:
        other = f"sqlite:///{folder}/driver.db" if given.store == "sqlite" else f"{url}_driver"
        found = measure(url, other, given)
    if given.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
