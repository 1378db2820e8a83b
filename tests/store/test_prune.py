import pytest

from tests.harness.costs import plans, scans, used
from tests.harness.databases import memory_database, only_postgres
from tests.harness.tasks import (
    attempts_of,
    claim,
    claim_one,
    done,
    entry,
    failed,
    filing,
    put,
    retry,
    rows,
    running,
    settle,
    state_of,
    worker,
)
from thresher.core.answer import ModelAnswer, Usage
from thresher.core.clock import DAY
from thresher.core.evidence import Evidence
from thresher.store import answers
from thresher.store.prune import prune
from thresher.store.tasks import revive
from thresher.store.workers import reap, stop


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


def test_events_go_batch_by_batch(make_store, clock):
    store = make_store(prune__batch=3)
    with store.write() as session:
        for n in range(10):
            session.run(
                "insert into events (at, kind, detail) values (:at, 'settings_changed', '{}')",
                {"at": clock.now() + n},
            )
    clock.advance(91 * DAY)
    prune(store)
    assert rows(store, "select count(*) from events") == [(0,)]


def test_old_attempts_of_a_task_that_lives_on_go_and_new_ones_stay(store, clock):
    (task_id,) = put(store)
    for _ in range(3):
        settle(store, retry(claim_one(store)))
        clock.advance(20 * DAY)
    assert prune(store) == 0
    assert [row[0] for row in rows(store, "select claim from attempts order by claim")] == [3]
    assert claim_one(store).id == task_id


def test_a_worker_that_stopped_long_ago_is_forgotten_but_not_while_it_holds_a_task(store, clock):
    idle, holding, lately = (worker(store) for _ in range(3))
    (task_id,) = put(store)
    for each in (idle, holding):
        stop(store, each)
    claim_one(store, holding)  # a frozen process that thawed in the middle of its claim
    clock.advance(31 * DAY)
    prune(store)
    assert [row[0] for row in rows(store, "select id from workers order by id")] == [holding, lately]
    assert reap(store, 10) == 1
    prune(store)
    assert [row[0] for row in rows(store, "select id from workers order by id")] == [lately]
    assert state_of(store, task_id) == "pending"


@pytest.mark.promise(1)
def test_what_a_forgotten_worker_claims_after_all_goes_back(store, clock):
    forgotten, _ = worker(store), worker(store)
    stop(store, forgotten)
    clock.advance(31 * DAY)
    prune(store)
    (task_id,) = put(store)
    claim_one(store, forgotten)
    assert reap(store, 10) == 1
    assert state_of(store, task_id) == "pending"


def test_answers_that_nobody_uses_any_more_are_forgotten(store, clock):
    for question in ("old", "used"):
        answers.keep(store, question, "prompt", ModelAnswer({}, Evidence(), Usage(), 1, "model"))
    clock.advance(300 * DAY)
    assert answers.recall(store, "used")
    clock.advance(101 * DAY)
    prune(store)
    assert rows(store, "select question from answers") == [("used",)]


@pytest.mark.promise(4)
def test_everything_that_grows_old_is_found_by_an_index_on_sqlite(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    settle(store, done(running(store)))
    clock.advance(500 * DAY)
    found = plans(store, monkeypatch, lambda: prune(store))
    assert scans(found, but=("w",)) == {}
    assert "refusals_parent" in used(found)
    database.close()


@only_postgres
@pytest.mark.promise(4)
def test_refusals_are_found_by_an_index_on_postgres(store):
    with store.write() as session:
        session.run(
            "insert into refusals (at, parent_id, tracking_id, kind, rule, detail)"
            " select 0, n, n, 'k', 'r', 'd' from generate_series(1, 20000) n"
        )
        session.run("analyze refusals")
        plan = str(
            session.rows(
                "explain delete from refusals where parent_id in (:ids*)", {"ids": list(range(1000))}
            )
        )
    assert "refusals_parent" in plan
    assert "Seq Scan" not in plan
