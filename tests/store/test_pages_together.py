"""Pages that are kept together: in one transaction, and in nobody's way."""

import random
import threading

import pytest

from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher.core.clock import DAY
from thresher.core.keys import content_hash
from thresher.store import pages
from thresher.store.pages import Kept


def page(key, stored="{}", fetched_at=0):
    return Kept(key, f"https://a.example/{key}", "a.example", "GET", 200, {"etag": '"1"'}, fetched_at, stored)


@pytest.mark.promise(19)
def test_several_pages_are_kept_at_once_and_the_same_bytes_once(store):
    pages.keep_many(store, [(page("a"), b"pears"), (page("b"), b"pears"), (page("c"), b"plums")])
    assert [pages.body(store, pages.find(store, key).hash) for key in "abc"] == [b"pears", b"pears", b"plums"]
    assert rows(store, "select count(*) from blobs") == [(2,)]


def test_of_two_pages_with_one_key_the_last_counts_and_what_was_there_gives_way(store):
    pages.keep(store, page("a"), b"old")
    pages.keep_many(store, [(page("a", "1"), b"new"), (page("a", "2"), b"newer"), (page("b"), b"old")])
    assert (pages.find(store, "a").stored, pages.body(store, pages.find(store, "a").hash)) == ("2", b"newer")
    pages.prune_pages(store, 10**18)
    assert {row[0] for row in rows(store, "select hash from blobs")} == {
        content_hash(b"newer"),
        content_hash(b"old"),
    }


@pytest.mark.promise(2)
def test_all_are_kept_or_none(store):
    with pytest.raises(Exception, match=r".*"):
        pages.keep_many(store, [(page("a"), b"pears"), (page("b", stored=None), b"plums")])
    assert rows(store, "select count(*) from pages") == [(0,)]
    assert rows(store, "select count(*) from blobs") == [(0,)]


@pytest.mark.promise(1)
@with_processes
def test_groups_that_overlap_in_every_order_wait_for_nobody_in_a_circle_and_lose_no_body(database, clock):
    stores = [database.open() for _ in range(4)]
    ended, problems = threading.Event(), []

    def keeping(store, seed):
        luck = random.Random(seed)
        try:
            for _ in range(40):
                group = [
                    (page(luck.choice("abcdef"), fetched_at=clock.now()), luck.choice([b"1", b"2", b"3"]))
                    for _ in range(4)
                ]
                pages.keep_many(store, group)
                if luck.random() < 0.3:
                    pages.forget(store, luck.choice("abcdef"))
                with store.read() as session:
                    assert (
                        session.rows(
                            "select key from pages p where not exists (select 1 from blobs b where b.hash = p.hash)"
                        )
                        == []
                    )
        except BaseException as problem:
            problems.append(problem)

    def pruning(store):
        while not ended.is_set():
            pages.prune_pages(store, DAY)

    threads = [threading.Thread(target=keeping, args=(store, seed)) for seed, store in enumerate(stores[:3])]
    pruner = threading.Thread(target=pruning, args=(stores[3],))
    for thread in (*threads, pruner):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    pruner.join()
    assert problems == []
