"""A task that lost its worker runs alone, so that a second crash names the guilty and spares the innocent."""

import asyncio
import contextlib
import ctypes
import os
import random
import signal
import time

import pytest

from tests.engine.workshop import at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.forks import Fork
from tests.harness.tasks import rows
from thresher import Done, NewTask
from thresher.config.project import Project
from thresher.engine.attempts import MAX_SUSPECTS
from thresher.engine.registry import Registry
from thresher.engine.worker import Worker
from thresher.runtime import open_store
from thresher.store import tasks, workers
from thresher.store.store import Store
from thresher.store.workers import reap

pytestmark = with_processes


def lose(workshop, number):
    """Somebody claims this many tasks and vanishes."""
    victim = workers.register(workshop.store, name="victim", host="here", pid=1, lease_us=1_000_000)
    taken = 0
    while taken < number:
        taken += len(workshop.store.turn([], number - taken, victim).tasks)
    workshop.clock.advance(2_000_000)
    assert reap(workshop.store, number) == number


class Company:
    """Who was under way together."""

    def __init__(self):
        self.present: dict[int, int] = {}
        self.met: list[tuple[int, list[int]]] = []

    @contextlib.contextmanager
    def entered(self, task):
        self.present[task.id] = task.crashes
        for each in self.present:
            self.met.append((each, [crashes for other, crashes in self.present.items() if other != each]))
        try:
            yield
        finally:
            del self.present[task.id]


@pytest.mark.promise(8)
def test_a_task_that_lost_its_worker_is_performed_with_nothing_else_in_hand(workshop):
    company = Company()

    async def visit(ctx):
        with company.entered(ctx.task):
            for _ in range(3):
                await asyncio.sleep(0)
        return Done()

    registry = workshop.set_up(one_stage("visit", visit), worker__suspect_alone=3600)
    suspects = workshop.put(registry, *(NewTask("visit") for _ in range(15)))
    lose(workshop, 15)
    fresh = workshop.put(registry, *(NewTask("visit") for _ in range(40)))
    workshop.drain(registry, pumps=2)
    assert {workshop.state(each) for each in (*suspects, *fresh)} == {"succeeded"}
    assert all(not beside for task_id, beside in company.met if task_id in suspects)
    assert any(beside for task_id, beside in company.met if task_id in fresh), (
        "the others share their worker as ever"
    )


@pytest.mark.promise(5)
def test_suspects_flow_once_each_has_shown_that_it_does_no_harm(workshop):
    async def play():
        together, under_way = asyncio.Event(), set()

        async def visit(ctx):
            under_way.add(ctx.task.id)
            if len(under_way) == MAX_SUSPECTS:
                together.set()
            await together.wait()
            return Done()

        registry = workshop.set_up(one_stage("visit", visit), worker__suspect_alone=0)
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(MAX_SUSPECTS)))
        lose(workshop, MAX_SUSPECTS)
        await soon(workshop.worker(registry, until_idle=True).run())
        return ids

    assert {workshop.state(each) for each in asyncio.run(play())} == {"succeeded"}


@pytest.mark.promise(8)
def test_a_suspect_that_had_not_begun_does_not_count_the_loss_of_its_worker(workshop):
    registry = workshop.set_up(one_stage("visit", lambda _: Done()))
    begun, waiting, fresh = workshop.put(registry, *(NewTask("visit") for _ in range(3)))
    victim = workers.register(workshop.store, name="first", host="here", pid=1, lease_us=1_000_000)
    assert len(workshop.store.turn([], 2, victim).tasks) == 2
    workshop.clock.advance(2_000_000)
    reap(workshop.store, 10)
    victim = workers.register(
        workshop.store, name="second", host="here", pid=1, lease_us=1_000_000, marks_begun=True
    )
    assert len(workshop.store.turn([], 3, victim).tasks) == 3
    assert workers.begin_suspect(workshop.store, begun, 2)
    assert not workers.begin_suspect(workshop.store, waiting, 1), "that claim is over"
    workshop.clock.advance(2_000_000)
    reap(workshop.store, 10)
    assert [workshop.fields(each)["crashes"] for each in (begun, waiting, fresh)] == [2, 1, 1]
    assert [workshop.endings(each)[-1] for each in (begun, waiting, fresh)] == [
        "crashed",
        "handed_back",
        "crashed",
    ]
    assert "before the task had begun" in workshop.fields(waiting)["reason"]


@pytest.mark.promise(8)
def test_one_that_the_next_crash_would_quarantine_is_alone_to_its_end(workshop):
    company = Company()

    async def visit(ctx):
        with company.entered(ctx.task):
            await asyncio.sleep(0.02)
        return Done()

    registry = workshop.set_up(one_stage("visit", visit), worker__suspect_alone=0)
    first = workshop.put(registry, *(NewTask("visit") for _ in range(4)))
    lose(workshop, 4)
    lose(workshop, 4)
    workshop.put(registry, *(NewTask("visit") for _ in range(4)))
    lose(workshop, 8)
    workshop.drain(registry)
    assert {workshop.fields(each)["error"] for each in first} == {"Quarantined"}
    more = workshop.put(registry, *(NewTask("visit") for _ in range(6)))
    lose(workshop, 6)
    lose(workshop, 3)
    company.met.clear()
    workshop.drain(registry)
    twice = [each for each in more if workshop.fields(each)["crashes"] == 2]
    assert len(twice) == 3
    assert all(not beside for task_id, beside in company.met if task_id in twice)


@pytest.mark.promise(5)
def test_more_suspects_than_one_worker_keeps_go_to_others(workshop):
    async def play():
        held, may_end = asyncio.Event(), asyncio.Event()

        async def visit(ctx):
            if not held.is_set():
                held.set()
                await may_end.wait()
            return Done()

        registry = workshop.set_up(one_stage("visit", visit))
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(3 * MAX_SUSPECTS)))
        lose(workshop, len(ids))
        other = workshop.machine()
        async with at_work(workshop.worker(registry)):
            await soon(held.wait())
            async with at_work(workshop.worker(registry, other)):
                await other.until(
                    lambda: [workshop.state(each) for each in ids].count("succeeded") == 2 * MAX_SUSPECTS
                )
            may_end.set()
            await workshop.store.until(lambda: {workshop.state(each) for each in ids} == {"succeeded"})
        return ids

    ids = asyncio.run(play())
    assert all(workshop.endings(each).count("done") == 1 for each in ids)
    assert rows(workshop.store, "select max(crashes), max(failures) from tasks") == [(1, 0)]


@pytest.mark.promise(1)
def test_suspects_that_wait_for_their_turn_are_handed_back_by_a_stop_and_cancelled_by_a_person(workshop):
    async def play():
        begun, may_end = asyncio.Event(), asyncio.Event()

        async def visit(ctx):
            begun.set()
            await may_end.wait()
            return Done()

        registry = workshop.set_up(one_stage("visit", visit))
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(3)))
        lose(workshop, 3)
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            await soon(begun.wait())
            tasks.cancel(workshop.store, [ids[1]], "a person says so")
            await workshop.store.until(lambda: workshop.state(ids[1]) == "cancelled")
            worker.stop()
            may_end.set()
            await soon(running)
        return ids

    ids = asyncio.run(play())
    assert [workshop.endings(each)[-1] for each in ids] == ["done", "cancelled", "handed_back"]
    assert workshop.fields(ids[2])["crashes"] == 1


# --- with real processes and real segmentation faults

GUILTY, TASKS = 3, 150
HARD = {
    "worker.poll": 0.02,
    "worker.lease": 1.0,
    "reaper.every": 0.05,
    "retry.crash_spread": 0,
    "worker.concurrency": 100,
    "worker.batch": 100,
    "worker.grace": 0.1,
}


async def step(ctx):
    await asyncio.sleep(random.random() / 50)
    match ctx.task.payload["how"]:
        case "fault":
            ctypes.string_at(0)
        case "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
    return Done()


def serve(url: str) -> None:
    """A worker process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    store = open_store(url, Project(None, settings=HARD))
    beat = open_store(url, Project(None, settings=HARD))

    async def work() -> None:
        worker = Worker(store, Registry([one_stage("step", step)], store.settings), heartbeat_store=beat)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        await worker.run()

    asyncio.run(work())


@pytest.mark.promise(8)
def test_segmentation_faults_quarantine_the_guilty_and_no_innocent(database):
    url = database.url if database.name == "postgres" else f"sqlite:///{database.url}?durability=process"
    database.open()
    store: Store = open_store(url, Project(None, settings=HARD))
    registry = Registry([one_stage("step", step)], store.settings)
    how = ["fault", "signal"] * GUILTY
    payloads = [{"how": how[n] if n < GUILTY else "well"} for n in range(TASKS)]
    random.Random(7).shuffle(payloads)
    store.enqueue([registry.admit(NewTask("step", payload)) for payload in payloads])
    fleet: list[Fork] = []
    deadline = time.monotonic() + 120
    try:
        while rows(store, "select count(*) from tasks where finished_at is null") != [(0,)]:
            assert time.monotonic() < deadline, rows(
                store, "select state, crashes, count(*) from tasks group by state, crashes"
            )
            fleet = [process for process in fleet if process.poll() is None]
            fleet += [Fork(serve, url) for _ in range(2 - len(fleet))]
            time.sleep(0.05)
    finally:
        for process in fleet:
            process.send_signal(signal.SIGTERM)
        for process in fleet:
            process.wait(30)
    found = rows(
        store,
        "select payload like '%well%', state, error_name, count(*) from tasks group by 1, 2, 3 order by 1",
    )
    assert [(bool(well), *rest) for well, *rest in found] == [
        (False, "failed", "Quarantined", GUILTY),
        (True, "succeeded", None, TASKS - GUILTY),
    ]
    store.close()
