"""What robots.txt says is obeyed, however it is served, moved or lost."""

import asyncio

import pytest

from tests.fetch.desk import SHOP, at
from tests.fetch.site import moved, page
from tests.harness.databases import only_sqlite
from thresher.core import errors
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.fetch.robots_cache import MAX_BYTES_REMEMBERED

__all__ = ["at"]

pytestmark = only_sqlite


@pytest.mark.promise(16)
def test_a_forbidden_path_is_never_asked_for_not_even_after_a_redirect(at):
    async def story(desk):
        for path in ("/private/a", "/in"):
            with pytest.raises(
                errors.Refused, match=r"forbids Thresher .*Disallow: /private.*robots host:shop.example off"
            ):
                await desk.fetch(SHOP + path)
        assert desk.site.paths() == ["/robots.txt", "/in"]

    at(
        {
            "shop.example/robots.txt": "User-agent: *\nDisallow: /private",
            "shop.example/in": moved("/private/b"),
            "*": "<p>",
        },
        story,
    )


@pytest.mark.promise(16)
def test_a_person_may_switch_robots_off_by_name(at):
    async def story(desk):
        desk.book.waived = True
        assert (await desk.fetch()).status == 200
        assert desk.book.slowed == []

    at(
        {"shop.example/robots.txt": "User-agent: *\nDisallow: /\nCrawl-delay: 9", "shop.example/a": "<p>"},
        story,
    )


@pytest.mark.promise(16)
def test_a_crawl_delay_slows_the_gate_down_as_far_as_the_cap(at):
    async def story(desk):
        await desk.fetch()
        assert desk.book.slowed == [("host:shop.example", 60.0)]

    at({"shop.example/robots.txt": "User-agent: *\nCrawl-delay: 7200", "shop.example/a": "<p>"}, story)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_a_robots_file_that_is_not_there_forbids_nothing(at, status):
    async def story(desk):
        assert (await desk.fetch()).status == 200

    at(
        {"shop.example/robots.txt": page("User-agent: *\nDisallow: /", status), "shop.example/a": "<p>"},
        story,
    )


@pytest.mark.promise(16)
def test_while_its_server_fails_on_robots_nothing_is_asked_of_a_host_and_after_thirty_days_it_counts_as_absent(
    at,
):
    async def story(desk):
        for wait in (60, 120, 240):
            with pytest.raises(errors.NotYet, match="nothing is fetched there") as caught:
                await desk.fetch()
            assert caught.value.retry_after == pytest.approx(wait)
            with pytest.raises(errors.NotYet):
                await desk.fetch(by=desk.another_worker())  # told by the shelf, not by the host
            desk.clock.advance(wait * SECOND)
        assert desk.site.paths() == ["/robots.txt"] * 3
        desk.clock.advance(31 * DAY)
        assert (await desk.fetch()).status == 200

    at({"shop.example/robots.txt": page(status=500), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_the_rules_we_have_go_on_counting_while_new_ones_cannot_be_had(at):
    answers = iter([page("User-agent: *\nDisallow: /private"), page(status=502), page(status=502)])

    async def story(desk):
        assert (await desk.fetch()).status == 200
        desk.clock.advance(2 * DAY)
        assert (await desk.fetch()).status == 200
        with pytest.raises(errors.Refused):
            await desk.fetch(f"{SHOP}/private/x")
        assert desk.site.paths().count("/robots.txt") == 2

    at({"shop.example/robots.txt": lambda asked: next(answers), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_too_many_requests_on_robots_itself_closes_the_gate(at):
    async def story(desk):
        with pytest.raises(errors.RateLimited):
            await desk.fetch()
        assert desk.book.held == [("host:shop.example", 30)]
        assert desk.pages() == []

    at({"shop.example/robots.txt": page(status=429, retry_after="30"), "shop.example/a": "<p>"}, story)


def test_a_robots_file_may_move_five_times_and_counts_for_the_origin_that_was_asked(at):
    def say(asked):
        step = int(asked.path.removeprefix("/robots.txt").removeprefix("/r") or 0)
        return page("User-agent: *\nDisallow: /") if step == 5 else moved(f"/r{step + 1}")

    async def story(desk):
        with pytest.raises(errors.Refused):
            await desk.fetch()
        assert desk.site.paths() == ["/robots.txt", "/r1", "/r2", "/r3", "/r4", "/r5"]

    at({"shop.example/robots.txt": say, "shop.example": say}, story)


def test_a_robots_file_that_moves_for_ever_counts_as_absent(at):
    async def story(desk):
        assert (await desk.fetch()).status == 200

    at(
        {
            "shop.example/robots.txt": moved("/r"),
            "shop.example/r": lambda asked: moved(f"{asked.path}r"),
            "shop.example/a": "<p>",
            "shop.example": lambda asked: moved(f"{asked.path}r"),
        },
        story,
    )


@pytest.mark.promise(17)
def test_a_robots_file_that_moved_to_a_private_address_is_not_followed_there(at):
    async def story(desk):
        with pytest.raises(errors.Refused, match=r"10\.0\.0\.1"):
            await desk.fetch()

    at({"shop.example/robots.txt": moved("http://10.0.0.1/robots.txt"), "shop.example/a": "<p>"}, story)


@pytest.mark.promise(16)
def test_robots_is_asked_once_for_an_origin_by_many_tasks_and_workers_and_again_when_it_is_old(at):
    async def story(desk):
        other = desk.another_worker()
        await asyncio.gather(*(desk.fetch(f"{SHOP}/{number}") for number in range(10)))
        await desk.fetch(by=other)
        assert desk.site.paths().count("/robots.txt") == 1
        await desk.fetch("http://shop.example/a", by=other)
        assert desk.site.paths().count("/robots.txt") == 2  # another origin
        desk.clock.advance(DAY + SECOND)
        await desk.fetch(f"{SHOP}/x")
        assert desk.site.paths().count("/robots.txt") == 3
        await other.close()

    at({"*": "<p>"}, story)


@pytest.mark.parametrize(
    ("said", "before", "after"),
    [
        ("max-age=3600", 59 * MINUTE, 2 * MINUTE),
        ("max-age=0", 4 * MINUTE, 2 * MINUTE),
        ("max-age=9999999", 23 * HOUR, 2 * HOUR),
    ],
)
def test_a_server_may_shorten_the_life_of_its_robots_file_but_neither_to_nothing_nor_beyond_a_day(
    at, said, before, after
):
    async def story(desk):
        await desk.fetch()
        desk.clock.advance(before)
        await desk.fetch()
        assert desk.site.paths().count("/robots.txt") == 1
        desk.clock.advance(after)
        await desk.fetch()
        assert desk.site.paths().count("/robots.txt") == 2

    at(
        {
            "shop.example/robots.txt": page("User-agent: *\nAllow: /", cache_control=said),
            "shop.example/a": "<p>",
        },
        story,
    )


@pytest.mark.promise(18)
def test_what_is_remembered_of_robots_files_is_bounded(at):
    rules = "User-agent: *\nAllow: /\n" + "".join(f"Disallow: /{number:08}\n" for number in range(20_000))

    async def story(desk):
        for number in range(14):
            await desk.fetch(f"https://host-{number}.example/a")
        assert len(desk.fetcher.robots_cache._known) < 14
        assert desk.fetcher.robots_cache._bytes <= MAX_BYTES_REMEMBERED

    at({f"host-{number}.example/robots.txt": rules for number in range(14)} | {"*": "<p>"}, story)


def test_a_host_that_cannot_be_reached_is_the_error_not_its_robots_file(at):
    async def story(desk):
        await desk.fetcher.close()
        desk.site.port = 1
        worker = desk.another_worker()
        with pytest.raises(errors.ConnectionFailed) as caught:
            await desk.fetch(by=worker)
        assert caught.value.gate == "host:shop.example"
        await worker.close()

    at({}, story)
