"""The cycle: one task that works through the queries that are due, strictly one after the other.

There is one live cycle, however many workers and machines there are: its key is taken, and its gate has one
slot. The claim of the task is the run lock, a lease that is renewed and fenced; who loses it writes nothing,
and another worker goes on where it ended. Companies, sheet and alarms are seen to by the same task, so that
nothing of this app ever happens side by side.
"""

import os
from collections.abc import Mapping
from typing import Any

from thresher.apps.queries.known_clients import client_from
from thresher.apps.queries.outputs.stage import look_after_outputs
from thresher.apps.queries.run import Run
from thresher.apps.queries.steps import begin, open_query, take
from thresher.core.clock import MINUTE, SECOND
from thresher.core.context import Context
from thresher.core.errors import ConfigError
from thresher.core.outcome import Effect, Finds, Next, Outcome, Skipped, Snooze
from thresher.core.pipeline import Pipeline, Schedule, Source, Stage
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task

CYCLE = "query_cycle"
KEY = "cycle"  # of the one live task
SYNC_KEY = "sync"  # of a person's wish to have the outputs synced now
SYNC_WAIT = 5.0  # seconds until such a wish looks again whether the cycle has ended
LOCK = Source("queries", in_flight=1, trip_after=None)
EVERY = 60.0  # seconds
MAX_RUNS = 1_000  # of one cycle: even a busy one ends, and the next begins
MAX_STEP = 1_800.0  # seconds for one page, with the waits at its host's gate
RETRY_BROKEN = 15 * MINUTE  # for a query whose client is described wrongly


async def begin_cycle(ctx: Context) -> Outcome:
    """See that this is the only cycle, close what an earlier one has left behind, and let clients that were
    set up anew work again.
    """
    other = await ctx.read("queries.other_cycle", {"task": ctx.task.id})
    if other is not None and by_hand(ctx.task):
        return Snooze(SYNC_WAIT, f"waits for the end of task {other}, which is at work on the queries")
    if other is not None:
        return Skipped(f"task {other} is at work on the queries already")
    left = {"task": ctx.task.id, "note": "the cycle was stopped before the end of this run"}
    resumed = [
        Effect("queries.resume_client", {"source": source})
        for source, client, definition, setup in await ctx.read("queries.stopped_clients")
        if _setup(client, definition) != setup
    ]
    return Next(checkpoint={"serial": 0}, effects=(Effect("queries.close_abandoned", left), *resumed))


def by_hand(task: Task) -> bool:
    """Tell whether this is a person's wish to have the outputs synced now."""
    return task.payload.get("sync") is True


def _setup(client: str, definition: str | None) -> str | None:
    try:
        return client_from(client, definition).fingerprint(os.environ)
    except ConfigError:
        return None


async def work(ctx: Context) -> Outcome:
    """The next step of the run under way; without one, begin with the query that has been due for longest."""
    said = ctx.task.checkpoint
    serial, run = int(said["serial"]), Run.of(said["run"]) if said.get("run") else None
    if run is not None and run.retry_at > ctx.now():
        return Snooze((run.retry_at - ctx.now()) / SECOND, f"waits before the next try: {run.note}")
    idle = serial >= MAX_RUNS or by_hand(ctx.task)
    key = run.key if run else None if idle else await ctx.read("queries.next_due")
    if key is None:
        return Next(checkpoint={"serial": serial})
    try:
        query = await open_query(ctx, key)
    except ConfigError as problem:
        return _broken(ctx, key, serial + (run is None), str(problem))
    return await take(ctx, query, run) if run else begin(ctx, query, serial + 1)


def _broken(ctx: Context, key: str, serial: int, why: str) -> Next:
    """A query whose client is not known, or is described wrongly."""
    run: Mapping[str, Any] = {"task": ctx.task.id, "serial": serial, "key": key}
    nothing = {"since": None, "first": None, "last": None, "client": key.partition(":")[0]}
    ends = {"task": ctx.task.id, "own": True, "note": why, "due": ctx.now() + RETRY_BROKEN}
    alarm = {"name": "query_failing", "subject": key, "message": why}
    return Next(
        checkpoint={"serial": serial},
        again=True,
        effects=(
            Effect("queries.begin", {**run, **nothing}),
            Effect("queries.close_abandoned", ends),
            Effect("queries.alarm", alarm),
        ),
    )


def failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:  # noqa: ARG001  all are given the settings
    """A cycle that ends in an error for good leaves no query running."""
    note = f"the cycle failed: {error.name}: {error.message}"
    return Finds(effects=(Effect("queries.close_abandoned", {"task": task.id, "own": True, "note": note}),))


_GATES = (LOCK.gate,)

query_cycle = Pipeline(
    CYCLE,
    Stage(begin_cycle, through=_GATES),
    Stage(work, through=_GATES, timeout=MAX_STEP),
    Stage(look_after_outputs, through=_GATES, timeout=MAX_STEP),
    failed=failed,
)

PIPELINES = (query_cycle,)
SOURCES = (LOCK,)
START = (NewTask(CYCLE, key=KEY),)
SCHEDULES = (Schedule("queries.cycle", NewTask(CYCLE, key=KEY), every=EVERY),)
