"""What sites ask for, and what a person decides: Retry-After, Crawl-delay, robots.txt."""

import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import claim, entry, events, put
from thresher.core.clock import DAY, FOREVER, HOUR, SECOND
from thresher.core.errors import UnknownName, UsageError
from thresher.core.gate import GateLimits
from thresher.store import host_rules, permits, sources
from thresher.store.permits import PROMPT_US, PermitWait

HOST = "host:a.example"


def reserve(store):
    return permits.reserve(store, (HOST,), claim=None, holder=None, expires_us=HOUR)


def start(store):
    found = permits.start(store, (HOST,), claim=None)
    return None if isinstance(found, permits.Go) else found


@pytest.mark.promise(10)
@pytest.mark.promise(16)
def test_retry_after_closes_the_gate_for_everybody_and_says_why(make_store, clock):
    one, two = make_store(), make_store()
    gate(one, HOST, slots=3)
    host_rules.hold_back(one, HOST, HOUR, "429 with Retry-After: 3600")
    assert reserve(two) == PermitWait(clock.now() + HOUR, HOST, "paused")
    row = gate_row(two, HOST)
    assert (row["closed_tag"], row["closed_reason"]) == ("rate_limited", "429 with Retry-After: 3600")
    assert [kind for kind, _, _ in events(two)] == ["gate_paused"]


@pytest.mark.promise(16)
def test_retry_after_never_shortens_a_longer_pause_nor_enables_anything(store, clock):
    gate(store, HOST)
    sources.pause(store, HOST, HOUR, "by a person")
    host_rules.hold_back(store, HOST, SECOND, "429")
    row = gate_row(store, HOST)
    assert (row["open_after"], row["closed_reason"]) == (clock.now() + HOUR, "by a person")
    sources.disable(store, HOST, "auth", "by a person")
    host_rules.hold_back(store, HOST, 10**18, "429")
    assert gate_row(store, HOST)["open_after"] == FOREVER


@pytest.mark.parametrize("asked", [-5, 0, 10**18])
def test_a_retry_after_out_of_all_reason_is_bounded(store, clock, asked):
    host_rules.hold_back(store, HOST, asked, "429")
    assert gate_row(store, HOST)["open_after"] <= clock.now() + 30 * DAY


def test_a_hundred_answers_of_one_storm_are_one_event(store, clock):
    for _ in range(100):
        host_rules.hold_back(store, HOST, HOUR, "429")
        clock.advance(1_000)
    assert len(events(store)) == 1
    assert gate_row(store, HOST)["open_after"] == clock.now() - 1_000 + HOUR


@pytest.mark.promise(1)
def test_work_that_waits_comes_back_when_the_time_is_over(store, clock):
    gate(store, HOST, slots=1)
    put(store, entry(gates=[HOST]))
    host_rules.hold_back(store, HOST, HOUR, "429")
    assert claim(store) == []
    clock.advance(HOUR)
    assert len(claim(store)) == 1


@pytest.mark.promise(16)
def test_crawl_delay_raises_the_interval_once(store):
    gate(store, HOST, interval_us=SECOND)
    assert host_rules.slow_down(store, HOST, 10 * SECOND)
    assert not host_rules.slow_down(store, HOST, 10 * SECOND)
    assert gate_row(store, HOST)["interval_us"] == 10 * SECOND
    assert [kind for kind, _, _ in events(store)] == ["gate_limited"]


@pytest.mark.promise(16)
def test_crawl_delay_counts_from_the_last_start(store, clock):
    gate(store, HOST, slots=9, interval_us=SECOND)
    reserve(store)
    assert start(store) is None
    began = clock.now()
    host_rules.slow_down(store, HOST, 10 * SECOND)
    clock.advance(2 * SECOND)
    assert reserve(store).until == began + 10 * SECOND
    assert start(store).until == began + 10 * SECOND + PROMPT_US


@pytest.mark.promise(16)
def test_crawl_delay_never_goes_below_what_a_person_set(store):
    gate(store, HOST, interval_us=5 * SECOND)
    for asked, interval in ((2, 5), (20, 20), (8, 8), (1, 5), (0, 5), (30, 30), (0, 5)):
        host_rules.slow_down(store, HOST, asked * SECOND)
        assert gate_row(store, HOST)["interval_us"] == interval * SECOND


@pytest.mark.promise(16)
def test_a_person_has_the_last_word_until_the_site_asks_for_something_else(store):
    gate(store, HOST, interval_us=SECOND)
    host_rules.slow_down(store, HOST, 10 * SECOND)
    sources.set_limits(store, HOST, GateLimits(interval_us=3 * SECOND))
    assert not host_rules.slow_down(store, HOST, 10 * SECOND)
    assert gate_row(store, HOST)["interval_us"] == 3 * SECOND
    assert host_rules.slow_down(store, HOST, 20 * SECOND)
    host_rules.slow_down(store, HOST, 0)
    assert gate_row(store, HOST)["interval_us"] == 3 * SECOND


def test_a_crawl_delay_out_of_all_reason_is_bounded(store):
    host_rules.slow_down(store, HOST, 10**18)
    assert gate_row(store, HOST)["interval_us"] == 30 * DAY
    assert not host_rules.slow_down(store, "host:b.example", -1)


def test_a_delay_that_ends_lets_the_waiting_go(store, clock):
    gate(store, HOST, interval_us=SECOND)
    host_rules.slow_down(store, HOST, HOUR)
    put(store, entry(gates=[HOST]), entry(gates=[HOST]))
    assert len(claim(store, 5)) == 1
    clock.advance(2 * SECOND)
    assert claim(store, 5) == []
    host_rules.slow_down(store, HOST, 0)
    clock.advance(SECOND)
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(16)
def test_robots_are_minded_unless_a_person_says_otherwise_by_name_and_reason(store, clock):
    gate(store, "source:shop")
    assert host_rules.robots_waiver(store, ["source:shop", HOST]) is None
    with pytest.raises(UsageError, match="give a reason"):
        host_rules.waive_robots(store, "source:shop", "  ")
    host_rules.waive_robots(store, "source:shop", "written consent of the owner")
    assert host_rules.robots_waiver(store, [HOST, "source:shop"]) == (
        clock.now(),
        "written consent of the owner",
    )
    assert host_rules.robots_waiver(store, [HOST]) is None
    host_rules.mind_robots(store, "source:shop")
    host_rules.mind_robots(store, "source:shop")
    assert host_rules.robots_waiver(store, ["source:shop"]) is None
    assert [kind for kind, _, _ in events(store)] == ["robots_waived", "robots_minded"]


def test_a_waiver_for_a_source_that_does_not_exist_is_refused(store):
    with pytest.raises(UnknownName, match="thresher sources add shop"):
        host_rules.waive_robots(store, "source:shop", "because")
