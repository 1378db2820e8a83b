"""A small app for hard times: trees, records, checkpoints, failures, waits, and every kind of gate.

Each attempt writes down what it is about to do and what it has done, in a log outside the store, before the
store hears of it. What an attempt does depends on its task and its claim only, so that two attempts can be
told apart afterwards.
"""

import asyncio
import contextlib
import os
import signal
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.chaos.effects import WEB, logged, luck
from tests.chaos.grouped import PIPELINES, group_roots
from thresher import (
    App,
    Context,
    Done,
    Filtered,
    Link,
    NewTask,
    Next,
    Outcome,
    Permanent,
    Pipeline,
    RateLimited,
    Record,
    Skipped,
    Snooze,
    Source,
    Stage,
    Task,
    Transient,
)
from thresher.core.limits import MAX_KEY_BYTES
from thresher.core.outcome import Finds
from thresher.core.settlement import Error

# Longer than the key of a record and the name of a host may be.
LONG_KEY = "k" * (MAX_KEY_BYTES + 700)
LONG_HOST = ".".join(["h" * 60] * 5)
# Tasks of these kinds end their worker, every time.
GUILTY = frozenset({"bomb", "fault", "spin", "novel_fault"})
# What the older version of the app does not know: two kinds, and the first stage of a third.
NEWER = frozenset({("novel", "tell"), ("novel_fault", "fault"), ("reform", "prepare")})
# Kinds whose failed tasks leave a record behind.
MOURNED = frozenset({"moody", "fault", "novel_fault"})
LEAVES = ("fetch", "moody", "slow", "nap", "limited", "fetch", "hoard")
SETTINGS: dict[str, int | float] = {
    "worker.lease": 1.0,
    "worker.poll": 0.2,
    "worker.grace": 1.0,
    "worker.concurrency": 12,
    "worker.batch": 6,
    "worker.timeout": 4.0,
    "worker.suspect_alone": 0.1,
    "worker.cancel_grace": 0.4,
    "worker.stall": 4.0,
    "reaper.every": 0.2,
    "retry.crash_spread": 1.0,
    "repair.every": 1.0,
    "settings.every": 1.0,
    "schedule.every": 1.0,
    "retry.base": 0.05,
    "retry.cap": 0.4,
    "retry.max_retries": 3,
    "retry.max_crashes": 4,
    "lineage.max_depth": 4,
}


def shared_record(ctx: Context, path: str) -> Record:
    """One of a few records that many tasks see."""
    return Record(
        "leaf", f"leaf-{zlib.crc32(path.encode()) % 40}", {"path": path}, (Link("task", str(ctx.task.id)),)
    )


@logged
async def grow(ctx: Context) -> Outcome:
    """Three levels; the last one bears something to do. A loop, a twin and a child with too long a host must
    be refused."""
    level, path = ctx.task.payload["level"], ctx.task.payload["path"]
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.05))
    if level == 2:
        kind = LEAVES[zlib.crc32(path.encode()) % len(LEAVES)]
        return Done(
            children=(NewTask(kind, {"path": path}, url=f"{WEB}{path}/{kind}"),),
            records=(shared_record(ctx, path),),
        )
    below = [
        NewTask("tree", {"level": level + 1, "path": f"{path}/{n}"}, url=f"{WEB}{path}/{n}")
        for n in range(3 - level)
    ]
    if level == 1:
        below.append(NewTask("fetch", {"path": path}, url=f"{WEB}{path}/fetch"))
    loop = NewTask("tree", {"level": level, "path": path}, url=f"{WEB}{path}")
    nowhere = NewTask("fetch", {"path": path}, url=f"https://{LONG_HOST}{path}")
    return Done(children=(*below, loop, below[0], nowhere))


@logged
async def get(ctx: Context) -> Outcome:
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.08))
    if luck(ctx).random() < 0.1:
        raise Transient("the line is bad")
    return Next({"size": luck(ctx).randrange(1_000)}, records=(shared_record(ctx, ctx.task.payload["path"]),))


@logged
def parse(ctx: Context) -> Outcome:
    time.sleep(luck(ctx).uniform(0.0, 0.03))
    size, path = ctx.task.checkpoint["size"], ctx.task.payload["path"]
    records = (Record("page", f"{ctx.task.id}", {"size": size}), shared_record(ctx, path))
    match size % 10:
        case 0:
            return Filtered("too round", records=records)
        case 1:
            return Skipped("too odd")
    return Done(records=records)


@logged
async def wobble(ctx: Context) -> Outcome:
    """Fails as often as its path says; some more often than the budget allows, some for good."""
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.05))
    fails = zlib.crc32(ctx.task.payload["path"].encode()) // 7 % 7
    if fails == 6:
        raise Permanent("never")
    if ctx.task.failures < fails:
        raise Transient("not yet")
    return Done(records=(Record("mood", str(ctx.task.id)),))


@logged
async def crawl(ctx: Context) -> Outcome:
    """Takes longer than many a worker lives."""
    await asyncio.sleep(luck(ctx).uniform(0.05, 1.3))
    return Done(records=(Record("crawl", str(ctx.task.id)),))


@logged
async def nap(ctx: Context) -> Outcome:
    if luck(ctx).random() < 0.5:
        return Snooze(luck(ctx).uniform(0.0, 0.2), "tired")
    return Done()


@logged
async def ask(ctx: Context) -> Outcome:
    if luck(ctx).random() < 0.08:
        raise RateLimited("slow down", retry_after=0.15)
    return Done(records=(Record("answer", str(ctx.task.id)),))


@logged
async def dig(ctx: Context) -> Outcome:
    """Goes down until the depth limit stops it."""
    depth = ctx.task.payload["depth"]
    url = f"{WEB}/dig/{ctx.task.payload['name']}/{depth + 1}"
    return Done(children=(NewTask("dig", {"depth": depth + 1, "name": ctx.task.payload["name"]}, url=url),))


@logged
async def explode(ctx: Context) -> Outcome:
    """Takes its worker along, every time."""
    os.kill(os.getpid(), signal.SIGKILL)
    await asyncio.sleep(60)
    return Done()


@logged
async def fault(ctx: Context) -> Outcome:
    """Takes its worker along as a bug in a library does."""
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.05))
    os.kill(os.getpid(), signal.SIGSEGV)
    return Done()


@logged
async def spin(ctx: Context) -> Outcome:
    """Holds its worker's event loop until the worker is ended."""
    while True:
        pass


@logged
async def cling(ctx: Context) -> Outcome:
    """Ignores its cancellation, and comes back with something when nobody waits for it any more."""
    until = time.monotonic() + luck(ctx).uniform(0.1, 2.0)
    while time.monotonic() < until:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.05)
    return Done(records=(Record("cling", str(ctx.task.id)),))


@logged
async def hoard(ctx: Context) -> Outcome:
    """Brings a record that cannot be kept beside one that could."""
    return Done(
        records=(shared_record(ctx, ctx.task.payload["path"]), Record("page", f"{ctx.task.id}{LONG_KEY}"))
    )


@logged
async def tell(ctx: Context) -> Outcome:
    """Of a kind that is new, with a child of it."""
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.3))
    chapter = ctx.task.payload["chapter"]
    after = NewTask("novel", {"chapter": chapter + 1}, key=f"{ctx.task.tracking_id} {chapter + 1}")
    return Done(records=(Record("chapter", str(ctx.task.id)),), children=(after,) if chapter < 3 else ())


@logged
async def prepare(ctx: Context) -> Outcome:
    """A stage that is new, before one that is not."""
    await asyncio.sleep(luck(ctx).uniform(0.0, 0.1))
    return Next({"prepared": True})


@logged
async def finish(ctx: Context) -> Outcome:
    assert ctx.task.checkpoint == {"prepared": True}
    return Done(records=(Record("reform", str(ctx.task.id)),))


def on_failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    return Finds(records=(Record("epitaph", str(task.id)),))


app = App(
    "chaos",
    pipelines=(
        Pipeline("tree", Stage(grow, through=("source:wide",))),
        Pipeline(
            "fetch",
            Stage(get, through=("source:rate", "source:slots")),
            Stage(parse, through=("source:both", "source:wide")),
        ),
        Pipeline("moody", Stage(wobble, through=("source:shaky", "source:slots")), failed=on_failed),
        Pipeline("slow", Stage(crawl, through=("source:pool",))),
        Pipeline("nap", Stage(nap)),
        Pipeline("limited", Stage(ask, through=("source:asked", "source:rate", "source:wide"))),
        Pipeline("dig", Stage(dig)),
        Pipeline("bomb", Stage(explode)),
        Pipeline("fault", Stage(fault, through=("source:wide",)), failed=on_failed),
        Pipeline("spin", Stage(spin)),
        Pipeline("cling", Stage(cling, through=("source:pool",), timeout=0.3)),
        Pipeline("hoard", Stage(hoard, through=("source:wide",))),
        Pipeline("novel", Stage(tell, through=("source:wide",))),
        Pipeline("novel_fault", Stage(fault), failed=on_failed),
        Pipeline("reform", Stage(prepare, through=("source:slots",)), Stage(finish)),
        *PIPELINES,
    ),
    sources=(
        Source("wide", in_flight=6, trip_after=None),
        Source("slots", in_flight=3, trip_after=None),
        Source("rate", rate=60, burst=3, trip_after=None),
        Source("both", rate=80, burst=2, in_flight=4, trip_after=None),
        Source("shaky", in_flight=2, trip_after=6, cooldown=0.1),
        Source("pool", in_flight=5, trip_after=None),
        Source("asked", rate=40, burst=2, trip_after=None),
    ),
)


def _before(pipeline: Pipeline) -> tuple[Pipeline, ...]:
    """A pipeline as the older version has it: nothing, if all its stages are new."""
    stages = [stage for stage in pipeline.stages if (pipeline.kind, stage.name) not in NEWER]
    return (Pipeline(pipeline.kind, *stages, failed=pipeline.failed),) if stages else ()


VERSIONS = {
    "new": app,
    "old": replace(app, pipelines=tuple(older for each in app.pipelines for older in _before(each))),
}


def roots(number: int, batch: int, *, is_long: bool = False) -> list[NewTask]:
    """Work to begin with: mostly trees, some that dig too deep or cling to their worker, and one bomb.

    A long campaign also has tasks that crash and hang their workers: each has to do it four times before it
    is quarantined.
    """
    found = [
        NewTask(
            "tree",
            {"level": 0, "path": f"/{batch}-{n}"},
            url=f"{WEB}/{batch}-{n}",
            key=f"tree-{batch}-{n}",
            priority=n % 3 - 1,
        )
        for n in range(number)
    ]
    found.append(NewTask("dig", {"depth": 0, "name": str(batch)}, url=f"{WEB}/dig/{batch}/0"))
    found.append(NewTask("cling", {}))
    found += [
        NewTask("novel", {"chapter": 1}),
        NewTask("reform"),
        NewTask("reform", delay=1.0),
        *group_roots(batch),
    ]
    if is_long and batch == 0:
        harm = (("fault", 4.0), ("fault", 9.0), ("spin", 6.0), ("novel_fault", 5.0))
        found += [NewTask(kind, {}, delay=delay) for kind, delay in harm]
    if batch == 0:
        # Later, when there is other work for its neighbours to do: it takes whatever its worker holds along.
        found.append(NewTask("bomb", {}, delay=3.0))
    return found
