"""How fast a scraper's postings come in: one POST of many, over HTTP to a real server; and the driver's own
bulk upsert beside it.

    python bench/arrivals.py --store sqlite|postgres [--jobs 10000] [--description 1500] [--rounds 5] [--json]

Each round brings new postings for a role of its own. Then the rows that this has written (records, links,
marks) are upserted by the database's driver alone, ready as they are and in the order of their keys, in one
transaction, into the same tables with the same indexes of another database, which is opened and committed as
ours is: no body, no check, no look at what is known. Both begin empty and grow alike; a first round, in which
both warm up, is not counted.

`ratio` is ours over the driver's, the medians of all rounds, with the least, the middle and the most of
single rounds beside it; `ratio_from_body` compares with a driver that has to read the body (the standard
library's parser) and write out the same rows first. `cpu` is what the server and the driver's process take of
the processor for one posting: it says more where other programs run. On PostgreSQL the work of its own
processes is not in it. `again` is the same body for another role: everything is known, and gains a link; it
comes when all rounds are over, so that our database is no larger than the driver's. Resident sizes are those
of the server: before, at its peak after the first body, and at the peak of the rounds.
"""

import argparse
import http.client
import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import psycopg
from serving import serving

from thresher.admin.keys import create_key
from thresher.apps.roles.app import app as roles
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import add_role
from thresher.bench.queue import database_for
from thresher.runtime import open_store
from thresher.store.postgres.connection import split_schema
from thresher.store.store import Store

WORDS = (  # noqa: SIM905  a list of words would be a page long
    "we are looking for a person who likes to build things with care in a small team that ships every week and answers for what it "
    "ships: services, pipelines, tests, dashboards; you know Python, SQL and Linux well, and have run something in production"
).split()
TABLES: "Tables" = {
    "records": (
        ("id", "kind", "key", "data", "first_task", "last_task", "created_at", "updated_at"),
        "(kind, key) do update set data = excluded.data",
    ),
    "links": (
        ("record_id", "name", "target", "task_id", "created_at"),
        "(record_id, name, target) do update set task_id = excluded.task_id",
    ),
    "marks": (
        ("record_id", "kind", "name", "word", "number"),
        "(record_id, name) do update set word = excluded.word, number = excluded.number",
    ),
}
# As store/sqlite/connection.py opens ours.
PRAGMAS = (
    "journal_mode = wal",
    "synchronous = full",
    "foreign_keys = on",
    "temp_store = memory",
    "cache_size = -65536",
    "wal_autocheckpoint = 4000",
)
Rows = dict[str, list[tuple[Any, ...]]]
Tables = Mapping[
    str, tuple[tuple[str, ...], str]
]  # their columns, and what is done about rows that are there


def job(number: int, characters: int, pick: random.Random) -> dict[str, Any]:
    """A posting as scrapers send them."""
    text = f"Opening {number}. "
    while len(text) < characters:
        text += " ".join(pick.choices(WORDS, k=12)) + pick.choice((". ", ". ", ".\n\n"))
    return {
        "external_job_id": f"monster-{number}",
        "platform": "monster",
        "title": f"Senior Python Developer {number % 97}",
        "company": f"Company {number % 701}",
        "location": pick.choice(("San Francisco, CA", "Leeds", "Berlin, Germany", "Remote")),
        "description": text[:characters],
        "skills": pick.sample(("Python", "Django", "AWS", "SQL", "Docker", "Kubernetes"), 3),
        "salary_min": 120_000,
        "salary_max": 180_000,
        "job_url": f"https://monster.example/jobs/{number}",
        "posted_date": "2026-03-01",
    }


def cpu_seconds(process: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def size_mb(process: int, name: str) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) // 1_024


class Scraper:
    """A client with a key: takes a role, brings postings."""

    def __init__(self, address: str, token: str) -> None:
        self._address = address
        self._headers = {"X-Scraper-API-Key": token, "Content-Type": "application/json"}

    def _ask(self, method: str, path: str, body: bytes | None = None) -> dict[str, Any]:
        with closing(http.client.HTTPConnection(self._address, timeout=600)) as line:
            line.request(method, f"/api/scraper/queue/{path}", body, self._headers)
            answer = line.getresponse()
            said = answer.read()
        assert answer.status == 200, (answer.status, said[:500])
        return dict(json.loads(said))

    def bring(self, jobs: Sequence[dict[str, Any]]) -> tuple[float, dict[str, Any], bytes]:
        """Seconds of the POST alone, its answer, and its body."""
        body = json.dumps({"session_id": self._ask("GET", "next-role")["session_id"], "jobs": jobs}).encode()
        began = time.perf_counter()
        answer = self._ask("POST", "jobs", body)
        return time.perf_counter() - began, answer, body


def reading(body: bytes, rows: Rows) -> float:
    """How long it takes to read a body and write out its rows, with no question asked."""
    began = time.perf_counter()
    for job, record in zip(json.loads(body)["jobs"], rows["records"], strict=True):
        (
            record[0],
            "posting",
            f"{job['platform']}/{job['external_job_id']}",
            json.dumps(job),
            0,
            0,
            record[6],
            record[7],
        )
    return time.perf_counter() - began


def add_roles(store: Store, number: int) -> None:
    with store.write() as session:
        for at in range(number):
            name = f"role {time.time_ns()} {at}"
            add_role(session, name, name, now=store.backend.now(session), demand=Demand.of(store.settings))


def rows_of(store: Store, after: int) -> Rows:
    """What a round has written."""
    with store.read() as session:
        return {
            table: session.rows(
                f"select {', '.join(columns)} from {table} where {'id' if table == 'records' else 'record_id'} > :after",
                {"after": after},
            )
            for table, (columns, _) in TABLES.items()
        }


def upsert_sqlite(url: str, tables: Tables = TABLES) -> Callable[[Rows], float]:
    connection = apsw.Connection(url.removeprefix("sqlite:///").partition("?")[0])
    for pragma in PRAGMAS:
        connection.execute(f"pragma {pragma}")

    def upsert(rows: Rows) -> float:
        began = time.perf_counter()
        connection.execute("begin immediate")
        for table, (columns, then) in tables.items():
            values = ", ".join("?" * len(columns))
            connection.executemany(
                f"insert into {table} ({', '.join(columns)}) values ({values}) on conflict {then}",
                rows[table],
            )
        connection.execute("commit")
        return time.perf_counter() - began

    return upsert


def upsert_postgres(url: str, tables: Tables = TABLES) -> Callable[[Rows], float]:
    address, schema = split_schema(url)
    connection = psycopg.connect(address, options=f"-c search_path={schema}")

    def upsert(rows: Rows) -> float:
        began = time.perf_counter()
        with connection.transaction(), connection.cursor() as cursor:
            for table, (columns, then) in tables.items():
                values = ", ".join(["%s"] * len(columns))
                cursor.executemany(
                    f"insert into {table} ({', '.join(columns)}) values ({values}) on conflict {then}",
                    rows[table],
                )
        return time.perf_counter() - began

    return upsert


@dataclass(slots=True)
class Rounds:
    """Seconds of each round, by the clock and of the processor."""

    ours: list[float] = field(default_factory=list)
    ours_cpu: list[float] = field(default_factory=list)
    driver: list[float] = field(default_factory=list)
    driver_cpu: list[float] = field(default_factory=list)
    reading: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)

    def told(self, jobs: int) -> dict[str, Any]:
        warm = {name: getattr(self, name)[1:] for name in self.__slots__}
        middle = {name: statistics.median(each) for name, each in warm.items()}
        whole = [one + other for one, other in zip(warm["driver"], warm["reading"], strict=True)]
        single = [one / other for one, other in zip(warm["driver"], warm["ours"], strict=True)]
        return {
            "ours_per_second": round(jobs / middle["ours"]),
            "driver_per_second": round(jobs / middle["driver"]),
            "ratio": round(middle["driver"] / middle["ours"], 2),
            "ratio_least": round(min(single), 2),
            "ratio_middle": round(statistics.median(single), 2),
            "ratio_most": round(max(single), 2),
            "ratio_from_body": round(statistics.median(whole) / middle["ours"], 2),
            "ours_cpu_us": round(middle["ours_cpu"] / jobs * 1e6, 1),
            "driver_cpu_us": round(middle["driver_cpu"] / jobs * 1e6, 1),
            # The system counts in hundredths of a second: few postings may take none.
            "ratio_cpu": round(middle["driver_cpu"] / middle["ours_cpu"], 2) if middle["ours_cpu"] else None,
            "again_per_second": round(jobs / middle["again"]),
        }


def jobs_of(at: int, given: argparse.Namespace) -> list[dict[str, Any]]:
    """The postings of one round, the same whenever they are asked for."""
    pick = random.Random(at)
    return [job(at * given.jobs + number, given.description, pick) for number in range(given.jobs)]


def measure(url: str, other: str, given: argparse.Namespace) -> dict[str, Any]:
    rounds, after, sizes = Rounds(), 1, list[int]()
    with (
        closing(open_store(url, apps=[roles])) as store,
        closing(open_store(other, apps=[roles])),
        tempfile.TemporaryDirectory() as folder,
    ):
        token = create_key(store, "bench", ["scrape"], apps=[roles], rate=1_000_000).token
        upsert = (upsert_sqlite if given.store == "sqlite" else upsert_postgres)(other)
        with serving(Path(folder), url) as (where, process):
            scraper = Scraper(where.removeprefix("http://"), token)
            add_roles(store, 1)
            scraper.bring([job(-1, 100, random.Random(7))])
            before = size_mb(process, "VmRSS")
            for at in range(given.rounds + 1):
                jobs = jobs_of(at, given)
                add_roles(store, 1)
                spent = cpu_seconds(process)
                seconds, answer, body = scraper.bring(jobs)
                assert answer["jobs_imported"] == given.jobs, answer
                rounds.ours_cpu.append(cpu_seconds(process) - spent)
                rounds.ours.append(seconds)
                sizes.append(size_mb(process, "VmHWM"))
                rows = rows_of(store, after)
                after = max(row[0] for row in rows["records"])
                spent = time.process_time()
                rounds.driver.append(upsert(rows))
                rounds.driver_cpu.append(time.process_time() - spent)
                rounds.reading.append(reading(body, rows))
            for at in range(given.rounds + 1):
                jobs = jobs_of(at, given)
                add_roles(store, 1)
                seconds, answer, _ = scraper.bring(jobs)
                assert answer["jobs_linked"] == given.jobs, answer
                rounds.again.append(seconds)
    about = {
        "store": given.store,
        "jobs": given.jobs,
        "body_mb": round(len(body) / 2**20, 1),
        "load": round(os.getloadavg()[0], 1),
    }
    sized = {"resident_mb_before": before, "resident_mb_first": sizes[0], "resident_mb_peak": sizes[-1]}
    return about | rounds.told(given.jobs) | sized


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--description", type=int, default=1_500, help="characters of a description")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with database_for(given.store, None, "machine") as url:
        with tempfile.TemporaryDirectory() as folder:
            other = f"sqlite:///{Path(folder) / 'driver.db'}" if given.store == "sqlite" else f"{url}_driver"
            found = measure(url, other, given)
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:20} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
