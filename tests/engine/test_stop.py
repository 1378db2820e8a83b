"""A worker that is told to stop lets its tasks finish, hands back the rest, and leaves nothing behind."""

import asyncio
import threading
from signal import SIGINT

import pytest

from tests.engine.workshop import at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import Done, NewTask, Record
from thresher.cli.worker import StopSignals, WorkerEnd
from thresher.core.errors import DatabaseProblem
from thresher.engine.chores import reap_lost

pytestmark = with_processes


class Meeting:
    """A stage that says when it has begun, and waits until it may end."""

    def __init__(self, *, stubborn=False):
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()
        self._stubborn = stubborn

    async def __call__(self, ctx):
        self.begun.set()
        while True:
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                if not self._stubborn:
                    raise
            else:
                return Done(records=(Record("meeting", str(ctx.task.id)),))


def meeting_app(meeting):
    async def meet(ctx):
        return await meeting(ctx)

    return one_stage("meet", meet)


@pytest.mark.promise(1)
def test_what_is_in_hand_may_finish_and_is_settled_and_nothing_new_begins(workshop):
    async def play():
        meeting = Meeting()
        registry = workshop.set_up(meeting_app(meeting), worker__concurrency=1)
        first, second = workshop.put(registry, NewTask("meet"), NewTask("meet"))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(meeting.begun.wait())
            worker.stop()
            meeting.may_end.set()
            tally = await soon(running)
        return first, second, tally

    first, second, tally = asyncio.run(play())
    assert (workshop.state(first), workshop.state(second)) == ("succeeded", "pending")
    assert tally.claimed == 1
    assert rows(workshop.store, "select count(*) from workers where stopped_at is null") == [(0,)]


@pytest.mark.promise(1)
@pytest.mark.parametrize("how", ["stop", "stop_now"])
def test_a_claim_that_was_on_its_way_when_the_worker_was_stopped_goes_back_unopened(workshop, how):
    async def play():
        meeting = Meeting()
        registry = workshop.set_up(meeting_app(meeting))
        worker, turn, loop = workshop.worker(registry), workshop.store.turn, asyncio.get_running_loop()
        told = threading.Event()

        def crossed(*asked):
            answer = turn(*asked)
            if answer.tasks:  # the claim is committed; the order to stop is faster than the answer
                loop.call_soon_threadsafe(lambda: (getattr(worker, how)(), told.set()))
                assert told.wait(10)
            return answer

        workshop.store.turn = crossed
        (task_id,) = workshop.put(registry, NewTask("meet"))
        async with at_work(worker) as running:
            await soon(running)
        return task_id, meeting.begun.is_set()

    task_id, begun = asyncio.run(play())
    assert (begun, workshop.endings(task_id), workshop.state(task_id)) == (False, ["handed_back"], "pending")


@pytest.mark.promise(1)
@pytest.mark.promise(8)
def test_what_cannot_finish_in_time_is_handed_back_and_spends_nothing(workshop):
    async def play():
        meeting = Meeting()
        registry = workshop.set_up(meeting_app(meeting), worker__grace=0.05)
        (task_id,) = workshop.put(registry, NewTask("meet"))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(meeting.begun.wait())
            worker.stop()
            await soon(running)
        return task_id

    task_id = asyncio.run(play())
    fields = workshop.fields(task_id)
    assert workshop.endings(task_id) == ["handed_back"]
    assert (fields["state"], fields["failures"], fields["crashes"]) == ("pending", 0, 0)
    assert rows(workshop.store, "select count(*) from records") == [(0,)]


@pytest.mark.promise(1)
def test_those_that_finish_early_are_settled_while_the_others_are_waited_for(workshop):
    async def play():
        late = asyncio.Event()
        begun = 0
        both = asyncio.Event()

        async def meet(ctx):
            nonlocal begun
            begun += 1
            if begun == 2:
                both.set()
            await both.wait()
            if ctx.task.payload["late"]:
                await late.wait()
            return Done()

        registry = workshop.set_up(one_stage("meet", meet), worker__grace=60.0)
        early, last = workshop.put(
            registry, NewTask("meet", {"late": False}), NewTask("meet", {"late": True})
        )
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(both.wait())
            worker.stop()
            await workshop.store.until(lambda: workshop.state(early) == "succeeded")
            assert workshop.state(last) == "running"
            late.set()
            await soon(running)
        return last

    assert workshop.state(asyncio.run(play())) == "succeeded"


@pytest.mark.promise(1)
def test_a_stage_that_ignores_its_end_cannot_hold_up_the_stop_and_its_task_is_handed_back(
    workshop, monkeypatch
):
    monkeypatch.setattr("thresher.engine.worker.FLUSH_SECONDS", 0.05)

    async def play():
        meeting = Meeting(stubborn=True)
        registry = workshop.set_up(meeting_app(meeting), worker__grace=0.05)
        (task_id,) = workshop.put(registry, NewTask("meet"))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(meeting.begun.wait())
            worker.stop()
            await soon(running)
        assert workshop.state(task_id) == "pending"
        meeting.may_end.set()  # lets it go home, and the loop close
        return task_id

    task_id = asyncio.run(play())

    async def do(ctx):
        return Done()

    workshop.drain(workshop.set_up(one_stage("meet", do)))
    assert (workshop.endings(task_id), workshop.fields(task_id)["crashes"]) == (["handed_back", "done"], 0)
    assert rows(workshop.store, "select count(*) from records") == [(0,)]


@pytest.mark.promise(1)
def test_a_worker_that_cannot_settle_before_it_stops_leaves_its_tasks_to_the_end_of_its_lease(
    workshop, monkeypatch
):
    """Signing off with tasks in the books would hide them from those who look for lost ones."""
    monkeypatch.setattr("thresher.engine.worker.FLUSH_SECONDS", 0.05)
    monkeypatch.setattr("thresher.engine.turns.TROUBLE_SECONDS", (0.01,))

    async def play():
        meeting = Meeting()
        registry = workshop.set_up(meeting_app(meeting), worker__grace=0.3)
        (task_id,) = workshop.put(registry, NewTask("meet"))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(meeting.begun.wait())

            def away(*args, **kwargs):
                raise DatabaseProblem("away")

            workshop.store.settle = away
            meeting.may_end.set()
            worker.stop()
            await soon(running)
            del workshop.store.settle
        return task_id

    task_id = asyncio.run(play())
    assert workshop.state(task_id) == "running"
    assert rows(workshop.store, "select count(*) from workers where stopped_at is null") == [(1,)]

    workshop.clock.advance(10_000_000)
    reap_lost(workshop.store)

    async def do(ctx):
        return Done()

    workshop.drain(workshop.set_up(one_stage("meet", do)))
    assert workshop.endings(task_id) == ["crashed", "done"]
    assert rows(workshop.store, "select count(*) from records") == [(0,)]


@pytest.mark.promise(1)
def test_a_worker_whose_database_is_away_still_stops(workshop, monkeypatch):
    async def play():
        async def do(ctx):
            return Done()

        registry = workshop.set_up(one_stage("do", do))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await workshop.store.until(lambda: workshop.store.turns > 0)

            def away(*args, **kwargs):
                raise DatabaseProblem("away")

            monkeypatch.setattr("thresher.store.workers.stop", away)
            worker.stop()
            await soon(running)

    asyncio.run(play())


@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_that_comes_when_all_is_done_interrupts_nothing(workshop, busy):
    registry = workshop.set_up(one_stage("visit", lambda ctx: Done()))
    workshop.put(registry, NewTask("visit"))
    worker, said = workshop.worker(registry, until_idle=True), []
    signals = StopSignals(worker, said.append)

    async def work():
        running = asyncio.create_task(worker.run())
        await asyncio.sleep(0)
        if busy:
            signals(SIGINT)
        return WorkerEnd(await running, signals.signals)

    ended = asyncio.run(soon(work()))
    if not busy:
        signals(SIGINT)
    assert ended.interrupted is busy
    assert said[0].startswith("Stopping:" if busy else "All is done")
