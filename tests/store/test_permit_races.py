"""Permits asked for by many machines at the same instant, and what a person sees of them."""

import random
import threading

import pytest

from tests.harness.databases import only_postgres, with_processes
from tests.harness.gates import gate
from tests.harness.hand import hands
from tests.harness.tasks import SOMEBODY, change, done, entry, put, rows, running, settle
from tests.harness.walk import tasks_gates
from tests.store.permitting import HOST, held, in_flight, reserve, start
from thresher.core.clock import SECOND
from thresher.core.errors import ClaimLost
from thresher.store import overview, permits
from thresher.store.backend import unscoped
from thresher.store.permits import YOUNG_US, Permit, PermitWait
from thresher.store.repair import drifted, repair


class Crowd:
    """Machines that reserve, start and give back as fast as they can, and what was seen of it."""

    GATES = {"host:a.example": (1, 3_000), "host:b.example": (2, 0), "host:c.example": (3, 5_000)}

    def __init__(self, database, machines=4, rounds=60):
        self.stores = [database.open() for _ in range(machines)]
        self.clock, self.rounds = database.clock, rounds
        self.mutex, self.inside, self.starts, self.problems = threading.Lock(), {}, {}, []
        self.began = self.clock.now()
        for name, (slots, interval) in self.GATES.items():
            gate(self.stores[0], name, slots=slots, interval_us=interval)

    def run(self):
        threads = [
            threading.Thread(target=self._work, args=(store, seed)) for seed, store in enumerate(self.stores)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert self.problems == []

    def _work(self, store, seed):
        luck = random.Random(seed)
        try:
            for _ in range(self.rounds):
                with self.mutex:
                    self.clock.advance(700)
                if luck.random() < 0.4:
                    self._task(store, luck.choice(sorted(self.GATES)))
                self._request(store, luck.sample(sorted(self.GATES), luck.randint(1, 2)))
        except BaseException as problem:
            self.problems.append(problem)

    def _task(self, store, name):
        put(store, entry(gates=[name]))
        for task in store.turn([], 1, SOMEBODY).tasks:
            (name,) = tasks_gates(store, task.id)
            self._count([name], 1)
            self._count([name], -1)
            settle(store, done(task))

    def _request(self, store, names):
        permit = reserve(store, *names)
        if isinstance(permit, PermitWait):
            return
        self._count(names, 1)
        if start(store, *names) is None:
            with self.mutex:
                for name in names:
                    self.starts[name] = self.starts.get(name, 0) + 1
        self._count(names, -1)
        permits.release(store, permit)

    def _count(self, names, by):
        with self.mutex:
            for name in names:
                self.inside[name] = self.inside.get(name, 0) + by
                assert self.inside[name] <= self.GATES[name][0], f"{self.inside[name]} at {name}"


@pytest.mark.promise(3)
@pytest.mark.promise(19)
@with_processes
def test_machines_that_ask_at_once_never_exceed_slots_nor_rate(database):
    crowd = Crowd(database)
    crowd.run()
    store, span = crowd.stores[0], database.clock.now() - crowd.began
    assert set(crowd.starts) == set(crowd.GATES)
    for name, (_, interval) in crowd.GATES.items():
        assert in_flight(store, name) == 0
        assert not interval or crowd.starts[name] <= 1 + span // interval
    assert (repair(store), drifted(store), rows(store, "select * from permits")) == ([], {}, [])


@pytest.mark.promise(3)
@only_postgres
def test_two_that_reserve_the_same_gates_in_opposite_order_wait_and_do_not_deadlock(database, store):
    gate(store, HOST, slots=1)
    gate(store, "host:b.example", slots=1)
    with hands(database, store, 2) as (one, two):
        store.meet_lanes([unscoped(HOST), unscoped("host:b.example")])
        permit = reserve(one.store, HOST, "host:b.example")
        two.begin(lambda its: reserve(its, "host:b.example", HOST))
        assert two.waits()
        one.commit()
        assert isinstance(permit, Permit)
        assert two.finish().reason == "full"


@pytest.mark.promise(2)
@only_postgres
def test_a_settlement_and_a_request_of_the_same_task_do_not_deadlock(database, store):
    """The settlement holds the task and wants the gate; the request holds the gate and only reads the
    task."""
    gate(store, HOST, slots=2, interval_us=1)
    task = running(store, entry(gates=[HOST]))
    store.meet_lanes([unscoped(HOST)])
    with hands(database, store, 2) as (one, two):
        settle(one.store, done(task))
        two.begin(lambda its: reserve(its, claim=held(task)))
        assert two.waits()
        one.commit()
        with pytest.raises(ClaimLost):
            two.finish()


@pytest.mark.promise(3)
@only_postgres
def test_a_sweep_and_a_giving_back_of_the_same_permit_free_one_slot(database, store, clock):
    gate(store, HOST, slots=2)
    permit, _ = reserve(store, expires_us=YOUNG_US), reserve(store)
    clock.advance(YOUNG_US)
    with hands(database, store, 2) as (one, two):
        permits.release(one.store, permit)
        assert permits.sweep(two.store, 10) == 0
        two.commit()
        one.commit()
        assert permits.sweep(two.store, 10) == 0
        two.commit()
    assert (in_flight(store), repair(store)) == (1, [])


def test_what_is_reserved_can_be_told_from_what_drifted(store):
    gate(store, HOST, slots=5)
    running(store, entry(gates=[HOST]))
    reserve(store)
    assert (drifted(store), repair(store)) == ({}, [])
    change(store, "update gates set in_flight = 5")
    assert drifted(store) == {HOST: (5, 2)}
    assert "counted 5 tasks in flight, but 2 are running" in repair(store)[0]


@pytest.mark.promise(20)
def test_every_permit_that_is_out_can_be_seen(store, clock):
    task = running(store)
    permit = reserve(store, claim=held(task), holder=7)
    with store.read() as session:
        (seen,) = overview.permits(session)
    assert seen == {
        "id": permit.id,
        "gate": HOST,
        "task_id": task.id,
        "claim": task.claim,
        "holder": 7,
        "taken_at": clock.now(),
        "expires_at": clock.now() + 60 * SECOND,
    }
