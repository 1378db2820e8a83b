"""A worker that meets a hostile page fails that page's task with the reason; its other tasks, its lease and
its end are not touched."""

import asyncio
import os

import pytest

from tests.engine import hostile
from tests.engine.fair import SHOP, at, clock
from tests.engine.test_process_pool import until_gone
from tests.engine.workshop import at_work, one_stage, soon
from tests.harness.bodies import saved
from tests.harness.databases import with_processes
from tests.harness.tasks import events, rows
from thresher import App, Done, NewTask, Pipeline, Stage
from thresher.reading.html.parser import MAX_DEPTH
from thresher.store import blobs

__all__ = ["at", "clock"]

pytestmark = with_processes


async def read(ctx):
    found = await ctx.compute(getattr(hostile, ctx.task.payload["what"]), *ctx.task.payload.get("with", ()))
    return Done(str(found))


@pytest.mark.promise(18)
@pytest.mark.promise(8)
def test_a_page_that_holds_its_reader_fails_with_the_reason_and_everything_else_succeeds(at):
    async def story(fair):
        hostile_one, *others = await fair.drain(
            read,
            NewTask("look", {"what": "bomb_of_a_person"}),
            *(NewTask("look", {"what": "double", "with": [at]}) for at in range(5)),
            through=(),
            isolation__seconds=1.0,
        )
        fields = fair.shop.fields(hostile_one)
        assert (fields["state"], fields["failures"]) == ("failed", 1)
        assert "took longer than 1 seconds and was stopped" in fields["reason"]
        assert {fair.shop.state(each) for each in others} == {"succeeded"}
        assert len(events(fair.shop.store, "reading_stopped")) == 1

    at({}, story)


@pytest.mark.promise(18)
@pytest.mark.promise(7)
def test_a_page_that_grows_too_large_fails_in_the_fetch_and_is_kept_for_a_person(at):
    bomb = "<p>" + "".join(f"<b a={each}>" for each in range(MAX_DEPTH)) + "<p>x" * 20_000

    async def look(ctx):
        page = await ctx.fetch(ctx.task.payload["url"])
        return Done(str(len(page.body)))

    async def story(fair):
        bad, good = await fair.drain(
            look, *(NewTask("look", {"url": f"{SHOP}/{name}"}) for name in ("bomb", "page")), patience=5.0
        )
        assert fair.shop.state(bad) == "failed"
        assert "nodes" in fair.shop.fields(bad)["reason"]
        assert fair.shop.state(good) == "succeeded"
        kept = {url for (url,) in rows(fair.shop.store, "select url from pages")}
        assert f"{SHOP}/bomb" in kept

    at({"shop.example/bomb": bomb, "shop.example/page": "<p>here"}, story)


@pytest.mark.promise(1)
def test_a_worker_that_is_stopped_kills_what_reads_for_it_and_hands_the_task_back(workshop, tmp_path):
    begun = tmp_path / "begun"

    async def play():
        registry = workshop.set_up(one_stage("look", read), worker__grace=0.0)
        (task_id,) = workshop.put(registry, NewTask("look", {"what": "begin_and_spin", "with": [str(begun)]}))
        worker = workshop.worker(registry)
        async with at_work(worker) as running:
            pid = int(await soon(asyncio.to_thread(begun.read_text)))
            worker.stop()
            await soon(running)
        return task_id, pid

    os.mkfifo(begun)
    task_id, pid = asyncio.run(play())
    until_gone(pid)
    assert workshop.state(task_id) == "pending"


def isolated(perform, timeout=None):
    return App("test", pipelines=(Pipeline("do", Stage(perform, isolation="process", timeout=timeout)),))


def test_a_stage_in_a_process_reads_and_stores_through_its_worker(workshop):
    stored = asyncio.run(workshop.store.run(saved, workshop.store, b"ladder"))
    (task_id,) = workshop.drained(isolated(hostile.shout), NewTask("do", {"hash": stored}))
    assert workshop.state(task_id) == "succeeded", workshop.fields(task_id)["reason"]
    digest, batch, pid = workshop.fields(task_id)["reason"].split()
    assert blobs.get(workshop.store, digest) == b"LADDER"
    assert (int(batch), int(pid) != os.getpid()) == (workshop.store.settings["worker.batch"], True)


@pytest.mark.promise(8)
def test_a_stage_in_a_process_that_takes_too_long_is_killed_and_tried_again_as_any_other(workshop):
    (task_id,) = workshop.drained(
        isolated(hostile.never_end, timeout=0.5), NewTask("do"), retry__max_retries=0
    )
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["error"]) == ("failed", "TimedOut")


def test_a_stage_in_a_process_is_told_what_it_does_not_have(workshop):
    (task_id,) = workshop.drained(isolated(hostile.go_out), NewTask("do"), retry__max_retries=0)
    assert "has no ctx.fetch" in workshop.fields(task_id)["reason"]
