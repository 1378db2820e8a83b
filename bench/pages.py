"""What a page of the dashboard costs with a million tasks behind it, and whether pages stay usable while a
thousand events happen a second: a real server, real HTTP, a real browser.

    python bench/pages.py --store sqlite|postgres [--tasks 1000000] [--rounds 7] [--storm 30] [--only /tasks]
                          [--database URL] [--json]

The tasks are written by the database itself: a third waits in ready lanes, some behind closed gates, some
for a later time; the others have ended within two days, two in a hundred of them failed. There are events,
records, calls of models and rows of the audit log, too. Each page is asked for once to warm up and then
`--rounds` times, one after the other: by the clock of whoever asks, and as processor time of the server.

`--storm` seconds: a process ends 1,000 tasks a second, each with an event. Meanwhile five pages are open in
Chromium, and their answers are asked for over HTTP as well. What is told: how long answers took, how long
the pages were busy at a stretch (long tasks), how long a key press waited to be handled, and what the pages
hold in memory after a collection of garbage, at the beginning and at the end.

With `--database` the database is kept, and used again as it is the next time.
"""

import argparse
import json
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import CDPSession, Page, sync_playwright
from serving import serving

from thresher.admin import admins
from thresher.admin.settings import set_setting
from thresher.config.project import read_project
from thresher.core.event import EventKind
from thresher.core.settlement import Settlement
from thresher.fetch.chromium import find
from thresher.practice.postgres import practice_postgres
from thresher.runtime import open_store, opened_runtime
from thresher.store import events
from thresher.store.store import Store

NAME, PASSWORD = "anna", "correct horse battery"
HOUR = 3_600_000_000
A_SECOND = 1_000
TICKS = 10  # a second
APPS = "extractions, jobs, prices, queries, roles"
_N = "with recursive n(i) as (select cast(1 as bigint) union all select i + 1 from n where i < {many})"
_GATES = f"""insert into gates (name, max_in_flight, open_after, closed_tag, closed_reason) {_N}
    select case when i <= {{sources}} then 'source:s' else 'host:h' end || i, case when i % 10 = 0 then 1000 end,
        case when i % 50 = 3 then {{ever}} else 0 end, case when i % 50 = 3 then 'admin' end, case when i % 50 = 3 then 'closed' end
    from n"""
_SCOPES = "insert into scopes (kind, stage) values ('page', 'fetch'), ('item', 'fetch'), ('rare', 'fetch')"
_LANES = """insert into lanes (key, gates, status, parked_on, position, scope)
    select g.name, {gates}, case when g.open_after > 0 then 'parked' else 'ready' end, case when g.open_after > 0 then g.id end, g.id,
        (select min(id) from scopes) + g.id % 2
    from gates g where g.name like 'source:s%' or g.name like 'host:h%'"""
_GROUPS = f"""insert into task_groups (name, key, app, opener_id, opened_at, ended_at, subject, succeeded) {_N}
    select 'run', 'k' || i, 'test', i, {{now}} - i * 1000000, case when i % 3 > 0 then {{now}} - i * 500000 end,
        case when i % 2 = 0 then 'shop ' || i end, 90 from n"""
_TASKS = f"""insert into tasks (kind, stage, state, lane_id, due, run_at, rank, priority, claim, failures, worker_id, payload,
        created_at, started_at, finished_at, error_name, reason, tracking_id, parent_id, depth, group_id, url, dedupe_key) {_N},
    told as (select i, case when i % 20 < 6 then 'due' when i % 20 = 6 then 'delayed' when i % 50 = 17 then 'failed'
        else 'ended' end as how, {{now}} - ({{many}} - i) * {{step}} as at from n)
    select case when i = 77 then 'rare' when i % 2 = 0 then 'page' else 'item' end, 'fetch',
        case how when 'due' then 'pending' when 'delayed' then 'retryable' when 'failed' then 'failed'
            else case i % 10 when 8 then 'filtered' when 9 then 'skipped' else 'succeeded' end end,
        {{first}} + i % {{lanes}}, case how when 'due' then 1 else 0 end, case how when 'delayed' then {{now}} + i * 1000 end,
        i, 0, case how when 'due' then 0 else 1 end, case how when 'delayed' then 2 else 0 end,
        case when how in ('failed', 'ended') then 1 end, '{{{{"name": "a thing"}}}}', at - 60000000,
        case how when 'due' then null else at - 1000000 end, case when how in ('failed', 'ended') then at end,
        case how when 'failed' then 'E' || (i % 7) when 'delayed' then 'TimedOut' end,
        case how when 'failed' then 'no price on the page of item ' || i when 'delayed' then 'no answer' when 'ended' then 'read' end,
        case when i % 100 > 1 then i - i % 100 + 1 when i % 100 = 0 then i - 99 end, case when i % 100 > 1 then i - 1 end, i % 100,
        {{group}} + i % {{groups}}, 'https://shop.example/things/' || i, 'key ' || i from told"""
_EVENTS = f"""insert into events (at, kind, task_id, gate_id, detail) {_N}
    select {{now}} - ({{many}} - i) * {{step}}, case when i = 9 then 'worker_lost' else 'gate_paused' end, i, {{gate}} + i % {{gates}},
        '{{{{"reason": "asked to wait"}}}}' from n"""
_RECORDS = f"""insert into records (kind, key, data, first_task, last_task, created_at, updated_at) {_N}
    select 'thing', 'thing ' || i, '{{{{"title": "{"x" * 1_500}"}}}}', i * 2 + 7, i * 2 + 7, {{now}} - ({{many}} - i) * 1000000, {{now}} from n"""
_CALLS = f"""insert into spendings (at, day, task_id, claim, tracking_id, app, provider, model, prompt, question, reserved, spent,
        input_tokens, output_tokens, state, expires_at, kind, subject) {_N}
    select {{now}} - ({{many}} - i) * 20000000, '2026-01-' || (10 + i % 20), i, 1, i, 'app' || i % 5, 'own', 'm' || i % 7, 'extract', 'q' || i, 900,
        800, 1000, 30, 'settled', 0, case when i % 3 > 0 then 'item' else 'page' end, 'recipe ' || i % 50 from n"""
_AUDIT = f"""insert into audit (at, who, kind, via, action) {_N}
    select {{now}} - i, 'anna', 'person', 'dashboard', 'POST /tasks/' || i || '/retry' from n"""
PAGES = (
    "/",
    "/tasks",
    *(
        f"/tasks?state={word}"
        for word in ("due", "delayed", "running", "failed", "succeeded", "cancelled", "ended", "live")
    ),
    "/tasks?kind=rare",
    "/tasks?text=nothing+like+it",
    "/tasks?text=things%2F77",
    "/tasks?error=E3",
    "/tasks?error=TimedOut",
    "/tasks?source=s1",
    "/tasks?source=s3",
    "/tasks?source=s1&state=failed&newer=1d",
    "/tasks?run={group}",
    "/tasks/{failed}",
    "/tasks/{due}",
    "/tasks/{parked}",
    "/failures",
    "/failures?state=retrying",
    "/failures?error=E3&kind=item&source=s1",
    "/failures/retry?error=E3",
    "/runs",
    "/runs?running=1",
    "/runs/{group}",
    "/sources",
    "/sources?all=1",
    "/sources/s1",
    "/schedules",
    "/events",
    "/events?kind=worker_lost",
    "/events?source=s1",
    "/costs",
    "/costs?by=model",
    "/costs?by=subject",
    "/costs/calls",
    "/costs/calls?kind=item&model=own%2Fm3",
    "/health",
    "/settings",
    "/settings/worker.batch",
    "/keys",
    "/people",
    "/account",
    "/audit",
    "/jobs/matches",
    "/jobs/companies",
    "/jobs/boards",
    "/jobs/why",
    "/hiring/postings",
    "/recipes",
    "/datasets",
    "/prices",
    "/price-sources",
    "/price-collections",
    "/queries",
    "/signals",
    "/alarms",
    "/candidates",
    "/roles",
    "/scrapers",
)
OPEN = ("/", "/tasks", "/events", "/failures", "/sources")
WATCH = """() => {
  window.seen = { long: [], waits: [] };
  new PerformanceObserver(list => seen.long.push(...list.getEntries().map(each => each.duration))).observe({ entryTypes: ["longtask"] });
  addEventListener("keydown", event => seen.waits.push(performance.now() - event.timeStamp), true);
}"""


def fill(store: Store, tasks: int) -> None:
    """A queue of so many tasks, and all that pages show beside them."""
    is_sqlite = store.backend.dialect.name == "sqlite"
    gates = 1_000
    with store.write() as session:
        now = store.backend.now(session)
        session.run(_GATES.format(many=gates, sources=200, ever=now + 1_000 * HOUR))
        ((gate,),) = session.rows("select min(id) from gates where name like 'source:s%'")
        session.run(_SCOPES)
        session.run(_LANES.format(gates="cast(g.id as text)" if is_sqlite else "array[g.id]"))
        ((lane,),) = session.rows("select min(id) from lanes")
        session.run(
            f"insert into sources (name, gate_id, created_at) select substr(name, 8), id, {now} from gates where name like 'source:s%'"
        )
        groups = max(1, tasks // 100)
        session.run(_GROUPS.format(many=groups, now=now))
        ((group,),) = session.rows("select min(id) from task_groups")
        step = 48 * HOUR // tasks
        session.run(
            _TASKS.format(many=tasks, now=now, first=lane, lanes=gates, group=group, groups=groups, step=step)
        )
        session.run(_EVENTS.format(many=tasks // 4, now=now, step=step * 4, gate=gate, gates=gates))
        session.run(_RECORDS.format(many=tasks // 10, now=now))
        session.run(_CALLS.format(many=tasks // 20, now=now))
        session.run(_AUDIT.format(many=tasks // 100, now=now))
        session.run("analyze")
    set_setting(store, "web.password_cost", "10", "bench")
    set_setting(store, "web.rate", "1000000", "bench")
    admins.create_admin(store, NAME, PASSWORD)


def places(store: Store) -> dict[str, int]:
    """The ids that addresses name."""
    asked = {
        "failed": "select max(id) from tasks where state = 'failed'",
        "due": "select max(id) from tasks where due = 1",
        "parked": "select max(t.id) from tasks t join lanes l on l.id = t.lane_id where l.status = 'parked' and t.due = 1",
        "group": "select min(id) from task_groups",
    }
    with store.read() as session:
        return {name: int(session.rows(sql)[0][0]) for name, sql in asked.items()}


class Visitor:
    """Somebody who has logged in, on one connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._line = HTTPConnection(url.removeprefix("http://"), timeout=60)
        form = urlencode({"name": NAME, "password": PASSWORD})
        self._line.request("POST", "/login", form, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = self._line.getresponse()
        answer.read()
        found = re.match(r"([^=]+=[^;]+)", answer.headers["Set-Cookie"] or "")
        assert found, answer.status
        self.cookie = found[1]

    def get(self, path: str) -> tuple[float, int]:
        """How long it took, in milliseconds, and how many bytes came."""
        began = time.perf_counter()
        self._line.request("GET", path, headers={"Cookie": self.cookie})
        answer = self._line.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:500])
        return (time.perf_counter() - began) * 1_000, len(body)


def processor(*pids: int) -> float:
    """Milliseconds that processes have used so far, all of their threads."""
    threads = [each for pid in pids for each in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(each.read_text().split()[0]) for each in threads) / 1_000_000


def database_processes(store: Store) -> list[int]:
    """The processes of PostgreSQL that serve somebody now; SQLite has none of its own."""
    if store.backend.dialect.name == "sqlite":
        return []
    with store.read() as session:
        return [
            int(row[0])
            for row in session.rows("select pid from pg_stat_activity where backend_type = 'client backend'")
        ]


def measured(visitor: Visitor, store: Store, pid: int, path: str, rounds: int) -> dict[str, Any]:
    visitor.get(path)
    asked = database_processes(store)
    before, took, size = processor(pid), list[float](), 0
    before_there = processor(*asked)
    for _ in range(rounds):
        milliseconds, size = visitor.get(path)
        took.append(milliseconds)
    return {
        "page": path,
        "median_ms": round(statistics.median(took), 1),
        "most_ms": round(max(took), 1),
        "processor_ms": round((processor(pid) - before) / rounds, 1),
        "database_ms": round((processor(*asked) - before_there) / rounds, 1),
        "kilobytes": size // 1_000,
    }


# A thousand events a second.


def storm(url: str, seconds: float) -> None:
    """End tasks, each with an event, at an even pace. A tick that is late is not made up for."""
    store = open_store(url)
    held: list[Settlement] = []
    ended, began = 0, time.monotonic()
    for tick in range(int(seconds * TICKS)):
        turn = store.turn(held, A_SECOND // TICKS, 1)
        with store.write() as session:
            now = store.backend.now(session)
            for task in turn.tasks:
                events.record_event(session, EventKind.GATE_RESUMED, now, task_id=task.id)
        ended += len(held)
        held = [Settlement.done(task) for task in turn.tasks]
        time.sleep(max(0.0, began + (tick + 1) / TICKS - time.monotonic()))
    took = time.monotonic() - began
    store.turn(held, 0, 1)
    store.close()
    print(
        json.dumps({"storm": {"tasks and events a second": round(ended / took), "seconds": round(took, 1)}}),
        file=sys.stderr,
    )


class Asking(threading.Thread):
    """Asks for the open pages over HTTP in turns, twice a second."""

    def __init__(self, visitor: Visitor) -> None:
        super().__init__(daemon=True)
        self._visitor, self._over = visitor, threading.Event()
        self.took: list[float] = []

    def run(self) -> None:
        while not self._over.wait(0.5):
            self.took.append(self._visitor.get(OPEN[len(self.took) % len(OPEN)])[0])

    def stop(self) -> None:
        self._over.set()
        self.join()


def held_memory(line: CDPSession) -> dict[str, float]:
    line.send("HeapProfiler.collectGarbage")
    found = {each["name"]: each["value"] for each in line.send("Performance.getMetrics")["metrics"]}
    return {
        "megabytes": round(found["JSHeapUsedSize"] / 1_000_000, 2),
        "nodes": found["Nodes"],
        "listeners": found["JSEventListeners"],
    }


def opened_pages(stack: ExitStack, visitor: Visitor) -> Iterator[tuple[str, Page, CDPSession]]:
    chromium = find()
    assert chromium is not None, "there is no Chromium: run python -m thresher.fetch.chromium"
    player = stack.enter_context(sync_playwright())
    browser = player.chromium.launch(executable_path=str(chromium.path), args=["--no-sandbox"])
    stack.callback(browser.close)
    context = browser.new_context()
    name, _, value = visitor.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": visitor.url}])
    for path in OPEN:
        page = context.new_page()
        page.goto(visitor.url + path)
        page.locator("#live-state", has_text="Live,").wait_for(timeout=60_000)
        page.evaluate(WATCH)
        line = context.new_cdp_session(page)
        line.send("Performance.enable")
        yield path, page, line


def stormed(url: str, at: str, pid: int, seconds: float) -> dict[str, Any]:
    """What the storm does to those who look."""
    visitor = Visitor(at)
    with ExitStack() as stack:
        pages = list(opened_pages(stack, visitor))
        before = {path: held_memory(line) for path, _, line in pages}
        used, load, began = processor(pid), os.getloadavg()[0], time.monotonic()
        writer = multiprocessing.get_context("spawn").Process(target=storm, args=(url, seconds))
        asking = Asking(Visitor(at))
        writer.start()
        asking.start()
        while writer.is_alive():
            for _, page, _ in pages:
                page.keyboard.press("Shift")
                page.wait_for_timeout(100)
        asking.stop()
        used, took = processor(pid) - used, time.monotonic() - began
        seen = {path: page.evaluate("window.seen") for path, page, _ in pages}
        page_rows = [
            {
                "page": path,
                "said": page.inner_text("#live-state"),
                "long_tasks": len(seen[path]["long"]),
                "longest_ms": round(max(seen[path]["long"], default=0)),
                "key_p99_ms": at_share(seen[path]["waits"], 0.99),
                "before": before[path],
                "after": held_memory(line),
            }
            for path, page, line in pages
        ]
    return {
        "answers": len(asking.took),
        "p50_ms": at_share(asking.took, 0.5),
        "p99_ms": at_share(asking.took, 0.99),
        "server_processor_share": round(used / 1_000 / took, 2),
        "load_before": round(load, 1),
        "load_after": round(os.getloadavg()[0], 1),
        "pages": page_rows,
    }


def at_share(values: list[float], share: float) -> float:
    return round(sorted(values)[min(len(values) - 1, int(share * len(values)))], 1) if values else 0.0


def run(asked: argparse.Namespace) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = asked.database
        if url is None:
            url = (
                f"sqlite:///{folder / 'bench.db'}"
                if asked.store == "sqlite"
                else stack.enter_context(practice_postgres()).url
            )
        began = time.monotonic()
        (folder / "thresher.yaml").write_text(f"apps: [{APPS}]\n")
        with opened_runtime(url, read_project(folder)) as runtime:
            store = runtime.store
            with store.read() as session:
                is_filled = bool(session.rows("select 1 from tasks limit 1"))
            if not is_filled:
                fill(store, asked.tasks)
            filled = round(time.monotonic() - began, 1)
            names = places(store)
        at, pid = stack.enter_context(serving(folder, url, APPS))
        visitor = Visitor(at)
        paths = [path.format(**names) for path in PAGES if asked.only is None or path.startswith(asked.only)]
        load = os.getloadavg()[0]
        store = stack.enter_context(closing(open_store(url)))
        rows = [measured(visitor, store, pid, path, asked.rounds) for path in paths]
        found = {
            "store": asked.store,
            "tasks": asked.tasks,
            "filled_seconds": filled,
            "load": [round(load, 1), round(os.getloadavg()[0], 1)],
            "pages": rows,
        }
        return found | ({"storm": stormed(url, at, pid, asked.storm)} if asked.storm else {})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--storm", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--only", help="only pages whose address begins like this")
    parser.add_argument("--database", help="a database that is kept, and used again")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = run(asked)
    if asked.json:
        print(json.dumps(found))
        return
    print(f"{found['store']}, {found['tasks']:,} tasks, load {found['load'][0]} to {found['load'][1]}")
    for row in found["pages"]:
        print(
            f"{row['median_ms']:8.1f} ms, at most {row['most_ms']:7.1f}, processor {row['processor_ms']:6.1f} + {row['database_ms']:6.1f}, {row['kilobytes']:4} KB  {row['page']}"
        )
    for name, value in found.get("storm", {}).items():
        if name != "pages":
            print(f"{name:24} {value}")
    for row in found.get("storm", {}).get("pages", ()):
        print(row)


if __name__ == "__main__":
    main()
