import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import claim, done, entry, events, put, settle
from thresher.core.clock import SECOND
from thresher.core.gate import GateLimits
from thresher.store import sources


@pytest.fixture
def busy(store):
    gate(store, "source:a", slots=2)
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(100)))
    return store


@pytest.mark.promise(3)
def test_a_raised_limit_lets_more_start_at_once(busy):
    assert (len(claim(busy, 50)), claim(busy, 50)) == (2, [])
    sources.set_limits(busy, "source:a", GateLimits(max_in_flight=5))
    assert len(claim(busy, 50)) == 3


@pytest.mark.promise(3)
def test_a_lowered_limit_lets_what_runs_finish_and_starts_nothing_until_there_is_room(busy):
    sources.set_limits(busy, "source:a", GateLimits(max_in_flight=5))
    held = claim(busy, 50)
    sources.set_limits(busy, "source:a", GateLimits(max_in_flight=2))
    assert claim(busy, 50) == []
    settle(busy, *(done(task) for task in held[:3]))
    assert claim(busy, 50) == []
    settle(busy, done(held[3]))
    assert len(claim(busy, 50)) == 1


@pytest.mark.promise(3)
def test_a_gate_that_begins_to_count_counts_what_already_runs(busy):
    sources.set_limits(busy, "source:a", GateLimits())
    assert len(claim(busy, 7)) == 7
    sources.set_limits(busy, "source:a", GateLimits(max_in_flight=8))
    assert gate_row(busy, "source:a")["in_flight"] == 7
    assert len(claim(busy, 50)) == 1


@pytest.mark.promise(3)
def test_a_new_rate_holds_from_the_next_start(busy, clock):
    sources.set_limits(busy, "source:a", GateLimits(interval_us=SECOND))
    assert len(claim(busy, 50)) == 1
    sources.set_limits(busy, "source:a", GateLimits(interval_us=SECOND // 10))
    clock.advance(SECOND // 10)
    assert len(claim(busy, 50)) == 1


def test_a_limit_taken_away_wakes_everybody_in_the_end(busy):
    assert len(claim(busy, 200)) == 2
    sources.set_limits(busy, "source:a", GateLimits())
    assert len(claim(busy, 200)) == 98


def test_a_changed_limit_is_an_event_and_a_row(busy):
    sources.set_limits(
        busy, "source:a", GateLimits(max_in_flight=9, interval_us=5, burst=2, trip_after=4, cooldown_us=6)
    )
    row = gate_row(busy, "source:a")
    assert [row[name] for name in ("max_in_flight", "interval_us", "burst", "trip_after", "cooldown_us")] == [
        9,
        5,
        2,
        4,
        6,
    ]
    assert [kind for kind, _, _ in events(busy)] == ["gate_limited"]


def test_a_source_is_made_once_and_then_left_as_it_is(store):
    assert sources.add_source(store, "acme", GateLimits(max_in_flight=3), app="orchard")
    assert not sources.add_source(store, "acme", GateLimits(max_in_flight=9))
    assert gate_row(store, "source:acme")["max_in_flight"] == 3
    with store.read() as session:
        (found,) = sources.find_gates(session, only_sources=True)
    assert (found["source"], found["app"]) == ("acme", "orchard")
