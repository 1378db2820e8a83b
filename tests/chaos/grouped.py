"""Groups and runs for hard times: members that end in every way, groups below groups, and a task that follows
each of them."""

import asyncio
import zlib

from tests.chaos.effects import LOG, WEB, logged, luck
from thresher import (
    Context,
    Done,
    Failed,
    Filtered,
    Group,
    NewTask,
    Next,
    Outcome,
    Permanent,
    Pipeline,
    Run,
    Skipped,
    Stage,
    Stop,
    Transient,
)

FOLLOWER = "sum_up"
MEMBERS = 5
STATES = ("live", "succeeded", "filtered", "skipped", "failed", "cancelled", "refused")


def item(path: str, *, detached: bool = False) -> NewTask:
    return NewTask("item", {"path": path}, url=f"{WEB}{path}/item", detached=detached)


def follower(path: str) -> NewTask:
    return NewTask(FOLLOWER, {"path": path})


@logged
async def split(ctx: Context) -> Outcome:
    """Open a group of items. One of them comes twice and must be refused, one does not belong to the
    group."""
    path = ctx.task.payload["path"]
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.05))
    items = [item(f"{path}/{n}") for n in range(MEMBERS)]
    return Done(
        group=Group(path, follower(path)),
        children=(*items, items[0], item(f"{path}/apart", detached=True)),
        counts={"split": 1},
    )


@logged
async def open_run(ctx: Context) -> Outcome:
    """Open a run and go on as a member of it. Two tasks want each run; whoever comes while it is open is
    refused."""
    path = ctx.task.payload["path"]
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.05))
    items = tuple(item(f"{path}/{ctx.task.id}/{n}") for n in range(MEMBERS))
    return Next(
        {"path": path}, group=Run(path, follower(path), subject=path), children=items, counts={"opened": 1}
    )


@logged
async def walk(ctx: Context) -> Outcome:
    path = ctx.task.payload["path"]
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.3))
    return Done(
        children=(item(f"{path}/{ctx.task.id}/more"),), counts={"walked": 1}, stop=Stop("the list has ended")
    )


@logged
async def handle(ctx: Context) -> Outcome:
    """A member: it ends in one of all ways, has a child in the group, or opens a group below."""
    path, counts = ctx.task.payload["path"], {"handled": 1, "size": len(ctx.task.payload["path"])}
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.15))
    if luck(ctx).random() < 0.1:
        raise Transient("the line is bad")
    deep = ctx.task.depth >= 2
    match zlib.crc32(path.encode()) % 8:
        case 0:
            return Filtered("not wanted", counts=counts)
        case 1:
            return Skipped("seen before", counts=counts)
        case 2:
            raise Permanent("it is gone")
        case 3:
            return Failed("it cannot be done", counts=counts)
        case 4 if not deep:
            return Done(children=(item(f"{path}/child"),), counts=counts)
        case 5 if not deep:
            below = tuple(item(f"{path}/{n}") for n in range(2))
            return Done(group=Group(path, follower(path)), children=below, counts=counts)
    return Done(counts=counts)


@logged
async def sum_up(ctx: Context) -> Outcome:
    """Write down what it sees of the group that it follows."""
    group = await ctx.group()
    assert group is not None, "a follower always finds its group"
    LOG.write(
        phase="saw",
        task=ctx.task.id,
        claim=ctx.task.claim,
        group=group.id,
        **{state: getattr(group, state) for state in STATES},
    )
    if luck(ctx).random() < 0.2:
        raise Transient("the printer is out of paper")
    return Done(counts={"summed": 1})


PIPELINES = (
    Pipeline("batch", Stage(split)),
    Pipeline("survey", Stage(open_run, through=("source:wide",)), Stage(walk)),
    Pipeline("item", Stage(handle, through=("source:pool",))),
    Pipeline(FOLLOWER, Stage(sum_up, through=("source:wide",))),
)


def group_roots(batch: int) -> list[NewTask]:
    """Groups to begin with, and runs that two tasks want to open."""
    return [
        *(NewTask("batch", {"path": f"/g{batch}-{n}"}) for n in range(2)),
        *(NewTask("survey", {"path": f"/r{batch}"}) for _ in range(2)),
    ]
