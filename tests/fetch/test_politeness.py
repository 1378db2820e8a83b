"""Politeness as the server sees it: several worker processes, real requests, and the server's own log as the
only witness."""

import contextlib
import json
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.databases import Database, with_processes
from tests.harness.forks import Command
from tests.harness.tasks import rows
from thresher import NewTask
from thresher.admin import sources
from thresher.config.project import read_project
from thresher.practice.web import Knob, LogEntry, RemoteWeb, Trouble, gaps, peak, practice_process, robots
from thresher.runtime import install, open_store, project_registry

pytestmark = with_processes

WORKERS = 3
PATIENCE = 60.0
INTERVAL = 0.1
APP = """
from thresher import App, Done, Pipeline, Source, Stage
from thresher.core.keys import host_gate


async def visit(ctx):
    page = await ctx.fetch(ctx.task.url)
    return Done(page.final_url)


app = App(
    "walk",
    pipelines=(
        Pipeline("visit", Stage(visit, through=lambda trip: (host_gate(trip.url),))),
        Pipeline("wander", Stage(visit, name="visit", through=("source:wander",))),
    ),
    sources=(Source("wander"),),
)
"""
PLAIN = ("one.example", "two.example", "three.example")


class Ground:
    """A project on a database, a practice web around it, and worker processes."""

    def __init__(self, folder: Path, url: str, web: RemoteWeb) -> None:
        self.folder, self.url, self.web = folder, url, web
        settings = {"host.interval": INTERVAL, "worker.poll": 0.2, "run.patience": 5, "worker.lease": 1.5}
        whole = {
            "apps": ["app.py"],
            "settings": settings,
            "fetch": {"contact": "me@example.com", "resolve": web.rules},
        }
        (folder / "app.py").write_text(APP)
        (folder / "thresher.yaml").write_text(json.dumps(whole))  # JSON is YAML
        self.project = read_project(folder)
        self.registry = project_registry(self.project)
        self.store = open_store(url, self.project)
        install(self.store, self.registry)

    def set_up(self, *knobs: Knob) -> None:
        """Of two answers the first one wins, so the ordinary page comes last."""
        self.web.turn(
            *knobs, Knob(Trouble.BODY, path="/page", status=200, text="<title>a page</title><p>with words")
        )

    def ask(self, host: str, number: int, *, path: str = "/page", kind: str = "visit") -> None:
        new = [NewTask(kind, url=f"https://{host}{path}/{at}") for at in range(number)]
        self.store.enqueue([self.registry.admit(each) for each in new])

    def start(self, command: str) -> Command:
        return Command(command, "--json", folder=self.folder, THRESHER_DATABASE_URL=self.url)

    def run(self) -> None:
        """Several workers, until nothing is left to do."""
        workers = [self.start("run") for _ in range(WORKERS)]
        for worker in workers:
            _, said = worker.communicate(PATIENCE)
            worker.close()
            assert worker.returncode in (0, 1), said

    @contextlib.contextmanager
    def working(self, number: int = 2) -> Iterator[list[Command]]:
        """Several workers, for the length of a block."""
        workers = [self.start("worker") for _ in range(number)]
        try:
            yield workers
        finally:
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            for worker in workers:
                worker.wait(PATIENCE)
                worker.close()

    def until(self, is_so) -> None:
        """Wait for something that the log or the database will show."""
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, "it never came about"
            time.sleep(0.02)

    def log(self, host: str) -> list[LogEntry]:
        return self.web.log(host)

    def states(self) -> dict[str, int]:
        return dict(rows(self.store, "select state, count(*) from tasks group by state"))


@pytest.fixture(scope="module")
def one_web() -> Iterator[RemoteWeb]:
    with practice_process() as web:
        yield web


@pytest.fixture
def ground(tmp_path: Path, database: Database, one_web: RemoteWeb) -> Iterator[Ground]:
    one_web.reset()
    url = database.url if database.name == "postgres" else f"sqlite:///{database.url}"
    found = Ground(tmp_path, url, one_web)
    yield found
    found.store.close()


def keeps(entries: list[LogEntry], interval: float, at_once: int = 1) -> None:
    found = gaps(entries)
    assert min(found) >= interval, f"a gap of {min(found):.4f} s; the interval is {interval} s"
    assert peak(entries) <= at_once


@pytest.mark.promise(3)
@pytest.mark.promise(16)
@pytest.mark.promise(18)
def test_several_workers_keep_every_hosts_gap_concurrency_delay_and_rules(ground: Ground):
    ground.set_up(
        robots("slow.example", "User-agent: *\nCrawl-delay: 0.4\n"),
        robots("closed.example", "User-agent: *\nDisallow: /private\n"),
        Knob(Trouble.SLOW, "wide.example", seconds=0.15),
        Knob(Trouble.REDIRECT, "from.example", path="/moved", text="https://one.example/page/landed"),
        Knob(Trouble.RATE_LIMITED, "tired.example", path="/page", times=1, after=3, seconds=2),
    )
    for host in PLAIN:
        ground.ask(host, 20)
    for host, number in {
        "slow.example": 6,
        "closed.example": 8,
        "tired.example": 12,
        "wide.example": 40,
    }.items():
        ground.ask(host, number)
    ground.ask("closed.example", 8, path="/private")
    ground.ask("from.example", 8, path="/moved")
    ground.ask("far.example", 8, kind="wander")
    sources.limit(ground.store, "host:wide.example", {"rate": "20", "in_flight": "3"})

    ground.run()

    assert ground.states() == {"succeeded": 142, "failed": 8}
    for host in (*PLAIN, "from.example", "closed.example", "far.example", "tired.example"):
        keeps(ground.log(host), INTERVAL)
    keeps(ground.log("slow.example"), 0.4)
    _is_spread(ground.log("wide.example"), per_second=20, at_once=3)
    everything = [entry for host in {entry.host for entry in ground.web.log()} for entry in ground.log(host)]
    asked = Counter(entry.host for entry in everything if entry.path == "/robots.txt")
    assert {host: number for host, number in asked.items() if number != 1 and host != "wide.example"} == {}
    assert asked["wide.example"] <= 3
    assert not [entry for entry in ground.log("closed.example") if entry.path.startswith("/private")]
    assert {entry.headers["user-agent"] for entry in everything} == {everything[0].headers["user-agent"]}
    assert "me@example.com" in everything[0].headers["user-agent"]
    _kept_away(ground.log("tired.example"), 2.0)


def _is_spread(entries: list[LogEntry], per_second: int, at_once: int) -> None:
    """With several under way the way of one may be longer than that of the next, so the gap is not the
    server's to see: the rate is."""
    assert 1 < peak(entries) <= at_once
    times = sorted(entry.arrived for entry in entries)
    assert max(sum(start <= each < start + 1.0 for each in times) for start in times) <= per_second + at_once


def _kept_away(entries: list[LogEntry], seconds: float) -> None:
    """After the 429 nobody came for as long as it said."""
    (refused,) = (entry for entry in entries if entry.status == 429)
    assert refused.ended is not None
    following = [entry.arrived for entry in entries if entry.number > refused.number]
    assert following
    assert min(following) - refused.ended >= seconds


@pytest.mark.promise(16)
@pytest.mark.promise(3)
def test_after_a_pause_there_is_not_one_request_more(ground: Ground):
    ground.set_up()
    ground.ask("one.example", 400)
    ground.ask("two.example", 400)
    with ground.working():
        ground.until(lambda: min(len(ground.log("one.example")), len(ground.log("two.example"))) >= 6)
        sources.pause(ground.store, "host:one.example", 3_600, "they are moving house")
        ground.until(
            lambda: (
                rows(ground.store, "select in_flight from gates where name = 'host:one.example'") == [(0,)]
            )
        )
        # What had begun before the pause has ended by now; from here on there is nothing.
        last, others = ground.log("one.example")[-1].number, len(ground.log("two.example"))
        ground.until(lambda: len(ground.log("two.example")) >= others + 15)
        assert [entry for entry in ground.log("one.example") if entry.number > last] == []
    keeps(ground.log("one.example"), INTERVAL)
    assert ground.states().get("failed", 0) == 0
    assert rows(ground.store, "select sum(failures) from tasks") == [(0,)]


@pytest.mark.promise(3)
@pytest.mark.promise(1)
def test_workers_that_are_killed_in_the_middle_of_a_request_cost_us_a_slot_and_the_site_nothing(
    ground: Ground,
):
    ground.set_up(Knob(Trouble.SLOW, seconds=0.2))
    for host in PLAIN:
        ground.ask(host, 8)
    with ground.working() as (victim, _):
        ground.until(lambda: len(ground.log("one.example")) >= 2)
        victim.kill()
        ground.until(lambda: ground.states() == {"succeeded": 24})
    for host in PLAIN:
        keeps(ground.log(host), INTERVAL)
    assert rows(ground.store, "select count(*) from permits") == [(0,)]
