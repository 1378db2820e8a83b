"""Permits for single requests: taken whole or not at all, beside the lanes of tasks, and only by whoever
holds the claim."""

import pytest

from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.tasks import LEASE_US, claim, claim_one, done, entry, put, rows, running, settle, worker
from tests.store.permitting import HOST, held, in_flight, reserve, start
from thresher.core.clock import HOUR, SECOND
from thresher.core.errors import ClaimLost, UnknownName, UsageError
from thresher.core.gate import GateLimits
from thresher.store import host_rules, permits, sources, workers
from thresher.store.backend import unscoped
from thresher.store.permits import Permit, PermitWait
from thresher.store.repair import repair


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
            ask(
                store, (), claim=None, **({"holder": None, "expires_us": 1} if ask is permits.reserve else {})
            )


@pytest.mark.parametrize("name", ["open:3", "host:a.example\nhost:b.example", "a.example", ""])
def test_what_is_not_the_name_of_a_gate_is_refused(store, name):
    store.meet_lanes([unscoped("host:a.example", "host:b.example"), unscoped()])
    for ask in (reserve, start, lambda store, name: host_rules.hold_back(store, name, SECOND, "429")):
        with pytest.raises(UnknownName, match="name it as source:NAME or host:NAME"):
            ask(store, name)


@pytest.mark.promise(3)
def test_slots_are_taken_by_one_machine_and_missed_by_another(make_store):
    one, two = make_store(), make_store()
    gate(one, HOST, slots=2)
    assert isinstance(reserve(one), Permit)
    last = reserve(two)
    assert reserve(one) == PermitWait(None, HOST, "full")
    permits.release(one, last)
    assert isinstance(reserve(one), Permit)


@pytest.mark.promise(20)
def test_a_request_that_was_answered_well_is_a_success_of_its_host(store, clock):
    gate(store, HOST, slots=1)
    permits.release(store, reserve(store), healthy=False)
    assert gate_row(store, HOST)["last_success"] == 0
    permits.release(store, reserve(store), healthy=True)
    assert gate_row(store, HOST)["last_success"] == clock.now()


@pytest.mark.promise(3)
def test_a_token_is_taken_and_the_next_has_a_date(store, clock):
    gate(store, HOST, interval_us=SECOND)
    begin = clock.now()
    assert isinstance(reserve(store), Permit)
    assert reserve(store) == PermitWait(begin + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert isinstance(reserve(store), Permit)


@pytest.mark.promise(3)
def test_of_several_gates_all_are_taken_or_none(store, clock):
    gate(store, HOST, slots=1, interval_us=SECOND)
    gate(store, "source:a", slots=5)
    sources.pause(store, "source:a", HOUR, "maintenance")
    assert reserve(store, HOST, "source:a") == PermitWait(clock.now() + HOUR, "source:a", "paused")
    assert (in_flight(store), in_flight(store, "source:a"), gate_row(store, HOST)["tat"]) == (0, 0, 0)
    sources.resume(store, "source:a")
    both = reserve(store, HOST, "source:a")
    assert (in_flight(store), in_flight(store, "source:a")) == (1, 1)
    permits.release(store, both)
    assert (in_flight(store), in_flight(store, "source:a"), rows(store, "select * from permits")) == (
        0,
        0,
        [],
    )


def test_a_gate_named_twice_is_charged_once(store):
    gate(store, HOST, slots=2)
    permit = reserve(store, HOST, HOST)
    assert (permit.gates, in_flight(store)) == ((HOST,), 1)


@pytest.mark.promise(3)
def test_a_gate_of_the_lane_gives_a_token_and_no_second_slot(store, clock):
    gate(store, HOST, slots=1, interval_us=SECOND)
    task = running(store, entry(gates=[HOST]))
    assert reserve(store, claim=held(task)) == PermitWait(clock.now() + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert reserve(store, claim=held(task)) == Permit(None, (HOST,))
    assert (in_flight(store), rows(store, "select * from permits")) == (1, [])
    assert reserve(store, claim=held(task)) == PermitWait(clock.now() + SECOND, HOST, "rate")


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
    assert not isinstance(ask(store, claim=held(owner)), PermitWait)


# Lanes and permits together.


@pytest.mark.promise(3)
def test_tasks_and_permits_together_never_exceed_a_limit(store):
    gate(store, HOST, slots=2)
    permit = reserve(store)
    put(store, *(entry(gates=[HOST]) for _ in range(3)))
    (task,) = claim(store, 5)
    assert reserve(store) == PermitWait(None, HOST, "full")
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
    sources.set_limits(store, HOST, GateLimits(max_in_flight=2))
    assert in_flight(store) == 2
    assert reserve(store) == PermitWait(None, HOST, "full")
    permits.release(store, other)
    settle(store, done(task))
    assert (in_flight(store), repair(store)) == (0, [])
