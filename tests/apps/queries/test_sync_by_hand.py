"""A person's wish to have the outputs synced now: it waits for the cycle under way, and runs no query."""

import pytest

from tests.apps.queries.harbour import Follower, Harbour, days_ago, offer, world
from thresher.apps.queries.cycle import CYCLE, KEY, SYNC_KEY
from thresher.core.task import NewTask


@pytest.fixture
def harbour() -> Harbour:
    made = Harbour()
    made.put(offer(1, days_ago(1)))
    return made


def test_it_runs_no_query(harbour):
    with world(harbour) as made:
        Follower(made, harbour)
        (task,) = made.enqueue(NewTask(CYCLE, {"sync": True}, key=SYNC_KEY))
        made.run_until_idle(within=30)
        assert harbour.asked == []
        (found,) = [each for each in made.tasks() if each["id"] == task]
        assert found["state"] == "succeeded"


def test_it_waits_for_the_cycle_under_way_and_is_not_lost(harbour):
    with world(harbour) as made:
        Follower(made, harbour)
        made.enqueue(NewTask(CYCLE, key=KEY), NewTask(CYCLE, {"sync": True}, key=SYNC_KEY))
        made.run_until_idle(within=30)
        ended = [(bool(each["payload"]), each["state"]) for each in made.tasks() if each["kind"] == CYCLE]
        assert sorted(ended) == [(False, "succeeded"), (True, "succeeded")]
