"""Schedules in the store: any number of schedulers, each firing once."""

import asyncio
import threading

import pytest

from tests.engine.workshop import PATIENCE, at_work
from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher import App, Done, NewTask, Pipeline, Schedule, Source, Stage
from thresher.core.clock import HOUR, MINUTE
from thresher.engine.chores import fire_schedules

pytestmark = with_processes


async def do(ctx):
    return Done()


def clockwork(*schedules, through=()):
    return App(
        "clockwork",
        pipelines=(Pipeline("tick", Stage(do, through=through)),),
        sources=(Source("web"),),
        schedules=schedules,
    )


def fired(workshop):
    return [key for (key,) in rows(workshop.store, "select dedupe_key from tasks order by dedupe_key")]


@pytest.mark.promise(2)
def test_of_many_schedulers_that_see_the_same_firing_one_fires_it(workshop):
    workshop.set_up(
        clockwork(Schedule("a", NewTask("tick"), every=60), Schedule("b", NewTask("tick"), cron="* * * * *"))
    )
    machines = [workshop.machine() for _ in range(4)]
    for round_number in range(1, 6):
        workshop.clock.advance(MINUTE)
        together = threading.Barrier(len(machines))
        problems = []

        def look(machine, together=together, problems=problems):
            together.wait(PATIENCE)
            try:
                fire_schedules(machine)
            except Exception as problem:
                problems.append(problem)

        threads = [threading.Thread(target=look, args=(machine,)) for machine in machines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert not problems
        assert len(fired(workshop)) == len(set(fired(workshop))) == 2 * round_number


@pytest.mark.promise(1)
def test_workers_fire_schedules_and_perform_what_they_ask_for(workshop):
    async def play():
        registry = workshop.set_up(
            clockwork(Schedule("a", NewTask("tick", {"n": 1}), every=60), through=("source:web",))
        )
        workshop.clock.advance(MINUTE)
        other = workshop.machine()
        async with at_work(workshop.worker(registry)), at_work(workshop.worker(registry, other)):
            await workshop.store.until(
                lambda: rows(workshop.store, "select count(*) from tasks where state = 'succeeded'") == [(1,)]
            )

    asyncio.run(play())
    assert len(fired(workshop)) == 1


@pytest.mark.parametrize(("missed", "number"), [("skip", 0), ("one", 1), ("all", 5)])
def test_firings_that_nobody_was_awake_for(workshop, missed, number):
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=3_600, missed=missed)))
    ((first,),) = rows(workshop.store, "select next_at from schedules")
    workshop.clock.advance(first + 4 * HOUR + 30 * MINUTE - workshop.clock.now())
    fire_schedules(workshop.store)
    fire_schedules(workshop.store)
    assert len(fired(workshop)) == number
    assert rows(workshop.store, "select next_at from schedules") == [(first + 5 * HOUR,)]


def test_an_app_that_comes_again_does_not_move_its_schedules(workshop):
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=3_600)))
    before = rows(workshop.store, "select next_at from schedules")
    workshop.clock.advance(2 * HOUR)
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=3_600)))
    assert rows(workshop.store, "select next_at from schedules") == before
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=60)))
    assert rows(workshop.store, "select next_at from schedules") != before


@pytest.mark.promise(1)
def test_the_schedules_of_an_app_that_is_gone_stop(workshop):
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=60, missed="all")))
    workshop.store.apps = frozenset({"another"})
    workshop.clock.advance(10 * MINUTE)
    assert fire_schedules(workshop.store) is None
    assert fired(workshop) == []
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), every=60, missed="all")))  # it is back
    fire_schedules(workshop.store)
    assert len(fired(workshop)) == 10


RHYTHMS = [
    {"every": 60},
    {"every": 1_800},
    {"every": 3_600},
    {"cron": "* * * * *"},
    {"cron": "*/5 * * * *"},
    {"cron": "30 * * * *"},
]


@pytest.mark.promise(1)
@pytest.mark.parametrize("rhythm", RHYTHMS, ids=str)
@pytest.mark.parametrize("has_fired", [True, False])
def test_a_clock_that_goes_back_an_hour_silences_no_schedule(workshop, rhythm, has_fired):
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), **rhythm)))
    if has_fired:
        ((first,),) = rows(workshop.store, "select next_at from schedules")
        workshop.clock.advance(first - workshop.clock.now() + MINUTE // 2)
        assert fire_schedules(workshop.store)
    before = len(fired(workshop))
    with workshop.store.write() as session:
        # The tasks of the first hour are over: the same times may be asked for again.
        session.run("update tasks set dedupe_key = null, lineage_key = null", {})
    workshop.clock.advance(-HOUR)
    usual = rhythm.get("every", 3_600 if rhythm.get("cron") == "30 * * * *" else 300)
    for _ in range(0, usual * 3 // 2 + 61, 30):
        fire_schedules(workshop.store)
        workshop.clock.advance(30 * 1_000_000)
    assert len(fired(workshop)) > before


@pytest.mark.promise(2)
def test_a_daily_schedule_does_not_fire_twice_when_the_clock_goes_back_an_hour(workshop):
    workshop.set_up(clockwork(Schedule("a", NewTask("tick"), cron="30 2 * * *")))
    ((first,),) = rows(workshop.store, "select next_at from schedules")
    workshop.clock.advance(first - workshop.clock.now() + MINUTE)
    fire_schedules(workshop.store)
    workshop.clock.advance(-HOUR)
    for _ in range(5):
        fire_schedules(workshop.store)
        workshop.clock.advance(HOUR // 2)
    assert len(fired(workshop)) == 1
    assert rows(workshop.store, "select next_at from schedules") == [(first + 24 * HOUR,)]
