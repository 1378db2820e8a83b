"""A stage that will not end holds nobody up, and whatever still runs still counts."""

import asyncio
import threading

import pytest

from tests.engine.workshop import PATIENCE, at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import Done, NewTask, Record, Source

pytestmark = with_processes


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_stage_that_swallows_its_cancellation_is_settled_without_it_and_frees_its_slot(workshop):
    async def play():
        may_end, second = asyncio.Event(), asyncio.Event()

        async def stay(ctx):
            if ctx.task.payload["n"]:
                second.set()
                return Done()
            while not may_end.is_set():
                try:
                    await may_end.wait()
                except asyncio.CancelledError:
                    continue
            return Done(records=(Record("late", "result"),))

        app = one_stage(
            "stay", stay, through=("source:one",), timeout=0.1, sources=(Source("one", in_flight=1),)
        )
        registry = workshop.set_up(app, worker__cancel_grace=0.1, retry__max_retries=0)
        first, last = workshop.put(registry, NewTask("stay", {"n": 0}), NewTask("stay", {"n": 1}))
        async with at_work(workshop.worker(registry)):
            await soon(second.wait())
            may_end.set()  # what it brings now is too late
            await workshop.store.until(lambda: workshop.state(last) == "succeeded")
        return first

    task_id = asyncio.run(play())
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"], workshop.endings(task_id)) == ("failed", "TimedOut", ["failed"])
    assert rows(workshop.store, "select count(*) from records") == [(0,)]


@pytest.mark.promise(3)
def test_a_timed_out_stage_on_a_thread_keeps_its_slot_until_the_thread_ends(workshop):
    mutex, at_once, most, may_end = threading.Lock(), 0, 0, threading.Semaphore(0)

    def visit(ctx):
        nonlocal at_once, most
        with mutex:
            at_once += 1
            most = max(most, at_once)
        assert may_end.acquire(timeout=PATIENCE)
        with mutex:
            at_once -= 1
        return Done()

    async def play():
        app = one_stage(
            "visit",
            visit,
            through=("source:one",),
            timeout=0.05,
            sources=(Source("one", in_flight=1, trip_after=None),),
        )
        registry = workshop.set_up(app, worker__cancel_grace=0.05, retry__max_retries=0)
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(3)))
        async with at_work(workshop.worker(registry)):
            for number in range(1, 4):
                turns = workshop.store.turns
                await workshop.store.until(
                    lambda turns=turns: workshop.store.turns > turns + 5
                )  # it was overdue long ago
                assert rows(workshop.store, "select count(*) from tasks where finished_at is null") == [
                    (4 - number,)
                ]
                may_end.release()
                await workshop.store.until(
                    lambda number=number: [workshop.state(each) for each in ids].count("failed") == number
                )
        return ids

    ids = asyncio.run(play())
    assert most == 1
    assert [workshop.endings(each) for each in ids] == [["failed"]] * 3
    assert {workshop.fields(each)["error"] for each in ids} == {"TimedOut"}


@pytest.mark.promise(1)
def test_a_worker_with_a_thread_that_never_ends_stops_to_be_started_afresh(workshop):
    may_end = threading.Event()

    def hang(ctx):
        assert may_end.wait(PATIENCE)
        return Done()

    async def play():
        registry = workshop.set_up(
            one_stage("hang", hang, timeout=0.05), worker__stall=1, worker__grace=0, retry__base=3600
        )
        (task_id,) = workshop.put(registry, NewTask("hang"))
        worker = workshop.worker(registry, recycle=True)
        try:
            await soon(worker.run())
        finally:
            may_end.set()
        return task_id, worker.worn_out

    task_id, why = asyncio.run(play())
    assert (
        why == f"stage 'do' of task {task_id} is still running on its thread 1 seconds after it was cancelled"
    )
    assert (workshop.endings(task_id), workshop.fields(task_id)["error"]) == (["retry"], "TimedOut")


@pytest.mark.promise(1)
def test_too_many_stages_that_ignore_their_cancellation_wear_a_worker_out(workshop):
    async def play():
        may_end = asyncio.Event()

        async def stay(ctx):
            while not may_end.is_set():
                try:
                    await may_end.wait()
                except asyncio.CancelledError:
                    continue
            return Done()

        registry = workshop.set_up(
            one_stage("stay", stay, timeout=0.05),
            worker__cancel_grace=0.05,
            worker__grace=0,
            retry__max_retries=0,
        )
        ids = workshop.put(registry, *(NewTask("stay") for _ in range(11)))
        worker = workshop.worker(registry, recycle=True)
        try:
            await soon(worker.run())
        finally:
            may_end.set()
        return ids, worker.worn_out

    ids, why = asyncio.run(play())
    assert why == "11 cancelled stages are still running"
    assert {workshop.state(each) for each in ids} == {"failed"}
