"""The numbers of a job queue for prices, as settings: heartbeat 20 s, lock timeout 300 s, reclaim 60 s, waits
from 5 minutes to 24 hours, a breaker of 5 failures and 300 s, a rate per minute."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from tests.apps.prices.collecting import (
    OpenWorld,
    add_item,
    add_source,
    app,
    asked,
    collect,
    item_spec,
    spec,
    standing,
)
from tests.apps.prices.paged import address, page, paged_spec
from tests.harness.databases import Database
from tests.harness.tasks import attempts_of, claim, claim_one, retry, rows, settle, state_of, worker
from thresher.apps.prices.collect import collect_task
from thresher.apps.prices.store.collections import asked as asked_for
from thresher.apps.prices.store.collections import collected
from thresher.config.settings import Settings, catalogue_of
from thresher.core.backoff import Backoff
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND, FrozenClock
from thresher.core.outcome import CheckedEffect
from thresher.core.settlement import Blame, Health, Settlement
from thresher.core.task import Entry, Task, WorkerId
from thresher.engine.chores import CHORES, reap_lost
from thresher.engine.registry import Registry
from thresher.runtime import install
from thresher.store import sources as gates
from thresher.store.store import Store
from thresher.store.workers import reap, renew
from thresher.testing.web import Reply

HEARTBEAT, TIMEOUT, RECLAIM = 20 * SECOND, 300 * SECOND, 60 * SECOND
NUMBERS = {
    "worker.heartbeat": 20,
    "worker.lease": 300,
    "reaper.every": 60,
    "retry.cap": 86_400,
    "retry.jitter": 0,
    "retry.max_retries": 12,
    "retry.crash_spread": 0,
}
OpenStore = Callable[[], Store]


@pytest.fixture
def machine(database: Database) -> OpenStore:
    """Open a machine on the database with these numbers; opened again, it is another machine."""

    database.make(app)

    def opened() -> Store:
        made = database.open()
        made.settings = Settings(NUMBERS, catalogue_of((app,)))
        install(made, Registry((app,), made.settings))
        return made

    return opened


def asking(item: int, source: int, gate: str = "source:prices.lists") -> Entry:
    """A collection that waits at the gate of its source."""
    payload = orjson.dumps({"item": item, "source": source}).decode()
    return Entry("collect_prices", "ask", (gate,), payload, key=f"{item}:{source}")


def test_the_heartbeat_comes_every_20_seconds_and_the_reclaim_every_60() -> None:
    settings = Settings(NUMBERS, catalogue_of((app,)))
    assert settings.heartbeat() == 20
    reaper = next(each for each in CHORES if each.once is reap_lost)
    assert settings.us(reaper.every) == RECLAIM


# Stuck tasks


@pytest.mark.promise(1)
def test_a_task_whose_worker_sends_no_heartbeat_for_300_seconds_goes_back_to_pending(
    machine: OpenStore, clock: FrozenClock
) -> None:
    store = machine()
    item, source = add_item(store), add_source(store, spec(rate_per_minute=None))
    anna = worker(store, "anna", TIMEOUT)
    store.enqueue([asking(item, source)])
    task = claim_one(store, anna)
    assert state_of(store, task.id) == "running"
    clock.advance(TIMEOUT)
    assert reap(store, 100) == 0
    clock.advance(RECLAIM)
    assert reap(store, 100) == 1
    assert state_of(store, task.id) == "pending"
    ((crashes, failures),) = rows(store, "select crashes, failures from tasks")
    assert (crashes, failures) == (1, 0)
    (attempt,) = attempts_of(store, task.id)
    assert (attempt["ending"], "anna" in attempt["reason"]) == ("crashed", True)
    ((detail,),) = rows(store, "select detail from events where kind = 'worker_lost'")
    assert orjson.loads(detail)["name"] == "anna"


@pytest.mark.promise(1)
def test_a_heartbeat_every_20_seconds_keeps_a_task_for_as_long_as_it_takes(
    machine: OpenStore, clock: FrozenClock
) -> None:
    store = machine()
    item, source = add_item(store), add_source(store)
    anna = worker(store, "anna", TIMEOUT)
    store.enqueue([asking(item, source)])
    task = claim_one(store, anna)
    for _ in range(3 * 60):
        clock.advance(HEARTBEAT)
        assert renew(store, WorkerId(anna)).alive
        assert reap(store, 100) == 0
    assert state_of(store, task.id) == "running"


@pytest.mark.promise(2)
def test_a_worker_that_comes_back_after_its_task_was_reclaimed_writes_nothing(
    machine: OpenStore, clock: FrozenClock
) -> None:
    """Where an update names the task and not the claim, a late worker overwrites the work of another."""
    one, other = machine(), machine()
    item, source = add_item(one), add_source(one, spec(rate_per_minute=None))
    one.enqueue([asking(item, source)])
    late = claim_one(one, worker(one, "anna", TIMEOUT))
    clock.advance(TIMEOUT + 1)
    assert reap(other, 100) == 1
    newer = claim_one(other, worker(other, "ben", TIMEOUT))
    assert (newer.id, newer.claim > late.claim) == (late.id, True)
    ends = Settlement.done(
        late, effects=(CheckedEffect("prices.collected", _verdict(item, source), collected),)
    )
    assert one.settle([ends]) == [ends]
    assert standing(one, item, source).verdict is None
    settle(
        other,
        Settlement.done(
            newer, effects=(CheckedEffect("prices.collected", _verdict(item, source), collected),)
        ),
    )
    assert standing(other, item, source).listings == 3
    assert rows(one, "select count(*) from events where kind = 'stale_settlement'") == [(1,)]


def _verdict(item: int, source: int) -> dict[str, object]:
    counts = {"pages": 1, "listings": 3, "counted": 3, "began_at": 1, "shortest": DAY, "longest": 30 * DAY}
    said = {"verdict": "found", "reason": "read", "complete": True, "from_cache": False, "silent_after": 3}
    return {"item": item, "source": source, **counts, **said}


@pytest.mark.promise(1)
def test_a_stuck_task_is_reclaimed_though_somebody_asked_for_the_same_again(
    machine: OpenStore, clock: FrozenClock
) -> None:
    """Where a waiting job of the pair may stand beside the stuck one, a unique index aborts the reclaim."""
    store = machine()
    item, source = add_item(store), add_source(store, spec(rate_per_minute=None))
    other = add_item(store, item_spec("another"))
    store.enqueue([asking(item, source), asking(other, source)])
    held = claim(store, 2, worker(store, "anna", TIMEOUT))
    assert len(held) == 2
    assert store.enqueue([asking(item, source)]) == [None]
    clock.advance(TIMEOUT + 1)
    assert reap(store, 100) == 2
    assert {state_of(store, each.id) for each in held} == {"pending"}


# Back-off


@pytest.mark.parametrize(
    ("failures", "wait"),
    [
        (1, 5 * MINUTE),
        (2, 10 * MINUTE),
        (3, 20 * MINUTE),
        (4, 40 * MINUTE),
        (5, 80 * MINUTE),
        (8, 640 * MINUTE),
        (9, 1_280 * MINUTE),
        (10, DAY),
        (11, DAY),
        (1_000, DAY),
    ],
)
def test_the_wait_is_5_minutes_times_two_to_the_power_of_the_tries_and_a_day_at_most(
    failures: int, wait: int
) -> None:
    registry = Registry((app,), Settings(NUMBERS, catalogue_of((app,))))
    found: Backoff = registry.backoff("collect_prices", registry.settings)
    assert found.delay_us(failures, 0.99) == wait


@pytest.mark.promise(8)
def test_a_source_in_trouble_is_tried_again_after_5_10_and_20_minutes_and_then_it_is_over(
    world: OpenWorld, paged: None
) -> None:
    numbers = {**NUMBERS, "retry.max_retries": 3}
    with world({address(): Reply("down", 503)}, **numbers) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        made.enqueue(collect_task(item, source))
        waits, states = [], []
        for _ in range(4):
            made.run_until_idle(within=1)
            ((state, run_at),) = rows(
                made.store, "select state, run_at from tasks where kind = 'collect_prices'"
            )
            states.append(state)
            if state == "retryable":
                waits.append((run_at - made.clock.now()) / MINUTE)
                made.clock.advance(run_at - made.clock.now())
        assert waits == [5, 10, 20]
        assert states == ["retryable", "retryable", "retryable", "failed"]
        assert asked(made, address()) == 4


def test_a_collection_goes_from_pending_to_retryable_to_succeeded(world: OpenWorld, paged: None) -> None:
    answers: list[Reply] = [Reply("down", 503), page([("1", 100)])]
    with world({address(): lambda _: answers.pop(0)}, **NUMBERS) as made:
        item, source = add_item(made.store), add_source(made.store, paged_spec())
        (task,) = made.enqueue(collect_task(item, source))
        assert task is not None
        assert state_of(made.store, task) == "pending"
        made.run_until_idle(within=1)
        assert state_of(made.store, task) == "retryable"
        made.advance(minutes=5)
        made.run_until_idle(within=1)
        assert state_of(made.store, task) == "succeeded"


# The breaker and the rate


@pytest.mark.promise(10)
def test_five_failures_in_a_row_pause_the_source_for_300_seconds_and_one_trial_opens_it(
    world: OpenWorld, paged: None
) -> None:
    down = [True]
    answer = page([("1", 100)])
    with world({address(): lambda _: Reply("down", 503) if down[0] else answer}, **NUMBERS) as made:
        source = add_source(made.store, paged_spec(cache_seconds=0))
        items = [add_item(made.store, item_spec(f"coin {at}")) for at in range(9)]
        for item in items[:4]:
            collect(made, item, source, within=1)
        assert gate(made.store)["tripped_until"] == 0
        collect(made, items[4], source, within=1)
        assert gate(made.store)["failures"] == 5
        assert gate(made.store)["tripped_until"] == made.clock.now() + 300 * SECOND
        for item in items[5:8]:
            assert collect(made, item, source, within=200)["state"] == "pending"
        assert asked(made, address()) == 5
        made.advance(seconds=300 - (made.clock.now() - gate(made.store)["last_failure"]) / SECOND - 1)
        made.run_until_idle(within=0.5)
        assert asked(made, address()) == 5
        down[0] = False
        made.advance(seconds=2)
        made.run_until_idle(within=1)
        assert gate(made.store)["failures"] == 0
        assert [standing(made.store, item, source).listings for item in items[5:8]] == [1, 1, 1]


@pytest.mark.promise(10)
def test_failures_that_several_machines_see_at_once_are_all_counted(
    machine: OpenStore, clock: FrozenClock
) -> None:
    """Where each reads the streak, adds one and writes it, five failures at once are one."""
    stores = [machine() for _ in range(5)]
    item, source = add_item(stores[0]), add_source(stores[0], spec(rate_per_minute=None))
    stores[0].enqueue([asking(item + at, source) for at in range(5)])
    held = [claim_one(store, worker(store, f"w{at}", TIMEOUT)) for at, store in enumerate(stores)]
    together = threading.Barrier(5)

    def fails(store: Store, task: Task) -> None:
        together.wait()
        settle(store, retry(task, HOUR, blame=Blame(Health.FAILURE, "ServerError: 503")))

    with ThreadPoolExecutor(5) as pool:
        for each in [pool.submit(fails, *pair) for pair in zip(stores, held, strict=True)]:
            each.result()
    found = gate(stores[0], "source:prices.lists")
    assert (found["failures"], found["tripped_until"]) == (5, clock.now() + 300 * SECOND)


def gate(store: Store, name: str = "source:prices.paged") -> dict[str, int]:
    with store.read() as session:
        (found,) = gates.find_gates(session, name=name)
    return found


@pytest.mark.promise(3)
def test_the_rate_per_minute_holds_over_all_machines_and_every_collection(
    machine: OpenStore, clock: FrozenClock
) -> None:
    """Where each job has a token bucket of its own, the limit holds for nobody."""
    stores = [machine() for _ in range(3)]
    source = add_source(stores[0], spec(rate_per_minute=30))
    workers = [worker(store, f"w{at}", TIMEOUT) for at, store in enumerate(stores)]
    stores[0].enqueue([asking(item, source) for item in range(40)])
    started = []
    for _ in range(60):
        for store, who in zip(stores, workers, strict=True):
            for task in claim(store, 5, who):
                started.append(clock.now())
                settle(store, Settlement.done(task))
        clock.advance(SECOND)
    assert len(started) == 30
    assert all(later - sooner >= 2 * SECOND for sooner, later in itertools.pairwise(started))


@pytest.mark.promise(1)
def test_a_pair_is_never_counted_as_waiting_once_its_task_has_ended(machine: OpenStore) -> None:
    store = machine()
    item, source = add_item(store), add_source(store)
    with store.write() as session:
        asked_for(session, {"pairs": [(item, source)], "dropped": []}, 7)
    assert standing(store, item, source).asked_at == 7
    with store.write() as session:
        collected(session, _verdict(item, source), HOUR)
    found = standing(store, item, source)
    assert (found.asked_at, found.due_at) == (0, HOUR + DAY)
