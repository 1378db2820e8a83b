import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.image import look
from tests.harness.tasks import change, claim, claim_one, done, endings_of, filing, put, rows, running, settle
from thresher.core.clock import DAY
from thresher.core.errors import DatabaseProblem
from thresher.core.keys import content_hash
from thresher.core.task import LIVE, TERMINAL, WAITING, State
from thresher.core.zstd import zstd
from thresher.store import blobs, pages
from thresher.store.lanes import serve
from thresher.store.migrate import migrations
from thresher.store.prune import prune, prune_hosts
from thresher.store.session import SQLITE
from thresher.store.sqlite.backend import SqliteBackend
from thresher.store.store import Store

STEPS = migrations(SQLITE.words)
OLD_TASK = """insert into tasks (id, kind, stage, state, lane_id, due, rank, priority, payload, created_at, worker_id)
    values (:id, 'pear', :stage, :state, :lane, :due, :id, 0, '{}', 0, 1)"""


def test_steps_are_numbered_without_a_gap():
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))
    assert all("{" not in step.sql for step in STEPS)


@pytest.mark.parametrize("start", range(len(STEPS)), ids=lambda start: f"from {start}")
def test_every_earlier_schema_comes_up_to_date(database, start):
    backend = database.backend()
    if start:
        backend.migrate(to=start)
    assert backend.migrate() == [step.name for step in STEPS[start:]]
    store = Store(backend)
    put(store)
    assert claim_one(store).claim == 1
    store.close()


@pytest.mark.promise(20)
def test_attempts_from_before_tasks_told_of_their_last_are_told_once(database):
    backend = database.backend()
    backend.migrate(to=7)
    store = Store(backend)
    change(
        store,
        """insert into tasks (id, kind, stage, state, lane_id, due, rank, priority, claim, worker_id, started_at, payload,
        created_at, finished_at) values (1, 'pear', 'pick', 'succeeded', 1, 0, 0, 0, 2, 1, 5, '{}', 0, 7)""",
    )
    for number, ending in ((1, "retry"), (2, "done")):
        change(
            store,
            """insert into attempts (task_id, claim, stage, worker_id, started_at, ended_at, ending)
            values (1, :claim, 'pick', 1, 1, 2, :ending)""",
            claim=number,
            ending=ending,
        )
    backend.migrate()
    assert rows(store, "select claim, ending, ended_at from attempts where task_id = 1 order by claim") == [
        (1, "retry", 2),
        (2, "done", 2),
    ]
    store.close()


@pytest.mark.promise(1)
def test_a_file_whose_checks_were_changed_is_whole_and_whoever_had_it_open_goes_on(tmp_path):
    first, second = (SqliteBackend(str(tmp_path / "queue.db")) for _ in range(2))
    first.migrate(to=7)
    before = Store(second)
    change(before, "insert into lanes (id, key, gates, status) values (1, 'open:0', '', 'ready')")
    change(before, OLD_TASK, id=1, stage="pick", state="pending", lane=1, due=1)
    first.migrate()
    assert rows(before, "pragma integrity_check") == [("ok",)]
    task = claim_one(before)
    with pytest.raises(Exception, match="tasks_sound"):
        change(before, "update tasks set due = 1 where id = :id", id=task.id)
    settle(before, done(task))
    assert endings_of(before, task.id) == ["done"]
    before.close()
    first.close()


@pytest.mark.promise(1)
def test_tasks_of_several_stages_that_shared_a_lane_are_parted_and_none_is_lost(database):
    """Three lanes of old: two gates with their tasks, one of them parked, and one without gates."""
    backend = database.backend()
    backend.migrate(to=14)
    store = Store(backend)
    no_gates, one, two = (
        ("array[]::bigint[]", "array[1]", "array[2]") if database.name == "postgres" else ("''", "'1'", "'2'")
    )
    change(
        store,
        "insert into gates (id, name, max_in_flight, in_flight) values (1, 'source:a', 9, 1), (2, 'source:b', 9, 0)",
    )
    change(
        store,
        f"""insert into lanes (id, key, gates, status, parked_on) values
        (11, 'source:a', {one}, 'ready', null), (12, 'source:b', {two}, 'parked', 2), (13, 'open:0', {no_gates}, 'ready', null),
        (14, 'open:1', {no_gates}, 'idle', null)""",
    )
    waiting = [
        (1, "pick", 11),
        (2, "wash", 11),
        (3, "wash", 12),
        (4, "pick", 12),
        (5, "peel", 13),
        (6, "pick", 13),
    ]
    for task_id, stage, lane in waiting:
        change(store, OLD_TASK, id=task_id, stage=stage, state="pending", lane=lane, due=1)
    change(store, OLD_TASK, id=7, stage="wash", state="running", lane=11, due=0)
    backend.migrate()

    misplaced = """select t.id from tasks t join lanes l on l.id = t.lane_id join scopes s on s.id = l.scope
        where s.kind <> t.kind or s.stage <> t.stage"""
    assert rows(store, misplaced) == []
    assert sorted(rows(store, "select t.id, l.key from tasks t join lanes l on l.id = t.lane_id")) == [
        (1, "source:a"),
        (2, "source:a"),
        (3, "source:b"),
        (4, "source:b"),
        (5, "open:0"),
        (6, "open:0"),
        (7, "source:a"),
    ]
    with store.write() as session:
        washes = serve(session, 1, [("pear", "wash")])
    assert sorted(task.id for task in claim(store, 10, scopes=washes)) == [2, 3]
    assert sorted(task.id for task in claim(store, 10)) == [1, 4, 5, 6]
    assert list(look(store).wrongs()) == []
    store.close()


@pytest.mark.promise(1)
def test_bodies_from_before_pages_were_kept_stay(database):
    """Nobody knows who wrote their hashes down."""
    backend = database.backend()
    backend.migrate(to=1)
    store = Store(backend)
    body = b"pears"
    change(
        store,
        "insert into blobs (hash, size, body, created_at) values (:hash, 5, :body, 0)",
        hash=content_hash(body),
        body=zstd.compress(body),
    )
    backend.migrate()
    pages.keep(store, pages.Kept("k", "https://a.example/", "a.example", "GET", 200, {}, 0, "{}"), body)
    pages.prune_pages(store, 0)
    assert (pages.find(store, "k"), blobs.get(store, content_hash(body))) == (None, body)
    store.close()


@pytest.mark.promise(1)
def test_bodies_that_stages_saved_before_owners_were_written_down_stay_and_loose_ones_are_still_looked_at(
    database, clock
):
    backend = database.backend()
    backend.migrate(to=17)
    store = Store(backend)
    for body, kept in ((b"saved", 1), (b"lent", 2), (b"left", 0)):
        change(
            store,
            "insert into blobs (hash, size, body, created_at, saved) values (:hash, :size, :body, 0, :saved)",
            hash=content_hash(body),
            size=len(body),
            body=zstd.compress(body),
            saved=kept,
        )
        change(store, "insert into loose_blobs (hash) values (:hash)", hash=content_hash(body))
    backend.migrate()
    task = running(store)
    assert blobs.save(store, b"saved", task) == content_hash(b"saved")
    settle(store, done(task, records=(filing(data=f'{{"page": "{content_hash(b"saved")}"}}'),)))
    clock.advance(400 * DAY)
    prune(store)
    assert pages.prune_pages(store, 0) == (0, 1)
    assert sorted(rows(store, "select size, saved from blobs")) == [(4, 2), (5, 1)]
    assert blobs.get(store, content_hash(b"saved")) == b"saved"
    store.close()


def test_migrating_twice_is_harmless(store):
    (task_id,) = put(store)
    assert store.backend.migrate() == []
    assert claim_one(store).id == task_id


def test_a_database_made_by_a_newer_thresher_is_refused_and_left_alone(store):
    put(store)
    change(store, "insert into migrations (number, name, applied_at) values (9999, 'future', 0)")
    with pytest.raises(DatabaseProblem, match="is at schema 9999, and this Thresher only knows"):
        store.backend.migrate()
    assert rows(store, "select count(*) from tasks") == [(1,)]


@with_processes
def test_machines_that_migrate_at_the_same_time_do_it_once(database):
    backends = [database.backend() for _ in range(3)]
    start, applied = threading.Barrier(3), []

    def run(backend):
        start.wait(10)
        applied.append(backend.migrate())

    threads = [threading.Thread(target=run, args=(backend,)) for backend in backends]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for backend in backends:
        backend.close()
    assert sorted(applied) == [[], [], [step.name for step in STEPS]]


@pytest.mark.parametrize("state", list(State))
def test_the_schema_knows_which_states_wait_live_and_end(store, state):
    (task_id,) = put(store)

    def force(due, finished_at):
        sql = "update tasks set state = :state, due = :due, finished_at = :at, worker_id = 1 where id = :id"
        change(store, sql, state=str(state), due=due, at=finished_at, id=task_id)

    force(int(state in WAITING), 1 if state in TERMINAL else None)
    with pytest.raises(Exception, match=r"(?i)check|constraint"):
        force(int(state not in WAITING), 1 if state in TERMINAL else None)
    with pytest.raises(Exception, match=r"(?i)check|constraint"):
        force(int(state in WAITING), 1 if state in LIVE else None)


@pytest.mark.promise(1)
@pytest.mark.promise(16)
def test_hosts_of_old_go_as_new_ones_do_except_where_somebody_needs_them(database):
    """Of four old hosts one has a task, one a group that will be followed, one limits that a person set;
    nobody needs the last."""
    backend = database.backend()
    backend.migrate(to=15)
    store = Store(backend)
    for number, (name, in_flight) in enumerate(
        [("waited", 1), ("followed", 1), ("limited", 4), ("idle", 1)], 1
    ):
        gates = f"array[{number}]" if database.name == "postgres" else f"'{number}'"
        change(
            store,
            """insert into gates (id, name, max_in_flight, interval_us, trip_after, cooldown_us)
            values (:id, :name, :most, 1000000, 5, 300000000)""",
            id=number,
            name=f"host:{name}",
            most=in_flight,
        )
        change(
            store,
            f"insert into lanes (id, key, gates) values (:id, :key, {gates})",
            id=10 + number,
            key=f"host:{name}",
        )
    change(store, OLD_TASK, id=1, stage="pick", state="running", lane=11, due=0)
    change(store, "update tasks set state = 'failed', finished_at = 1")
    change(
        store,
        """insert into task_groups (name, key, app, opener_id, follow_up, opened_at)
        values ('g', 'k', 'a', 1, '{"kind": "pear", "lane_id": 12}', 1)""",
    )
    backend.migrate()
    removed = prune_hosts(store)
    assert (removed.lanes, removed.gates) == (2, 1)
    assert [row[0] for row in rows(store, "select name from gates order by id")] == [
        "host:waited",
        "host:followed",
        "host:limited",
    ]
    assert [row[0] for row in rows(store, "select id from lanes order by id")] == [11, 12]
    store.close()
