"""A quarantined task has last words as any other that fails for good: said once, by a worker that knows its
kind."""

import threading
from dataclasses import replace

import pytest

from tests.engine.workshop import one_stage
from tests.harness.databases import with_processes
from tests.harness.tasks import change, rows
from thresher import App, Done, Effect, NewTask, Pipeline, Record, Stage
from thresher.core.outcome import Finds
from thresher.engine.chores import reap_lost, say_words
from thresher.engine.registry import Registry
from thresher.store import tasks, workers

pytestmark = with_processes


async def do(ctx):
    return Done()


def mourning(failed):
    return App(
        "test", pipelines=(Pipeline("frail", Stage(do), failed=failed), Pipeline("clean_up", Stage(do)))
    )


def words(task, error, settings):
    record = Record("obituary", str(task.id), {"why": error.name, "n": task.payload["n"]})
    return Finds(records=(record,), children=(NewTask("clean_up", {}, url=f"https://a.example/{task.id}"),))


def quarantine(workshop, registry, number=1):
    """Tasks that lose their worker once too often; whoever finds out knows none of their kinds."""
    ids = workshop.put(registry, *(NewTask("frail", {"n": n}) for n in range(number)))
    victim = workers.register(workshop.store, name="victim", host="here", pid=1, lease_us=1_000_000)
    assert len(workshop.store.turn([], number, victim).tasks) == number
    workshop.clock.advance(2_000_000)
    assert reap_lost(workshop.store)
    assert {workshop.fields(each)["error"] for each in ids} == {"Quarantined"}
    return ids


@pytest.mark.promise(2)
@pytest.mark.promise(20)
def test_a_quarantined_task_has_its_last_words_written_once_however_many_know_its_kind(workshop):
    registry = workshop.set_up(mourning(words), retry__max_crashes=1)
    ids = quarantine(workshop, registry, 5)
    stranger = Registry([one_stage("other", do)], workshop.store.settings)
    assert say_words(stranger, workshop.store) is None, "nobody here knows the kind"
    others = [workshop.machine() for _ in range(3)]
    threads = [threading.Thread(target=say_words, args=(registry, store)) for store in others]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert rows(workshop.store, "select count(*), sum(seen) from records where kind = 'obituary'") == [(5, 5)]
    assert rows(workshop.store, "select count(*) from tasks where kind = 'clean_up'") == [(5,)]
    assert rows(workshop.store, "select count(*) from last_words") == [(0,)]
    assert {workshop.state(each) for each in ids} == {"failed"}


@pytest.mark.promise(2)
def test_a_task_that_a_person_sent_back_meanwhile_has_no_last_words(workshop):
    registry = workshop.set_up(mourning(words), retry__max_crashes=1)
    (task_id,) = quarantine(workshop, registry)
    assert tasks.revive(workshop.store, [task_id]) == [task_id]
    assert say_words(registry, workshop.store) is None
    assert rows(workshop.store, "select count(*) from records") == [(0,)]
    assert rows(workshop.store, "select count(*) from last_words") == [(0,)]


@pytest.mark.promise(1)
def test_a_worker_says_the_last_words_and_mistakes_in_them_hurt_nobody(workshop):
    def stumble(task, error, settings):
        if task.payload["n"] == 0:
            raise RuntimeError("speechless")
        return words(task, error, settings)

    registry = workshop.set_up(mourning(stumble), retry__max_crashes=1, reaper__every=0.02, run__patience=0.2)
    quarantine(workshop, registry, 2)
    change(workshop.store, "update workers set stopped_at = 1")
    (held,) = workshop.put(registry, NewTask("clean_up", {}, delay=0.0))
    workshop.drain(registry, patience=1.0)
    for _ in range(3):
        say_words(registry, workshop.store)
    assert rows(workshop.store, "select count(*) from records where kind = 'obituary'") == [(1,)]
    assert rows(workshop.store, "select count(*) from last_words") == [(0,)]
    assert workshop.state(held) == "succeeded"


def make_broken(session, data, now):
    raise KeyError("an effect without what it needs: the store finds out, and nobody before it")


BROKEN, EFFECTS = Effect("broken"), {"broken": make_broken}


@pytest.mark.promise(2)
@pytest.mark.promise(20)
def test_a_task_that_brought_what_cannot_be_stored_has_its_last_words_too(workshop):
    async def bring(ctx):
        return Done(effects=(BROKEN,))

    app = App(
        "test",
        pipelines=(Pipeline("frail", Stage(bring), failed=words), Pipeline("clean_up", Stage(do))),
        effects=EFFECTS,
    )
    registry = workshop.set_up(app, reaper__every=3_600)
    (task_id,) = workshop.put(registry, NewTask("frail", {"n": 1}))
    workshop.drain(registry)
    assert (workshop.state(task_id), workshop.fields(task_id)["error"]) == ("failed", "KeyError")
    say_words(registry, workshop.store)
    assert rows(workshop.store, "select key from records where kind = 'obituary'") == [(str(task_id),)]
    assert rows(workshop.store, "select count(*) from last_words") == [(0,)]


@pytest.mark.promise(1)
def test_last_words_that_cannot_be_stored_do_not_keep_those_of_others_waiting(workshop):
    def stumble(task, error, settings):
        return Finds(effects=(BROKEN,)) if task.payload["n"] == 0 else words(task, error, settings)

    registry = workshop.set_up(replace(mourning(stumble), effects=EFFECTS), retry__max_crashes=1)
    _, other = quarantine(workshop, registry, 2)
    say_words(registry, workshop.store)
    assert rows(workshop.store, "select key from records where kind = 'obituary'") == [(str(other),)]
    assert rows(workshop.store, "select count(*) from last_words") == [(0,)]


@pytest.mark.promise(1)
@pytest.mark.promise(8)
def test_a_task_that_is_quarantined_again_before_anybody_spoke_has_its_last_words_once(workshop):
    registry = workshop.set_up(mourning(words), retry__max_crashes=1)
    (task_id,) = quarantine(workshop, registry)
    tasks.revive(workshop.store, [task_id])
    victim = workers.register(workshop.store, name="next", host="here", pid=1, lease_us=1_000_000)
    assert len(workshop.store.turn([], 1, victim).tasks) == 1
    workshop.clock.advance(2_000_000)
    reap_lost(workshop.store)
    assert workshop.state(task_id) == "failed"
    say_words(registry, workshop.store)
    assert rows(workshop.store, "select key, seen from records where kind = 'obituary'") == [
        (str(task_id), 1)
    ]
