"""Groups as an app uses them, through a real worker."""

import pytest

from thresher import (
    App,
    Context,
    Done,
    Failed,
    Filtered,
    Group,
    NewTask,
    Next,
    Outcome,
    Pipeline,
    Run,
    Stage,
    Stop,
    Verdict,
)
from thresher.store import groups

PARTS = ("frame", "saddle", "bell")


def app(*stages):
    return App("test", pipelines=tuple(Pipeline(stage.__name__, Stage(stage)) for stage in stages))


async def part(ctx: Context) -> Outcome:
    name = ctx.task.payload["name"]
    if name == "bell":
        return Failed("out of stock", counts={"missing": 1})
    return Filtered("not needed") if name == "basket" else Done(counts={"parts": 1})


def children(*names):
    return tuple(NewTask("part", {"name": name}, key=name) for name in names)


@pytest.mark.promise(1)
def test_a_stage_that_follows_a_group_sees_how_it_went(workshop):
    seen = []

    async def order(ctx: Context) -> Outcome:
        run = Run("bicycle", subject="a bicycle", since=5, then=NewTask("assemble", {"colour": "red"}))
        return Done(children=children(*PARTS, "basket"), group=run)

    async def assemble(ctx: Context) -> Outcome:
        seen.append((ctx.task.payload["colour"], await ctx.group()))
        return Done(stop=Stop("nothing left to fetch", Verdict.FOUND))

    workshop.drained(app(order, part, assemble), NewTask("order"))
    ((colour, run),) = seen
    assert (colour, run.subject, run.since, run.name, run.app) == ("red", "a bicycle", 5, "order", "test")
    assert (run.members, run.succeeded, run.failed, run.filtered, dict(run.counts)) == (
        4,
        2,
        1,
        1,
        {"missing": 1, "parts": 2},
    )
    with workshop.store.read() as session:
        (after,) = groups.find(session, runs=True)
    assert (after.stop_reason, after.verdict, after.is_running) == (
        "nothing left to fetch",
        Verdict.FOUND,
        False,
    )


@pytest.mark.promise(1)
def test_a_list_spawned_a_portion_at_a_time_is_one_group(workshop):
    seen = []

    async def order(ctx: Context) -> Outcome:
        at = ctx.task.checkpoint.get("at", 0)
        if at == len(PARTS):
            return Done()
        return Next(
            {"at": at + 1},
            again=True,
            children=children(PARTS[at]),
            group=Group("bicycle", then=NewTask("assemble")),
        )

    async def assemble(ctx: Context) -> Outcome:
        seen.append(await ctx.group())
        return Done()

    workshop.drained(app(order, part, assemble), NewTask("order"))
    ((members, refused),) = [(group.members, group.refused) for group in seen]
    assert (members, refused) == (4, 0)


BAD = {
    "the follower has a key": (Group("k", then=NewTask("part", key="x")), {}, "has a key"),
    "an empty key": (Group(""), {}, "the key of a group must have 1 to 512 characters"),
    "a name too long": (Group("k", name="n" * 600), {}, "the name of a group must have 1 to 512 characters"),
    "an unknown follower": (Group("k", then=NewTask("nobody")), {}, "nobody"),
    "a count of something": (None, {"pages": "many"}, "must be a whole number"),
    "a count without a name": (None, {"": 1}, "the name of a counter"),
    "too many counts": (None, {str(at): 1 for at in range(60)}, "at most 50 counters"),
}


@pytest.mark.parametrize(("group", "counts", "says"), BAD.values(), ids=BAD)
def test_what_cannot_be_a_group_fails_its_own_task_with_a_reason(workshop, group, counts, says):
    async def order(ctx: Context) -> Outcome:
        return Done(group=group, counts=counts)

    (task_id,) = workshop.drained(app(order, part), NewTask("order"), retry__max_retries=0)
    assert (workshop.state(task_id), says in workshop.fields(task_id)["reason"]) == ("failed", True), (
        workshop.fields(task_id)["reason"]
    )
