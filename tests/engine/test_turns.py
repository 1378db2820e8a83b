"""What goes to the database in one turn."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.engine.workshop import one_stage
from thresher import Done, NewTask
from thresher.core.limits import MAX_SETTLEMENT_BYTES
from thresher.core.record import Filing
from thresher.core.settlement import Settlement
from thresher.core.task import Task
from thresher.engine.attempts import Workload
from thresher.engine.turns import Reconciliation, Turns
from thresher.store import workers


@pytest.mark.promise(8)
def test_what_one_message_to_the_database_cannot_hold_is_settled_in_several_turns():
    large = Filing("page", "k", "x" * (MAX_SETTLEMENT_BYTES // 2))
    task = Task(1, 1, "page", "fetch", {}, {}, None, 1, None, 0, 0, 0)
    turns = Turns(None, None, None, lambda: None)
    for brought in ((large,), (), (large,), (large,), ()):
        turns.put(task, Settlement.done(task, records=brought))
    sizes = []
    while turns.outbox:
        sizes.append(len(turns.take_outgoing()))
    assert sizes == [2, 1, 2], "the key counts, too: two of them are more than the limit"


@pytest.mark.promise(1)
def test_an_attempt_that_ends_while_claims_are_compared_is_not_given_back(workshop):
    async def visit(ctx):
        return Done()

    store = workshop.store
    registry = workshop.set_up(one_stage("visit", visit))
    (task_id,) = workshop.put(registry, NewTask("visit"))
    worker_id = workers.register(store, name="anna", host="here", pid=1, lease_us=60_000_000)
    (task,) = store.turn([], 1, worker_id).tasks
    load, outbox, run = Workload(), [], store.run
    load.running[task.id, task.claim] = None

    async def ends_meanwhile(fn, *args):
        found = await run(fn, *args)
        if load.running.pop((task.id, task.claim), task) is None:
            outbox.append((task, Settlement.done(task)))
        return found

    store.run = ends_meanwhile
    asyncio.run(Reconciliation(store, load, SimpleNamespace(worker_id=worker_id)).run(lambda: outbox))
    assert (workshop.state(task_id), len(outbox)) == ("running", 1)
