"""What one attempt brings and no database can keep is the failure of that attempt, and of no other."""

import asyncio

import pytest

from tests.engine.workshop import at_work, one_stage
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import App, Done, Link, NewTask, Pipeline, Record, Stage

pytestmark = with_processes


async def leaf(ctx):
    return Done()


def lost(trip):
    return ("source:nobody-knows-it",)


def wood(bring):
    """Tasks that all end at the same time, so that they are settled as one group; the bad ones bring what
    `bring` makes."""
    ready = asyncio.Event()

    async def bear(ctx):
        if ctx.task.payload["n"] == 9:
            ready.set()
        await ready.wait()
        if ctx.task.payload["n"] in (3, 6):
            return bring(ctx)
        return Done(records=(Record("good", str(ctx.task.payload["n"])),))

    stray = Pipeline("stray", Stage(leaf, through=lost))
    return App("wood", pipelines=(Pipeline("bear", Stage(bear)), Pipeline("leaf", Stage(leaf)), stray))


POISON = {
    "a link to no text": lambda ctx: Done(records=(Record("bad", "x", links=(Link("to", object()),)),)),
    "a key that is no text": lambda ctx: Done(records=(Record("bad", None),)),
    "data that is no JSON": lambda ctx: Done(records=(Record("bad", "x", {"when": object()}),)),
    "a child without a source": lambda ctx: Done(children=(NewTask("stray"),)),
    "a child of no kind": lambda ctx: Done(children=(NewTask("nobody"),)),
    "a child that is no task": lambda ctx: Done(children=("leaf",)),
}


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.parametrize("poison", POISON)
def test_what_cannot_be_stored_fails_its_own_task_and_no_other(workshop, poison):
    ids = workshop.drained(
        wood(POISON[poison]), *(NewTask("bear", {"n": n}) for n in range(10)), retry__max_retries=0
    )
    states = [workshop.state(each) for each in ids]
    assert states == ["failed" if n in (3, 6) else "succeeded" for n in range(10)]
    assert all(workshop.fields(ids[n])["reason"] for n in (3, 6))
    assert rows(workshop.store, "select count(*), sum(seen) from records") == [(8, 8)]
    assert rows(workshop.store, "select count(*) from tasks") == [(10,)]


@pytest.mark.promise(2)
def test_a_poisoned_group_is_settled_once_although_it_is_sent_twice(workshop):
    """The group is refused whole, then sent one by one: what was good in it must not count twice."""

    async def play():
        registry = workshop.set_up(wood(POISON["a child without a source"]))
        ids = workshop.put(registry, *(NewTask("bear", {"n": n}) for n in range(10)))
        async with at_work(workshop.worker(registry, pumps=2)):
            await workshop.store.until(lambda: all(workshop.fields(each)["finished_at"] for each in ids))
        return ids

    ids = asyncio.run(play())
    assert all(workshop.endings(each) in (["done"], ["failed"]) for each in ids)
    assert rows(workshop.store, "select count(*), sum(seen) from records") == [(8, 8)]


@pytest.mark.promise(18)
def test_a_child_whose_payload_is_too_large_is_refused_with_the_limit_in_the_reason(workshop):
    async def bear(ctx):
        return Done(children=(NewTask("bear", {"body": "x" * 70_000}),))

    (task_id,) = workshop.drained(one_stage("bear", bear), NewTask("bear"), retry__max_retries=0)
    assert workshop.state(task_id) == "succeeded"
    ((rule, detail),) = rows(workshop.store, "select rule, detail from refusals")
    assert rule == "invalid"
    assert "the limit is 65,536 (setting queue.payload_limit)" in detail
