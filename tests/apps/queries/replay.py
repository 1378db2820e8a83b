"""Sixty days of a search API that does all that such APIs do, followed by a query, in a process that may be
killed at any moment and goes on in the next.

    python -m tests.apps.queries.replay [--database URL --clock FILE] [--kills 200] [--days 60] [--seed 7]

Without a database it plays on a new one of each make.

Everything that the API shows is a function of the seed and of the time, so every process sees the same. It
lists offers late, edits them, dates them anew, lists some twice, in the wrong order, and never more than so
many at once; offers vanish; it asks for patience, fails, and answers with pages that are no answers.
"""

import argparse
import json
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.apps.queries.harbour import HOST, TEXT
from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.coverage import Span
from thresher.apps.queries.service.queries import add_query, show_query
from thresher.apps.queries.store.options import save_clients
from thresher.apps.queries.store.queries import list_queries
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.practice.postgres import practice_postgres
from thresher.testing.web import Reply, Requested
from thresher.testing.world import World

START = int(datetime(2026, 3, 10, 9, tzinfo=UTC).timestamp()) * SECOND
LAG = 3  # days: as late as offers come
CAP = 30  # rows of one search that are ever shown
SIZE = 10
STEP = 3 * HOUR
SETTINGS = {
    "queries.pause": 3_600,
    "queries.jitter": 0,
    "queries.lag": LAG,
    "queries.max_pages": 40,
    "queries.max_offers": 400,
    "queries.rate_limit_pause": 6.0,
}
DEFINITION = f"""
name: tides
title: Tides
request:
  url: {HOST}/tides
  query: {{q: "{{text}}", from: "{{since}}", to: "{{until}}", page: "{{page}}", size: "{{size}}"}}
paging: {{kind: page, first: 1, size: {SIZE}, max_rows: {CAP}}}
window: {{kind: range}}
answer:
  rows: jobs
  total: total
  fields: {{id: id, title: title, url: url, company: company, posted: posted, description: text}}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One offer and its life. Times are microseconds."""

    number: int
    posted: date
    shown: int
    edited: int
    redated: int
    gone: int

    def at(self, now: int) -> dict[str, str]:
        """How it reads at a time."""
        day = self.posted if now < self.redated else _day(self.redated)
        said = "driver" if now >= self.edited else "worker"
        return {
            "id": str(self.number),
            "title": f"Tide {said} {self.number}",
            "url": f"{HOST}/offers/{self.number}",
            "company": f"Tide House {self.number % 23}",
            "posted": day.isoformat(),
            "text": f"{TEXT} Number {self.number} of the tides, moon {self.number * 31 % 97}.",
        }


def _day(at: int) -> date:
    return datetime.fromtimestamp(at / SECOND, UTC).date()


def rows_of(seed: int, days: int) -> list[Row]:
    """All offers that the API will ever list."""
    pick, found = random.Random(seed), []
    for at in range(-12, days):
        first = START + at * DAY - 9 * HOUR
        for _ in range(pick.randint(0, 26) if pick.random() < 0.2 else pick.randint(0, 12)):
            shown = (
                first + pick.randrange(DAY) + (pick.randint(0, LAG - 1) * DAY if pick.random() < 0.25 else 0)
            )
            edited = shown + pick.randrange(10 * DAY) if pick.random() < 0.3 else 2**62
            redated = shown + pick.randint(5, 20) * DAY if pick.random() < 0.1 else 2**62
            gone = shown + pick.randint(6, 40) * DAY if pick.random() < 0.3 else 2**62
            found.append(Row(len(found) + 1, _day(first + 12 * HOUR), shown, edited, redated, gone))
    return found


@dataclass(frozen=True, slots=True)
class Tides:
    """The API."""

    seed: int
    rows: list[Row]

    def answer(self, request: Requested) -> Reply | int:
        pick = random.Random(f"{self.seed} {request.at // (20 * MINUTE)}")
        match pick.random():
            case mood if mood < 0.02:
                return Reply(status=429, headers={"retry-after": str(pick.choice((60, 5_000)))})
            case mood if mood < 0.03:
                return 429
            case mood if mood < 0.06:
                return pick.choice((500, 502, 503))
            case mood if mood < 0.08:
                return Reply("<html>Back soon</html>", headers={"content-type": "text/html"})
            case mood if mood < 0.09:
                return Reply('{"total": 12, "jobs": [{"id"', headers={"content-type": "application/json"})
        return self.page(request)

    def page(self, request: Requested) -> Reply:
        """The answer to a search, whatever mood the API is in."""
        said = {name: value[0] for name, value in parse_qs(urlsplit(request.url).query).items()}
        now = request.at
        listed = [each.at(now) for each in self.rows if each.shown <= now < each.gone]
        there = [row for row in listed if said["from"] <= row["posted"] <= said.get("to", "9999")]
        order = random.Random(f"{self.seed} {now // DAY}")
        there.sort(key=lambda row: (row["posted"], int(row["id"])), reverse=True)
        if order.random() < 0.3:
            order.shuffle(there)
        page = int(said["page"])
        shown = there[:CAP][(page - 1) * SIZE : page * SIZE]
        if shown and order.random() < 0.5:
            shown = [shown[0], *shown][:SIZE] if len(shown) < SIZE else shown  # twice on one page
        body = {"total": len(there), "jobs": shown}
        return Reply(json.dumps(body), headers={"content-type": "application/json"})


class Violation(AssertionError):
    """A promise was broken."""


def live(database: str, seed: int, days: int, clock: Path) -> None:
    """Follow the query from where the last process was to the end. The time is kept in a file."""
    logging.disable(logging.CRITICAL)
    tides = Tides(seed, rows_of(seed, days))
    now = int(clock.read_text()) if clock.exists() else START
    now += 2 * MINUTE  # the lease of whoever was killed is over
    keep(clock, now)
    with World(
        hiring, queries, pages={f"{HOST}/*": tides.answer}, settings=SETTINGS, now=now, database=database
    ) as world:
        with world.store.write() as session:
            save_clients(session, {"tides": DEFINITION}, now)
        add_query(world.store, "tides", {"client": "tides", "text": "tide", "start": "2026-03-01"})
        while world.clock.now() < START + days * DAY:
            world.run_until_idle(within=30)
            check(world, tides)
            at = max(world.clock.now(), now) + STEP
            keep(clock, at)
            world.clock.advance(at - world.clock.now())


def keep(clock: Path, now: int) -> None:
    """Write the time down, whole or not at all."""
    clock.with_suffix(".new").write_text(str(now))
    clock.with_suffix(".new").replace(clock)


def check(world: World, tides: Tides) -> None:
    """What must hold at every moment."""
    with world.store.read() as session:
        (state,) = list_queries(session)
        found = {row[0] for row in session.rows("select posting from query_finds")}
        kept = {row[0] for row in session.rows("select key from records where kind = 'posting'")}
        doubles = session.rows(
            "select key from records where kind = 'posting' group by key having count(*) > 1"
        )
        running = session.rows("select count(*) from ingestion_runs where status = 'RUNNING'")[0][0]
        metadata = session.rows("select metadata from query_state")[0][0]
    now = world.clock.now()
    if doubles or found != kept:
        raise Violation(f"doubles {doubles}, found but not kept {sorted(found ^ kept)[:5]}")
    if len(metadata) > 8_000:
        raise Violation(f"the state has grown to {len(metadata)} characters")
    if running and not world.tasks("query_cycle", "pending") + world.tasks("query_cycle", "running"):
        raise Violation("a query is running, and nobody runs it")
    if state.last_processed_date is None or state.coverage.watermark(date(2026, 3, 1)) is None:
        return
    mark = state.coverage.watermark(date(2026, 3, 1))
    assert mark is not None
    if mark >= _day(now) - timedelta(days=LAG):
        raise Violation(f"the watermark {mark} is ahead of the offers that may still come on {_day(now)}")
    missed = [
        each.number
        for each in tides.rows
        if Span(date(2026, 3, 1), mark).has(each.posted)
        and each.shown < now
        and f"tides/{each.number}" not in kept
        and min(each.gone, each.redated) > now
    ]
    if missed:
        raise Violation(f"the watermark {mark} has passed offers that were never seen: {missed[:10]}")


def finish(database: str, seed: int, days: int, clock: Path) -> str:
    """Let it run on for a few days, with a calm API, and compare what was found with what there was."""
    tides = Tides(seed, rows_of(seed, days))
    now = int(clock.read_text())
    with World(
        hiring,
        queries,
        pages={f"{HOST}/*": tides.page},
        settings=SETTINGS,
        now=now + 2 * MINUTE,
        database=database,
    ) as world:
        for _ in range(16):
            world.run_until_idle(within=30)
            world.advance(hours=12)
        check(world, tides)
        with world.store.read() as session:
            kept = {row[0] for row in session.rows("select key from records where kind = 'posting'")}
        seen = {
            f"tides/{each.number}"
            for each in tides.rows
            if each.posted >= date(2026, 3, 1) and each.gone > max(each.shown, START) + 5 * DAY
        }
        if missed := sorted(seen - kept):
            raise Violation(f"{len(missed)} offers were missed: {missed[:10]}")
        wrong = [each.key for each in world.records("posting") if not _reads(each, tides, world.clock.now())]
        if wrong:
            raise Violation(f"{len(wrong)} offers do not read as they were last shown: {wrong[:10]}")
        view = show_query(world.store, "tides").query
        return f"{len(kept)} offers, processed up to {view.last_processed_date}, {view.status}"


def _reads(found: object, tides: Tides, now: int) -> bool:
    """Whether an offer reads as the API showed it last while its days were looked at."""
    row = tides.rows[int(found.key.partition("/")[2]) - 1]  # type: ignore[attr-defined]
    titles = {row.at(row.shown)["title"], row.at(min(row.gone - 1, now))["title"]}
    return found.data["title"] in titles  # type: ignore[attr-defined]


def lives(database: str, kills: int, days: int, seed: int, clock: Path) -> Iterator[int]:
    """Fork a process to go on, kill it after a random time, and fork the next; yields how each ended."""
    pick = random.Random(seed)
    left = kills
    while True:
        child = os.fork()
        if not child:
            code = 1
            try:
                live(database, seed, days, clock)
                code = 0
            except BaseException as problem:
                print(f"{type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        if left:
            left -= 1
            time.sleep(pick.uniform(0.02, 0.3))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        yield status
        if not os.WIFSIGNALED(status):
            return


def play(database: str, clock: Path, given: argparse.Namespace) -> bool:
    """The whole of it on one database; False where a promise was broken."""
    ended = list(lives(database, given.kills, given.days, given.seed, clock))
    if ended[-1] != 0:
        return False
    print(f"{len(ended) - 1} killed; {finish(database, given.seed, given.days, clock)}", flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--database")
    parser.add_argument("--clock", type=Path)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.database:
        return 0 if play(given.database, given.clock, given) else 1
    with tempfile.TemporaryDirectory() as folder, practice_postgres() as server:
        file = f"sqlite:///{folder}/replay.db?durability=process"
        held = [play(url, Path(folder) / f"clock{at}", given) for at, url in enumerate((file, server.url))]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
