import pytest

from tests.harness.gates import gate
from tests.harness.tasks import claim, claim_one, done, entry, put, settle
from thresher.core.clock import MINUTE, SECOND


def test_within_a_lane_first_come_is_first_served(store, clock):
    gate(store, "source:a")
    ids = []
    for _ in range(6):
        ids += put(store, entry(gates=["source:a"]))
        clock.advance(1)
    assert [task.id for task in claim(store, 6)] == ids


def test_tasks_that_come_at_the_same_instant_keep_their_order(store):
    gate(store, "source:a")
    ids = put(store, *(entry(gates=["source:a"]) for _ in range(5)))
    assert [task.id for task in claim(store, 5)] == ids


@pytest.mark.promise(5)
@pytest.mark.parametrize(
    "lanes", [("source:a", "source:a"), ("source:a", "source:b")], ids=["one lane", "two lanes"]
)
def test_a_step_of_priority_counts_as_having_waited_one_head_start_longer(store, clock, lanes):
    gate(store, "source:a")
    gate(store, "source:b")
    (plain,) = put(store, entry(gates=[lanes[0]]))
    clock.advance(MINUTE - 1)
    (urgent,) = put(store, entry(gates=[lanes[1]], priority=1))
    assert [claim_one(store).id, claim_one(store).id] == [urgent, plain]


@pytest.mark.promise(5)
@pytest.mark.parametrize(
    "lanes", [("source:a", "source:a"), ("source:a", "source:b")], ids=["one lane", "two lanes"]
)
def test_a_task_that_has_waited_longer_than_the_head_start_goes_first(store, clock, lanes):
    gate(store, "source:a")
    gate(store, "source:b")
    (plain,) = put(store, entry(gates=[lanes[0]]))
    clock.advance(MINUTE + 1)
    (urgent,) = put(store, entry(gates=[lanes[1]], priority=1))
    assert [claim_one(store).id, claim_one(store).id] == [plain, urgent]


@pytest.mark.promise(5)
def test_an_endless_stream_of_urgent_tasks_does_not_starve_a_plain_one(store, clock):
    gate(store, "source:a")
    (plain,) = put(store, entry(gates=["source:a"]))
    served = []
    while plain not in served:
        put(store, entry(gates=["source:a"], priority=10))
        clock.advance(10 * SECOND)
        task = claim_one(store)
        settle(store, done(task))
        served.append(task.id)
        assert len(served) <= 10 * MINUTE / (10 * SECOND) + 2
