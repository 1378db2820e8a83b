"""When a worker looks: at once when told, seldom when idle; and settings that change while it works."""

import asyncio
import threading
from collections import Counter

import pytest

from tests.engine.workshop import at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.tasks import change, rows
from thresher import App, Done, NewTask, Pipeline, Record, Schedule, Source, Stage
from thresher.store import sources
from thresher.store.settings import change_setting

pytestmark = with_processes


def ringing(bell):
    async def ring(ctx):
        bell.set()
        return Done()

    return one_stage("ring", ring)


def test_an_idle_worker_is_woken_by_work_from_elsewhere_and_does_not_wait_for_its_poll(workshop):
    async def play():
        bell = asyncio.Event()
        registry = workshop.set_up(
            ringing(bell),
            worker__poll=3_600.0,
            reaper__every=3_600.0,
            settings__every=3_600.0,
            worker__lease=60.0,
        )
        elsewhere = workshop.machine()
        async with at_work(workshop.worker(registry)):
            await workshop.store.until(lambda: workshop.store.turns > 0)
            # Again and again without a pause: the last of them must be heard too.
            for _ in range(5):
                bell.clear()
                await elsewhere.run(elsewhere.enqueue, [registry.admit(NewTask("ring"))])
                await soon(bell.wait())

    asyncio.run(play())


def test_a_gate_that_a_person_opens_elsewhere_wakes_an_idle_worker(workshop):
    async def play():
        bell = asyncio.Event()

        async def ring(ctx):
            bell.set()
            return Done()

        app = one_stage("ring", ring, through=("source:web",), sources=(Source("web"),))
        registry = workshop.set_up(
            app, worker__poll=3_600.0, reaper__every=3_600.0, settings__every=3_600.0, worker__lease=60.0
        )
        sources.disable(workshop.store, "source:web", "test", "closed for now")
        workshop.put(registry, NewTask("ring"))
        elsewhere = workshop.machine()
        async with at_work(workshop.worker(registry)):
            await workshop.store.until(
                lambda: rows(workshop.store, "select count(*) from lanes where status = 'parked'") == [(1,)]
            )
            await elsewhere.run(sources.resume, elsewhere, "source:web")
            await soon(bell.wait())

    asyncio.run(play())


@pytest.mark.promise(12)
def test_a_setting_changed_elsewhere_comes_into_force_while_the_worker_works(workshop):
    async def play():
        async def bear(ctx):
            return Done(records=(Record("leaf", "1", {"body": "x" * 1_000}),))

        registry = workshop.set_up(one_stage("bear", bear), retry__max_retries=0)
        elsewhere = workshop.machine()
        async with at_work(workshop.worker(registry)):
            (before,) = workshop.put(registry, NewTask("bear"))
            await workshop.store.until(lambda: workshop.state(before) == "succeeded")
            change_setting(elsewhere, "queue.payload_limit", 256, "somebody")
            await workshop.store.until(lambda: workshop.store.settings["queue.payload_limit"] == 256)
            (after,) = workshop.put(registry, NewTask("bear"))
            await workshop.store.until(lambda: workshop.state(after) == "failed")
            assert "the limit is 256" in workshop.fields(after)["reason"]
            change_setting(elsewhere, "queue.payload_limit", None, "somebody")
            await workshop.store.until(lambda: workshop.store.settings["queue.payload_limit"] == 65_536)

    asyncio.run(play())


@pytest.mark.promise(12)
def test_concurrency_raised_while_a_worker_is_full_lets_more_tasks_in(workshop):
    async def play():
        first, everybody = asyncio.Event(), asyncio.Event()
        inside = 0

        async def stay(ctx):
            nonlocal inside
            inside += 1
            first.set()
            if inside == 3:
                everybody.set()
            await everybody.wait()
            return Done()

        registry = workshop.set_up(one_stage("stay", stay), worker__concurrency=1)
        workshop.put(registry, *(NewTask("stay") for _ in range(3)))
        elsewhere = workshop.machine()
        async with at_work(workshop.worker(registry)):
            await soon(first.wait())
            change_setting(elsewhere, "worker.concurrency", 3, "somebody")
            await soon(everybody.wait())

    asyncio.run(play())


@pytest.mark.promise(4)
@pytest.mark.parametrize("pumps", [1, 2])
def test_an_idle_worker_asks_the_database_a_few_times_a_poll_and_no_more(workshop, pumps):
    """Counted, not timed: everything it does between two looks, with all rhythms set alike."""
    calls = Counter()
    counted = threading.Lock()

    def count(store, name):
        call = getattr(store.backend, name)

        def counting(*args, **kwargs):
            with counted:
                calls["look" if kwargs.get("autocommit") else name] += 1
            return call(*args, **kwargs)

        setattr(store.backend, name, counting)

    async def play():
        async def do(ctx):
            return Done()

        every = 0.1
        registry = workshop.set_up(
            one_stage("do", do),
            worker__lease=3_600.0,
            worker__poll=every,
            reaper__every=every,
            settings__every=every,
            schedule__every=every,
        )
        store = workshop.store
        async with at_work(workshop.worker(registry, pumps=pumps)):
            await store.until(lambda: store.turns >= pumps)
            for name in ("turn", "read", "write"):
                count(store, name)
            begun = store.turns
            await store.until(lambda: store.turns >= begun + 10 * pumps)

    asyncio.run(play())
    # Ten looks: in that time each of the three other rhythms comes about ten times, with at most two
    # transactions.
    assert calls["turn"] <= 12 * pumps
    assert calls["read"] + calls["write"] <= 60


@pytest.mark.promise(4)
def test_an_idle_worker_before_a_closed_gate_does_not_spin(workshop):
    async def play():
        async def do(ctx):
            return Done()

        app = one_stage("do", do, through=("source:web",), sources=(Source("web"),))
        registry = workshop.set_up(
            app, worker__poll=3_600.0, reaper__every=3_600.0, settings__every=0.05, worker__lease=3_600.0
        )
        sources.pause(workshop.store, "source:web", 7_200_000_000, "a long break")
        workshop.put(registry, *(NewTask("do") for _ in range(50)))
        store = workshop.store
        rounds = threading.Semaphore(0)
        read = store.backend.read

        def reading():
            rounds.release()
            return read()

        async with at_work(workshop.worker(registry)):
            await store.until(
                lambda: rows(store, "select count(*) from lanes where status = 'parked'") == [(1,)]
            )
            store.backend.read = reading
            begun = store.turns
            waited = await asyncio.get_running_loop().run_in_executor(
                None, lambda: all(rounds.acquire(timeout=10) for _ in range(20))
            )
            assert waited
            assert store.turns - begun <= 3

    asyncio.run(play())


@pytest.mark.promise(1)
def test_a_chore_that_fails_is_tried_again_and_the_others_go_on(workshop, monkeypatch):
    """A schedule that nobody can read must not end the reaping of lost workers."""

    async def play():
        async def do(ctx):
            return Done()

        app = App(
            "clockwork",
            pipelines=(Pipeline("do", Stage(do)),),
            schedules=(
                Schedule("bad", NewTask("do"), every=60),
                Schedule("good", NewTask("do"), every=60),
            ),
        )
        registry = workshop.set_up(app)
        change(
            workshop.store,
            "update schedules set entry = :entry where name = 'bad'",
            entry=_entry_behind_no_gate(workshop.store),
        )
        workshop.clock.advance(61_000_000)
        async with at_work(workshop.worker(registry)):
            await workshop.store.until(
                lambda: rows(workshop.store, "select count(*) from tasks where state = 'succeeded'") == [(1,)]
            )
            change(
                workshop.store,
                "update schedules set timezone = 'Nowhere', cron = '* * * * *', every_us = null where name = 'bad'",
            )
            workshop.clock.advance(61_000_000)
            workshop.store.backend.ping()
            await workshop.store.until(
                lambda: rows(workshop.store, "select count(*) from tasks where state = 'succeeded'") == [(2,)]
            )

    asyncio.run(play())


def _entry_behind_no_gate(store):
    ((entry,),) = rows(store, "select entry from schedules where name = 'bad'")
    return entry.replace('"gates":[]', '"gates":["source:nobody"]')


@pytest.mark.promise(1)
def test_schedules_fire_while_stages_hold_every_thread_of_the_loop(workshop):
    """`asyncio.to_thread` shares a few threads; a hundred stages that wait on them must not stop the
    chores."""
    may_end = threading.Event()

    async def hold(ctx):
        await asyncio.to_thread(may_end.wait, 30)
        return Done()

    async def tick(ctx):
        return Done()

    async def play():
        pipelines = (Pipeline("hold", Stage(hold)), Pipeline("tick", Stage(tick)))
        often = Schedule("often", NewTask("tick"), every=1)
        registry = workshop.set_up(App("test", pipelines=pipelines, schedules=(often,)), worker__lease=3_600)
        workshop.put(registry, *(NewTask("hold") for _ in range(100)))
        done = "select count(*) from tasks where kind = 'tick' and state = 'succeeded'"
        async with at_work(workshop.worker(registry, concurrency=200)):
            try:
                for _ in range(600):
                    workshop.clock.advance(100_000)
                    if rows(workshop.store, done)[0][0] >= 2:
                        break
                    await asyncio.sleep(0.02)
                assert rows(
                    workshop.store, "select count(*) from tasks where kind = 'hold' and state = 'running'"
                ) == [(100,)]
            finally:
                may_end.set()
        return rows(workshop.store, done)[0][0]

    assert asyncio.run(play()) >= 2
