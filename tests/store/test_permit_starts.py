"""Starting a request: the last look before it goes out, the gap between two, and who may be the trial."""

import pytest

from tests.harness.gates import gate
from tests.harness.tasks import claim, claim_one, entry, events, put, running
from tests.store.permitting import HOST, held, reserve, start
from thresher.core.clock import DAY, FOREVER, HOUR, SECOND
from thresher.core.gate import GateLimits
from thresher.store import host_rules, permits, sources
from thresher.store.backend import unscoped
from thresher.store.permits import PROMPT_US, YOUNG_US, Permit, PermitWait

GAP = SECOND + PROMPT_US


@pytest.mark.promise(16)
@pytest.mark.promise(3)
@pytest.mark.parametrize("closing", ["pause", "disable", "hold_back"])
def test_a_gate_closed_between_reserving_and_starting_is_obeyed(make_store, clock, closing):
    here, elsewhere = make_store(), make_store()
    gate(here, HOST, slots=1)
    reserve(here)
    if closing == "disable":
        sources.disable(elsewhere, HOST, "auth", "by a person")
        assert start(here) == PermitWait(FOREVER, HOST, "disabled")
    else:
        close = sources.pause if closing == "pause" else host_rules.hold_back
        close(elsewhere, HOST, HOUR, "enough")
        assert start(here) == PermitWait(clock.now() + HOUR, HOST, "paused")
    sources.resume(elsewhere, HOST)
    assert start(here) is None


@pytest.mark.promise(16)
def test_a_paused_source_stops_requests_to_any_host_of_its_tasks(store, clock):
    gate(store, "source:shop")
    task = running(store, entry(gates=["source:shop"]))
    gate(store, HOST)
    reserve(store, claim=held(task))
    sources.pause(store, "source:shop", HOUR, "maintenance")
    assert start(store, claim=held(task)) == PermitWait(clock.now() + HOUR, "source:shop", "paused")


@pytest.mark.promise(3)
def test_nothing_starts_without_a_permit(store):
    gate(store, HOST, slots=1)
    task = running(store)
    assert start(store, claim=held(task)) == PermitWait(None, HOST, "the permit is gone; reserve again")
    assert start(store).until is None
    reserve(store, claim=held(task))
    assert start(store, claim=held(task)) is None
    assert start(store) == PermitWait(None, HOST, "the permit is gone; reserve again")


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
    store.meet_lanes([unscoped(HOST)])
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
    assert start(store, claim=held(quick)) == PermitWait(began + GAP, HOST, "rate")
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
    assert start(store, claim=held(late)) == PermitWait(began + GAP, HOST, "rate")
    clock.advance(began + GAP - clock.now())
    assert start(store, claim=held(late)) is None


@pytest.mark.promise(3)
def test_a_burst_may_start_at_once_and_is_paid_back(store, clock):
    gate(store, HOST, interval_us=SECOND, burst=3)
    for _ in range(3):
        assert isinstance(reserve(store), Permit)
    assert [start(store) for _ in range(3)] == [None, None, None]
    assert start(store) == PermitWait(clock.now() + SECOND, HOST, "rate")
    clock.advance(SECOND)
    assert start(store) is None
    assert start(store).reason == "rate"


@pytest.mark.parametrize("back", [5 * SECOND, HOUR, 400 * DAY])
def test_a_clock_set_back_does_not_close_a_host_for_long(store, clock, back):
    gate(store, HOST, slots=2, interval_us=SECOND)
    reserve(store)
    assert start(store) is None
    clock.advance(-back)
    assert isinstance(reserve(store), PermitWait)
    assert start(store).until <= clock.now() + 2 * SECOND
    clock.advance(2 * SECOND)
    assert isinstance(reserve(store), Permit)
    assert start(store) is None


def test_an_interval_made_shorter_counts_at_once(store, clock):
    gate(store, HOST, interval_us=HOUR)
    reserve(store)
    assert start(store) is None
    sources.set_limits(store, HOST, GateLimits(interval_us=SECOND))
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
    assert start(store, claim=held(early)) == PermitWait(clock.now() + 60 * SECOND, HOST, "tripped")
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
