"""Manners and trouble of a stage that fetches: robots.txt, lost claims, closed gates, breakers, walls."""

import asyncio
from itertools import pairwise

import pytest

from tests.engine.fair import BRISK, GATE, SHOP, at, clock, gate_of
from tests.engine.workshop import PATIENCE, at_work, one_stage, soon
from tests.fetch.site import moved, page
from tests.harness.databases import with_processes
from tests.harness.tasks import attempts_of, change, rows
from thresher import App, Done, NewTask, Next, Pipeline, Source, Stage
from thresher.admin import sources
from thresher.core.errors import ClaimLost, Gone
from thresher.store import host_rules

__all__ = ["at", "clock"]

pytestmark = with_processes


@pytest.mark.promise(16)
def test_a_crawl_delay_becomes_the_interval_of_the_gate_and_is_kept_from_the_first_page_on(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        return Done()

    async def story(fair):
        await fair.drain(look, NewTask("look"), NewTask("look"), host__interval=0.1, patience=5.0)
        starts = [asked.at for asked in fair.site.log]
        assert fair.site.paths().count("/robots.txt") == 1
        assert len(starts) == 3
        assert all(later - earlier >= 0.5 for earlier, later in pairwise(starts))
        assert gate_of(fair.shop.store, GATE, "interval_us") == 500_000

    at({"shop.example/robots.txt": "User-agent: *\nCrawl-delay: 0.5", "*": "<p>"}, story)


@pytest.mark.promise(16)
def test_a_path_that_robots_forbids_fails_with_the_rule_until_a_person_waives_it_by_name(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/private")
        return Done()

    async def story(fair):
        (refused,) = await fair.drain(look)
        assert fair.one(refused)[:2] == ("failed", "Refused")
        assert "Disallow: /private" in fair.shop.fields(refused)["reason"]
        assert fair.site.paths() == ["/robots.txt"]
        host_rules.waive_robots(fair.shop.store, GATE, "they gave us leave in writing")
        (allowed,) = await fair.drain(look)
        assert fair.shop.state(allowed) == "succeeded"
        host_rules.mind_robots(fair.shop.store, GATE)
        (again,) = await fair.drain(look)
        assert fair.one(again)[:2] == ("failed", "Refused")

    at({"shop.example/robots.txt": "User-agent: *\nDisallow: /private", "*": "<p>"}, story)


@pytest.mark.promise(16)
def test_the_waiver_of_a_source_holds_for_the_hosts_it_leads_to(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/private")
        return Done()

    async def story(fair):
        fair.shop.set_up(one_stage("look", look, sources=(Source("leave"),)))
        host_rules.waive_robots(fair.shop.store, "source:leave", "they gave us leave in writing")
        (task_id,) = await fair.drain(look, through=("source:leave",), sources=(Source("leave"),))
        assert fair.shop.state(task_id) == "succeeded"

    at({"shop.example/robots.txt": "User-agent: *\nDisallow: /", "*": "<p>"}, story)


@pytest.mark.promise(2)
def test_an_attempt_that_lost_its_claim_sends_nothing_more(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        change(elsewhere[0], "update tasks set claim = claim + 1")
        with pytest.raises(ClaimLost):
            await ctx.fetch(f"{SHOP}/b")
        change(elsewhere[0], "update tasks set claim = claim - 1")
        return Done()

    elsewhere = []

    async def story(fair):
        elsewhere.append(fair.shop.machine())
        (task_id,) = await fair.drain(look)
        assert fair.site.paths() == ["/robots.txt", "/a"]
        assert fair.shop.state(task_id) == "succeeded"

    at({"*": "<p>"}, story)


@pytest.mark.promise(3)
def test_what_was_reserved_is_given_back_when_the_attempt_is_cut_short(at):
    async def story(fair):
        async def look(ctx):
            await ctx.fetch("https://other.example/slow")
            return Done()

        fair.site.takes["/slow"] = 60.0
        registry = fair.shop.set_up(one_stage("look", look, through=(GATE,)), **BRISK)
        fair.shop.put(registry, NewTask("look"))
        worker = fair.worker(registry)
        async with at_work(worker):
            await soon(_until(lambda: "/slow" in fair.site.paths("other.example")))
            assert gate_of(fair.shop.store, "host:other.example", "in_flight") == 1
            worker.stop_now()
            await soon(_until(lambda: rows(fair.shop.store, "select count(*) from permits") == [(0,)]))
        assert gate_of(fair.shop.store, "host:other.example", "in_flight") == 0

    async def _until(is_so):
        while not is_so():
            await asyncio.sleep(0.01)

    at({"*": "<p>"}, story)


@pytest.mark.promise(8)
def test_a_gate_elsewhere_that_stays_closed_sends_the_task_back_without_a_failure_and_without_blame(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        return Done()

    async def story(fair):
        host_rules.hold_back(fair.shop.store, "host:other.example", 3_600_000_000, "Retry-After: 3600")
        (task_id,) = await fair.drain(look)
        assert fair.one(task_id) == ("pending", "NotYet", 0)
        assert fair.site.paths("other.example") == []
        assert "host:other.example is closed until" in fair.shop.fields(task_id)["reason"]
        assert gate_of(fair.shop.store, GATE, "failures") == 0

    at({"shop.example/a": moved("https://other.example/b")}, story)


def test_a_kept_page_serves_the_next_task_without_a_request(at):
    async def look(ctx):
        return Done((await ctx.fetch(f"{SHOP}/a", max_age=60)).via)

    async def story(fair):
        (first,) = await fair.drain(look)
        (second,) = await fair.drain(look)
        assert [fair.shop.fields(each)["reason"] for each in (first, second)] == ["http", "cache"]
        assert fair.site.paths() == ["/robots.txt", "/a"]

    at({"*": "<p>"}, story)


@pytest.mark.promise(10)
def test_trouble_at_a_host_counts_towards_its_breaker_and_a_good_answer_ends_the_count(at):
    answers = iter([page(status=500), page(status=500), page()])

    async def look(ctx):
        await ctx.fetch("https://other.example/a")
        return Done()

    async def story(fair):
        counted = []
        for _ in range(3):
            await fair.drain(look, retry__max_retries=0)
            counted.append(gate_of(fair.shop.store, "host:other.example", "failures"))
        assert counted == [1, 2, 0]

    at({"other.example/a": lambda asked: next(answers)}, story)


def test_stages_may_fetch_behind_other_gates_than_the_first(at):
    async def story(fair):
        async def first(ctx):
            await ctx.fetch(f"{SHOP}/a")
            return Next({"then": "https://other.example/b"})

        async def second(ctx):
            with pytest.raises(Gone):
                await ctx.fetch(ctx.task.checkpoint["then"])
            return Done()

        pipeline = Pipeline(
            "two", Stage(first, through=(GATE,)), Stage(second, through=("host:other.example",))
        )
        registry = fair.shop.set_up(App("two", pipelines=(pipeline,)), **BRISK)
        (task_id,) = fair.shop.put(registry, NewTask("two"))
        await asyncio.wait_for(fair.worker(registry, until_idle=True).run(), PATIENCE)
        assert [each["ending"] for each in attempts_of(fair.shop.store, task_id)] == ["next", "done"]
        assert rows(fair.shop.store, "select count(*) from permits") == [(0,)]

    at({"shop.example/a": "<p>", "other.example/b": page(status=404)}, story)


@pytest.mark.promise(10)
def test_a_task_that_met_a_wall_waits_at_the_disabled_gate_and_goes_on_when_a_person_opens_it(at):
    wall = page(
        "<title>Just a moment...</title><h1>Verify you are human</h1><p>Please complete the CAPTCHA.", 403
    )
    says = {"shop.example/a": wall}

    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a")
        return Done()

    async def story(fair):
        (task_id,) = await fair.drain(look)
        gate = rows(fair.shop.store, "select closed_tag from gates where name = :name", name=GATE)
        assert (gate, fair.one(task_id)[0], fair.one(task_id)[2]) == ([("anti_bot",)], "pending", 0)
        assert rows(fair.shop.store, "select due from tasks where id = :id", id=task_id) == [
            (1,)
        ]  # no clock to wait for
        says["shop.example/a"] = "<p>welcome"
        sources.enable(fair.shop.store, GATE)
        registry = fair.shop.set_up(one_stage("look", look, through=(GATE,)), **BRISK)
        await asyncio.wait_for(fair.worker(registry, until_idle=True).run(), PATIENCE)
        assert fair.one(task_id)[0] == "succeeded"

    at(says, story)


def test_a_source_says_how_old_a_copy_of_its_pages_may_be_and_a_fetch_may_say_otherwise(at):
    async def look(ctx):
        await ctx.fetch(f"{SHOP}/a", max_age=ctx.task.payload.get("max_age"))
        return Done()

    async def story(fair):
        lane, shop = ("source:shop", GATE), (Source("shop", max_age=3_600),)
        await fair.drain(look, through=lane, sources=shop)
        await fair.drain(look, through=lane, sources=shop)
        assert fair.site.paths() == ["/robots.txt", "/a"]
        await fair.drain(look, NewTask("look", {"max_age": 0}), through=lane, sources=shop)
        assert fair.site.paths() == ["/robots.txt", "/a", "/a"]

    at({"shop.example/a": "<p>here"}, story)
