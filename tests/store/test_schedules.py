import threading

import orjson
import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import claim, done, entry, fields_of, rows, settle
from thresher.core.clock import HOUR
from thresher.store.schedules import Plan, drop_plans, fire, pause_plan, read_plans, save_plan


def plan(clock, **changes):
    given = {
        "name": "nightly",
        "app": "orchard",
        "entry": entry("harvest", payload={"n": 1}),
        "cron": None,
        "every_us": HOUR,
        "timezone": "UTC",
        "missed": "one",
        "next_at": clock.now() + HOUR,
    }
    return Plan(**given | changes)


def save(store, saved):
    with store.write() as session:
        save_plan(session, saved)


def plans(store, due_at=None):
    with store.read() as session:
        return read_plans(session, due_at)


def test_a_schedule_is_kept_as_it_was_given(store, clock):
    save(store, plan(clock))
    assert plans(store) == [plan(clock)]


@pytest.mark.promise(1)
def test_a_schedule_that_a_newer_release_wrote_is_read_as_far_as_it_is_known(store, clock):
    save(store, plan(clock))
    with store.write() as session:
        ((kept,),) = session.rows("select entry from schedules")
        newer = orjson.dumps(orjson.loads(kept) | {"colour": "red"}).decode()
        session.run("update schedules set entry = :entry", {"entry": newer})
    assert plans(store) == [plan(clock)]


def test_only_what_is_due_is_found_due(store, clock):
    save(store, plan(clock))
    assert plans(store, clock.now()) == []
    assert len(plans(store, clock.now() + HOUR)) == 1


@pytest.mark.promise(2)
def test_of_two_machines_that_saw_the_same_firing_one_fires_it(make_store, clock):
    one, other = make_store(), make_store()
    save(one, plan(clock))
    at = clock.advance(HOUR)
    (seen,), (seen_too,) = plans(one, at), plans(other, at)
    assert fire(one, seen, [at], at + HOUR)
    assert not fire(other, seen_too, [at], at + HOUR)
    (task,) = claim(one, 5)
    assert (task.kind, dict(task.payload)) == ("harvest", {"n": 1})
    assert fields_of(one, task.id)["dedupe_key"] == f"schedule:nightly:{at}"
    assert (plans(one)[0].next_at, plans(one)[0].last_at) == (at + HOUR, at)


@pytest.mark.promise(2)
@with_processes
def test_machines_that_fire_at_the_same_moment_fire_once(make_store, clock):
    machines = [make_store() for _ in range(3)]
    save(machines[0], plan(clock))
    at = clock.advance(HOUR)
    start, fired = threading.Barrier(3), []

    def run(store):
        (seen,) = plans(store, at)
        start.wait(10)
        fired.append(fire(store, seen, [at], at + HOUR))

    threads = [threading.Thread(target=run, args=(store,)) for store in machines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(fired) == [False, False, True]
    assert rows(machines[0], "select count(*) from tasks") == [(1,)]


@pytest.mark.promise(2)
def test_a_firing_that_cannot_be_enqueued_has_not_happened(store, clock):
    save(store, plan(clock, entry=entry("harvest", gates=["source:nobody"])))
    at = clock.advance(HOUR)
    with pytest.raises(Exception, match="no source"):
        fire(store, plans(store)[0], [at], at + HOUR)
    assert plans(store)[0].next_at == at


def test_missed_firings_are_made_up_for_in_one_go(store, clock):
    save(store, plan(clock))
    first = clock.now() + HOUR
    fire(store, plans(store)[0], [first, first + HOUR, first + 2 * HOUR], first + 3 * HOUR)
    found = claim(store, 5)
    assert len(found) == 3
    settle(store, *(done(task) for task in found))


def test_saving_again_keeps_the_next_firing_unless_the_rhythm_changed(store, clock):
    save(store, plan(clock))
    save(store, plan(clock, next_at=clock.now() + 5, missed="all"))
    assert (plans(store)[0].next_at, plans(store)[0].missed) == (clock.now() + HOUR, "all")
    save(store, plan(clock, next_at=clock.now() + 5, every_us=2 * HOUR))
    assert plans(store)[0].next_at == clock.now() + 5


def test_a_paused_schedule_does_not_fire(store, clock):
    save(store, plan(clock))
    (seen,) = plans(store)
    with store.write() as session:
        assert pause_plan(session, "nightly", paused=True)
        assert not pause_plan(session, "nobody", paused=True)
    assert plans(store, clock.now() + HOUR) == []
    assert not fire(store, seen, [seen.next_at], None)


@pytest.mark.parametrize("keep", [["weekly"], []])
def test_a_schedule_that_its_app_no_longer_declares_is_forgotten(store, clock, keep):
    for name, app in (("nightly", "orchard"), ("weekly", "orchard"), ("hourly", "garden")):
        save(store, plan(clock, name=name, app=app))
    with store.write() as session:
        drop_plans(session, "orchard", keep)
    assert [each.name for each in plans(store)] == ["hourly", *keep]
