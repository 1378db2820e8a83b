"""The supervisor: starts workers, lets the plan loose on them, waits until the work is done, and has the
history checked.

    python -m tests.chaos.campaign --seconds 60 --store both --workers 4 --seed 7 --tasks 60

Prints the seed and a summary as JSON; ends with 1 when anything happened that must not.
"""

import argparse
import contextlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import orjson

from tests.chaos.app import GUILTY, MOURNED, NEWER, SETTINGS, app, roots
from tests.chaos.control import Control, JumpingClock
from tests.chaos.fleet import Fleet
from tests.chaos.group_check import GROUP_CHECKS
from tests.chaos.history import CHECKS, GateRule, History, violations
from tests.chaos.observer import observe
from tests.chaos.plan import Step, doom, make_plan
from tests.chaos.reading import read_effects, read_store
from tests.chaos.tenant import SCHEMA, Tenant
from tests.harness.black_hole import BlackHole
from thresher.config.project import Project
from thresher.core.clock import SECOND, SystemClock
from thresher.core.errors import DatabaseProblem
from thresher.core.gate import interval_us
from thresher.core.pipeline import Trip
from thresher.engine.registry import Registry
from thresher.practice.postgres import PracticePostgres, practice_postgres
from thresher.runtime import install, open_store
from thresher.store import tasks

STORES = ("sqlite", "postgres")
LEASE = float(SETTINGS["worker.lease"])
OBSERVE_EVERY = 0.25
# Without a single claim or ending for this long, something is stuck.
STUCK_SECONDS = 20.0
POSTGRES_SLACK_US = 50_000
# Tasks that have not ended, and last words that nobody has said.
LEFT = """select (select count(*) from tasks where finished_at is null) + (select count(*) from last_words),
    (select sum(claim) from tasks)"""
# The short campaign of every test run is shorter than that.
LONG_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Orders:
    """What a campaign is asked to do."""

    store: str
    seed: int
    seconds: float
    workers: int
    tasks: int


@dataclass
class Summary:
    """What came of it."""

    store: str
    seed: int
    seconds: float
    drained_in: float = 0.0
    tasks: int = 0
    attempts: int = 0
    groups: int = 0
    processes: int = 0
    observations: int = 0
    adversity: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Campaign:
    """One campaign on one store, in a folder of its own."""

    def __init__(self, orders: Orders, url: str, folder: Path, ground: "Ground | None" = None) -> None:
        self.orders, self.url, self.folder, self.ground = orders, url, folder, ground
        self.control = Control(folder / "control")
        self.registry = Registry([app])
        self.fleet = Fleet(url, folder, detour=ground.hole.url if ground else None)
        self.summary = Summary(orders.store, orders.seed, orders.seconds)
        self.roots: list[int] = []
        self.jumps: list[int] = []
        self.observed: list[str] = []
        self.doomed = True
        self._batch = 0
        self._timers: list[threading.Timer] = []
        clock = JumpingClock(self.control) if ground is None else None
        self.store = open_store(url, Project(folder, settings=SETTINGS), clock=clock)
        install(self.store, self.registry)

    def run(self) -> Summary:
        """Everything, in order; no process outlives it."""
        try:
            self.enqueue(self.orders.tasks // 2)
            for _ in range(self.orders.workers):
                self._recruit()
            self.endure(make_plan(self.orders.seed, self.orders.seconds, self.orders.store))
            self.drain()
            self.fleet.retire(10)
            self._judge()
        finally:
            self.fleet.end()
            for timer in self._timers:
                timer.cancel()
            self.store.close()
        return self.summary

    # --- what goes wrong

    def endure(self, plan: list[Step]) -> None:
        begun = observed = time.monotonic()
        share = max(
            1, (self.orders.tasks - len(self.roots)) // max(1, sum(step.what == "enqueue" for step in plan))
        )
        for step in plan:
            while time.monotonic() < begun + step.at:
                self._keep_up_strength()
                if time.monotonic() - observed > OBSERVE_EVERY:
                    self.watch()
                    observed = time.monotonic()
                time.sleep(0.02)
            self.summary.adversity[step.what] += 1
            if step.what == "enqueue":
                self.enqueue(share)
            else:
                getattr(self, f"_{step.what}")(step)

    def _kill(self, step: Step) -> None:
        if member := self.fleet.pick(step.luck):
            self.fleet.send(member, signal.SIGKILL)

    def _stop(self, step: Step) -> None:
        if member := self.fleet.pick(step.luck):
            self.fleet.send(member, signal.SIGTERM)

    def _freeze(self, step: Step) -> None:
        """Past the lease, so that it comes back as a zombie; sometimes only nearly."""
        if member := self.fleet.pick(step.luck):
            self.fleet.freeze(member, LEASE * (0.6 + 2 * step.size))

    def _cancel(self, step: Step) -> None:
        with contextlib.suppress(DatabaseProblem):
            with self.store.read() as session:
                live = [
                    row[0]
                    for row in session.rows("select id from tasks where finished_at is null order by id")
                ]
            chosen = random.Random(step.luck).sample(live, min(3, len(live)))
            if chosen:
                tasks.cancel(self.store, chosen, "the plan says so")

    def _lock(self, step: Step) -> None:
        """Another program holds the database, perhaps for longer than a lease."""
        path = self.url.removeprefix("sqlite:///").partition("?")[0]

        def hold() -> None:
            other = apsw.Connection(path)
            other.set_busy_timeout(10_000)
            with contextlib.suppress(apsw.BusyError):
                other.execute("begin immediate")
                time.sleep(LEASE * 2 * step.size)
                other.execute("rollback")
            other.close()

        threading.Thread(target=hold, daemon=True).start()

    def _full(self, step: Step) -> None:
        self.control.disk_full = True
        self._later(LEASE * (0.2 + 2 * step.size), self._empty)

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        timer.start()
        self._timers.append(timer)

    def _empty(self) -> None:
        self.control.disk_full = False

    def _choke(self, step: Step) -> None:
        """A worker whose files may not grow: it can read, and hardly write."""
        wal = Path(self.url.removeprefix("sqlite:///").partition("?")[0] + "-wal")
        if member := self.fleet.pick(step.luck):
            self.fleet.send(member, signal.SIGKILL)
            size = wal.stat().st_size if wal.exists() else 0
            self.fleet.start(fsize=size + int(200_000 * step.size))

    def _jump(self, step: Step) -> None:
        self.jumps.append(SystemClock().now())
        self.control.offset_us += round((step.size - 0.4) * 12 * SECOND)

    def _restart(self, step: Step, how: signal.Signals = signal.SIGINT) -> None:
        assert self.ground is not None
        self.ground.server.stop(how)
        time.sleep(LEASE * 1.2 * step.size)
        self.ground.server.start()

    def _crash(self, step: Step) -> None:
        self._restart(step, signal.SIGQUIT)

    def _hole(self, step: Step) -> None:
        """All connections of every second worker are dead, and nobody says so before they must have been
        given up."""
        assert self.ground is not None
        self.ground.hole.freeze()
        self._later(LEASE * (2 + 3 * step.size), self.ground.hole.let_go)

    def _upgrade(self, step: Step) -> None:
        """Our functions are those of another version, and are made anew under everybody's hands."""
        with contextlib.suppress(DatabaseProblem):
            with self.store.write() as session:
                session.run("update functions set hash = 'of another version'")
            self.store.backend.migrate()

    # --- what goes on

    def enqueue(self, number: int) -> None:
        """Ask for more work. Only what was accepted is owed; an answer that was lost is neither."""
        entries = [
            self.registry.admit(new)
            for new in roots(number, self._batch, is_long=self.orders.seconds > LONG_SECONDS)
        ]
        self._batch += 1
        try:
            self.roots += [task_id for task_id in self.store.enqueue(entries) if task_id is not None]
        except DatabaseProblem:
            self.summary.adversity["enqueue refused"] += 1

    def _recruit(self) -> None:
        self.fleet.start(doom=doom(self.orders.seed, self.fleet.started) if self.doomed else None)

    def _keep_up_strength(self) -> None:
        self.fleet.bury()
        self.fleet.find_frozen(LEASE * 1.7)
        while len(self.fleet.members) < self.orders.workers:
            self._recruit()

    def watch(self) -> None:
        """Look at the counters while everything moves."""
        with contextlib.suppress(DatabaseProblem):
            self.observed += observe(self.store)
            self.summary.observations += 1

    def drain(self) -> None:
        """No more adversity: now everything must come to an end, and never stand still on the way."""
        self.doomed = False
        self._empty()
        self.fleet.thaw_all()
        self.fleet.upgrade()
        begun = moved = time.monotonic()
        progress: object = None
        while time.monotonic() < moved + STUCK_SECONDS:
            self._keep_up_strength()
            self.watch()
            with contextlib.suppress(DatabaseProblem), self.store.read() as session:
                left, claims = session.rows(LEFT)[0]
                if left == 0:
                    break
                if (left, claims) != progress:
                    progress, moved = (left, claims), time.monotonic()
            time.sleep(0.1)
        self.summary.drained_in = round(time.monotonic() - begun, 2)

    def _judge(self) -> None:
        history = self._history()
        summary = self.summary
        summary.tasks, summary.attempts, summary.processes = (
            len(history.tasks),
            len(history.attempts),
            self.fleet.started,
        )
        summary.states = Counter(task["state"] for task in history.tasks.values())
        summary.endings = Counter(attempt["ending"] for attempt in history.attempts)
        summary.events = history.events
        summary.refusals = Counter(refusal["rule"] for refusal in history.refusals)
        summary.groups = len(history.groups)
        summary.violations = violations(history, (*CHECKS, *GROUP_CHECKS))

    def _history(self) -> History:
        settings = self.store.settings
        return History(
            roots=self.roots,
            effects=read_effects(self.folder.glob("effects-*.jsonl")),
            **read_store(self.store),
            rules={
                source.gate: GateRule(source.in_flight, interval_us(source.rate), source.burst)
                for source in app.sources
            },
            gates_of={
                (pipeline.kind, stage.name): stage.gates(Trip(pipeline.kind, {}, {}, None))
                for pipeline in app.pipelines
                for stage in pipeline.stages
            },
            max_depth=settings.count("lineage.max_depth"),
            max_crashes=settings.count("retry.max_crashes"),
            max_retries=settings.count("retry.max_retries"),
            guilty=GUILTY,
            newer=NEWER,
            mourned=MOURNED,
            slack_us=POSTGRES_SLACK_US if self.ground else 0,
            jumps=self.jumps,
            observed=[
                *self.observed,
                *self.fleet.bad_ends,
                *(self.ground.tenant.complaints() if self.ground else ()),
            ],
        )


@dataclass(frozen=True, slots=True)
class Ground:
    """A PostgreSQL server, somebody who has our schema with us, and a bad way there."""

    server: PracticePostgres
    tenant: Tenant
    hole: BlackHole


@contextlib.contextmanager
def _prepared(orders: Orders, folder: Path) -> Iterator[Campaign]:
    if orders.store == "sqlite":
        yield Campaign(orders, f"sqlite:///{folder / 'chaos.db'}?durability=process", folder)
        return
    with practice_postgres() as server:
        url = f"{server.url}?schema={SCHEMA}"
        with contextlib.closing(BlackHole(url)) as hole:
            yield Campaign(orders, url, folder, Ground(server, Tenant(server.url), hole))


def run(orders: Orders) -> Summary:
    """One campaign from nothing to its summary. The folder is kept when something was found."""
    folder = Path(tempfile.mkdtemp(prefix=f"thresher-chaos-{orders.store}-{orders.seed}-"))
    with _prepared(orders, folder) as campaign:
        summary = campaign.run()
    if summary.violations:
        summary.violations.append(f"the logs are in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return summary


def store_of(text: str) -> tuple[str, ...]:
    return STORES if text == "both" else (text,)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.campaign", description=__doc__)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="how long things go wrong, over all stores together"
    )
    parser.add_argument("--store", choices=[*STORES, "both"], default="both")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument(
        "--seed", type=int, default=None, help="play this campaign again; without it a new one is made"
    )
    parser.add_argument(
        "--tasks", type=int, default=None, help="how many trees to ask for; about twenty tasks grow from each"
    )
    asked = parser.parse_args(words)
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(1_000_000)
    stores = store_of(asked.store)
    seconds = asked.seconds / len(stores)
    number = asked.tasks if asked.tasks is not None else max(10, round(seconds * 2))
    print(f"seed {seed}", flush=True)
    worst = 0
    for store in stores:
        summary = run(Orders(store, seed, seconds, asked.workers, number))
        print(orjson.dumps(summary.as_json(), option=orjson.OPT_INDENT_2).decode(), flush=True)
        worst = max(worst, int(bool(summary.violations)))
    return worst


if __name__ == "__main__":
    sys.exit(main())
