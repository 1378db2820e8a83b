"""Several machines settle members of nested groups at once, and people cancel them and send them back: the
counts hold."""

import random
import threading

import pytest

from tests.harness.databases import only_postgres, with_processes
from tests.harness.groups import group
from tests.harness.hand import hands
from tests.harness.tasks import SOMEBODY, claim, claim_one, done, entry, failed, put, retry, rows
from tests.store.test_groups import REPORT, opened, pages
from thresher.core.settlement import Settlement
from thresher.store import tasks
from thresher.store.repair import repair

MACHINES = 4
TREES = 8
MAX_VISITS = 5_000


def next_step(luck, task, at):
    """What a machine says of a task: members end in many ways, spawn children, and open groups below and
    beside their own."""
    fate = luck.random()
    children = tuple(
        entry(key=f"{task.id} {at} {n}") for n in range(luck.randint(0, 3) if task.depth < 3 else 0)
    )
    if task.kind == "root" or (fate < 0.15 and task.depth < 3):
        opens = group(f"{luck.randint(0, 20)} of {task.tracking_id}", then=REPORT)
        if fate < 0.5:
            return Settlement.advance(
                task, stage="more", gates=(), checkpoint="{}", children=children, group=opens
            )
        return done(task, children=children, group=opens, counts=(("pages", 1),))
    if fate < 0.3:
        return retry(task)
    if fate < 0.45:
        return failed(task)
    return done(task, children=children, counts=(("pages", 1),) if fate < 0.7 else ())


def work(store, seed, problems):
    luck, held = random.Random(seed), []
    try:
        for at in range(MAX_VISITS):
            turn = store.turn([next_step(luck, task, at) for task in held], luck.randint(1, 6), SOMEBODY)
            assert turn.stale == []
            held = turn.tasks
            if luck.random() < 0.1:
                meddle(store, luck)
            if not held and rows(store, "select count(*) from tasks where finished_at is null") == [(0,)]:
                return
        raise AssertionError(f"not done after {MAX_VISITS} visits")
    except BaseException as problem:
        problems.append(problem)


def meddle(store, luck):
    """A person among the machines."""
    newest = rows(store, "select max(id) from tasks")[0][0]
    some = [luck.randint(1, newest) for _ in range(3)]
    if luck.random() < 0.7:
        tasks.cancel(store, some, "a person")
    elif newest < 1_000:
        tasks.revive(store, some)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@with_processes
def test_whatever_happens_at_once_every_group_ends_with_its_members_and_is_followed_once(database):
    stores = [database.open(queue__quantum=2) for _ in range(MACHINES)]
    put(stores[0], *(entry("root") for _ in range(TREES)))
    problems: list[BaseException] = []
    threads = [
        threading.Thread(target=work, args=(store, seed, problems)) for seed, store in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []

    store = stores[0]
    assert rows(
        store, "select count(*) from task_groups where ended_at is null or live <> 0 or open_groups <> 0"
    ) == [(0,)]
    assert rows(
        store, "select count(*) from task_groups where follow_up is not null or open_key is not null"
    ) == [(0,)]
    assert rows(store, "select count(*) from task_groups")[0][0] >= TREES
    ended = "select group_id, state, count(*) from tasks where group_id is not null group by group_id, state"
    for group_id, state, number in rows(store, ended):
        assert rows(store, f"select {state} from task_groups where id = :id", id=group_id) == [(number,)]
    made = rows(store, "select count(*) from tasks where kind = 'report'")
    assert made == rows(store, "select count(*) from task_groups where then_id is not null")
    assert repair(store) == []


@pytest.mark.promise(1)
@only_postgres
def test_the_last_two_members_settled_at_the_same_time_end_their_group_once(database, store):
    group_id = opened(store, *pages(2), then=REPORT)
    one, two = claim(store, 2)
    with hands(database, store, 2) as (first, second):
        first.store.settle([done(one)])
        second.begin(lambda other: other.turn([done(two)], 0, SOMEBODY))
        assert second.waits()
        first.commit()
        second.finish()
    assert rows(
        store, "select succeeded, live, ended_at is null from task_groups where id = :id", id=group_id
    ) == [(2, 0, False)]
    assert rows(store, "select count(*) from tasks where kind = 'report'") == [(1,)]


@pytest.mark.promise(2)
@only_postgres
def test_a_member_that_ends_while_a_person_sends_it_back_is_counted_once(database, store):
    group_id = opened(store, *pages(1))
    member = claim_one(store)
    with hands(database, store, 2) as (worker, person):
        worker.store.settle([failed(member)])
        person.begin(lambda other: tasks.revive(other, [member.id]))
        assert person.waits()
        worker.commit()
        assert person.finish() == [member.id]
    assert rows(
        store, "select live, failed, ended_at is null from task_groups where id = :id", id=group_id
    ) == [(1, 0, True)]


@pytest.mark.promise(4)
@only_postgres
def test_sending_tasks_back_locks_none_that_wait(database, store):
    """A claim that holds the lane of a waiting task takes its row without asking, and holds groups while it
    does."""
    opened(store, *pages(1))
    ((waiting,),) = rows(store, "select id from tasks where group_id is not null")
    with hands(database, store, 2) as (person, claimer):
        assert tasks.revive(person.store, [waiting]) == []
        claimer.begin(lambda _: claimer.hold("tasks", waiting))
        assert not claimer.waits()


@pytest.mark.promise(6)
@only_postgres
def test_two_tasks_that_open_the_same_group_at_the_same_time_open_it_once(database, store):
    put(store, entry("opener"), entry("opener"))
    one, two = claim(store, 2)
    with hands(database, store, 2) as (first, second):
        first.store.settle([done(one, children=(entry(key="a"),), group=group())])
        second.begin(lambda other: other.settle([done(two, children=(entry(key="b"),), group=group())]))
        assert second.waits()
        first.commit()
        second.finish()
    assert rows(store, "select count(*) from task_groups") == [(1,)]
    assert rows(store, "select parent_id, rule from refusals") == [(two.id, "group_open")]
