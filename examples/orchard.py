"""An orchard: a tree of tasks through governed lanes, in about thirty lines of app.

A trunk grows branches, branches grow twigs, twigs bear apples. Picking goes through two sources with limits
of their own, some baskets break and are tried again, and one branch tries to grow back into its own trunk:
the loop guard refuses it.
"""

import asyncio
import random

from thresher import (
    App,
    Context,
    Done,
    Filtered,
    NewTask,
    Next,
    Outcome,
    Pipeline,
    Record,
    Source,
    Stage,
    Transient,
)

WEB = "https://orchard.example"


async def grow(ctx: Context) -> Outcome:
    """Grow the next level: 6 branches, each with 8 twigs."""
    level, path = ctx.task.payload["level"], ctx.task.payload["path"]
    await asyncio.sleep(0.01)
    if level == 2:
        return Done(children=(NewTask("pick", {"path": path}, url=f"{WEB}{path}/apple"),))
    children = [
        NewTask("grow", {"level": level + 1, "path": f"{path}/{n}"}, url=f"{WEB}{path}/{n}")
        for n in range(6 + 2 * level)
    ]
    children.append(
        NewTask("grow", {"level": 0, "path": ""}, url=WEB)
    )  # a loop: refused, with a row that says so
    return Done(children=tuple(children))


async def climb(ctx: Context) -> Outcome:  # noqa: ARG001  every stage is given its context
    await asyncio.sleep(random.uniform(0.2, 0.8))
    if random.random() < 0.1:
        raise Transient("the ladder wobbles")
    return Next({"grams": random.randint(40, 260)})


def weigh(ctx: Context) -> Outcome:
    grams = ctx.task.checkpoint["grams"]
    if grams < 70:
        return Filtered(f"{grams} g is too small")
    return Done(records=(Record("apple", ctx.task.payload["path"], {"grams": grams}),))


app = App(
    "orchard",
    pipelines=(
        Pipeline("grow", Stage(grow, through=("source:trees",))),
        Pipeline("pick", Stage(climb, through=("source:ladders",)), Stage(weigh, through=("source:scales",))),
    ),
    sources=(
        Source("trees", rate=10, burst=3),
        Source("ladders", in_flight=4),
        Source("scales", rate=6, burst=3),
    ),
    start=(NewTask("grow", {"level": 0, "path": ""}, url=WEB, key="trunk"),),
)
