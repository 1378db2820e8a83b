"""Eight processes spend from small caps at once, and some are killed with money in hand. No cap is ever
passed, to the millionth."""

import os
import random
import signal
from multiprocessing.connection import Connection

import pytest

from tests.harness.databases import Database, with_processes
from tests.harness.forks import CONTEXT, prepare
from tests.harness.tasks import claim, entry, events, put, retry, rows, settle
from thresher.core.answer import Usage
from thresher.core.clock import HOUR, SystemClock
from thresher.store import budgets, ledger
from thresher.store.ledger import Caps, Hold, Short
from thresher.store.postgres.backend import PostgresBackend
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

PROCESSES = 8
KILLED = 3
CALLS = 40
CAPS = Caps(run=9_000, app=20_000, day=30_000)
_PASSED = "select scope, spent, reserved from budgets"
# In one statement, so that it is one instant.
_BOOKS = (
    "select day, sum(case when state = 'reserved' then reserved else spent end) from spendings group by day"
)


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()  # one that all processes share


def spend(url: str, number: int, mine: tuple[int, int], dies: bool, word: Connection) -> None:
    """One process: call after call, for as long as there is money. One that dies does so after a reservation,
    before the settlement."""
    store, luck = open_store(url), random.Random(number)
    word.send("ready")
    word.recv()  # all begin together
    refused = 0
    for call in range(CALLS):
        most = luck.randrange(1, 1_500)
        found = ledger.reserve(
            store,
            claim=mine,
            app=f"app{number % 2}",
            provider="p",
            model="m",
            prompt="x",
            question=f"{number}/{call}",
            most=most,
            caps=CAPS,
            expires_us=HOUR,
        )
        if isinstance(found, Hold):
            if dies and call >= number + 1:
                os.kill(os.getpid(), signal.SIGKILL)
            cost = luck.randrange(most + 1)
            ledger.settle(store, found, cost, Usage(1, most, cost))
            ledger.settle(store, found, 0, Usage())
        refused += isinstance(found, Short)
    word.send(refused)
    store.close()


def open_store(url: str) -> Store:
    if url.startswith("postgresql:"):
        return Store(PostgresBackend(url))
    return Store(SqliteBackend(url, durability="process"))


def passed(store: Store) -> list[tuple[object, ...]]:
    """The budgets over their caps, at this instant."""
    over = [row for row in rows(store, _PASSED) if row[1] + row[2] > CAPS.of(row[0])]
    return over + [row for row in rows(store, _BOOKS) if row[1] > CAPS.day]


@pytest.mark.promise(3)
@pytest.mark.promise(15)
@with_processes
def test_processes_that_race_and_are_killed_with_money_in_hand_never_pass_a_cap(database: Database):
    store = database.open()
    put(store, *(entry() for _ in range(PROCESSES)))
    tasks = claim(store, PROCESSES)
    prepare()
    pipes = [CONTEXT.Pipe() for _ in tasks]
    hands = [
        CONTEXT.Process(target=spend, args=(database.url, n, (task.id, task.claim), n < KILLED, pipes[n][1]))
        for n, task in enumerate(tasks)
    ]
    over: list[tuple[object, ...]] = []
    try:
        for hand, (_, theirs) in zip(hands, pipes, strict=True):
            hand.start()
            theirs.close()  # so that we hear of it when the process is gone
        assert {ours.recv() for ours, _ in pipes} == {"ready"}
        for ours, _ in pipes:
            ours.send("go")
        while any(hand.is_alive() for hand in hands):
            over += passed(store)
    finally:
        for hand in hands:
            hand.kill()
            hand.join()
    assert over + passed(store) == []
    dead = [task for task, hand in zip(tasks, hands, strict=True) if hand.exitcode == -signal.SIGKILL]
    assert 1 <= len(dead) <= KILLED, "whoever finds the caps used up before its time lives on"
    assert {hand.exitcode for hand in hands} == {-signal.SIGKILL, 0}
    assert sum(ours.recv() for ours, _ in pipes[KILLED:]) > 0, "the caps were too large to be met"

    assert rows(store, "select count(*) from spendings where state = 'reserved'") == [(len(dead),)]
    assert ledger.assume(store, 100) == 0, "nobody knows yet that they are dead"
    gone = {scope: (spent + reserved, 0) for scope, spent, reserved in rows(store, _PASSED)}
    settle(store, *(retry(task) for task in dead))  # as the reaper does for a lost worker
    assert ledger.assume(store, 100) == len(dead) == len(events(store, "money_assumed"))
    assert gone == {row[0]: row[1:] for row in rows(store, _PASSED)}
    assert (budgets.drifted(store), passed(store), events(store, "money_overspent")) == ([], [], [])
