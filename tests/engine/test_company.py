"""A run that is not alone: what others hold is not done until it is done."""

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from thresher import Done, NewTask
from thresher.store import workers

pytestmark = with_processes


@pytest.mark.promise(1)
def test_a_run_after_a_crash_takes_up_what_the_dead_held(workshop):
    """Killed with tasks in hand: the next run must not call it a day because everything is 'running'."""

    async def visit(ctx):
        return Done()

    registry = workshop.set_up(one_stage("visit", visit))
    (task_id,) = workshop.put(registry, NewTask("visit"))
    dead = workers.register(workshop.store, name="dead", host="here", pid=1, lease_us=1_000_000)
    assert [task.id for task in workshop.store.turn([], 1, dead).tasks] == [task_id]
    workshop.clock.advance(2_000_000)
    workshop.drain(registry)
    assert workshop.endings(task_id) == ["crashed", "done"]
