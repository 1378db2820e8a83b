"""What a stage fetches goes through the gates that all workers share: paid for once, stopped by a pause,
given back whatever happens."""

import asyncio
from itertools import pairwise

import pytest

from tests.engine.fair import GATE, SHOP, at, clock, gate_of
from tests.fetch.site import moved, page
from tests.harness.databases import with_processes
from tests.harness.tasks import events, rows
from thresher import Click, Collect, Done, NewTask, Rendering, Source
from thresher.admin import sources
from thresher.core.errors import UsageError

__all__ = ["at", "clock"]

pytestmark = with_processes


def test_a_stage_fetches_a_page(at):
    async def look(ctx):
        found = await ctx.fetch(f"{SHOP}/a")
        return Done(f"{found.status} {found.body.decode()}")

    async def story(fair):
        (task_id,) = await fair.drain(look)
        assert (fair.shop.state(task_id), fair.shop.fields(task_id)["reason"]) == ("succeeded", "200 here")
        assert fair.site.paths() == ["/robots.txt", "/a"]

    at({"shop.example/a": "here"}, story)


def test_a_stage_says_what_a_browser_does_on_the_page(at):
    async def look(ctx):
        doing = Rendering(idle=False, steps=(Click("button"),), screenshot=True, collect=Collect("a", wait=2))
        found = await ctx.fetch(f"{SHOP}/a", render=True, rendering=doing)
        assert (found.screenshot or b"").startswith(b"\x89PNG")
        return Done(f"{b'more words' in found.body} {found.collected}")

    async def story(fair):
        (task_id,) = await fair.drain(look)
        assert fair.shop.fields(task_id)["reason"] == f"True ('{SHOP}/b',)"
        assert fair.site.paths() == ["/robots.txt", "/a"]

    button = "<button onclick=\"p.textContent = 'more ' + 'words'\">x</button><p id=p></p><a href=/b>b</a>"
    at({"shop.example/a": page(button)}, story)


def test_a_click_on_nothing_fails_the_task_and_blames_nobody(at):
    async def look(ctx):
        doing = Rendering(idle=False, steps=(Click("#none", wait=0.2),))
        await ctx.fetch(f"{SHOP}/a", render=True, rendering=doing)
        return Done()

    async def story(fair):
        (task_id,) = await fair.drain(look)
        state, error, failures = fair.one(task_id)
        assert (state, error, failures) == ("failed", "NotClickable", 1)
        assert "matches '#none'" in fair.shop.fields(task_id)["reason"]
        assert gate_of(fair.shop.store, GATE, "failures") == 0

    at({"shop.example/a": page("<p>x")}, story)


def test_a_stage_that_is_a_plain_function_waits_for_its_page(at):
    def look(ctx):
        return Done(ctx.wait(ctx.fetch(f"{SHOP}/a")).body.decode())

    async def story(fair):
        (task_id,) = await fair.drain(look)
        assert fair.shop.fields(task_id)["reason"] == "here"

    at({"shop.example/a": "here"}, story)


def test_an_async_stage_that_waits_instead_of_awaiting_is_told_what_to_write(at):
    async def look(ctx):
        with pytest.raises(UsageError, match=r"await ctx\.fetch"):
            ctx.wait(ctx.fetch(f"{SHOP}/a"))
        return Done()

    async def story(fair):
        (task_id,) = await fair.drain(look)
        assert fair.shop.state(task_id) == "succeeded"

    at({}, story)


@pytest.mark.promise(3)
def test_the_claim_has_paid_for_the_first_request_and_every_other_keeps_the_interval(at):
    async def look(ctx):
        for path in "abc":
            await ctx.fetch(f"{SHOP}/{path}")
        return Done()

    async def story(fair):
        await fair.drain(look, host__interval=0.3)
        starts = [asked.at for asked in fair.site.log]
        assert fair.site.paths() == ["/robots.txt", "/a", "/b", "/c"]
        assert all(later - earlier >= 0.3 for earlier, later in pairwise(starts))
        assert rows(fair.shop.store, "select count(*) from permits") == [(0,)]

    at({"*": "<p>"}, story)


@pytest.mark.promise(3)
def test_two_fetches_at_once_in_one_stage_pay_twice(at):
    async def look(ctx):
        await asyncio.gather(ctx.fetch(f"{SHOP}/a"), ctx.fetch(f"{SHOP}/b"))
        return Done()

    async def story(fair):
        await fair.drain(look, host__interval=0.3)
        starts = [asked.at for asked in fair.site.log]
        assert sorted(fair.site.paths()) == ["/a", "/b", "/robots.txt"]
        assert all(later - earlier >= 0.3 for earlier, later in pairwise(starts))

    at({"*": "<p>"}, story)


@pytest.mark.promise(3)
def test_a_host_that_is_not_in_the_lane_is_reserved_and_given_back(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        return Done()

    async def story(fair):
        await fair.drain(
            look, *(NewTask("look") for _ in range(4)), through=("source:all",), sources=(Source("all"),)
        )
        assert max(asked.beside for asked in fair.site.log if asked.host == "other.example") == 1
        assert rows(fair.shop.store, "select count(*) from permits") == [(0,)]
        assert gate_of(fair.shop.store, "host:other.example", "in_flight") == 0

    at({"shop.example/a": moved("https://other.example/b"), "other.example/b": "<p>"}, story)


@pytest.mark.promise(16)
def test_to_wait_for_a_rate_after_the_first_request_is_not_to_start_over(at):
    async def look(ctx):
        return Done((await ctx.fetch(f"{SHOP}/a")).final_url)

    async def story(fair):
        (task_id,) = await fair.drain(look, host__interval=0.7, fetch__patience=0.0, patience=5.0)
        # robots.txt is kept, so its attempt may turn back; what follows it is done in one go.
        assert fair.site.paths() == ["/robots.txt", "/a", "/b"]
        assert fair.shop.state(task_id) == "succeeded"
        assert fair.shop.endings(task_id)[0] == "snoozed"

    at({"shop.example/a": moved("/b"), "shop.example/b": "<p>"}, story)


@pytest.mark.promise(16)
def test_no_request_goes_out_after_a_pause_and_the_task_waits_for_free(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        sources.pause(elsewhere[0], GATE, 3_600, "they are moving house")
        await ctx.fetch(f"{SHOP}/b")
        return Done()

    elsewhere = []

    async def story(fair):
        elsewhere.append(fair.shop.machine())
        (task_id,) = await fair.drain(look)
        assert fair.site.paths() == ["/robots.txt", "/a"]
        assert fair.one(task_id) == ("pending", "NotYet", 0)
        assert gate_of(fair.shop.store, GATE, "failures") == 0

    at({"*": "<p>"}, story)


@pytest.mark.promise(16)
def test_a_pause_of_the_source_stops_requests_to_any_host(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        sources.pause(elsewhere[0], "shelves", 3_600, "not now")
        await ctx.fetch("https://other.example/b")
        return Done()

    elsewhere = []

    async def story(fair):
        elsewhere.append(fair.shop.machine())
        (task_id,) = await fair.drain(look, through=("source:shelves",), sources=(Source("shelves"),))
        assert fair.site.paths() == ["/robots.txt", "/a"]
        assert fair.one(task_id) == ("pending", "NotYet", 0)

    at({"*": "<p>"}, story)


@pytest.mark.promise(10)
def test_a_429_closes_the_gate_for_everybody_before_the_attempt_is_settled(at):
    async def look(ctx):
        try:
            await ctx.fetch(f"{SHOP}/a")
        finally:
            seen.append(gate_of(elsewhere[0], GATE, "open_after"))
        return Done()

    seen, elsewhere = [], []

    async def story(fair):
        elsewhere.append(fair.shop.machine())
        ids = await fair.drain(look, *(NewTask("look") for _ in range(3)))
        assert [each for each in seen if each] == seen
        assert fair.site.paths() == ["/robots.txt", "/a"]
        assert [fair.one(each)[::2] for each in ids] == [("pending", 0)] * 3
        assert len(events(fair.shop.store, "gate_paused")) == 1

    at({"shop.example/a": page(status=429, retry_after="3600")}, story)
