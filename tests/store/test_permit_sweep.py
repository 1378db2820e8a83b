"""Permits that nobody gives back: swept after a while, once, and never those of the living."""

import pytest

from tests.harness.gates import gate
from tests.harness.tasks import LEASE_US, claim, done, entry, put, running, settle, worker
from tests.store.permitting import HOST, held, in_flight, reserve
from thresher.core.clock import DAY, SECOND
from thresher.engine.chores import CHORES, sweep_permits
from thresher.store import permits, workers
from thresher.store.permits import YOUNG_US
from thresher.store.repair import repair


@pytest.mark.promise(3)
def test_a_crash_between_reserving_and_giving_back_costs_a_slot_for_a_while_only(store, clock):
    gate(store, HOST, slots=1)
    task = running(store, entry(), worker=worker(store))
    reserve(store, claim=held(task))
    assert permits.sweep(store, 10) == 0
    clock.advance(LEASE_US + 1)
    assert workers.reap(store, 10) == 1
    assert (permits.sweep(store, 10), in_flight(store)) == (1, 0)


@pytest.mark.promise(3)
def test_the_sweep_leaves_the_living_alone(store, clock):
    gate(store, HOST, slots=9)
    task = running(store, entry())
    reserve(store, claim=held(task))
    reserve(store, holder=worker(store))
    reserve(store)
    clock.advance(60 * SECOND - 1)
    assert (permits.sweep(store, 10), in_flight(store)) == (0, 3)
    clock.advance(1)
    assert (permits.sweep(store, 10), in_flight(store)) == (3, 0)


def test_a_permit_of_a_worker_that_is_gone_is_swept(store, clock):
    gate(store, HOST, slots=9)
    gone, lost, alive = worker(store, "a"), worker(store, "b"), worker(store, "c", lease_us=DAY)
    for holder in (gone, lost, alive):
        reserve(store, holder=holder)
    workers.stop(store, gone)
    clock.advance(LEASE_US + 1)
    workers.reap(store, 10)
    assert (permits.sweep(store, 10), in_flight(store)) == (2, 1)


def test_a_permit_whose_claim_was_settled_without_it_is_swept_soon(store, clock):
    gate(store, HOST, slots=1)
    task = running(store)
    reserve(store, claim=held(task), expires_us=DAY)
    settle(store, done(task))
    clock.advance(YOUNG_US)
    assert (permits.sweep(store, 10), in_flight(store)) == (1, 0)


def test_a_clock_set_back_keeps_no_dead_permit_for_long(store, clock):
    gate(store, HOST, slots=2)
    dead, alive = running(store), running(store)
    for task in (dead, alive):
        reserve(store, claim=held(task))
    settle(store, done(dead))
    clock.advance(-DAY)
    assert (permits.sweep(store, 10), in_flight(store)) == (1, 1)


def test_the_sweep_is_a_chore_of_every_worker(store, clock):
    assert "permits" in [chore.name for chore in CHORES]
    reserve(store, expires_us=YOUNG_US)
    assert sweep_permits(store) is None
    clock.advance(YOUNG_US)
    assert sweep_permits(store) == "1 permits of finished requests were released"


def test_a_sweep_is_bounded_and_wakes_who_waits(store, clock):
    gate(store, HOST, slots=5)
    for _ in range(5):
        reserve(store, expires_us=YOUNG_US)
    put(store, *(entry(gates=[HOST]) for _ in range(5)))
    assert claim(store, 5) == []
    clock.advance(YOUNG_US)
    assert [permits.sweep(store, 2) for _ in range(4)] == [2, 2, 1, 0]
    assert len(claim(store, 9)) == 5


def test_a_permit_that_was_swept_is_given_back_once(store, clock):
    gate(store, HOST, slots=2)
    old = reserve(store, expires_us=YOUNG_US)
    clock.advance(YOUNG_US)
    permits.sweep(store, 10)
    reserve(store)
    permits.release(store, old)
    assert (in_flight(store), repair(store)) == (1, [])
