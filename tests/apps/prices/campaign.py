"""One source and many items, collected by real workers that are killed and frozen in the middle of it.

    python -m tests.apps.prices.campaign [--tasks 10000] [--kills 20] [--freezes 5] [--workers 3]
        [--store sqlite|postgres]

The source holds every answer back while something happens to a worker that waits for one, so each kill and
each freeze hits a collection under way. A frozen worker goes on after its tasks were given to others, or
after six seconds, which is longer than its lease. Every answer names another price: whatever was filed twice
would be an observation too many.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.apps.prices.collecting import TITLE, add_source, item_spec
from tests.apps.prices.paged import paged_spec
from thresher.apps.prices.app import app
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.model import ItemStatus, Origin
from thresher.apps.prices.store.collections import asked
from thresher.apps.prices.store.items import save_item
from thresher.engine.registry import Registry
from thresher.practice.postgres import practice_postgres
from thresher.runtime import opened_store
from thresher.store.session import Row
from thresher.store.store import Store

ROOT = Path(__file__).parents[3]
PAGES, ROWS = 2, 3  # of each item's list, and listings on a page
PATIENCE = 120.0  # seconds without a finished collection, on a machine that does other things too
# Seconds that a worker stays frozen at most. On SQLite one that is frozen in the middle of a transaction
# keeps everybody from writing, and so from giving it up.
MAX_FROZEN = 6.0
PORTION = 500  # items that are added at once
EVERY = 0.05
FILE = "from tests.apps.prices.campaign_app import app\n"
PROJECT = """apps: [prices_app.py]
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}}}
settings:
  prices.cache_enabled: {cache}
  host.interval: 0
  host.in_flight: 100
  worker.lease: 1.5
  worker.poll: 0.05
  worker.concurrency: 8
  worker.batch: 8
  reaper.every: 0.1
  retry.base: 0.1
  retry.crash_spread: 0
  retry.max_crashes: 1000
  isolation.processes: 1
"""


class Market:
    """The source. It answers with a new price every time, and can hold all answers back."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str]] = Counter()
        self.number = 0
        self.open = threading.Event()
        self.open.set()
        self.holds: list[int] = []  # at which requests it holds its answers back
        self.held = threading.Event()
        self._mutex = threading.Lock()

    def answer(self, text: str, at: str) -> bytes:
        with self._mutex:
            self.requests[text, at] += 1
            self.number += 1
            price = 1_000 + self.number
            if self.holds and self.number >= self.holds[0] and self.open.is_set():
                self.holds.pop(0)
                self.open.clear()
                self.held.set()
        self.open.wait(PATIENCE)
        rows = [(f"{text}-{at}-{row}", f"{TITLE} {text}", price + row, None) for row in range(ROWS)]
        following = int(at) + 1
        said = {"rows": rows, "verdict": "found", "next": str(following) if following < PAGES else None}
        return json.dumps(said).encode()

    def release(self) -> None:
        self.held.clear()
        self.open.set()


@contextlib.contextmanager
def market_web() -> Iterator[tuple[Market, str]]:
    """The source on a local port."""
    market = Market()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked_for = urlsplit(self.path)
            if asked_for.path != "/list":
                self.send_error(404)
                return
            said = parse_qs(asked_for.query)
            body = market.answer(said["q"][0], said["at"][0])
            with contextlib.suppress(OSError):  # whoever asked may be dead
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield market, f"http://127.0.0.1:{server.server_port}"
    finally:
        market.release()
        server.shutdown()
        server.server_close()


class Crew:
    """The worker processes, each with all that it has started in a group of its own."""

    def __init__(self, project: Path, database: str, size: int) -> None:
        self._line = [
            sys.executable,
            "-m",
            "thresher",
            "--project",
            str(project),
            "--database",
            database,
            "worker",
        ]
        self._size = size
        self.alive: list[subprocess.Popen[bytes]] = []
        self.frozen: list[subprocess.Popen[bytes]] = []
        self.frozen_at = 0.0

    def fill(self) -> None:
        """See that so many are at work."""
        self.alive = [each for each in self.alive if each.poll() is None]
        while len(self.alive) < self._size:
            self.alive.append(self._start())

    def _start(self) -> subprocess.Popen[bytes]:
        way = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
        return subprocess.Popen(
            self._line,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": way},
        )

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        _send(worker, signal.SIGKILL)
        worker.wait()

    def freeze(self, worker: subprocess.Popen[bytes]) -> None:
        _send(worker, signal.SIGSTOP)
        self.alive.remove(worker)
        self.frozen.append(worker)
        self.frozen_at = time.monotonic()

    def thaw(self) -> None:
        """Let the frozen ones go on; they are members again."""
        for worker in self.frozen:
            _send(worker, signal.SIGCONT)
        self.alive += self.frozen
        self.frozen = []

    def holder(self, pids: Sequence[int]) -> subprocess.Popen[bytes] | None:
        """A worker that one of these processes belongs to."""
        wanted = set(pids)
        return next((each for each in self.alive if wanted & family(each.pid)), None)

    def end(self) -> None:
        for worker in (*self.alive, *self.frozen):
            if worker.poll() is None:
                self.kill(worker)


def _send(worker: subprocess.Popen[bytes], what: signal.Signals) -> None:
    """Send a signal to a worker and to all that it has started: the one that would start another first."""
    for pid in sorted(family(worker.pid), key=lambda each: each != worker.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, what)


def family(pid: int) -> set[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(each.name))
    found, rest = set(), [pid]
    while rest:
        found.add(rest[-1])
        rest += children.get(rest.pop(), [])
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is stored at the end, and how it came about."""

    tasks: int
    states: dict[str, int]
    whole: int  # items with each of their points once, observed once, and one valuation
    points: int
    observations: int
    duplicates: int
    collections: int  # pairs whose last collection was complete
    reclaimed: int  # collections that lost a worker, and ended all the same
    lost_workers: int
    stale: int
    requests: int
    killed: int
    frozen: int
    seconds: float
    odd: tuple[Row, ...] = field(default=())

    @property
    def is_right(self) -> bool:
        per_item = PAGES * ROWS
        return (
            self.states == {"succeeded": self.tasks}
            and self.whole == self.collections == self.tasks
            and self.points == self.observations == self.tasks * per_item
            and self.duplicates == 0
        )


_ODD = """select i.id, count(p.id), (select count(*) from price_observations o where o.item_id = i.id),
        (select count(*) from price_valuations v where v.item_id = i.id and v.ask_count = :each)
    from price_items i left join price_points p on p.item_id = i.id group by i.id
    having count(p.id) <> :each or (select count(*) from price_observations o where o.item_id = i.id) <> :each
        or (select count(*) from price_valuations v where v.item_id = i.id and v.ask_count = :each) <> 1 limit 20"""
_HOLDERS = """select distinct w.pid from tasks t join workers w on w.id = t.worker_id
    where t.state = 'running' and t.kind = 'collect_prices' and w.lost_at is null and w.stopped_at is null"""
_LEFT = "select count(*) from tasks where finished_at is null and kind in ('collect_prices', 'value_item')"
_STILL_HELD = """select count(*) from tasks t join workers w on w.id = t.worker_id
    where t.state = 'running' and w.pid in (:pids*)"""


def run(
    folder: Path,
    database: str,
    *,
    tasks: int,
    kills: int,
    freezes: int,
    workers: int,
    seed: int = 7,
    cache: bool = False,
) -> Outcome:
    """Collect so many items, with so many incidents spread over the whole of it."""
    began = time.monotonic()
    with market_web() as (market, web), opened_store(database, apps=(app,)) as store:
        (folder / "thresher.yaml").write_text(PROJECT.format(web=web, cache=int(cache)), "utf-8")
        (folder / "prices_app.py").write_text(FILE, "utf-8")
        prepare(store, tasks)
        incidents = ["kill"] * kills + ["freeze"] * freezes
        random.Random(seed).shuffle(incidents)
        # In the first nine tenths: at the very end there may be nobody left who waits for an answer.
        market.holds = [
            2 + at * (tasks * PAGES * 9 // 10) // max(1, len(incidents)) for at in range(len(incidents))
        ]
        crew = Crew(folder, database, workers)
        try:
            happened = _play(store, market, crew, incidents)
        finally:
            crew.end()
        return _outcome(store, market, tasks, happened, time.monotonic() - began)


def prepare(store: Store, tasks: int) -> None:
    """So many items at one source, and a task for each."""
    registry = Registry((app,), store.settings)
    source = add_source(store, paged_spec("market", options={"url": "http://market.example/list"}))
    for at in range(0, tasks, PORTION):
        with store.transaction() as transaction:
            session, now = transaction.session, store.backend.now(transaction.session)
            pairs = []
            for number in range(at, min(at + PORTION, tasks)):
                spec = item_spec(f"coin {number}", include=(f"coin{number}",))
                item = save_item(session, spec, ItemStatus.ATTRIBUTED, Origin.PERSON, 0, now)
                pairs.append((item, source))
            asked(session, {"pairs": pairs, "dropped": []}, now)
            transaction.enqueue([registry.admit(collect_task(*pair)) for pair in pairs])


def _play(store: Store, market: Market, crew: Crew, incidents: list[str]) -> Counter[str]:
    """See that workers live until all is done. Returns what has happened to them."""
    happened: Counter[str] = Counter()
    left, moved_at = -1, time.monotonic()
    while True:
        crew.fill()
        if market.held.wait(EVERY) and (victim := _victim(store, crew)) is not None:
            what = incidents.pop()
            happened[what] += 1
            (crew.kill if what == "kill" else crew.freeze)(victim)
            crew.fill()
            market.release()
        now_left = _count(store, _LEFT)
        if now_left != left:
            left, moved_at = now_left, time.monotonic()
        if left == 0 and not crew.frozen:
            return happened
        is_long = time.monotonic() - crew.frozen_at > MAX_FROZEN
        if crew.frozen and (left == 0 or is_long or _are_given_up(store, crew)):
            crew.thaw()
        if time.monotonic() - moved_at > PATIENCE:
            raise TimeoutError(f"{left} tasks do not come to an end: {_stuck(store, market, crew)}")


def _stuck(store: Store, market: Market, crew: Crew) -> str:
    """What stands still."""
    with store.read() as session:
        said = [
            session.rows("select kind, stage, state, count(*) from tasks group by kind, stage, state"),
            session.rows(
                "select error_name, max(reason), count(*) from tasks where finished_at is null group by error_name"
            ),
            session.rows(
                "select name, failures, tripped_until, open_after, in_flight, last_error from gates"
            ),
            session.rows("select id, pid, lost_at, stopped_at from workers order by id desc limit 6"),
        ]
    alive = [each.pid for each in crew.alive if each.poll() is None]
    return f"held {market.held.is_set()}, alive {alive}, frozen {len(crew.frozen)}, {said}"


def _victim(store: Store, crew: Crew) -> subprocess.Popen[bytes] | None:
    """A worker that holds a collection. Whoever was given the answer just now may still be settling it."""
    with store.read() as session:
        pids = [row[0] for row in session.rows(_HOLDERS)]
    return crew.holder(pids)


def _are_given_up(store: Store, crew: Crew) -> bool:
    """Whether the tasks of the frozen workers were taken from them."""
    pids = sorted(set().union(*(family(each.pid) for each in crew.frozen)))
    return not _count(store, _STILL_HELD, pids=pids)


def _count(store: Store, sql: str, **said: Any) -> int:
    with store.read() as session:
        return int(session.rows(sql, said)[0][0])


def _outcome(store: Store, market: Market, tasks: int, happened: Counter[str], seconds: float) -> Outcome:
    each = PAGES * ROWS
    with store.read() as session:
        states: dict[str, int] = dict(
            session.rows("select state, count(*) from tasks where kind = 'collect_prices' group by state")
        )
        odd = tuple(session.rows(_ODD, {"each": each}))
    duplicates = """select count(*) from (select 1 from price_points
        group by item_id, source_id, dedupe_key having count(*) > 1) as doubled"""
    complete = """select count(*) from price_collections where verdict = 'found' and complete = 1 and failures = 0
        and listings = :each and counted = :each"""
    return Outcome(
        tasks,
        {str(state): int(number) for state, number in states.items()},
        tasks - len(odd),
        _count(store, "select count(*) from price_points"),
        _count(store, "select count(*) from price_observations"),
        _count(store, duplicates),
        _count(store, complete, each=each),
        _count(
            store,
            "select count(*) from tasks where kind = 'collect_prices' and crashes > 0 and state = 'succeeded'",
        ),
        _count(store, "select count(*) from events where kind = 'worker_lost'"),
        _count(store, "select count(*) from events where kind = 'stale_settlement'"),
        sum(market.requests.values()),
        happened["kill"],
        happened["freeze"],
        round(seconds, 1),
        odd,
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--freezes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--store", choices=("sqlite", "postgres"), help="one make of database only")
    given = parser.parse_args()
    right = True
    with tempfile.TemporaryDirectory() as place, practice_postgres() as server:
        fresh = {"sqlite": f"sqlite:///{place}/campaign.db", "postgres": server.url}
        for make, url in fresh.items():
            if given.store not in (None, make):
                continue
            folder = Path(place) / make
            folder.mkdir()
            found = run(
                folder,
                url,
                tasks=given.tasks,
                kills=given.kills,
                freezes=given.freezes,
                workers=given.workers,
                seed=given.seed,
            )
            print(f"{make}: {'right' if found.is_right else 'WRONG'}: {found}", flush=True)
            right = right and found.is_right and (found.killed, found.frozen) == (given.kills, given.freezes)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
