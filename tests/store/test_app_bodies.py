"""Bodies that the rows of an app's own tables need: they outlive their lineage, go when they are given up,
and nothing dangles, whoever is killed in between."""

import signal
import subprocess
import sys
import threading

import pytest

from tests.harness.bodies import saved
from tests.harness.costs import plans, scans
from tests.harness.databases import memory_database, only_postgres, with_processes
from tests.harness.hand import hands
from tests.harness.tasks import change, done, entry, fields_of, rows, running, settle
from tests.store.test_owners import LONG, loose, naming, stays, tidy
from thresher.core.clock import DAY
from thresher.core.errors import UnknownName
from thresher.core.keys import content_hash
from thresher.core.outcome import CheckedEffect
from thresher.core.settlement import Settlement
from thresher.store import owners, pages
from thresher.store.pages import Kept
from thresher.store.prune import prune

APP = "orchard"
OWNERS = "select kind, owner, hash from blob_owners where kind like 'app:%' order by kind, owner, hash"
# Stands in for a table of the app: it has a text and a number.
WRITE = "insert into role_names (key, name, role_id) values (:hash, :hash, :owner) on conflict do nothing"
ERASE = "delete from role_names where role_id = :owner"


def write_page(session, data, now):
    session.run(WRITE, data)
    owners.own_bodies(session, APP, data["owner"], [data["hash"]])


def erase_pages(session, data, now):
    owners.disown_bodies(session, APP, [data["owner"]], now)
    session.run(ERASE, data)


def wrote(name, owner=1):
    return CheckedEffect("write", {"hash": name, "owner": owner}, write_page)


def erased(owner=1):
    return CheckedEffect("erase", {"owner": owner}, erase_pages)


def kept_by_app(store, body=b"pears", owner=1):
    task = running(store)
    name = saved(store, body, task)
    settle(store, done(task, effects=(wrote(name, owner),)))
    return name


def disown(store, clock, *which, **how):
    with store.write() as session:
        return owners.disown_bodies(session, APP, which, clock.now(), **how)


@pytest.mark.promise(1)
@pytest.mark.promise(18)
def test_a_body_that_an_app_owns_outlives_its_lineage_and_goes_when_it_is_given_up(store, clock):
    name = kept_by_app(store)
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    assert rows(store, OWNERS) == [("app:orchard", 1, name)]
    settle(store, done(running(store), effects=(erased(),)))
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)
    clock.advance(8 * DAY)
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (1, False)
    assert rows(store, "select * from blob_owners") == rows(store, "select * from loose_blobs") == []


@pytest.mark.promise(1)
def test_a_body_that_two_owners_need_stays_until_both_have_given_it_up(store, clock):
    name = kept_by_app(store, owner=1)
    assert kept_by_app(store, owner=2) == name
    with store.write() as session:
        owners.own_bodies(session, "vineyard", 1, [name])
    assert (disown(store, clock, 1), disown(store, clock, 1)) == (1, 0)
    assert (tidy(store, clock), stays(store, name)) == (0, True)
    assert disown(store, clock, 2, 3) == 1
    assert (tidy(store, clock), stays(store, name)) == (0, True), "the other app needs it"
    with store.write() as session:
        assert owners.disown_bodies(session, "vineyard", [1], clock.now()) == 1
    assert (tidy(store, clock), stays(store, name)) == (1, False)


@pytest.mark.promise(1)
def test_one_body_of_an_owner_is_given_up_and_the_others_stay(store, clock):
    gone, kept = kept_by_app(store, b"pears"), kept_by_app(store, b"apples")
    other = kept_by_app(store, b"plums", owner=2)
    with store.write() as session:
        owners.disown_hashes(session, APP, 1, [gone, other], clock.now())
        owners.disown_hashes(session, APP, 1, [], clock.now())
    assert {row[1:] for row in rows(store, OWNERS)} == {(1, kept), (2, other)}
    assert tidy(store, clock) == 1
    assert [stays(store, name) for name in (gone, kept, other)] == [False, True, True]


@pytest.mark.promise(1)
def test_an_app_that_gives_a_body_up_takes_it_from_no_record_and_no_lineage(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, done(task, records=(naming(name),), effects=(wrote(name),)))
    disown(store, clock, 1)
    assert (tidy(store, clock), stays(store, name)) == (0, True)


def test_owning_twice_is_owning_once(store, clock):
    name = kept_by_app(store)
    kept_by_app(store)
    assert rows(store, OWNERS) == [("app:orchard", 1, name)]


@pytest.mark.promise(1)
def test_the_body_of_a_kept_page_is_safe_from_workers_that_know_of_pages_only(store, clock):
    pages.keep(store, Kept("k", "https://a.example/", "a.example", "GET", 200, {}, 0, "{}", 2**60), b"pears")
    name = content_hash(b"pears")
    with store.write() as session:
        owners.own_bodies(session, APP, 1, [name])
    assert rows(store, "select saved from blobs") == [(3,)]
    pages.forget(store, "k")
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)


@pytest.mark.promise(1)
def test_a_body_that_is_not_stored_cannot_be_owned_and_the_row_that_names_it_is_not_written(store):
    task = running(store)
    with pytest.raises(UnknownName, match=r"no body is stored under [0-9a-f]{64}.*ctx\.save"):
        store.settle([done(task, effects=(wrote(content_hash(b"never saved")),))])
    assert fields_of(store, task.id)["state"] == "running"
    assert rows(store, "select * from role_names") == rows(store, OWNERS) == []


@pytest.mark.promise(2)
def test_a_worker_that_lost_its_claim_owns_nothing(store, clock):
    task = running(store)
    name = saved(store, b"pears", task)
    settle(store, Settlement.hand_back(task, reason="stopping"))
    assert len(store.settle([done(task, effects=(wrote(name),))])) == 1
    assert rows(store, OWNERS) == []


def test_a_body_from_before_owners_were_written_down_stays_and_needs_none(store, clock):
    name = kept_by_app(store, b"plums", owner=9)
    disown(store, clock, 9)
    change(store, "update blobs set saved = 1")
    with store.write() as session:
        owners.own_bodies(session, APP, 1, [name])
    assert rows(store, OWNERS) == []
    assert (tidy(store, clock), stays(store, name)) == (0, True)


@pytest.mark.promise(18)
def test_many_bodies_are_given_up_a_portion_at_a_time(store, clock):
    names = [kept_by_app(store, b"%d" % number) for number in range(7)]
    assert [disown(store, clock, 1, limit=3) for _ in range(4)] == [3, 3, 1, 0]
    assert tidy(store, clock) == 7
    assert [name for name in names if stays(store, name)] == []


@pytest.mark.parametrize("app", ["", "x" * 201])
def test_what_names_no_app_owns_nothing(store, app):
    with store.write() as session, pytest.raises(UnknownName, match="not the name of an app"):
        owners.own_bodies(session, app, 1, [content_hash(b"pears")])


@pytest.mark.promise(4)
def test_owners_of_an_app_are_found_by_an_index_on_sqlite(monkeypatch, clock):
    database = memory_database(clock)
    store = database.open()
    task = running(store)
    name = saved(store, b"pears", task)
    found = plans(store, monkeypatch, lambda: settle(store, done(task, effects=(wrote(name),))))
    found |= plans(store, monkeypatch, lambda: (disown(store, clock, 1, limit=9), disown(store, clock, 1)))
    assert any("blob_owners" in sql for sql in found)
    assert scans({sql: plan for sql, plan in found.items() if "blob" in sql}) == {}
    database.close()


# Many at once, and killed in between.


@pytest.mark.promise(1)
@only_postgres
def test_a_body_that_an_app_is_about_to_own_is_not_pruned(database, store, clock):
    name = loose(store, clock)
    with hands(database, store, 1) as (one,), one.store.write() as session:
        owners.own_bodies(session, APP, 1, [name])
        assert pages.prune_pages(store, 0).bodies == 0
        one.commit()
    assert (pages.prune_pages(store, 0).bodies, stays(store, name)) == (0, True)


@pytest.mark.promise(1)
@only_postgres
def test_whoever_wants_to_own_a_body_that_is_being_pruned_is_told_that_it_is_gone(database, store, clock):
    name = loose(store, clock)

    def own(its):
        with its.write() as session:
            owners.own_bodies(session, APP, 1, [name])

    with hands(database, store, 2) as (one, two):
        assert pages.prune_pages(one.store, 0).bodies == 1
        two.begin(own)
        assert two.waits()
        one.commit()
        with pytest.raises(UnknownName, match="no body is stored"):
            two.finish()
    assert rows(store, OWNERS) == []


@pytest.mark.promise(1)
@with_processes
def test_bodies_that_apps_take_and_give_up_while_others_prune_are_never_missing(make_store, clock):
    stores = [make_store(history__retention=0, history__bodies=1) for _ in range(3)]
    ended, problems = threading.Event(), []

    def working(store, seed):
        try:
            for number in range(25):
                task = running(store, entry(f"kind{seed}"))
                name = saved(store, b"%d" % (number % 3), task)
                settle(store, done(task, effects=(wrote(name, seed + 1),)))
                assert dangling(store) == []
                if number % 4 == 3:
                    settle(store, done(running(store, entry(f"kind{seed}")), effects=(erased(seed + 1),)))
        except BaseException as problem:
            problems.append(problem)

    def pruning(store):
        while not ended.is_set():
            prune(store)
            change(store, "update loose_blobs set since = 0")
            pages.prune_pages(store, 0)

    workers = [threading.Thread(target=working, args=(store, seed)) for seed, store in enumerate(stores[:2])]
    pruner = threading.Thread(target=pruning, args=(stores[2],))
    for thread in (*workers, pruner):
        thread.start()
    for thread in workers:
        thread.join()
    ended.set()
    pruner.join()
    assert problems == []


def dangling(store):
    """Owners without a body."""
    return rows(
        store, "select hash from blob_owners o where not exists (select 1 from blobs b where b.hash = o.hash)"
    )


KILLED = """
import os, signal, sys
from tests.harness.bodies import saved
from tests.harness.tasks import done, running, settle
from tests.store.test_app_bodies import erase_pages, erased, wrote
from thresher.core.outcome import CheckedEffect
from thresher.runtime import open_bare

where, store = sys.argv[2], open_bare(sys.argv[1])


def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)


dying = (CheckedEffect("die", {}, die),)
task = running(store)
name = saved(store, b"pears", task)
if where == "saved":
    die()
settle(store, done(task, effects=(wrote(name), *(dying if where == "owned" else ()))))
settle(store, done(running(store), effects=(erased(), *dying)))
"""


@pytest.mark.promise(1)
@pytest.mark.promise(18)
@with_processes
@pytest.mark.parametrize(("where", "kept"), [("saved", False), ("owned", False), ("given up", True)])
def test_a_process_that_is_killed_in_between_leaves_a_row_with_its_body_or_neither(
    database, store, clock, where, kept
):
    url = database.url if "://" in database.url else f"sqlite:///{database.url}"
    child = subprocess.run([sys.executable, "-c", KILLED, url, where], check=False)
    assert child.returncode == -signal.SIGKILL
    name = content_hash(b"pears")
    assert rows(store, "select key, role_id from role_names") == ([(name, 1)] if kept else [])
    assert rows(store, OWNERS) == ([("app:orchard", 1, name)] if kept else [])
    assert stays(store, name)
    change(
        store, "update tasks set state = 'failed', finished_at = 1, worker_id = null where state = 'running'"
    )
    clock.advance(LONG * 100)
    tidy(store, clock)
    assert (stays(store, name), dangling(store)) == (kept, [])
