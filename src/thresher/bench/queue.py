"""How fast the queue is: enqueue, bulk enqueue, a drain by a real worker, and the latency of single claims.

The drain dispatches a real (empty) handler for every task. Backlog and blocked lanes are put in place by SQL
before the clock starts; everything that is timed goes through the same doors as in production.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from thresher import runtime
from thresher.bench.fill import BenchField, baseline_per_s, fill
from thresher.core.app import App
from thresher.core.context import Context
from thresher.core.outcome import Done, Outcome
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.settlement import Settlement
from thresher.core.task import Entry
from thresher.engine.registry import Registry
from thresher.engine.worker import run_loop
from thresher.practice.postgres import practice_postgres
from thresher.store import workers
from thresher.store.settings import change_setting
from thresher.store.store import Store
from thresher.store.tasks import live

if sys.platform != "win32":
    import resource

KIND = "noop"
SINGLES = 2_000
CLAIMS = 200
WARM_UP = 10
BULK = 1_000
LEASE_US = 3_600_000_000


def run(
    *,
    store: str = "sqlite",
    tasks: int = 20_000,
    gates: int = 3,
    lanes: int = 1_000,
    backlog: int = 0,
    blocked: int = 0,
    batch: int = 20,
    database: str | None = None,
    durability: str = "process",
) -> dict[str, Any]:
    """One measurement, as one flat object."""
    field = BenchField(lanes=lanes, gates=gates, backlog=backlog, blocked=blocked)
    with database_for(store, database, durability) as url:
        with runtime.opened_store(url) as opened:
            # Written down: a worker reads its settings anew from time to time, and a slow run would go on
            # with another batch.
            change_setting(opened, "worker.batch", batch, "bench")
            change_setting(opened, "worker.concurrency", min(10_000, 2 * batch), "bench")
            fill(opened, field)  # closed afterwards, so that its log is folded in before the clock starts
        with runtime.opened_store(url) as opened:
            found = _measure(opened, field, url, tasks, batch)
    return {
        "store": store,
        "tasks": tasks,
        "gates": gates,
        "lanes": lanes,
        "batch": batch,
        "backlog": backlog,
        "blocked": blocked,
        "durability": durability if store == "sqlite" else "machine",
        **found,
        "rss_mb": _peak_megabytes(),
    }


def _peak_megabytes() -> int | None:
    """The most memory this process ever had; None on Windows, which does not say."""
    if sys.platform == "win32":
        return None
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _measure(store: Store, field: BenchField, url: str, tasks: int, batch: int) -> dict[str, Any]:
    before = time.process_time()
    turns = max(1, min(CLAIMS, tasks // (4 * batch)))
    found: dict[str, Any] = {
        "enqueue_per_s": _enqueue_singly(store, field),
        "driver_bulk_per_s": baseline_per_s(store, tasks),
        # As many more as the single claims will take: the drain is of the number that was asked for, as for
        # everybody else.
        "bulk_enqueue_per_s": _enqueue_in_bulk(
            store, field, max(0, tasks - SINGLES) + (turns + WARM_UP) * batch
        ),
        **_claims(store, batch, turns),
    }
    found |= run_loop(_drain(store, url, max(tasks, SINGLES)))
    with store.read() as session:
        found["left"] = max(0, live(session) - field.backlog - 10 * field.blocked)
    found["cpu_s"] = round(time.process_time() - before, 2)
    return found


@contextmanager
def database_for(store: str, url: str | None, durability: str) -> Iterator[str]:
    """A database of its own: a file in a temporary folder, a throwaway server, or a schema of the server
    named.
    """
    with ExitStack() as stack:
        if store == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="thresher-bench-"))
            yield f"sqlite:///{Path(folder) / 'bench.db'}?durability={durability}"
            return
        server = url or stack.enter_context(practice_postgres()).url
        yield f"{server}{'&' if '?' in server else '?'}schema=bench_{time.time_ns()}"


def _entries(field: BenchField, number: int) -> list[Entry]:
    return [Entry(KIND, "noop", field.names(at)) for at in range(number)]


def _enqueue_singly(store: Store, field: BenchField) -> int:
    entries = _entries(field, SINGLES)
    store.meet_lanes(entry.place for entry in entries)
    started = time.perf_counter()
    for entry in entries:
        store.enqueue([entry])
    return round(SINGLES / (time.perf_counter() - started))


def _enqueue_in_bulk(store: Store, field: BenchField, number: int) -> int:
    entries = _entries(field, number)
    started = time.perf_counter()
    for at in range(0, number, BULK):
        store.enqueue(entries[at : at + BULK])
    return round(number / (time.perf_counter() - started)) if number else 0


def _claims(store: Store, batch: int, turns: int) -> dict[str, int]:
    """The latency of single claims; what they brought is settled outside the clock."""
    worker = workers.register(store, name="bench", host="bench", pid=0, lease_us=LEASE_US)
    times = []
    for turn in range(turns + WARM_UP):
        started = time.perf_counter()
        claimed = store.turn([], batch, worker)
        if turn >= WARM_UP:
            times.append((time.perf_counter() - started) * 1e6)
        store.turn([Settlement.done(task) for task in claimed.tasks], 0, worker)
    times.sort()
    return {
        "claim_p50_us": round(statistics.median(times)),
        "claim_p99_us": round(times[int(len(times) * 0.99)]),
    }


async def _drain(store: Store, url: str, number: int) -> dict[str, int]:
    """Tasks per second through a worker with a real dispatch, and how many different tasks its handler
    saw.
    """
    seen: set[int] = set()

    async def noop(ctx: Context) -> Outcome:
        seen.add(ctx.task.id)
        if len(seen) >= number:
            worker.stop()
        return Done()

    registry = Registry([App("bench", pipelines=(Pipeline(KIND, Stage(noop)),))])
    with runtime.opened_worker(runtime.Runtime(store, registry), url) as worker:
        started = time.perf_counter()
        await worker.run()
        taken = time.perf_counter() - started
    return {"drain_per_s": round(worker.tally.settled / taken), "handled": len(seen)}
