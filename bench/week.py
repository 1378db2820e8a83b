"""A week of one person's search: some hundred boards with about a hundred postings each, on the practice web,
on one core.

The first day finds every board and every posting, reads their facts, filters and scores them. The days after
look at every board again and read what is new. At the end all boards are looked at once more on a day on
which nothing changed: that should cost one conditional request each. Everything is as in production (SQLite
file, gates, robots.txt, kept pages), except that no host is waited for and a day passes as soon as its work
is done. The web runs in a process of its own, on another core where there is one.

    python bench/week.py [--boards N] [--days D] [--profile FILE] [--json FILE]
"""

import argparse
import cProfile
import json
import os
import pstats
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

from thresher.apps.jobs.app import app
from thresher.apps.jobs.service.boards import ask_boards, enable_board
from thresher.apps.jobs.service.postings import set_profile
from thresher.config.settings import Settings, catalogue_of
from thresher.core.clock import SECOND, FrozenClock
from thresher.core.record import Is
from thresher.engine import worker
from thresher.engine.page_cache import StorePageCache
from thresher.engine.registry import Registry
from thresher.engine.stage_context import Services
from thresher.engine.worker import Worker
from thresher.fetch.agent import agent_of
from thresher.fetch.fetcher import Fetcher
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.resolver import MappedResolver, SystemResolver
from thresher.practice.web import DAY_ZERO, RemoteWeb, board_url, company, postings, practice_process
from thresher.runtime import install
from thresher.store.records import find_records
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

SEED = 7
SETTINGS = {"host.interval": 0.0, "host.in_flight": 8, "worker.concurrency": 32, "jobs.scrape_batch": 1_000}
MAX_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Phase:
    """What a part of the week took, and what it left."""

    name: str
    seconds: float
    cpu: float
    requests: int
    unchanged: int
    tasks: int
    postings: int

    def row(self) -> str:
        return (
            f"{self.name:<26} {self.seconds:>8.1f} {self.cpu:>8.1f} {self.requests:>9,} {self.unchanged:>9,} {self.tasks:>8,} "
            f"{self.postings:>9,}"
        )


class Week:
    """One database, one worker at a time, one web."""

    def __init__(self, folder: Path, web: RemoteWeb, boards: int) -> None:
        self.web, self.clock, self.boards = web, FrozenClock(int(DAY_ZERO.timestamp()) * SECOND), boards
        path = str(folder / "week.db")
        self.store = Store(
            SqliteBackend(path, clock=self.clock, durability="process"),
            settings=Settings(SETTINGS, catalogue_of([app])),
        )
        self.beat = Store(
            SqliteBackend(path, clock=self.clock, durability="process"),
            settings=Settings(SETTINGS, catalogue_of([app])),
        )
        self.store.backend.migrate()
        self.store.project_settings = dict(SETTINGS)
        self.registry = Registry([app], self.store.settings)
        install(self.store, self.registry)
        self.path, self.phases, self.seen = path, list[Phase](), 0

    def work(self) -> None:
        """Until nothing is left that can be done now."""

        async def until_idle() -> None:
            guard, settings = Guard(), lambda: self.store.settings
            transport = HttpTransport(MappedResolver(self.web.rules, SystemResolver()), guard)
            agent, page_cache = agent_of(None, "https://example.com/bot"), StorePageCache(self.store)
            fetcher = Fetcher(
                transport, guard, agent, settings=settings, page_cache=page_cache, clock=self.clock
            )
            await Worker(
                self.store,
                self.registry,
                heartbeat_store=self.beat,
                until_idle=True,
                services=Services(fetcher),
                clock=self.clock,
            ).run()

        worker.run_loop(until_idle())

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        wall, cpu, tasks = time.perf_counter(), _cpu(), self.count("tasks")
        yield
        log = self.web.log(since=self.seen)
        self.seen += len(log)
        asked = [each for each in log if each.path != "/robots.txt"]
        found = Phase(
            name,
            time.perf_counter() - wall,
            _cpu() - cpu,
            len(asked),
            sum(each.status == 304 for each in asked),
            self.count("tasks") - tasks,
            self.count("records where kind = 'posting'"),
        )
        self.phases.append(found)
        print(found.row(), flush=True)

    def count(self, what: str) -> int:
        with self.store.read() as session:
            return int(session.rows(f"select count(*) from {what}")[0][0])

    def begin(self, day: int) -> None:
        self.web.set_day(day)
        wanted = int((DAY_ZERO + timedelta(days=day)).timestamp()) * SECOND
        self.clock.advance(max(0, wanted - self.clock.now()))

    def discover(self) -> None:
        set_profile(
            self.store,
            (files("thresher.apps.jobs") / "example_profile.yaml").read_text("utf-8"),
            "example_profile.yaml",
        )
        urls = [board_url(company(SEED, f"crowd-{number}")) for number in range(self.boards)]
        ask_boards(self.store, self.registry, urls)
        self.work()
        with self.store.read() as session:
            waiting = [
                each.key
                for each in find_records(
                    session, kind="board", where=[Is("status", "pending")], limit=MAX_ROWS
                )
            ]
        for key in waiting:
            enable_board(self.store, self.registry, key)
        self.work()

    def look(self) -> None:
        (plan,) = [each for each in app.schedules if each.task.kind == "scrape"]
        self.store.enqueue([self.registry.admit(plan.task)])
        self.work()

    def report(self) -> dict[str, Any]:
        planted = sum(
            len(postings(SEED, company(SEED, f"crowd-{number}"), DAY_ZERO)) for number in range(self.boards)
        )
        with self.store.read() as session:
            kinds = Counter(
                {
                    f"{kind} {state}": count
                    for kind, state, count in session.rows(
                        "select kind, state, count(*) from tasks group by kind, state"
                    )
                }
            )
            records = dict(session.rows("select kind, count(*) from records group by kind"))
        first = self.phases[0]
        return {
            "boards": self.boards,
            "planted on the first day": planted,
            "found on the first day": first.postings,
            "minutes of work": round(sum(each.cpu for each in self.phases) / 60, 2),
            "CPU ms a posting": round(first.cpu / max(1, first.postings) * 1_000, 2),
            "records": records,
            "tasks": dict(kinds),
            "megabytes on disk": round(Path(self.path).stat().st_size / 1e6),
            "MB of memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
        }


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def one_week(folder: Path, boards: int, days: int) -> Week:
    with practice_process(SEED) as web:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(
            f"{'':<26} {'seconds':>8} {'CPU s':>8} {'requests':>9} {'unchanged':>9} {'tasks':>8} {'postings':>9}"
        )
        week = Week(folder, web, boards)
        with week.phase("day 0: everything is new"):
            week.discover()
        for day in range(1, days):
            week.begin(day)
            with week.phase(f"day {day}"):
                week.look()
        # A day later here and not there: nothing has changed.
        week.clock.advance(24 * 3_600 * SECOND)
        with week.phase("again, and nothing changed"):
            week.look()
        return week


def main() -> int:
    parser = argparse.ArgumentParser(description="A week of one person's search, on one core.")
    parser.add_argument("--boards", type=int, default=500)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--profile", type=Path, help="measure where the time goes, and write it to this file")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    words = parser.parse_args()
    watch = cProfile.Profile() if words.profile else None
    with tempfile.TemporaryDirectory(prefix="thresher-week-") as folder:
        if watch:
            watch.enable()
        week = one_week(Path(folder), words.boards, words.days)
        if watch:
            watch.disable()
        found = week.report()
    print()
    for name, value in found.items():
        said = (
            ", ".join(f"{key} {count:,}" for key, count in sorted(value.items()))
            if isinstance(value, dict)
            else f"{value:,}"
        )
        print(f"{name:<26} {said}")
    if watch:
        watch.dump_stats(words.profile)
        pstats.Stats(watch, stream=sys.stdout).sort_stats("tottime").print_stats(40)
    if words.json:
        words.json.write_text(
            json.dumps({"phases": [asdict(each) for each in week.phases], **found}, indent=2) + "\n", "utf-8"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
