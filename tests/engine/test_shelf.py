"""The shelf on the store: pages that come together share a transaction, and nobody suffers for a
neighbour."""

import asyncio
import contextlib

from tests.harness.databases import only_sqlite, with_processes
from thresher.core.errors import DatabaseProblem
from thresher.engine.page_cache import MAX_PAGES, StorePageCache
from thresher.fetch.cache import CachedResponse
from thresher.store import pages


def copy(name="a", **headers):
    return CachedResponse(f"https://a.example/{name}", "GET", 200, headers, 1, 2, {"accept": "text/html"})


@with_processes
def test_what_is_kept_comes_back_whole(store):
    async def story():
        page_cache = StorePageCache(store)
        await page_cache.keep("k", copy(etag='"1"', odd="\udcff\x00"), b"<p>")
        found = await page_cache.find("k")
        assert (found.url, found.status, found.requested_at, found.answered_at, found.vary) == (
            "https://a.example/a",
            200,
            1,
            2,
            {"accept": "text/html"},
        )
        assert found.headers["etag"] == '"1"'
        assert await page_cache.body(found) == b"<p>"
        await page_cache.refresh("k", copy(etag='"2"'))
        assert (await page_cache.find("k")).headers == {"etag": '"2"'}
        await page_cache.forget("k")
        assert await page_cache.find("k") is None

    asyncio.run(story())


@only_sqlite
def test_pages_that_come_while_others_are_written_share_a_transaction(store, monkeypatch):
    groups = []
    keep_many = pages.keep_many
    monkeypatch.setattr(
        pages, "keep_many", lambda its, wanted: (groups.append(len(wanted)), keep_many(its, wanted))
    )

    async def story():
        page_cache = StorePageCache(store)
        await asyncio.gather(
            *(page_cache.keep(f"k{number}", copy(f"{number}"), b"x") for number in range(3 * MAX_PAGES))
        )
        assert await page_cache.find("k0")
        assert await page_cache.find(f"k{3 * MAX_PAGES - 1}")

    asyncio.run(story())
    assert sum(groups) == 3 * MAX_PAGES
    assert max(groups) == MAX_PAGES


@only_sqlite
def test_a_page_that_cannot_be_kept_does_not_take_the_others_along(store):
    async def story():
        page_cache = StorePageCache(store)
        bad = CachedResponse("https://a.example/bad", "GET", object(), {}, 1, 2)
        await asyncio.gather(
            page_cache.keep("a", copy(), b"1"),
            page_cache.keep("bad", bad, b"2"),
            page_cache.keep("b", copy("b"), b"3"),
        )
        assert [await page_cache.find(key) is not None for key in ("a", "bad", "b")] == [True, False, True]

    asyncio.run(story())


@only_sqlite
def test_whoever_is_cancelled_leaves_the_others_waiting_for_what_still_comes(store):
    async def story():
        page_cache = StorePageCache(store)
        first, second = (asyncio.ensure_future(page_cache.keep(key, copy(key), b"x")) for key in "ab")
        await asyncio.sleep(0)
        first.cancel()
        await second
        with contextlib.suppress(asyncio.CancelledError):
            await first
        assert await page_cache.find("b")

    asyncio.run(story())


@only_sqlite
def test_a_page_that_the_database_cannot_keep_is_a_page_all_the_same(store, monkeypatch, caplog):
    def broken(its, wanted):
        raise DatabaseProblem("the disk is full")

    monkeypatch.setattr(pages, "keep_many", broken)

    async def story():
        page_cache = StorePageCache(store)
        await asyncio.gather(*(page_cache.keep(key, copy(key), b"x") for key in "ab"))

    asyncio.run(story())
    assert "2 pages could not be cached: the disk is full" in caplog.text
