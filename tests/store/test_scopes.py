"""A worker claims what it knows, and what it does not know is in nobody's way."""

import pytest

from tests.harness.gates import gate, gate_row, lane_status
from tests.harness.image import look
from tests.harness.tasks import SOMEBODY, claim, claim_one, done, entry, put, rows, settle, worker
from thresher.core.clock import SECOND
from thresher.core.settlement import Settlement
from thresher.store import sources
from thresher.store.lanes import serve, unserved
from thresher.store.repair import repair
from thresher.store.workers import stop

GATES = ["source:a"]


def knows(store, *stages, worker_id=SOMEBODY):
    """The scopes of a worker that knows these stages of pages."""
    with store.write() as session:
        return serve(session, worker_id, [("page", stage) for stage in stages])


@pytest.mark.promise(1)
@pytest.mark.parametrize("gates", [[], GATES], ids=["no gate", "a gate"])
def test_a_worker_claims_only_stages_that_it_knows(store, gates):
    gate(store, *GATES)
    old = knows(store, "fetch")
    known, unknown = put(store, entry(gates=gates), entry(gates=gates, stage="parse"))
    assert [task.id for task in claim(store, 5, scopes=old)] == [known]
    assert [task.id for task in claim(store, 5)] == [unknown]


@pytest.mark.promise(1)
def test_a_worker_is_not_told_to_come_back_for_what_it_does_not_know(store):
    put(store, entry(stage="parse"))
    turn = store.turn([], 5, SOMEBODY, knows(store, "fetch"))
    assert (turn.tasks, turn.more, turn.next_at) == ([], False, None)


@pytest.mark.promise(3)
def test_scopes_behind_the_same_gate_share_its_limits(store):
    gate(store, *GATES, slots=1)
    put(store, entry(gates=GATES), entry(gates=GATES, stage="parse"))
    assert len(claim(store, 5, scopes=knows(store, "fetch"))) == 1
    assert claim(store, 5, scopes=knows(store, "parse")) == []
    assert gate_row(store, "source:a")["in_flight"] == 1


@pytest.mark.promise(5)
def test_a_lane_that_nobody_knows_does_not_swallow_the_wake_up_of_one_that_somebody_knows(store):
    """A slot comes back. The lane that has waited longest stands at a stage that no worker knows yet."""
    gate(store, *GATES, slots=1)
    old = knows(store, "fetch")
    put(store, entry(gates=GATES))
    held = claim_one(store)
    put(store, entry(gates=GATES, stage="parse"))
    (known,) = put(store, entry(gates=GATES))
    assert claim(store, 5) == []  # both lanes are parked
    settle(store, done(held))
    assert [task.id for task in claim(store, 5, scopes=old)] == [known]
    assert list(look(store).wrongs()) == []


@pytest.mark.promise(5)
def test_nobody_has_to_visit_an_unknown_lane_for_the_known_ones_to_go_on(store, clock):
    """Slots come back one after another, by turns and by settlements with something to say; the unknown lane
    is never visited."""
    gate(store, *GATES, slots=1)
    gate(store, "source:b", slots=1)
    old = knows(store, "fetch")
    lanes = [GATES, ["source:a", "source:b"], ["source:b", "source:a"]]
    put(
        store,
        *(
            entry(gates=gates, stage=stage)
            for gates in lanes
            for stage in ("parse", "fetch")
            for _ in range(3)
        ),
    )
    done_by_old = 0
    held = claim(store, 5, scopes=old)
    while held:
        done_by_old += len(held)
        clock.advance(1)
        if done_by_old % 2:
            settle(store, *(done(task) for task in held))
            held = claim(store, 5, scopes=old)
        else:
            held = store.turn([done(task) for task in held], 5, SOMEBODY, old).tasks or claim(
                store, 5, scopes=old
            )
        assert list(look(store).wrongs()) == []
    assert done_by_old == 9
    assert repair(store) == []
    assert rows(
        store, "select count(*) from tasks where stage = 'parse' and state = 'pending' and claim = 0"
    ) == [(9,)]


@pytest.mark.promise(5)
def test_a_rate_goes_on_for_the_known_while_the_unknown_wait(store, clock):
    gate(store, *GATES, interval_us=SECOND)
    old = knows(store, "fetch")
    put(store, *(entry(gates=GATES, stage=stage) for _ in range(3) for stage in ("parse", "fetch")))
    for _ in range(3):
        (task,) = claim(store, 5, scopes=old)
        settle(store, done(task))
        clock.advance(SECOND)
    sources.pause(store, "source:a", SECOND, "a while")
    clock.advance(2 * SECOND)
    assert claim(store, 5, scopes=old) == []
    assert len(claim(store, 5)) == 1


@pytest.mark.promise(5)
def test_lanes_of_all_scopes_are_served_in_the_order_in_which_they_have_waited(store, clock):
    for name in "abcdef":
        gate(store, f"source:{name}")
    for n, name in enumerate("abcdef"):
        put(
            store, entry(gates=[f"source:{name}"], stage=("fetch", "parse", "store")[n % 3], payload={"n": n})
        )
        clock.advance(1)
    some = knows(store, "fetch", "store")
    assert [claim_one(store).payload["n"] for _ in range(1)] == [0]
    assert [task.payload["n"] for task in claim(store, 6, scopes=some)] == [2, 3, 5]
    assert [task.payload["n"] for task in claim(store, 6)] == [1, 4]


@pytest.mark.promise(5)
def test_a_busy_scope_gets_one_turn_where_the_lane_of_another_has_one(store, clock):
    """Two lanes of one scope and one of another, many tasks each: every lane has a quantum before any has a
    second."""
    for name in "abc":
        gate(store, f"source:{name}")
    put(
        store,
        *(entry(gates=["source:a"], stage="parse") for _ in range(20)),
        *(entry(gates=[f"source:{name}"]) for name in "bc" for _ in range(20)),
    )
    taken = []
    for _ in range(3):
        clock.advance(1)
        taken += {task.lane for task in store.turn([], store.rules.quantum, SOMEBODY).tasks}
    assert sorted(taken) == [("source:a",), ("source:b",), ("source:c",)]


@pytest.mark.promise(1)
def test_a_task_that_goes_on_to_another_stage_changes_its_lane_and_keeps_its_gates(store):
    gate(store, *GATES, slots=1)
    put(store, entry(gates=GATES))
    settle(store, Settlement.advance(claim_one(store), stage="parse", gates=tuple(GATES), checkpoint="{}"))
    assert claim(store, 5, scopes=knows(store, "fetch")) == []
    assert [task.stage for task in claim(store, 5, scopes=knows(store, "parse"))] == ["parse"]
    assert lane_status(store, *GATES) == "idle"


@pytest.mark.promise(20)
def test_what_no_living_worker_knows_can_be_seen(store):
    old = worker(store, "old")
    knows(store, "fetch", worker_id=old)
    put(store, entry(), entry(stage="parse"), entry(stage="parse"))
    with store.read() as session:
        now = store.backend.now(session)
        assert unserved(session, now) == {("page", "parse"): 2}
    new = worker(store, "new")
    knows(store, "fetch", "parse", worker_id=new)
    with store.read() as session:
        assert unserved(session, now) == {}
    stop(store, new)
    with store.read() as session:
        assert unserved(session, now) == {("page", "parse"): 2}
    stop(store, old)
    with store.read() as session:
        assert unserved(session, now) == {}
