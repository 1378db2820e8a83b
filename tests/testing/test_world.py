"""A world in memory: the real engine, a fake web, and hours that pass in milliseconds."""

import asyncio
import itertools
import socket
import subprocess
import sys

import pytest

from thresher import (
    App,
    Context,
    Done,
    Group,
    NewTask,
    Next,
    Outcome,
    Pipeline,
    Record,
    Schedule,
    Snooze,
    Source,
    Stage,
    Transient,
    host_gate,
)
from thresher.core.clock import HOUR, SECOND
from thresher.core.errors import UsageError
from thresher.testing import Reply, World

HOME = "https://a.example/"


def through_host(trip):
    return (host_gate(trip.url),)


async def look(ctx: Context) -> Outcome:
    page = await ctx.fetch(ctx.task.url)
    return Done(records=(Record("page", ctx.task.url, {"text": page.body.decode(), "status": page.status}),))


LOOK = App(
    "looking",
    pipelines=(Pipeline("look", Stage(look, through=through_host)),),
    start=(NewTask("look", url=HOME),),
)


def one(perform, **more) -> App:
    return App("one", pipelines=(Pipeline("do", Stage(perform)),), **more)


def looking(*urls):
    return [NewTask("look", url=url) for url in urls]


def test_a_page_of_the_fake_web_becomes_a_record():
    with World(LOOK, pages={HOME: "<h1>Hello</h1>"}) as world:
        world.start()
        assert world.run_until_idle() == 1
        (page,) = world.records("page")
        assert (page.key, page.data) == (HOME, {"text": "<h1>Hello</h1>", "status": 200})
        assert world.record("page", HOME) == page
        assert [each.url for each in world.web.requests] == [f"{HOME}robots.txt", HOME]
        assert [(task["kind"], task["state"]) for task in world.tasks()] == [("look", "succeeded")]


def test_a_url_without_a_page_fails_its_task_and_is_named():
    with World(LOOK) as world:
        world.start()
        world.run_until_idle()
        (task,) = world.tasks(state="failed")
        assert f"the fake web has no page {HOME}" in task["reason"]
        assert world.web.missing == [HOME]


@pytest.mark.promise(16)
def test_the_real_rules_hold_robots_and_the_interval_of_a_host_on_the_moved_clock():
    urls = [f"{HOME}{at}" for at in range(5)]
    pages = dict.fromkeys(urls, "a page") | {
        f"{HOME}secret": "no",
        f"{HOME}robots.txt": "User-agent: *\nDisallow: /secret\nCrawl-delay: 7",
    }
    with World(LOOK, pages=pages) as world:
        world.enqueue(*looking(*urls, f"{HOME}secret"))
        world.run_until_idle()
        times = [each.at for each in world.web.requests]
        assert min(later - sooner for sooner, later in itertools.pairwise(times)) >= 1 * SECOND
        assert times[-1] - times[0] >= 4 * 7 * SECOND
        (refused,) = world.tasks(state="failed")
        assert (refused["url"], "robots.txt" in refused["reason"]) == (f"{HOME}secret", True)
        assert len(world.records("page")) == 5


def test_replies_have_a_status_headers_or_a_function_that_knows_what_was_asked():
    seen = []

    def count(asked):
        seen.append(asked.headers["user-agent"])
        return Reply("later", 429, {"Retry-After": "30"}) if len(seen) == 1 else "at last"

    with World(
        LOOK,
        pages={HOME: count, f"{HOME}gone": 410, f"{HOME}moved": Reply(status=302, headers={"Location": "/"})},
    ) as world:
        world.enqueue(*looking(HOME, f"{HOME}gone", f"{HOME}moved"))
        before = world.clock.now()
        world.run_until_idle()
        assert world.clock.now() - before >= 30 * SECOND
        assert [task["error"] for task in world.tasks(state="failed")] == ["Gone"]
        assert {found.data["text"] for found in world.records("page")} == {"at last"}
        assert any(event["kind"] == "gate_paused" for event in world.events())


def test_a_retry_waits_on_the_clock_and_not_in_the_test():
    tries = []

    async def flaky(ctx: Context) -> Outcome:
        tries.append(ctx.now())
        if len(tries) < 3:
            raise Transient("not yet")
        return Done()

    with World(one(flaky), settings={"retry.jitter": 0.0}) as world:
        world.enqueue(NewTask("do"))
        world.run_until_idle(within=600)
        assert (len(tries), tries[2] - tries[0] > 2 * SECOND, world.tasks()[0]["state"]) == (
            3,
            True,
            "succeeded",
        )


def test_long_waits_are_left_until_the_clock_is_moved():
    async def patient(ctx: Context) -> Outcome:
        return Done() if ctx.task.claim > 1 else Snooze(6 * 3600, "tomorrow is soon enough")

    with World(one(patient)) as world:
        world.enqueue(NewTask("do"))
        assert (world.run_until_idle(), world.run_until_idle()) == (1, 0)
        world.advance(hours=6)
        assert (world.run_until_idle(), world.tasks()[0]["state"]) == (1, "succeeded")


def test_schedules_fire_when_their_time_has_come():
    async def nightly(ctx: Context) -> Outcome:
        return Done()

    with World(one(nightly, schedules=(Schedule("nightly", NewTask("do"), every=3600.0),))) as world:
        world.run_until_idle()
        assert world.tasks() == []
        for _ in range(3):
            world.advance(hours=1)
            world.run_until_idle()
        assert len(world.tasks(state="succeeded")) == 3


def test_what_a_stage_sleeps_moves_the_clock():
    async def sleepy(ctx: Context) -> Outcome:
        began = ctx.now()
        await asyncio.sleep(3600)
        return Done(records=(Record("nap", "1", {"hours": (ctx.now() - began) / HOUR}),))

    with World(one(sleepy)) as world:
        world.enqueue(NewTask("do"))
        world.run_until_idle()
        assert round(world.records("nap")[0].data["hours"], 3) == 1


def test_a_stage_that_is_a_plain_function_waits_for_pages_too():
    def plain(ctx: Context) -> Outcome:
        first = ctx.wait(ctx.fetch(HOME))
        second = ctx.wait(ctx.fetch(f"{HOME}2"))
        return Done(records=(Record("pages", "1", {"text": (first.body + second.body).decode()}),))

    with World(one(plain), pages={HOME: "one ", f"{HOME}2": "two"}) as world:
        world.enqueue(NewTask("do"))
        world.run_until_idle()
        assert world.records("pages")[0].data == {"text": "one two"}


def test_groups_refusals_messages_and_people_are_there_too():
    async def do(ctx: Context) -> Outcome:
        if ctx.task.payload.get("child"):
            await ctx.tell("news", "a child was here")
            return Snooze(7200, "later")
        if ctx.task.payload.get("last"):
            return Done(counts={"ended": 1})
        twins = (NewTask("do", {"child": 1}, key="twin"), NewTask("do", {"child": 2}, key="twin"))
        return Done(children=twins, group=Group("family", then=NewTask("do", {"last": True})))

    with World(one(do)) as world:
        (root,) = world.enqueue(NewTask("do"))
        world.run_until_idle()
        (group,) = world.groups()
        assert (group.live, group.refused, [each["rule"] for each in world.refusals()]) == (
            1,
            1,
            ["live_in_lineage"],
        )
        assert (world.messages, root) == ([("news", "a child was here")], 1)
        (child,) = world.tasks(state="pending")
        world.cancel(child["id"])
        world.run_until_idle()
        (group,) = world.groups("do")
        assert (group.cancelled, dict(group.counts)) == (1, {"ended": 1})
        world.retry(child["id"])
        assert world.tasks(state="pending")[0]["id"] == child["id"]


def test_sources_have_their_limits():
    async def do(ctx: Context) -> Outcome:
        return Done(records=(Record("at", str(ctx.task.id), {"at": ctx.now()}),))

    app = App(
        "one",
        pipelines=(Pipeline("do", Stage(do, through=("source:slow",))),),
        sources=(Source("slow", rate=0.5),),
    )
    with World(app) as world:
        world.enqueue(*(NewTask("do") for _ in range(4)))
        world.run_until_idle()
        times = sorted(found.data["at"] for found in world.records("at"))
        assert [later - sooner for sooner, later in itertools.pairwise(times)] == [2 * SECOND] * 3


def test_a_task_that_never_ends_is_an_error_and_not_a_test_that_hangs():
    async def again(ctx: Context) -> Outcome:
        return Next(again=True)

    with World(one(again)) as world, pytest.MonkeyPatch.context() as patch:
        patch.setattr("thresher.testing.world.MAX_TURNS", 20)
        world.enqueue(NewTask("do"))
        with pytest.raises(UsageError, match="still work after 20 turns"):
            world.run_until_idle()


def test_no_connection_is_opened(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with World(LOOK, pages={HOME: "here"}) as world:
        world.start()
        world.run_until_idle()
        assert len(world.records("page")) == 1


def test_it_needs_no_test_framework():
    words = "import sys, thresher.testing; print(sorted(name for name in ('pytest', 'hypothesis', 'tests') if name in sys.modules))"
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


def test_subscribers_are_told_in_a_world_too():
    heard = []

    async def do(ctx: Context) -> Outcome:
        return Done(group=Group("empty"))

    with World(one(do, on={"task_ended": heard.append, "group_ended": heard.append})) as world:
        world.enqueue(NewTask("do"))
        world.run_until_idle()
        assert sorted(each.kind for each in heard) == ["group_ended", "task_ended"]
