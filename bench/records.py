"""How fast records are stored, few and many in one settlement; and the driver's own bulk upsert beside it.

    python bench/records.py --store sqlite|postgres [--most 500] [--description 1200] [--rounds 7] [--json]

Postings as the jobs app writes them (merged, about 1.5 KB of data, 4 links, 6 marks) are stored as a
settlement stores them, so many in one transaction: new ones; known ones brought again as they are; known ones
of which a field has changed. In turns with it the rows that this has written (records, links, marks) are
upserted by the database's driver alone, ready as they are and in the order of their keys, in one transaction,
into the same tables with the same indexes of another database, which is opened and committed as ours is:
nothing is read, merged or compared. Both begin empty and grow alike; a first round, in which both warm up, is
not counted.

`ratio` is ours over the driver's, the medians of all rounds, with the least and the most of single rounds
beside it. A round of small transactions has several of them.
"""

import argparse
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arrivals import TABLES, WORDS, Rows, upsert_postgres, upsert_sqlite

from thresher.bench.queue import database_for
from thresher.core.record import Filing, Link, Record, pack
from thresher.runtime import open_store
from thresher.store.records import file_records
from thresher.store.store import Store

SIZES = (1, 10, 100, 500)  # postings in one transaction
MIN_POSTINGS = 50  # of a round: a single small transaction says little
LIMIT = 65_536
MARKS = ("state", "board", "company", "title", "posted_at", "seen_at")
TASK = 7
Batch = list[tuple[int, Filing]]


def posting(number: int, characters: int, *, changed: bool = False) -> Filing:
    """A posting as a look at a board brings it; the same number is the same posting."""
    pick = random.Random(number)
    text = f"Opening {number}. "
    while len(text) < characters:
        text += " ".join(pick.choices(WORDS, k=12)) + ". "
    board, company = f"greenhouse:company-{number % 701}", f"company-{number % 701}.example"
    data = {
        "title": f"Senior Python Developer {number % 97}",
        "company": company,
        "board": board,
        "url": f"https://boards.example/{board}/{number}",
        "location": pick.choice(("San Francisco, CA", "Leeds", "Berlin, Germany", "Remote")),
        "description": text[:characters],
        "posted_at": 1_700_000_000 + number,
        "seen_at": 1_800_000_001 if changed else 1_800_000_000,
        "state": "open",
    }
    links = (
        Link("board", board),
        Link("company", company),
        Link("query", f"python developer {number % 13}"),
        Link("source", "greenhouse"),
    )
    record = Record(
        "posting",
        f"{board}/{number:09}",
        data,
        links,
        merge=True,
        initial={"first_seen": 1_800_000_000},
        marks=MARKS,
    )
    return pack(record, LIMIT)


def store_all(store: Store, batch: Batch) -> float:
    """Seconds of one transaction that stores these records, as a settlement does."""
    began = time.perf_counter()
    with store.write() as session:
        file_records(session, batch, store.backend.now(session))
    return time.perf_counter() - began


def rows_of(store: Store, batch: Batch) -> Rows:
    """The rows that these records have now, in the order of their keys."""
    with store.read() as session:
        found = session.rows(
            "select id from records where key in (:keys*)", {"keys": [filing.key for _, filing in batch]}
        )
        return {
            table: session.rows(
                f"select {', '.join(f't.{column}' for column in columns)} from {table} t join records r "
                f"on r.id = t.{'id' if table == 'records' else 'record_id'} where r.id in (:ids*) order by r.key",
                {"ids": [row[0] for row in found]},
            )
            for table, (columns, _) in TABLES.items()
        }


@dataclass(slots=True)
class Case:
    """So many postings in a transaction, new or known, and the seconds of each round."""

    name: str
    size: int
    ours: list[float] = field(default_factory=list)
    driver: list[float] = field(default_factory=list)

    def told(self, postings: int) -> dict[str, Any]:
        ours, driver = self.ours[1:], self.driver[1:]
        single = [theirs / own for own, theirs in zip(ours, driver, strict=True)]
        return {
            "case": self.name,
            "postings": self.size,
            "ours_per_second": round(postings / statistics.median(ours)),
            "driver_per_second": round(postings / statistics.median(driver)),
            "ratio": round(statistics.median(driver) / statistics.median(ours), 2),
            "ratio_least": round(min(single), 2),
            "ratio_most": round(max(single), 2),
        }


def batches(numbers: Sequence[int], size: int, characters: int, *, changed: bool = False) -> Iterator[Batch]:
    for at in range(0, len(numbers), size):
        yield [(TASK, posting(number, characters, changed=changed)) for number in numbers[at : at + size]]


def measure_round(store: Store, upsert: Callable[[Rows], float], case: Case, work: Sequence[Batch]) -> None:
    case.ours.append(0.0)
    case.driver.append(0.0)
    for batch in work:
        case.ours[-1] += store_all(store, batch)
        case.driver[-1] += upsert(rows_of(store, batch))


def measure(url: str, other: str, given: argparse.Namespace) -> dict[str, Any]:
    sizes = sorted({min(size, given.most) for size in SIZES})
    cases = [Case("new", size) for size in sizes]
    cases += [Case(name, size) for name in ("known", "changed") for size in (sizes[0], sizes[-1])]
    first, told = 0, []
    with closing(open_store(url)) as store, closing(open_store(other)):
        upsert = (upsert_sqlite if given.store == "sqlite" else upsert_postgres)(other)
        for case in cases:
            number = case.size * max(1, MIN_POSTINGS // case.size)
            for _ in range(given.rounds + 1):
                numbers = range(first, first := first + number)
                work = list(batches(numbers, case.size, given.description))
                if case.name != "new":
                    measure_round(store, upsert, Case("before", case.size), work)
                if case.name == "changed":
                    work = list(batches(numbers, case.size, given.description, changed=True))
                measure_round(store, upsert, case, work)
            told.append(case.told(number))
    size = len(posting(0, given.description).data)
    return {"store": given.store, "bytes": size, "load": round(os.getloadavg()[0], 1), "cases": told}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--most", type=int, default=SIZES[-1], help="postings in the largest transaction")
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
    print(f"{found['store']}, {found['bytes']} bytes of data each, load {found['load']}")
    print("\t".join(found["cases"][0]))
    for case in found["cases"]:
        print("\t".join(str(value) for value in case.values()))


if __name__ == "__main__":
    main()
