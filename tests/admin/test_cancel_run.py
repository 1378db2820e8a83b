"""A run is cancelled whole: its tasks, and those of the groups below it, however many they are."""

import random
import threading

import pytest

from tests.harness.databases import only_postgres, with_processes
from tests.harness.groups import counts, followers, group, has_ended, newest, opened
from tests.harness.hand import hands
from tests.harness.tasks import (
    claim,
    claim_one,
    done,
    entry,
    failed,
    fields_of,
    put,
    retry,
    rows,
    settle,
    state_of,
    worker,
)
from thresher.admin import tasks
from thresher.admin.tasks import RunCancelled, cancel_run, count_run
from thresher.core.clock import HOUR
from thresher.core.errors import UnknownName
from thresher.store import tasks as store_tasks
from thresher.store.workers import renew


def pages(number, start=0, kind="page", **how):
    return [entry(kind, key=f"{kind} {at}", **how) for at in range(start, start + number)]


def live(store, group_id):
    return count_run(store, group_id).live


def test_waiting_tasks_are_cancelled_and_running_ones_asked_to_stop(store):
    anna = worker(store)
    run = opened(store, *pages(3), *pages(1, kind="later", delay_us=HOUR))
    task, again = claim(store, 2, anna)
    settle(store, retry(again, HOUR))
    found = cancel_run(store, run, "not needed")
    assert found == RunCancelled(run, cancelled=3, asked=1, live=1)
    assert renew(store, anna).cancelling == {(task.id, task.claim)}
    assert {
        fields_of(store, row[0])["reason"]
        for row in rows(store, "select id from tasks where state = 'cancelled'")
    } == {"not needed"}
    assert cancel_run(store, run, "again") == RunCancelled(run, 0, 0, 1), "who was asked is not asked again"
    assert count_run(store, run).cancelled == 3


def test_groups_below_are_cancelled_with_it_and_others_are_left_alone(store):
    run = opened(store, *pages(2, kind="list"))
    for _ in range(2):
        settle(
            store,
            done(claim_one(store), children=pages(3, newest(store) * 10), group=group(f"k{newest(store)}")),
        )
    beside = opened(store, *pages(2, kind="beside"), key="beside")
    alone = put(store, entry("alone"))
    assert len(rows(store, "select id from task_groups")) == 4
    assert cancel_run(store, run, "x") == RunCancelled(run, 6, 0, 0)
    assert (has_ended(store, run), live(store, beside), state_of(store, *alone)) == (True, 2, "pending")


@pytest.mark.promise(1)
def test_what_has_ended_stays_as_it_is_and_the_run_is_followed_once(store):
    run = opened(store, *pages(4), then=entry("report"))
    first, second = claim(store, 2)
    settle(store, done(first), failed(second))
    assert cancel_run(store, run, "x").cancelled == 2
    assert counts(store, run) == {"succeeded": 1, "failed": 1, "cancelled": 2}
    assert (has_ended(store, run), followers(store)) == (True, [("report", 1)])
    assert cancel_run(store, run, "x") == RunCancelled(run, 0, 0, 0)
    assert claim_one(store).kind == "report", "the run's own follow-up is no member of it, and tells the end"


def test_the_follow_up_of_a_group_below_is_a_member_of_the_run_and_cancelled_too(store):
    run = opened(store, entry("list", key="l"))
    settle(store, done(claim_one(store), children=pages(2), group=group("below", then=entry("report"))))
    assert cancel_run(store, run, "x") == RunCancelled(run, 3, 0, 0)
    assert (followers(store), has_ended(store, run)) == ([("report", 1)], True)


def test_a_run_that_nobody_knows_is_named(store):
    with pytest.raises(UnknownName, match="there is no run or group 99"):
        cancel_run(store, 99, "x")


def many(store, number):
    """A run of so many waiting tasks, written by the database itself."""
    run = opened(store, entry("page", key="first"))
    with store.write() as session:
        session.run(
            f"""insert into tasks (kind, stage, state, lane_id, due, rank, priority, payload, created_at, group_id, tracking_id)
            with recursive n(i) as (select 1 union all select i + 1 from n where i < {number - 1})
            select kind, stage, state, lane_id, 1, rank + i, 0, payload, created_at, group_id, tracking_id
            from tasks cross join n where kind = 'page'"""
        )
        session.run("update task_groups set live = :live where id = :id", {"live": number, "id": run})
    return run


@pytest.mark.promise(4)
def test_very_many_are_cancelled_in_portions_of_which_none_is_large(store, monkeypatch):
    sizes, cancel = [], store_tasks.cancel

    def watched(its, ids, reason):
        sizes.append(len(ids))
        return cancel(its, ids, reason)

    monkeypatch.setattr(tasks, "MAX_MEMBERS_READ", 2_000)
    monkeypatch.setattr(store_tasks, "cancel", watched)
    run = many(store, 5_200)
    assert cancel_run(store, run, "x") == RunCancelled(run, 5_200, 0, 0)
    assert (max(sizes), sum(sizes)) == (store_tasks.MAX_AT_ONCE, 5_200)
    assert (has_ended(store, run), claim(store, 5)) == (True, [])


@pytest.mark.promise(1)
def test_who_dies_between_two_portions_is_finished_by_whoever_asks_again(store, monkeypatch):
    run, cancel, portions = many(store, 1_700), store_tasks.cancel, []

    def dying(its, ids, reason):
        portions.append(ids)
        if len(portions) == 3:
            raise KeyboardInterrupt
        return cancel(its, ids, reason)

    monkeypatch.setattr(store_tasks, "cancel", dying)
    with pytest.raises(KeyboardInterrupt):
        cancel_run(store, run, "x")
    assert counts(store, run) == {"cancelled": 1_000, "live": 700}
    assert cancel_run(store, run, "x") == RunCancelled(run, 700, 0, 0)
    assert counts(store, run) == {"cancelled": 1_700}


@pytest.mark.promise(3)
@only_postgres
def test_claims_and_enqueueing_wait_for_nobody_who_cancels(database, store):
    """With the transaction of a portion open, and its lane held."""
    opened(store, *pages(5))
    (task,) = put(store, entry("other"))
    with hands(database, store, 1) as (one,):
        waiting = [row[0] for row in rows(store, "select id from tasks where kind = 'page'")]
        assert len(store_tasks.cancel(one.store, waiting, "x").cancelled) == 5
        assert claim_one(store).id == task
        assert len(put(store, entry("page"))) == 1
        one.commit()


@with_processes
def test_what_a_running_task_brings_before_it_hears_of_the_end_is_cancelled_while_it_is_waited_for(database):
    store, other = database.open(), database.open()
    run = opened(store, entry("list", key="l"))
    task = claim_one(store)
    asked = threading.Event()

    def finishing():
        while not rows(other, "select 1 from tasks where id = :id and cancelling = 1", id=task.id):
            asked.wait(0.01)
        settle(other, done(task, children=pages(3)))

    thread = threading.Thread(target=finishing)
    thread.start()
    found = cancel_run(store, run, "x", wait=30)
    thread.join()
    assert found == RunCancelled(run, 3, 1, 0)
    assert state_of(store, task.id) == "succeeded"


@pytest.mark.promise(1)
@pytest.mark.promise(3)
@with_processes
def test_workers_that_go_on_spawning_while_a_run_is_cancelled_leave_nothing_of_it_and_no_count_is_wrong(
    database,
):
    stores = [database.open() for _ in range(3)]
    run, ended, problems = many(stores[0], 1_500), threading.Event(), []

    def working(store, seed):
        luck = random.Random(seed)
        try:
            while not ended.is_set():
                for task in claim(store, 5):
                    children = [
                        entry("page", key=f"{seed} {luck.random()}") for _ in range(luck.randrange(3))
                    ]
                    below = group(f"g{luck.random()}") if children and luck.random() < 0.3 else None
                    settle(store, done(task, children=children, group=below))
        except BaseException as problem:
            problems.append(problem)

    workers = [threading.Thread(target=working, args=(each, seed)) for seed, each in enumerate(stores[1:])]
    for each in workers:
        each.start()
    found = cancel_run(stores[0], run, "x", wait=60)
    ended.set()
    for each in workers:
        each.join()
    assert problems == []
    assert (found.live, live(stores[0], run)) == (0, 0)
    assert rows(stores[0], "select count(*) from tasks where finished_at is null") == [(0,)]
    assert rows(stores[0], "select sum(live) from task_groups") == [(0,)]
    assert (
        found.cancelled == rows(stores[0], "select count(*) from tasks where state = 'cancelled'")[0][0] > 0
    )
