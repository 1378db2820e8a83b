"""The log of effects: what each attempt is about to do and has done, outside the store and before the store
hears of it."""

import functools
import inspect
import os
import random
import time
from collections.abc import Callable
from typing import Any

import orjson

from thresher import Context, Outcome

LOG_VARIABLE = "CHAOS_LOG"
WEB = "https://chaos.example"


class EffectLog:
    """Lines that survive the death of their writer: each is one write to a file opened for appending."""

    def __init__(self) -> None:
        self._file: int | None = None
        self.version = "new"  # of the app that this process knows

    def write(self, **fields: Any) -> None:
        if self._file is None:
            self._file = os.open(os.environ[LOG_VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        line = {"pid": os.getpid(), "at": time.time_ns() // 1_000, "version": self.version, **fields}
        os.write(self._file, orjson.dumps(line) + b"\n")


LOG = EffectLog()


def _begin(ctx: Context) -> dict[str, Any]:
    who = {"task": ctx.task.id, "claim": ctx.task.claim, "kind": ctx.task.kind, "stage": ctx.task.stage}
    LOG.write(phase="start", **who)
    return who


def _end(who: dict[str, Any], outcome: Outcome) -> Outcome:
    records = [[each.kind, each.key] for each in getattr(outcome, "records", ())]
    group, counts = getattr(outcome, "group", None), dict(getattr(outcome, "counts", {}))
    spawned = (*getattr(outcome, "children", ()), *((group.then,) if group else ()))
    children = [[each.kind, each.url] for each in spawned]
    brought = {"records": records, "children": children, "group": group and group.key, "counts": counts}
    LOG.write(phase="end", outcome=type(outcome).__name__, **brought, **who)
    return outcome


def logged(perform: Callable[[Context], Any]) -> Callable[[Context], Any]:
    """The same stage, with both ends of each attempt written down."""

    @functools.wraps(perform)
    async def on_the_loop(ctx: Context) -> Outcome:
        who = _begin(ctx)
        try:
            return _end(who, await perform(ctx))
        except Exception as problem:
            LOG.write(phase="end", outcome=type(problem).__name__, records=[], children=[], **who)
            raise

    @functools.wraps(perform)
    def on_a_thread(ctx: Context) -> Outcome:
        return _end(_begin(ctx), perform(ctx))

    return on_the_loop if inspect.iscoroutinefunction(perform) else on_a_thread


def luck(ctx: Context) -> random.Random:
    """Chance that is the same for everybody who asks about one attempt."""
    return random.Random(f"{ctx.task.id}/{ctx.task.claim}/{ctx.task.stage}")
