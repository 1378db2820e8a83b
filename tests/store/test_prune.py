import pytest

from tests.harness.tasks import attempts_of, claim, claim_one, done, entry, failed, filing, put, rows, running, settle
from thresher.core.clock import DAY
from thresher.store import blobs, pages
from thresher.store.prune import prune
from thresher.store.tasks import revive


def ids(store):
    return [row[0] for row in rows(store, "select id from tasks order by id")]


def test_old_history_goes_and_recent_history_stays(store, clock):
    settle(store, done(running(store)))
    clock.advance(29 * DAY)
    recent = running(store)
    settle(store, done(recent))
    clock.advance(2 * DAY)
    assert prune(store) == 1
    assert ids(store) == [recent.id]
    assert rows(store, "select task_id from attempts") == [(recent.id,)]


@pytest.mark.promise(1)
def test_what_still_lives_is_never_pruned(store, clock):
    waiting, delayed = put(store, entry(), entry(delay_us=1_000 * DAY))
    held = running(store, entry(priority=5))
    clock.advance(400 * DAY)
    assert prune(store) == 0
    assert ids(store) == sorted([waiting, delayed, held.id])


@pytest.mark.promise(6)
def test_a_lineage_with_a_living_member_is_kept_whole(store, clock):
    """The loop guard asks the lineage what has already ended."""
    root = running(store, entry(key="root"))
    settle(store, done(root, children=(entry(key="a"), entry(key="b", delay_us=400 * DAY))))
    settle(store, done(claim_one(store)))
    clock.advance(100 * DAY)
    assert prune(store) == 0
    clock.advance(300 * DAY)
    last = claim_one(store)
    settle(store, done(last, children=(entry(key="a"),)))
    assert rows(store, "select rule from refusals") == [("ended_in_lineage",)]

    clock.advance(31 * DAY)
    assert prune(store) == 3
    assert (ids(store), attempts_of(store, root.id), rows(store, "select rule from refusals")) == ([], [], [])


def test_pruning_goes_batch_by_batch_to_the_end(make_store, clock):
    store = make_store(prune__batch=3)
    put(store, *(entry() for _ in range(10)))
    kept = running(store, entry(key="root", priority=5))
    settle(store, *(done(task) for task in claim(store, 10)))
    settle(store, done(kept, children=(entry(key="child", delay_us=100 * DAY),)))
    clock.advance(31 * DAY)
    assert prune(store) == 10
    assert kept.id in ids(store)


def test_the_largest_allowed_batch_fits_into_one_statement(make_store, clock):
    store = make_store(prune__batch=10_000)
    put(store, *(entry() for _ in range(50)))
    settle(store, *(done(task) for task in claim(store, 50)))
    clock.advance(31 * DAY)
    assert prune(store) == 50


def test_a_revived_task_is_not_pruned(store, clock):
    task = running(store)
    settle(store, failed(task))
    clock.advance(31 * DAY)
    revive(store, [task.id])
    assert prune(store) == 0
    assert claim_one(store).id == task.id


def test_old_events_go_too(store, clock):
    task = running(store)
    settle(store, done(task))
    store.settle([done(task)])
    assert rows(store, "select count(*) from events") == [(1,)]
    clock.advance(91 * DAY)
    prune(store)
    assert rows(store, "select count(*) from events") == [(0,)]


def test_records_outlive_the_tasks_that_found_them(store, clock):
    settle(store, done(running(store), records=(filing("a", ("role", "python")),)))
    clock.advance(31 * DAY)
    assert prune(store) == 1
    assert rows(store, "select count(*) from links") == [(1,)]


def test_what_a_stage_saved_outlives_the_task_that_saved_it(store, clock):
    """A record may name it: what history forgets and what pages leave behind are two different things."""
    name = blobs.put(store, b"evidence")
    settle(store, done(running(store), records=(filing("a", data=f'{{"evidence": "{name}"}}'),)))
    clock.advance(31 * DAY)
    assert prune(store) == 1
    pages.prune_pages(store, 0)
    assert blobs.get(store, name) == b"evidence"
