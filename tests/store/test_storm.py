"""Several machines at once on one database, in no particular order: the schedules say why it holds, the storm
that it does."""

import random
import threading
from collections import Counter

import psycopg
import pytest

from tests.harness.databases import Database, with_processes
from tests.harness.gates import gate
from tests.harness.image import look, look_within
from tests.harness.tasks import SOMEBODY, done, entry, put, retry, rows, troubled
from thresher.core.settlement import Settlement
from thresher.store.postgres.connection import PostgresSession, split_schema
from thresher.store.repair import repair

TASKS = 600
MACHINES = 4
MAX_VISITS = 20_000


class Storm:
    """Machines that claim and settle until all is done, and what they saw."""

    def __init__(self, database: Database) -> None:
        self.stores = [database.open(queue__quantum=2) for _ in range(MACHINES)]
        self.clock = database.clock
        self.started: Counter = Counter()
        self.ended = threading.Event()
        self.problems: list[BaseException] = []
        self._mutex = threading.Lock()
        luck = random.Random(5)
        store = self.stores[0]
        self.gates = []
        for n in range(12):
            slots, interval = luck.choice((None, 1, 2, 3)), luck.choice((0, 0, 2_000))
            self.gates.append(
                gate(store, f"source:{n}", slots=slots, interval_us=interval, trip_after=4, cooldown_us=3_000)
            )
        self.lanes = [tuple(luck.sample(self.gates, luck.randint(1, 3))) for _ in range(40)]
        store.meet_lanes(("page", "fetch", gates) for gates in self.lanes)

    def run(self, watch) -> None:
        threads = [
            threading.Thread(target=self._work, args=(store, seed)) for seed, store in enumerate(self.stores)
        ]
        threads.append(threading.Thread(target=self._ask))
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                watch()
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()
        assert self.problems == []

    def _ask(self) -> None:
        luck = random.Random(99)
        for _ in range(TASKS // 10):
            put(self.stores[0], *(entry(gates=luck.choice(self.lanes)) for _ in range(10)))

    def _work(self, store, seed: int) -> None:
        luck, held = random.Random(seed), []
        try:
            for _ in range(MAX_VISITS):
                if self.ended.is_set():
                    return
                with self._mutex:  # two at once could set it back
                    self.clock.advance(300)
                held = self._visit(store, luck, held)
                if not held and rows(store, "select count(*) from tasks where state = 'succeeded'") == [
                    (TASKS,)
                ]:
                    self.ended.set()
            raise AssertionError(f"not done after {MAX_VISITS} visits")
        except BaseException as problem:
            self.problems.append(problem)
            self.ended.set()

    def _visit(self, store, luck, held):
        answers = [self._answer(luck, task) for task in held]
        turn = store.turn(answers, luck.randint(1, 6), SOMEBODY)
        assert turn.stale == []
        with self._mutex:
            self.started.update((task.id, task.claim) for task in turn.tasks)
        return turn.tasks

    def _answer(self, luck, task) -> Settlement:
        fate = luck.random()
        if fate < 0.1:
            return retry(task, luck.choice((0, 500)))
        if fate < 0.15:
            return troubled(task)
        if fate < 0.2:
            return Settlement.advance(task, stage="extract", gates=luck.choice(self.lanes), checkpoint="{}")
        return done(task)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@with_processes
def test_machines_that_work_at_once_lose_nothing_and_double_nothing(database):
    storm = Storm(database)
    store = storm.stores[0]
    if database.name == "postgres":
        address, schema = split_schema(database.url)
        with psycopg.connect(address, autocommit=True, options=f"-c search_path={schema}") as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            storm.run(lambda: _check_snapshot(store, connection))
    else:
        storm.run(lambda: _check(look(store)))
    _check(look(store))
    assert rows(store, "select sum(in_flight) from gates where max_in_flight is not null") == [(0,)]
    assert set(storm.started.values()) == {1}
    assert rows(store, "select sum(claim), count(*) from tasks") == [(len(storm.started), TASKS)]
    assert rows(store, "select count(*) from attempts") == [(len(storm.started),)]
    assert repair(store) == []


def _check_snapshot(store, connection) -> None:
    with connection.transaction():
        _check(look_within(store, PostgresSession(connection)))


def _check(image) -> None:
    assert list(image.wrongs()) == []
    for name, seen in image.gates.items():
        assert seen.max_in_flight is None or seen.in_flight <= seen.max_in_flight, name
