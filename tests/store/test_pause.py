import pytest

from tests.harness.gates import gate, gate_row
from tests.harness.tasks import (
    SOMEBODY,
    claim,
    claim_one,
    done,
    entry,
    events,
    fields_of,
    put,
    running,
    settle,
    told_to_wait,
    walled,
)
from thresher.core.clock import FOREVER, SECOND
from thresher.core.errors import NotAllowed, UnknownName
from thresher.store import host_rules, sources


@pytest.fixture
def busy(store):
    gate(store, "source:a")
    put(store, *(entry(gates=["source:a"]) for _ in range(100)))
    return store


@pytest.mark.promise(10)
def test_a_paused_gate_starts_nothing_until_its_time(busy, clock):
    sources.pause(busy, "source:a", 10 * SECOND, "maintenance")
    assert claim(busy, 5) == []
    clock.advance(10 * SECOND - 1)
    assert claim(busy, 5) == []
    clock.advance(1)
    assert len(claim(busy, 5)) == 5


def test_a_pause_says_when_it_ends(busy, clock):
    sources.pause(busy, "source:a", 10 * SECOND, "maintenance")
    assert store_sleeps_until(busy) == clock.now() + 10 * SECOND
    row = gate_row(busy, "source:a")
    assert (row["closed_tag"], row["closed_reason"]) == ("paused", "maintenance")
    assert [kind for kind, _, _ in events(busy)] == ["gate_paused"]


def store_sleeps_until(store):
    return store.turn([], 5, SOMEBODY).next_at


def test_resuming_opens_at_once(busy):
    sources.pause(busy, "source:a", 3_600 * SECOND, "maintenance")
    assert claim(busy, 5) == []
    sources.resume(busy, "source:a")
    assert len(claim(busy, 5)) == 5
    assert gate_row(busy, "source:a")["closed_tag"] is None


@pytest.mark.promise(10)
def test_a_disabled_gate_stays_closed_until_a_person_opens_it(busy, clock):
    sources.disable(busy, "source:a", "auth", "the key was refused")
    assert claim(busy, 5) == []
    clock.advance(10 * 365 * 86_400 * SECOND)
    assert claim(busy, 5) == []
    sources.resume(busy, "source:a")
    assert len(claim(busy, 5)) == 5


def test_a_pause_may_replace_a_longer_one(busy, clock):
    sources.disable(busy, "source:a", "auth", "the key was refused")
    assert claim(busy, 5) == []
    sources.pause(busy, "source:a", SECOND, "try again soon")
    clock.advance(SECOND)
    assert len(claim(busy, 5)) == 5


def test_a_pause_of_no_length_opens_the_gate(busy):
    sources.disable(busy, "source:a", "auth", "the key was refused")
    assert claim(busy, 5) == []
    sources.pause(busy, "source:a", 0, "over")
    assert len(claim(busy, 5)) == 5


@pytest.mark.promise(8)
@pytest.mark.promise(10)
def test_a_429_closes_the_gate_and_spends_nothing(store, clock):
    gate(store, "source:a", trip_after=1)
    task = running(store, entry(gates=["source:a"]))
    settle(store, told_to_wait(task, 30 * SECOND))

    row, fields = gate_row(store, "source:a"), fields_of(store, task.id)
    assert (row["open_after"], row["closed_tag"], row["failures"]) == (
        clock.now() + 30 * SECOND,
        "rate_limited",
        0,
    )
    assert (fields["state"], fields["failures"], fields["crashes"]) == ("pending", 0, 0)
    assert claim(store) == []
    clock.advance(30 * SECOND)
    assert claim_one(store).id == task.id


@pytest.mark.promise(10)
def test_a_429_holds_back_every_lane_through_the_gate(store, clock):
    gate(store, "source:a")
    task = running(store, entry(gates=["source:a"]))
    put(store, *(entry(gates=["source:a", f"host:{n}.example"]) for n in range(5)))
    settle(store, told_to_wait(task, 30 * SECOND))
    assert claim(store, 10) == []
    clock.advance(30 * SECOND)
    assert len(claim(store, 10)) == 6


@pytest.mark.promise(10)
def test_a_second_429_never_shortens_the_first(store, clock):
    gate(store, "source:a")
    put(store, *(entry(gates=["source:a"]) for _ in range(2)))
    one, two = claim(store, 2)
    settle(store, told_to_wait(one, 60 * SECOND))
    settle(store, told_to_wait(two, SECOND))
    assert gate_row(store, "source:a")["open_after"] == clock.now() + 60 * SECOND


@pytest.mark.promise(10)
def test_a_bot_wall_disables_the_source_with_its_tag_and_keeps_the_task(store):
    gate(store, "source:a")
    task = running(store, entry(gates=["source:a"]))
    settle(store, walled(task))
    row = gate_row(store, "source:a")
    assert (row["open_after"], row["closed_tag"], row["last_error"]) == (
        FOREVER,
        "anti_bot",
        "Blocked: captcha",
    )
    assert fields_of(store, task.id)["state"] == "pending"
    assert [kind for kind, _, _ in events(store)] == ["gate_disabled"]


def test_blame_may_name_a_gate_other_than_the_first(store, clock):
    gate(store, "source:a")
    gate(store, "source:b")
    task = running(store, entry(gates=["source:a", "source:b"]))
    settle(store, told_to_wait(task, 30 * SECOND, gate="source:b"))
    assert (gate_row(store, "source:a")["open_after"], gate_row(store, "source:b")["open_after"]) == (
        0,
        clock.now() + 30 * SECOND,
    )


@pytest.mark.promise(10)
def test_blame_on_something_that_has_no_gate_falls_on_nobody_else(store):
    gate(store, "source:a")
    task = running(store, entry(gates=["source:a"]))
    settle(store, told_to_wait(task, 30 * SECOND, gate="pool:browser"))
    assert (gate_row(store, "source:a")["open_after"], events(store, "gate_paused")) == (0, [])


def test_what_runs_when_its_gate_is_paused_may_finish(busy):
    held = claim(busy, 3)
    sources.pause(busy, "source:a", SECOND, "maintenance")
    settle(busy, *(done(task) for task in held))
    assert claim(busy, 5) == []


def test_only_a_gate_that_exists_can_be_paused(store):
    with pytest.raises(UnknownName, match="no gate 'source:nobody'"):
        sources.pause(store, "source:nobody", 1, "")


@pytest.mark.promise(17)
def test_the_pause_of_an_administrator_is_ended_by_an_administrator_only_and_holds_as_long_as_it_lasts(
    busy, clock
):
    sources.pause(busy, "source:a", 100 * SECOND, "they are moving house", "admin")
    for other in (
        lambda: sources.resume(busy, "source:a", by_admin=False),
        lambda: sources.pause(busy, "source:a", 1, "shorter"),
        lambda: sources.disable(busy, "source:a", "manual", "for ever"),
    ):
        with pytest.raises(
            NotAllowed, match=r"an administrator has paused source:a .* sources resume source:a"
        ):
            other()
    host_rules.hold_back(busy, "source:a", 200 * SECOND, "Retry-After: 200")
    row = gate_row(busy, "source:a")
    assert (row["closed_tag"], row["closed_reason"]) == ("admin", "they are moving house")
    clock.advance(201 * SECOND)
    host_rules.hold_back(busy, "source:a", 10 * SECOND, "Retry-After: 10")  # the pause is over: this is news
    assert gate_row(busy, "source:a")["closed_tag"] == "rate_limited"
    sources.resume(busy, "source:a", by_admin=False)
    sources.pause(busy, "source:a", 100 * SECOND, "moving again", "admin")
    sources.resume(busy, "source:a")
    assert gate_row(busy, "source:a")["open_after"] == 0


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "trouble", [walled, lambda task: told_to_wait(task, 10 * SECOND)], ids=["walled", "told to wait"]
)
def test_trouble_at_a_source_that_an_administrator_disabled_does_not_take_its_place(busy, trouble):
    task = claim_one(busy)
    sources.disable(busy, "source:a", "admin", "a lawyer wrote")
    settle(busy, trouble(task))
    row = gate_row(busy, "source:a")
    assert (row["closed_tag"], row["closed_reason"], row["open_after"]) == (
        "admin",
        "a lawyer wrote",
        FOREVER,
    )
    with pytest.raises(NotAllowed, match="an administrator has disabled source:a"):
        sources.resume(busy, "source:a", by_admin=False)
    sources.resume(busy, "source:a")
