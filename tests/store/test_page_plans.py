"""What the pages that everybody keeps open cost, counted and not timed: no more with many tasks than with
few."""

import pytest

from tests.harness.backlog import Backlog
from tests.harness.costs import instructions, rows_read
from tests.harness.databases import memory_database, only_postgres
from tests.harness.hand import hands
from thresher.admin.gates import closed_gates, gate_activity, list_gates
from thresher.admin.overview import read_overview
from thresher.core.clock import FrozenClock
from thresher.store import lanes
from thresher.store.overview import MAX_COUNTED, depths

# Both have more of everything than is ever counted.
SOME = Backlog(tasks=120_000, blocked=1, ready=50)
MANY = Backlog(tasks=360_000, blocked=1, ready=50)
# A third of the tasks have ended a moment ago, and a third of these failed.
END = """update tasks set due = 0, finished_at = :at, state = case when id % 9 = 0 then 'failed' else 'succeeded' end
    where id % 3 = 0"""
TABLES = ("tasks", "lanes", "gates", "refusals", "workers")


def write(store, backlog):
    backlog.write(store)
    with store.write() as session:
        session.run(END, {"at": store.backend.now(session) - 1_000_000})


def look(store):
    """Everything that the overview and the list of sources read."""
    found = read_overview(store, ())
    assert found.depths["due"] == found.depths["ended"] == MAX_COUNTED
    assert found.ended_lately == MAX_COUNTED
    assert sum(gate.waiting for gate in list_gates(store, every=True, limit=500, bounded=True)) > 0
    gates = [gate.name for gate in list_gates(store, every=True, limit=100, bounded=True)]
    assert gate_activity(store, gates)
    assert gate_activity(store, gates[-1:])
    with store.read() as session:
        assert closed_gates(session, store.backend.now(session), bounded=True)
        assert lanes.unserved(session, store.backend.now(session), MAX_COUNTED) == {}
    return found


def counted(backlog):
    database = memory_database(FrozenClock())
    store = database.open()
    write(store, backlog)
    found = instructions(store, lambda: look(store))
    database.close()
    return found


@pytest.mark.promise(4)
def test_the_overview_costs_no_more_with_three_times_the_tasks_on_sqlite():
    assert counted(MANY) <= 1.2 * counted(SOME)


@pytest.mark.promise(4)
@only_postgres
def test_the_overview_reads_so_many_rows_and_no_more_on_postgres(database, store):
    write(store, SOME)
    with store.write() as session:
        session.run("analyze tasks")
        session.run("analyze lanes")
    with hands(database, store, 1) as (hand,):
        read = rows_read(hand, TABLES, iter([look(hand.store)]), but=TABLES)
    assert read["tasks"] <= 10 * MAX_COUNTED < SOME.tasks


def test_what_is_counted_is_right_while_it_is_small(store):
    small = Backlog(tasks=100, blocked=5, ready=5)
    small.write(store)
    with store.read() as session:
        assert depths(session, 0) == {"due": 100, "delayed": 0, "running": 0, "failed": 0, "ended": 0}
    gates = {gate.name: gate.waiting for gate in list_gates(store, every=True, bounded=True)}
    assert gates == {gate.name: gate.waiting for gate in list_gates(store, every=True)}
    assert sum(gates.values()) > 0
