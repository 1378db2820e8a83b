import random
import threading

import pytest

from tests.harness.databases import only_postgres, with_processes
from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.hand import hands
from tests.harness.tasks import LEASE_US, SOMEBODY, change, claim, claim_one, done, entry, events, put, rows, running, settle, worker
from tests.harness.walk import tasks_gates
from thresher.core.clock import DAY, FOREVER, HOUR, SECOND
from thresher.core.errors import ClaimLost, UnknownName, UsageError
from thresher.engine.chores import CHORES, sweep_permits
from thresher.governance.gate import Limits
from thresher.store import manners, overview, permits, sources, workers
from thresher.store.health import drifted
from thresher.store.permits import PROMPT_US, YOUNG_US, Permit, Wait
from thresher.store.repair import repair

HOST = "host:a.example"
GAP = SECOND + PROMPT_US


def reserve(store, *gates, claim=None, holder=None, expires_us=60 * SECOND):
    return permits.reserve(store, gates or (HOST,), claim=claim, holder=holder, expires_us=expires_us)


def start(store, *gates, claim=None):
    found = permits.start(store, gates or (HOST,), claim=claim)
    return None if isinstance(found, permits.Go) else found


def held(task):
    return task.id, task.claim


def in_flight(store, name=HOST):
    return gate_row(store, name)["in_flight"]


# Reserving.


@pytest.mark.promise(16)
def test_a_host_that_nobody_named_before_gets_polite_limits(store):
    permit = reserve(store, "host:new.example")
    assert permit.gates == ("host:new.example",)
    row = gate_row(store, "host:new.example")
    assert (row["max_in_flight"], row["interval_us"], row["in_flight"]) == (1, SECOND, 1)


def test_a_source_that_nobody_named_is_refused_with_advice(store):
    with pytest.raises(UnknownName, match="thresher sources add shop"):
        reserve(store, "source:shop")


def test_a_request_that_passes_no_gate_is_refused(store):
    for ask in (permits.reserve, permits.start):
        with pytest.raises(UsageError, match="must name the gates it passes"):
            ask(store, (), claim=None, **({"holder": None, "expires_us": 1} if ask is permits.reserve else {}))


@pytest.mark.parametrize("name", ["open:3", "host:a.example\nhost:b.example", "a.example", ""])
def test_what_is_not_the_name_of_a_gate_is_refused(store, name):
    store.meet_lanes([("host:a.example", "host:b.example"), ()])
    for ask in (reserve, start, lambda store, name: manners.hold_back(store, name, SECOND, "429")):
        with pytest.raises(UnknownName, match="name it as source:NAME or host:NAME"):
            ask(store, name)


@pytest.mark.promise(3)
def test_slots_are_taken_by_one_machine_and_missed_by_another(make_store):
    one, two = make_store(), make_store()
    gate(one, HOST, slots=2)
    assert isinstance(reserve(one), Permit)
    last = reserve(two)
    assert reserve(one) == Wait(None, HOST, "full")
    permits.release(one, last)
    assert isinstance(reserve(one), Permit)


@pytest.mark.promise(3)
def test_a_token_is_taken_and_the_next_has_a_date(store, clock):
    gate(store, HOST, interval_us=SECOND)
    begin = clock.now()
    assert isinstance(reserve(store), Permit)
    assert reserve(store) == Wait(begin + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert isinstance(reserve(store), Permit)


@pytest.mark.promise(3)
def test_of_several_gates_all_are_taken_or_none(store, clock):
    gate(store, HOST, slots=1, interval_us=SECOND)
    gate(store, "source:a", slots=5)
    sources.pause(store, "source:a", HOUR, "maintenance")
    assert reserve(store, HOST, "source:a") == Wait(clock.now() + HOUR, "source:a", "paused")
    assert (in_flight(store), in_flight(store, "source:a"), gate_row(store, HOST)["tat"]) == (0, 0, 0)
    sources.resume(store, "source:a")
    both = reserve(store, HOST, "source:a")
    assert (in_flight(store), in_flight(store, "source:a")) == (1, 1)
    permits.release(store, both)
    assert (in_flight(store), in_flight(store, "source:a"), rows(store, "select * from permits")) == (0, 0, [])


def test_a_gate_named_twice_is_charged_once(store):
    gate(store, HOST, slots=2)
    permit = reserve(store, HOST, HOST)
    assert (permit.gates, in_flight(store)) == ((HOST,), 1)


@pytest.mark.promise(3)
def test_a_gate_of_the_lane_gives_a_token_and_no_second_slot(store, clock):
    gate(store, HOST, slots=1, interval_us=SECOND)
    task = running(store, entry(gates=[HOST]))
    assert reserve(store, claim=held(task)) == Wait(clock.now() + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert reserve(store, claim=held(task)) == Permit(None, (HOST,))
    assert (in_flight(store), rows(store, "select * from permits")) == (1, [])
    assert reserve(store, claim=held(task)) == Wait(clock.now() + SECOND, HOST, "rate")


@pytest.mark.promise(3)
def test_lane_and_foreign_gate_of_one_request_are_told_apart(store):
    gate(store, HOST, slots=1)
    gate(store, "host:b.example", slots=1)
    task = running(store, entry(gates=[HOST]))
    permit = reserve(store, HOST, "host:b.example", claim=held(task))
    assert rows(store, "select count(*) from permits") == [(1,)]
    permits.release(store, permit)
    assert (in_flight(store), in_flight(store, "host:b.example")) == (1, 0)


@pytest.mark.promise(2)
@pytest.mark.parametrize("ask", [reserve, start])
def test_whoever_has_lost_the_claim_is_told_so_and_takes_nothing(store, ask):
    gate(store, HOST, slots=3, interval_us=1)
    task = running(store, entry(gates=[HOST]))
    settle(store, done(task))
    before = gate_row(store, HOST)
    for claim_ in (held(task), (task.id, task.claim + 1), (task.id + 99, 1)):
        with pytest.raises(ClaimLost, match="no longer held under claim"):
            ask(store, claim=claim_)
    assert gate_row(store, HOST) == before


@pytest.mark.promise(2)
@pytest.mark.parametrize("ask", [reserve, start])
def test_a_zombie_is_refused_while_the_next_owner_is_served(store, clock, ask):
    gate(store, HOST, slots=3)
    mine = worker(store)
    zombie = running(store, entry(gates=[HOST]), worker=mine)
    clock.advance(LEASE_US + 1)
    workers.reap(store, 10)
    clock.advance(60 * SECOND)
    owner = claim_one(store)
    assert owner.id == zombie.id
    with pytest.raises(ClaimLost):
        ask(store, claim=held(zombie))
    assert not isinstance(ask(store, claim=held(owner)), Wait)


# Lanes and permits together.


@pytest.mark.promise(3)
def test_tasks_and_permits_together_never_exceed_a_limit(store):
    gate(store, HOST, slots=2)
    permit = reserve(store)
    put(store, *(entry(gates=[HOST]) for _ in range(3)))
    (task,) = claim(store, 5)
    assert reserve(store) == Wait(None, HOST, "full")
    settle(store, done(task))
    assert len(claim(store, 5)) == 1
    permits.release(store, permit)
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(1)
def test_giving_back_wakes_the_lane_that_waits_for_it(store):
    gate(store, HOST, slots=1)
    permit = reserve(store)
    put(store, entry(gates=[HOST]))
    assert claim(store) == []
    assert lane_status(store, HOST) == "parked"
    permits.release(store, permit)
    assert lane_status(store, HOST) == "ready"
    assert len(claim(store)) == 1


@pytest.mark.promise(2)
def test_giving_back_twice_frees_once(make_store):
    one, two = make_store(), make_store()
    gate(one, HOST, slots=2)
    first, _ = reserve(one), reserve(one)
    for store in (one, two, one):
        permits.release(store, first)
    assert (in_flight(one), repair(one)) == (1, [])


def test_a_permit_without_a_slot_has_nothing_to_give_back(store):
    permits.release(store, Permit(None, (HOST,)))
    assert rows(store, "select * from gates") == []


@pytest.mark.promise(3)
def test_limits_set_later_count_the_permits_that_are_out(store):
    gate(store, HOST)
    task = running(store, entry(gates=[HOST]))
    other = reserve(store)
    sources.set_limits(store, HOST, Limits(max_in_flight=2))
    assert in_flight(store) == 2
    assert reserve(store) == Wait(None, HOST, "full")
    permits.release(store, other)
    settle(store, done(task))
    assert (in_flight(store), repair(store)) == (0, [])


# The last look.


@pytest.mark.promise(16)
@pytest.mark.promise(3)
@pytest.mark.parametrize("closing", ["pause", "disable", "hold_back"])
def test_a_gate_closed_between_reserving_and_starting_is_obeyed(make_store, clock, closing):
    here, elsewhere = make_store(), make_store()
    gate(here, HOST, slots=1)
    reserve(here)
    if closing == "disable":
        sources.disable(elsewhere, HOST, "auth", "by a person")
        assert start(here) == Wait(FOREVER, HOST, "disabled")
    else:
        close = sources.pause if closing == "pause" else manners.hold_back
        close(elsewhere, HOST, HOUR, "enough")
        assert start(here) == Wait(clock.now() + HOUR, HOST, "paused")
    sources.resume(elsewhere, HOST)
    assert start(here) is None


@pytest.mark.promise(16)
def test_a_paused_source_stops_requests_to_any_host_of_its_tasks(store, clock):
    gate(store, "source:shop")
    task = running(store, entry(gates=["source:shop"]))
    gate(store, HOST)
    reserve(store, claim=held(task))
    sources.pause(store, "source:shop", HOUR, "maintenance")
    assert start(store, claim=held(task)) == Wait(clock.now() + HOUR, "source:shop", "paused")


@pytest.mark.promise(3)
def test_nothing_starts_without_a_permit(store):
    gate(store, HOST, slots=1)
    task = running(store)
    assert start(store, claim=held(task)) == Wait(None, HOST, "the permit is gone; reserve again")
    assert start(store).until is None
    reserve(store, claim=held(task))
    assert start(store, claim=held(task)) is None
    assert start(store) == Wait(None, HOST, "the permit is gone; reserve again")


@pytest.mark.promise(3)
def test_nothing_starts_on_a_permit_that_was_swept(store, clock):
    gate(store, HOST, slots=1)
    reserve(store, expires_us=YOUNG_US)
    clock.advance(YOUNG_US)
    permits.sweep(store, 10)
    assert start(store).until is None
    reserve(store)
    assert start(store) is None


def test_where_nothing_has_a_rate_a_start_writes_nothing(store, monkeypatch):
    gate(store, HOST, slots=4)
    task = running(store, entry(gates=[HOST]))
    store.meet_lanes([(HOST,)])
    monkeypatch.setattr(store.backend, "write", None)
    assert start(store, claim=held(task)) is None


@pytest.mark.promise(16)
def test_the_gap_is_kept_between_starts_and_not_between_claims(store, clock):
    gate(store, HOST, slots=4, interval_us=SECOND)
    put(store, entry(gates=[HOST]), entry(gates=[HOST]))
    slow = claim_one(store)
    clock.advance(900_000)  # a name server that takes its time
    assert start(store, claim=held(slow)) is None
    began = clock.now()
    clock.advance(100_000)
    assert claim(store) == []
    clock.advance(900_000)
    quick = claim_one(store)
    assert start(store, claim=held(quick)) == Wait(began + GAP, HOST, "rate")
    clock.advance(PROMPT_US)
    assert start(store, claim=held(quick)) is None


@pytest.mark.promise(16)
def test_a_request_that_was_overtaken_keeps_the_gap_too(store, clock):
    gate(store, HOST, slots=4, interval_us=SECOND)
    put(store, entry(gates=[HOST]), entry(gates=[HOST]))
    late = claim_one(store)
    clock.advance(SECOND)
    overtaker = claim_one(store)
    clock.advance(100_000)
    assert start(store, claim=held(overtaker)) is None
    began = clock.now()
    clock.advance(300_000)
    assert start(store, claim=held(late)) == Wait(began + GAP, HOST, "rate")
    clock.advance(began + GAP - clock.now())
    assert start(store, claim=held(late)) is None


@pytest.mark.promise(3)
def test_a_burst_may_start_at_once_and_is_paid_back(store, clock):
    gate(store, HOST, interval_us=SECOND, burst=3)
    for _ in range(3):
        assert isinstance(reserve(store), Permit)
    assert [start(store) for _ in range(3)] == [None, None, None]
    assert start(store) == Wait(clock.now() + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert start(store) is None
    assert start(store).reason == "rate"


@pytest.mark.parametrize("back", [5 * SECOND, HOUR, 400 * DAY])
def test_a_clock_set_back_does_not_close_a_host_for_long(store, clock, back):
    gate(store, HOST, slots=2, interval_us=SECOND)
    reserve(store)
    assert start(store) is None
    clock.advance(-back)
    assert isinstance(reserve(store), Wait)
    assert start(store).until <= clock.now() + 2 * SECOND
    clock.advance(2 * SECOND)
    assert isinstance(reserve(store), Permit)
    assert start(store) is None


def test_an_interval_made_shorter_counts_at_once(store, clock):
    gate(store, HOST, interval_us=HOUR)
    reserve(store)
    assert start(store) is None
    sources.set_limits(store, HOST, Limits(interval_us=SECOND))
    clock.advance(GAP)
    assert start(store) is None


# Trials of a tripped gate.


@pytest.mark.promise(10)
def test_a_task_that_is_the_trial_is_not_refused_by_its_own_trial(store, clock):
    gate(store, HOST, slots=4, interval_us=SECOND, trip_after=1, cooldown_us=60 * SECOND)
    early = running(store, entry(gates=[HOST]))
    clock.advance(SECOND)
    sources.judge_source(store, HOST, "no answer")
    put(store, entry(gates=[HOST]))
    assert start(store, claim=held(early)) == Wait(clock.now() + 60 * SECOND, HOST, "tripped")
    clock.advance(60 * SECOND)
    trial = claim_one(store)
    assert start(store, claim=held(trial)) is None
    clock.advance(GAP)
    assert reserve(store, claim=held(trial)) == Permit(None, (HOST,))
    assert start(store, claim=held(trial)) is None
    assert start(store, claim=held(early)).reason == "tripped"
    assert reserve(store, claim=held(early)).reason == "tripped"


@pytest.mark.promise(10)
def test_a_foreign_request_can_be_the_trial_and_its_good_news_opens_the_gate(store, clock):
    gate(store, HOST, slots=4, trip_after=1, cooldown_us=60 * SECOND)
    sources.judge_source(store, HOST, "no answer")
    assert reserve(store).reason == "tripped"
    clock.advance(60 * SECOND)
    task = running(store)
    trial = reserve(store, claim=held(task))
    assert reserve(store).reason == "tripped"
    assert start(store, claim=held(task)) is None
    permits.release(store, trial, healthy=True)
    assert isinstance(reserve(store), Permit)
    assert [kind for kind, _, _ in events(store)] == ["gate_tripped", "gate_recovered"]


# Giving back what nobody will.


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
    assert sweep_permits(store) == "1 permits of requests that are over were given back"


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


# Many at once.


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
        threads = [threading.Thread(target=self._work, args=(store, seed)) for seed, store in enumerate(self.stores)]
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
        if isinstance(permit, Wait):
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
        store.meet_lanes([(HOST,), ("host:b.example",)])
        permit = reserve(one.store, HOST, "host:b.example")
        two.begin(lambda its: reserve(its, "host:b.example", HOST))
        assert two.waits()
        one.commit()
        assert isinstance(permit, Permit)
        assert two.finish().reason == "full"


@pytest.mark.promise(2)
@only_postgres
def test_a_settlement_and_a_request_of_the_same_task_do_not_deadlock(database, store):
    """The settlement holds the task and wants the gate; the request holds the gate and only reads the task."""
    gate(store, HOST, slots=2, interval_us=1)
    task = running(store, entry(gates=[HOST]))
    store.meet_lanes([(HOST,)])
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
    assert "counted 5 in flight; 2 are running" in repair(store)[0]


@pytest.mark.promise(20)
def test_every_permit_that_is_out_can_be_seen(store, clock):
    task = running(store)
    permit = reserve(store, claim=held(task), holder=7)
    with store.read() as session:
        (seen,) = overview.permits(session)
    assert seen == {
        "id": permit.id, "gate": HOST, "task_id": task.id, "claim": task.claim, "holder": 7,
        "taken_at": clock.now(), "expires_at": clock.now() + 60 * SECOND,
    }  # fmt: skip
