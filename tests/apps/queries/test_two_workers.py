"""Two real workers on one database: one works through the queries, the other waits, and takes over when the
first is killed. Never both."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.harness.databases import Database, with_processes
from thresher.apps.queries.app import app
from thresher.apps.queries.service.queries import show_query
from thresher.runtime import opened_store

pytestmark = with_processes
PAGES, SIZE = 12, 5
PATIENCE = 60  # seconds, for a machine that does other things too
CLIENT = """
name: quay
title: Quay
request: {url: "http://api.quay.example/jobs", query: {from: "{since}", to: "{until}", page: "{page}", size: "{size}"}}
paging: {kind: page, first: 1, size: 5}
window: {kind: range}
answer:
  rows: jobs
  total: total
  fields: {id: id, title: title, url: url, company: company, posted: posted, description: text}
"""
PROJECT = """
apps: [queries]
fetch: {{contact: me@example.com, resolve: {{"*": "{web}"}}}}
queries:
  searches:
    quay: {{client: quay, start: {today}, max_pages: 100}}
settings:
  host.interval: 0.01
  worker.lease: 2
  worker.poll: 0.05
  reaper.every: 0.1
  schedule.every: 0.1
  retry.crash_spread: 0
  queries.pause: 86400
"""


class Quay:
    """The API: it counts who is in it, and can be told to hold whoever asks for a page."""

    def __init__(self) -> None:
        self.today = datetime.now(UTC).date()
        self.served: list[int] = []
        self.inside = self.most = 0
        self.hold_at = 4
        self.held, self.released = threading.Event(), threading.Event()
        self._mutex = threading.Lock()

    def enter(self, page: int) -> None:
        with self._mutex:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.served.append(page)
        if page == self.hold_at and not self.released.is_set():
            self.held.set()
            self.released.wait(PATIENCE)

    def leave(self) -> None:
        with self._mutex:
            self.inside -= 1

    def page(self, number: int) -> bytes:
        rows = range((number - 1) * SIZE, min(number * SIZE, PAGES * SIZE))
        jobs = [
            {
                "id": str(each),
                "title": f"Rigger {each}",
                "url": f"http://quay.example/{each}",
                "company": f"Quay {each % 4}",
                "posted": self.today.isoformat(),
                "text": f"Rig the mast number {each} and mind the boom. " * 3,
            }
            for each in rows
        ]
        return json.dumps({"total": PAGES * SIZE, "jobs": jobs}).encode()


@pytest.fixture
def quay() -> Iterator[tuple[Quay, str]]:
    api = Quay()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/robots.txt":
                self.send_error(404)
                return
            number = int(parse_qs(urlsplit(self.path).query)["page"][0])
            api.enter(number)
            try:
                body = api.page(number)
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:  # whoever asked is dead
                pass
            finally:
                api.leave()

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield api, f"http://127.0.0.1:{server.server_port}"
    api.released.set()
    server.shutdown()
    server.server_close()


def worker(folder: Path, url: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "thresher", "--project", str(folder), "--database", url, "worker"]
    return subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ},
    )


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a worker with all that it has started, by their ids, without a word."""
    family = _family(process.pid)  # its supervisor first, who would start another
    for each in sorted(family, key=lambda pid: pid != process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    process.wait()


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
def test_one_works_and_the_other_takes_over_when_it_is_killed(
    database: Database, tmp_path: Path, quay: tuple[Quay, str]
) -> None:
    api, web = quay
    url = database.address(app)
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "quay.yaml").write_text(CLIENT)
    (tmp_path / "thresher.yaml").write_text(PROJECT.format(web=web, today=api.today - timedelta(days=1)))
    words = [
        sys.executable,
        "-m",
        "thresher",
        "--project",
        str(tmp_path),
        "--database",
        url,
        "queries",
        "run",
    ]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    workers = [worker(tmp_path, url) for _ in range(2)]
    try:
        assert api.held.wait(PATIENCE), "nobody has asked for the fourth page"
        with opened_store(url, apps=[app]) as store:
            holder = _holder(store)
            assert api.served.count(4) == 1, "the other one waits"
            guilty = next(each for each in workers if _family(each.pid) & {holder})
            kill(guilty)
            api.released.set()
            _until_ended(store)
            assert _holder(store) != holder, "the other one has taken over"
            detail = show_query(store, "quay")
            assert detail.query.status == "SUCCESS"
            assert detail.query.offers == PAGES * SIZE
            (run,) = detail.runs
            assert run.offers_new == PAGES * SIZE
        assert api.served == [1, 2, 3, 4, *range(4, PAGES + 1)], "page by page, never side by side"
    finally:
        for each in workers:
            if each.poll() is None:
                kill(each)


def _holder(store) -> int:
    """The process that claimed the cycle last."""
    with store.read() as session:
        return session.rows(
            "select w.pid from tasks t join workers w on w.id = t.worker_id where t.kind = 'query_cycle' order by t.id limit 1"
        )[0][0]


def _family(pid: int) -> set[int]:
    """A process and all that descend from it."""
    found, rest = set(), [pid]
    while rest:
        found.add(rest.pop())
        for each in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent in found and int(each.name) not in found:
                rest.append(int(each.name))
    return found


def _until_ended(store) -> None:
    """Wait for the run to end. The store tells of changes, so nobody has to ask all the time."""
    deadline = threading.Event()
    timer = threading.Timer(PATIENCE, deadline.set)
    timer.start()
    try:
        while not deadline.is_set():
            if (runs := show_query(store, "quay").runs) and runs[0].finished_at:
                return
            deadline.wait(0.1)
    finally:
        timer.cancel()
    raise AssertionError("the run has not ended")
