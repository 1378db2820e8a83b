"""A worker performs stages, decides by the table, and never holds more than it can start."""

import asyncio
import contextlib
import threading

import pytest

from tests.engine.workshop import PATIENCE, at_work, one_stage, soon
from tests.harness.databases import with_processes
from tests.harness.tasks import attempts_of, change, claim_one, rows, settle
from thresher import (
    App,
    Done,
    Filtered,
    Link,
    NewTask,
    Next,
    Permanent,
    Pipeline,
    Record,
    Skipped,
    Snooze,
    Source,
    Stage,
    Transient,
)
from thresher.core.settlement import Settlement
from thresher.engine.registry import Registry

pytestmark = with_processes


@pytest.mark.promise(1)
def test_a_task_goes_through_its_stages_each_behind_its_own_gates_and_keeps_its_checkpoint(workshop):
    seen = []

    async def look(ctx):
        seen.append(("look", dict(ctx.task.checkpoint)))
        return Next({"found": 3})

    def weigh(ctx):
        seen.append(("weigh", dict(ctx.task.checkpoint)))
        return Next({**ctx.task.checkpoint, "grams": 70})

    async def pack(ctx):
        seen.append(("pack", dict(ctx.task.checkpoint)))
        return Done(records=(Record("parcel", ctx.task.payload["name"], ctx.task.checkpoint),))

    app = App(
        "post",
        pipelines=(
            Pipeline(
                "parcel",
                Stage(look, through=("source:web",)),
                Stage(weigh, through=("source:scales",)),
                Stage(pack),
            ),
        ),
        sources=(Source("web", in_flight=1), Source("scales", in_flight=1)),
    )
    (task_id,) = workshop.drained(app, NewTask("parcel", {"name": "a"}))

    assert seen == [("look", {}), ("weigh", {"found": 3}), ("pack", {"found": 3, "grams": 70})]
    assert [(each["stage"], each["ending"]) for each in attempts_of(workshop.store, task_id)] == [
        ("look", "next"),
        ("weigh", "next"),
        ("pack", "done"),
    ]
    assert rows(workshop.store, "select data from records") == [('{"found":3,"grams":70}',)]
    assert rows(workshop.store, "select sum(in_flight) from gates") == [(0,)]


def test_every_outcome_ends_as_its_state(workshop):
    outcomes = {
        "a": Done("fine"),
        "b": Filtered("too small"),
        "c": Skipped("seen before"),
        "d": Snooze(60, "later"),
    }

    async def say(ctx):
        return outcomes[ctx.task.payload["name"]]

    ids = workshop.drained(one_stage("say", say), *(NewTask("say", {"name": name}) for name in "abcd"))
    assert [(workshop.state(each), workshop.fields(each)["reason"]) for each in ids] == [
        ("succeeded", "fine"),
        ("filtered", "too small"),
        ("skipped", "seen before"),
        ("pending", "later"),
    ]


def test_a_plain_function_runs_on_a_thread_and_holds_nobody_up(workshop):
    met = threading.Event()
    threads = []

    def wait_for_the_other(ctx):
        threads.append(threading.current_thread())
        assert met.wait(PATIENCE)
        return Done()

    async def meet(ctx):
        threads.append(threading.current_thread())
        met.set()
        return Done()

    app = App("pair", pipelines=(Pipeline("wait", Stage(wait_for_the_other)), Pipeline("meet", Stage(meet))))
    ids = workshop.drained(app, NewTask("wait", priority=1), NewTask("meet"))
    assert [workshop.state(each) for each in ids] == ["succeeded", "succeeded"]
    assert threads[0] is not threading.main_thread()
    assert threads[1] is threading.main_thread()


@pytest.mark.promise(3)
@pytest.mark.parametrize("pumps", [1, 2])
def test_a_worker_never_holds_more_than_it_may_however_much_is_waiting(workshop, pumps):
    held = []

    async def count(ctx):
        held.append(int(rows(workshop.store, "select count(*) from tasks where state = 'running'")[0][0]))
        await asyncio.sleep(0)
        return Done()

    registry = workshop.set_up(one_stage("count", count), worker__concurrency=3, worker__batch=20)
    ids = workshop.put(registry, *(NewTask("count") for _ in range(40)))
    workshop.drain(registry, pumps=pumps)
    assert {workshop.state(each) for each in ids} == {"succeeded"}
    # Those that have ended and wait for their settlement are still held: a full hand, and a full hand on its
    # way.
    assert max(held) <= 6


@pytest.mark.promise(3)
def test_two_pumps_together_start_no_more_than_the_worker_may(workshop):
    full, free = asyncio.Event(), asyncio.Event()
    inside, most = 0, 0

    async def stay(ctx):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        if inside >= 4:
            full.set()
        await free.wait()
        inside -= 1
        return Done()

    async def play():
        registry = workshop.set_up(one_stage("stay", stay), worker__concurrency=4, worker__batch=4)
        ids = workshop.put(registry, *(NewTask("stay") for _ in range(30)))
        both_asked = threading.Barrier(2)
        turn = workshop.store.backend.turn

        def together(settlements, limit, worker_id, rules, scopes):
            # Two claims at the same moment, if both pumps ask for room at all.
            with contextlib.suppress(threading.BrokenBarrierError):
                both_asked.wait(0.2)
            return turn(settlements, limit, worker_id, rules, scopes)

        workshop.store.backend.turn = together
        async with at_work(workshop.worker(registry, pumps=2)):
            await soon(full.wait())
            free.set()
            await workshop.store.until(lambda: all(workshop.state(each) == "succeeded" for each in ids))

    asyncio.run(play())
    assert most == 4


def test_more_plain_functions_than_a_pool_of_threads_usually_has_all_start_at_once(workshop):
    everybody = threading.Barrier(70)

    def meet(ctx):
        everybody.wait(PATIENCE)
        return Done()

    ids = workshop.drained(
        one_stage("meet", meet),
        *(NewTask("meet") for _ in range(70)),
        worker__concurrency=70,
        worker__batch=70,
    )
    assert {workshop.state(each) for each in ids} == {"succeeded"}


def test_a_task_of_an_unknown_kind_waits_for_a_worker_that_knows_it_and_spends_nothing(workshop):
    async def do(ctx):
        return Done()

    knows = workshop.set_up(one_stage("rare", do))
    (task_id,) = workshop.put(knows, NewTask("rare"))
    stranger = workshop.set_up(one_stage("other", do))
    workshop.drain(stranger)
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["claim"], fields["failures"], fields["crashes"]) == ("pending", 0, 0, 0)
    workshop.drain(knows)
    assert workshop.endings(task_id) == ["done"]


def two_stages(kind, *names):
    async def do(ctx):
        return Done() if ctx.task.stage == names[-1] else Next()

    stages = (Stage(do, through=("source:web",), name=name) for name in names)
    return App("pages", pipelines=(Pipeline(kind, *stages),), sources=(Source("web"),))


@pytest.mark.promise(1)
def test_a_stage_that_an_old_worker_does_not_know_waits_for_a_new_one_and_costs_its_source_nothing(workshop):
    new = workshop.set_up(two_stages("page", "fetch", "parse"))
    old = Registry([two_stages("page", "fetch")])
    (task_id,) = workshop.put(new, NewTask("page"))
    change(workshop.store, "update gates set interval_us = 1, burst = 1000")
    ((before,),) = rows(workshop.store, "select tat from gates")
    settle(
        workshop.store,
        Settlement.advance(claim_one(workshop.store), stage="parse", gates=("source:web",), checkpoint="{}"),
    )
    ((after_one,),) = rows(workshop.store, "select tat from gates")
    workshop.drain(old)
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["stage"], fields["claim"], fields["failures"]) == (
        "pending",
        "parse",
        1,
        0,
    )
    assert after_one > before
    assert rows(workshop.store, "select tat from gates") == [(after_one,)]
    workshop.drain(new)
    assert workshop.endings(task_id) == ["next", "done"]


@pytest.mark.promise(1)
def test_a_task_that_stands_in_a_lane_of_another_scope_is_moved_to_its_own_and_not_failed(workshop):
    new, old = workshop.set_up(two_stages("page", "fetch", "parse")), Registry([two_stages("page", "fetch")])
    (task_id,) = workshop.put(new, NewTask("page"))
    change(workshop.store, "update tasks set stage = 'parse'")
    workshop.drain(old)
    fields = workshop.fields(task_id)
    assert (fields["state"], fields["failures"]) == ("pending", 0)
    assert "does not know stage 'parse' of kind 'page'" in fields["reason"]
    workshop.drain(new)
    assert workshop.endings(task_id) == ["snoozed", "done"]


@pytest.mark.promise(2)
def test_children_and_records_of_an_attempt_that_is_tried_again_are_written_once(workshop):
    async def spawn(ctx):
        if ctx.task.failures == 0:
            raise Transient("first")
        children = (NewTask("leaf", url="https://a.example/1"), NewTask("leaf", url="https://a.example/2"))
        return Done(children=children, records=(Record("tree", "oak", links=(Link("wood", "north"),)),))

    async def leaf(ctx):
        return Done(records=(Record("tree", "oak", links=(Link("wood", "south"),)),))

    app = App("wood", pipelines=(Pipeline("spawn", Stage(spawn)), Pipeline("leaf", Stage(leaf))))
    registry = workshop.set_up(app, retry__base=1.0)
    (task_id,) = workshop.put(registry, NewTask("spawn"))
    workshop.drain(registry)
    workshop.clock.advance(2_000_000)
    workshop.drain(registry)
    assert workshop.endings(task_id) == ["retry", "done"]
    assert rows(workshop.store, "select count(*) from tasks where parent_id = :id", id=task_id) == [(2,)]
    assert rows(workshop.store, "select seen from records") == [(3,)]
    assert rows(workshop.store, "select name, target from links order by target") == [
        ("wood", "north"),
        ("wood", "south"),
    ]


@pytest.mark.promise(3)
def test_slots_of_a_source_hold_across_two_workers(workshop):
    inside, most = 0, 0

    async def visit(ctx):
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        inside -= 1
        return Done()

    async def play():
        app = one_stage("visit", visit, through=("source:small",), sources=(Source("small", in_flight=2),))
        registry = workshop.set_up(app)
        ids = workshop.put(registry, *(NewTask("visit") for _ in range(40)))
        other = workshop.machine()
        async with at_work(workshop.worker(registry)), at_work(workshop.worker(registry, other)):
            await workshop.store.until(lambda: all(workshop.state(each) == "succeeded" for each in ids))

    asyncio.run(play())
    assert 1 <= most <= 2


def test_what_a_stage_saves_it_can_load_again_and_it_is_stored_once(workshop):
    async def keep(ctx):
        name = await ctx.save(b"the same page" * 1_000)
        assert await ctx.load(name) == b"the same page" * 1_000
        assert ctx.setting("retry.max_retries") == 3
        assert ctx.now() > 0
        return Done(name)

    ids = workshop.drained(one_stage("keep", keep), NewTask("keep"), NewTask("keep"))
    assert {workshop.state(each) for each in ids} == {"succeeded"}
    assert rows(workshop.store, "select count(*) from blobs") == [(1,)]


def test_the_tally_tells_what_was_done(workshop):
    async def do(ctx):
        if ctx.task.payload.get("bad"):
            raise Permanent("no")
        return Done()

    registry = workshop.set_up(one_stage("do", do))
    workshop.put(registry, NewTask("do"), NewTask("do"), NewTask("do", {"bad": True}))
    tally = workshop.drain(registry)
    assert (tally.claimed, tally.settled, tally.stale, tally.lost) == (3, 3, 0, 0)
    assert dict(tally.endings) == {"done": 2, "failed": 1}
