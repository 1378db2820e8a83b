import os
import threading
from dataclasses import replace

import pytest

from tests.harness.bodies import saved
from tests.harness.databases import only_postgres, with_processes
from tests.harness.hand import hands
from tests.harness.tasks import rows
from thresher.core.clock import DAY, HOUR
from thresher.core.errors import TooLarge, UnknownName
from thresher.core.keys import content_hash
from thresher.engine.chores import prune_kept
from thresher.store import blobs, pages
from thresher.store.pages import Kept


def page(key="k", *, fetched_at=0, host="a.example", expires_at=None, headers=None, stored="{}"):
    return Kept(
        key,
        f"https://{host}/{key}",
        host,
        "GET",
        200,
        headers or {"etag": '"1"'},
        fetched_at,
        stored,
        expires_at,
    )


def bodies(store):
    return {row[0] for row in rows(store, "select hash from blobs")}


def test_a_page_comes_back_as_it_was_kept(store):
    kept = page(
        headers={"content-type": "text/html", "x": "Größe"}, stored='{"vary": []}', fetched_at=7, expires_at=9
    )
    pages.keep(store, kept, b"<p>pears</p>")
    found = pages.find(store, "k")
    assert found == replace(kept, hash=content_hash(b"<p>pears</p>"))
    assert pages.body(store, found.hash) == b"<p>pears</p>"


def test_a_page_that_was_never_kept_is_not_found(store):
    assert pages.find(store, "k") is None
    with pytest.raises(UnknownName, match="no body is stored"):
        pages.body(store, "abc")


@pytest.mark.promise(18)
def test_the_same_bytes_under_many_keys_are_stored_once(store):
    for n in range(5):
        pages.keep(store, page(f"{n}"), b"pears")
    assert rows(store, "select count(*) from blobs") == [(1,)]
    assert {pages.find(store, f"{n}").hash for n in range(5)} == {content_hash(b"pears")}


@pytest.mark.promise(18)
def test_a_body_over_the_limit_is_refused_and_nothing_is_kept(store, monkeypatch):
    monkeypatch.setattr(blobs, "MAX_BODY", 10)
    with pytest.raises(TooLarge):
        pages.keep(store, page(), b"x" * 11)
    assert pages.find(store, "k") is None


@pytest.mark.promise(2)
def test_a_page_is_kept_with_its_body_or_not_at_all(store, monkeypatch):
    monkeypatch.setattr(pages, "_INSERT", "insert into nowhere values (1)")
    with pytest.raises(Exception, match="nowhere"):
        pages.keep(store, page(), b"pears")
    assert bodies(store) == set()


def test_a_page_of_the_same_key_gives_way_with_its_body(store):
    pages.keep(store, page(), b"old")
    pages.keep(store, page(stored="new"), b"new")
    found = pages.find(store, "k")
    assert (found.stored, pages.body(store, found.hash)) == ("new", b"new")
    pages.prune_pages(store, 400 * 365 * DAY)
    assert bodies(store) == {content_hash(b"new")}


def test_keeping_the_same_page_again_loses_nothing(store, clock):
    for _ in range(3):
        pages.keep(store, page(fetched_at=clock.now()), b"same")
        pages.prune_pages(store, DAY)
    assert pages.body(store, pages.find(store, "k").hash) == b"same"


def test_a_304_renews_what_the_rules_know_and_leaves_the_body(store):
    pages.keep(store, page(), b"pears")
    assert pages.refresh(store, "k", {"etag": '"2"'}, "renewed", 50, expires_at=60)
    found = pages.find(store, "k")
    assert (found.headers, found.stored, found.fetched_at, found.expires_at, found.confirmed) == (
        {"etag": '"2"'},
        "renewed",
        50,
        60,
        1,
    )
    assert pages.body(store, found.hash) == b"pears"
    assert not pages.refresh(store, "other", {}, "", 1)


def test_a_page_can_be_forgotten_and_its_body_follows(store):
    pages.keep(store, page("a"), b"shared")
    pages.keep(store, page("b"), b"shared")
    assert (pages.forget(store, "a"), pages.forget(store, "a")) == (True, False)
    pages.prune_pages(store, 400 * 365 * DAY)
    assert pages.body(store, pages.find(store, "b").hash) == b"shared"
    pages.forget(store, "b")
    pages.prune_pages(store, 400 * 365 * DAY)
    assert bodies(store) == set()


@pytest.mark.promise(18)
def test_pages_that_expired_long_ago_go_with_their_bodies(store, clock):
    now = clock.now()
    pages.keep(store, page("old", fetched_at=now - 30 * DAY, expires_at=now - 8 * DAY), b"old")
    pages.keep(store, page("fresh", fetched_at=now - 30 * DAY, expires_at=now - 6 * DAY), b"fresh")
    pages.keep(store, page("undated", fetched_at=now - 8 * DAY), b"undated")
    pages.keep(store, page("young", fetched_at=now - 6 * DAY), b"young")
    assert pages.prune_pages(store, 7 * DAY) == (2, 2)
    assert bodies(store) == {content_hash(b"fresh"), content_hash(b"young")}
    assert rows(store, "select * from loose_blobs") == []


@pytest.mark.promise(1)
@pytest.mark.parametrize("saved_first", [True, False])
def test_what_a_stage_has_saved_outlives_the_page_it_came_with(store, saved_first):
    """The lineage of the task that saved it needs it."""
    if saved_first:
        name = saved(store, b"evidence")
    pages.keep(store, page(), b"evidence")
    if not saved_first:
        name = saved(store, b"evidence")
    pages.forget(store, "k")
    pages.prune_pages(store, 0)
    assert blobs.get(store, name) == b"evidence"


def test_pruning_goes_batch_by_batch_to_the_end(make_store, clock):
    store = make_store(prune__batch=3)
    for n in range(10):
        pages.keep(store, page(f"{n}"), f"{n}".encode())
    clock.advance(DAY)
    assert pages.prune_pages(store, HOUR) == (10, 10)
    assert (bodies(store), rows(store, "select count(*) from loose_blobs")) == (set(), [(0,)])


@pytest.mark.parametrize(("days", "left"), [(0, 0), (2, 1), (30, 2)])
def test_how_long_pages_are_kept_is_a_setting(make_store, clock, days, left):
    store = make_store(fetch__keep_pages=days)
    for age in (1, 7):
        pages.keep(store, page(f"{age}", fetched_at=clock.now() - age * DAY), b"pears")
    said = prune_kept(store)
    assert rows(store, "select count(*) from pages") == [(left,)]
    assert said == (f"{2 - left} old pages and {int(left == 0)} bodies removed" if left < 2 else None)


def test_the_newest_pages_of_a_host_can_be_looked_at(store):
    for n in range(4):
        pages.keep(store, page(f"{n}", fetched_at=n, host="a.example" if n % 2 else "b.example"), b"x" * n)
    with store.read() as session:
        assert [row["fetched_at"] for row in pages.list_pages(session, limit=3)] == [3, 2, 1]
        found = pages.list_pages(session, "a.example", 10)
    assert [(row["url"], row["size"], row["status"]) for row in found] == [
        ("https://a.example/3", 3, 200),
        ("https://a.example/1", 1, 200),
    ]


def test_a_body_that_does_not_compress_comes_back_too(store):
    noise = os.urandom(100_000)
    pages.keep(store, page(), noise)
    assert pages.body(store, pages.find(store, "k").hash) == noise


# Many at once.


@pytest.mark.promise(1)
@with_processes
def test_pages_kept_while_others_prune_never_lose_their_bodies(database, clock):
    stores = [database.open() for _ in range(3)]
    ended, problems = threading.Event(), []

    def keeping(store, seed):
        try:
            for n in range(60):
                key, text = f"{(n + seed) % 3}", f"{n % 2}".encode()
                pages.keep(store, page(key, fetched_at=clock.now()), text)
                if n % 5 == 0:
                    pages.forget(store, key)
                found = pages.find(store, key)
                with store.read() as session:
                    lost = session.rows(
                        "select key from pages p where not exists (select 1 from blobs b where b.hash = p.hash)"
                    )
                assert (lost, found is None or found.key == key) == ([], True)
        except BaseException as problem:
            problems.append(problem)

    def pruning(store):
        while not ended.is_set():
            pages.prune_pages(store, DAY)

    threads = [threading.Thread(target=keeping, args=(store, seed)) for seed, store in enumerate(stores[:2])]
    pruner = threading.Thread(target=pruning, args=(stores[2],))
    for thread in (*threads, pruner):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    pruner.join()
    assert problems == []
    pages.prune_pages(stores[0], DAY)
    assert bodies(stores[0]) == {row[0] for row in rows(stores[0], "select hash from pages")}


@pytest.mark.promise(1)
@only_postgres
def test_a_body_that_is_being_kept_again_is_not_pruned(database, store):
    pages.keep(store, page("a"), b"pears")
    pages.forget(store, "a")
    with hands(database, store, 1) as (one,):
        pages.keep(one.store, page("b"), b"pears")
        pages.prune_pages(store, DAY * 400 * 365)
        one.commit()
    assert pages.body(store, pages.find(store, "b").hash) == b"pears"


@only_postgres
def test_a_body_whose_keeper_gave_up_is_pruned_later(database, store):
    pages.keep(store, page("a"), b"pears")
    pages.forget(store, "a")
    with hands(database, store, 1) as (one,):
        pages.keep(one.store, page("b"), b"pears")
        pages.prune_pages(store, DAY * 400 * 365)
        one._connection.rollback()
    assert bodies(store) == {content_hash(b"pears")}
    pages.prune_pages(store, DAY * 400 * 365)
    assert bodies(store) == set()


@only_postgres
def test_two_pages_of_one_body_that_go_at_once_leave_nothing_behind(database, store):
    pages.keep(store, page("a"), b"pears")
    pages.keep(store, page("b"), b"pears")
    pages.forget(store, "a")
    with hands(database, store, 1) as (one,):
        pages.forget(one.store, "b")
        pages.prune_pages(store, DAY * 400 * 365)
        one.commit()
    pages.prune_pages(store, DAY * 400 * 365)
    assert bodies(store) == set()


@only_postgres
def test_two_that_keep_the_same_page_at_once_wait_for_each_other(database, store):
    with hands(database, store, 2) as (one, two):
        pages.keep(one.store, page(stored="one"), b"one")
        two.begin(lambda its: pages.keep(its, page(stored="two"), b"two"))
        assert two.waits()
        one.commit()
        two.finish()
    assert pages.find(store, "k").stored == "two"
    pages.prune_pages(store, DAY * 400 * 365)
    assert bodies(store) == {content_hash(b"two")}
