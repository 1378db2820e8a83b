"""What a claim costs, counted and not timed: the plan of every statement, and the rows or instructions it
takes."""

import psycopg
import pytest

from tests.harness.backlog import LARGE, SMALL
from tests.harness.costs import instructions, plans, rows_read, scans, used
from tests.harness.databases import memory_database, only_postgres
from tests.harness.hand import hands
from tests.harness.tasks import SOMEBODY, done, entry, retry, running, settle, troubled
from thresher.admin.metrics import read_metrics
from thresher.core.clock import SECOND, FrozenClock
from thresher.store import permits, workers
from thresher.store.last_words import say_last_words
from thresher.store.metrics import MAX_LANES
from thresher.store.overview import MAX_COUNTED

BATCH = 20
# Made by a statement for itself: a row for each scope that has a lane ready or parked.
LISTS = ("s",)
TABLES = ("tasks", "lanes", "gates", "permits")
# Autovacuum would look at the tables at a time of its own choosing, and every look makes new plans.
STILL = "alter table {} set (autovacuum_enabled = false)"


def visits(store, number=12, scopes=None):
    """Claims and settlements, as a worker makes them; yields how many were claimed, after each visit."""
    held = []
    for n in range(number):
        answers = [retry(task) if n % 3 == 0 else done(task) for task in held]
        held = store.turn(answers, BATCH, SOMEBODY, scopes).tasks
        yield len(held)


def works(store, number=12):
    """All that is done often: visits, new tasks, and settlements that bring children and trouble. Yields
    after each."""
    for _ in visits(store, number):
        yield
    yield from requests(store, number)
    for n in range(number):
        gates = [f"source:{LARGE.blocked + 1 + n}"]
        store.enqueue([entry(gates=gates, key=f"{n}/{m}") for m in range(BATCH)])
        yield
        one, two = store.turn([], 2, SOMEBODY).tasks
        yield
        store.settle([done(one, children=(entry(gates=gates, key=f"child {n}"),)), troubled(two)])
        yield


def requests(store, number=12):
    """What single requests ask for, on behalf of a task and outside its lane. Yields after each."""
    (task,) = store.turn([], 1, SOMEBODY).tasks
    claim = (task.id, task.claim)
    for n in range(number):
        gates = [f"source:{LARGE.blocked + 1 + n}", f"host:{n}.{task.id}.example"]
        permit = permits.reserve(store, gates, claim=claim, holder=SOMEBODY, expires_us=SECOND)
        assert isinstance(permit, permits.Permit)
        assert isinstance(permits.start(store, gates, claim=claim), permits.Go)
        yield
        permits.release(store, permit)
        yield
    settle(store, done(task))


def looks(store, number=3):
    """What every worker looks for every second: tasks of lost workers, and quarantined ones without last
    words. Yields after each."""
    for _ in range(number):
        assert workers.reap(store, 100) == 0
        yield
        assert say_last_words(store, ["visit"], lambda *_: {}, 100) == 0
        yield


UNKNOWN = """insert into lanes (key, gates, status, position, scope)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < {many})
    select 'unknown ' || i, {none}, 'ready', -i, 1000000 + i % 20 from n"""


def make_unknown_lanes_ready(store, many):
    """Lanes whose turn comes before all others, in scopes that only somebody else knows."""
    none = "''" if store.backend.dialect.name == "sqlite" else "array[]::bigint[]"
    with store.write() as session:
        session.run(UNKNOWN.format(many=many, none=none))


@pytest.fixture(scope="module")
def large_sqlite():
    database = memory_database(FrozenClock())
    store = database.open()
    LARGE.write(store)
    yield store
    database.close()


def instructed(store, number=12, scopes=None):
    claimed = []
    counted = instructions(store, lambda: claimed.extend(visits(store, number, scopes)))
    assert sum(claimed) == number * BATCH
    return counted


@pytest.mark.promise(4)
def test_every_statement_of_a_visit_uses_an_index_on_sqlite(large_sqlite, monkeypatch):
    claimed = []
    found = plans(large_sqlite, monkeypatch, lambda: claimed.extend(visits(large_sqlite, 4)))
    assert sum(claimed) == 4 * BATCH
    assert len(found) >= 10
    assert scans(found, but=LISTS) == {}
    for index in ("tasks_due", "lanes_ready", "lanes_parked", "gates_wake", "tasks_delayed"):
        assert index in used(found), f"nothing uses {index}"


@pytest.mark.promise(4)
def test_every_statement_of_a_request_uses_an_index_on_sqlite(large_sqlite, monkeypatch):
    found = plans(large_sqlite, monkeypatch, lambda: list(requests(large_sqlite, 3)))
    assert len(found) >= 10
    assert scans(found, but=LISTS) == {}


@pytest.mark.promise(4)
def test_looking_for_the_lost_uses_an_index_on_sqlite(large_sqlite, monkeypatch):
    found = plans(large_sqlite, monkeypatch, lambda: list(looks(large_sqlite)))
    assert scans(found, but=("w", "last_words", "workers")) == {}
    assert "tasks_running" in used(found)


@pytest.mark.promise(4)
@only_postgres
def test_looking_for_the_lost_costs_next_to_nothing_on_postgres(database, store):
    LARGE.write(store)
    with hands(database, store, 1) as (hand,):
        counted = rows_read(hand, TABLES, looks(hand.store))
    assert max(counted.values()) <= BATCH


@pytest.mark.promise(4)
def test_every_statement_of_the_metrics_uses_an_index_on_sqlite(large_sqlite, monkeypatch):
    found = plans(large_sqlite, monkeypatch, lambda: read_metrics(large_sqlite))
    assert len(found) >= 8
    assert scans(found, but=("s", "budgets", "newest", "first", "counted")) == {}
    for index in (
        "tasks_due",
        "tasks_delayed",
        "tasks_running",
        "tasks_failed",
        "tasks_finished",
        "lanes_ready",
    ):
        assert index in used(found), f"nothing uses {index}"


@pytest.mark.promise(4)
@only_postgres
def test_the_metrics_read_a_bounded_part_of_a_million_tasks_on_postgres(database, store):
    LARGE.write(store)
    with hands(database, store, 1) as (hand,):
        counted = rows_read(hand, TABLES, (read_metrics(hand.store) for _ in range(2)))
    assert counted["tasks"] <= MAX_COUNTED + MAX_LANES
    assert counted["lanes"] <= MAX_LANES


@pytest.mark.promise(4)
def test_a_visit_costs_the_same_with_a_million_waiting_on_sqlite(large_sqlite):
    database = memory_database(FrozenClock())
    small = database.open()
    SMALL.write(small)
    few = instructed(small)
    database.close()
    assert instructed(large_sqlite) <= 1.5 * few


@pytest.mark.promise(4)
def test_ready_lanes_that_a_worker_does_not_know_cost_it_next_to_nothing_on_sqlite(monkeypatch):
    database = memory_database(FrozenClock())
    store = database.open()
    SMALL.write(store)
    before = instructed(store, scopes=(0, 5))
    make_unknown_lanes_ready(store, 20_000)
    assert instructed(store, scopes=(0, 5)) <= 1.5 * before
    assert scans(plans(store, monkeypatch, lambda: list(visits(store, 4, (0, 5)))), but=LISTS) == {}
    database.close()


@pytest.mark.promise(4)
@only_postgres
def test_ready_lanes_that_a_worker_does_not_know_cost_it_next_to_nothing_on_postgres(database, store):
    SMALL.write(store)
    make_unknown_lanes_ready(store, 5_000)
    with store.write() as session:
        session.run("update lanes set scope = id % 3 where key like 'source:%'")  # several that it does know
        session.run("analyze lanes")
    with hands(database, store, 1) as (hand,):
        counted = rows_read(
            hand,
            TABLES,
            (None for claimed in visits(store=hand.store, number=6, scopes=(0, 1, 2)) if claimed == BATCH),
        )
    assert max(counted.values()) <= 8 * BATCH


def costs(hand):
    return rows_read(hand, TABLES, works(hand.store, 12))


@pytest.mark.promise(4)
@only_postgres
def test_a_visit_costs_the_same_with_a_million_waiting_on_postgres(database, store):
    """Plans made while the tables were empty must do once they are full, and so must plans made
    afterwards."""
    with (
        psycopg.connect(database.url.partition("?")[0], autocommit=True) as connection,
        hands(database, store, 1) as (old,),
    ):
        connection.execute(f"set search_path = {database.url.partition('schema=')[2]}")
        for table in ("tasks", "lanes", "gates"):
            connection.execute(STILL.format(table))
        # As new: tables that were used before, and emptied row by row, have pages without rows.
        connection.execute("truncate tasks, lanes, gates cascade")
        connection.execute("analyze tasks, lanes, gates")
        assert sum(visits(old.store, 10)) == 0  # more often than it takes to keep a plan for good
        for n in range(10):
            settle(old.store, done(running(old.store, entry()), children=(entry(key=f"{n}"),)))
        old.commit()
        LARGE.write(store)
        kept = costs(old)
        connection.execute("analyze tasks, lanes, gates")
        with hands(database, store, 1) as (new,):
            fresh = costs(new)
    assert max(*kept.values(), *fresh.values()) <= 8 * BATCH
