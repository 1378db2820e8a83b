"""How fast the queue is: enqueue, bulk enqueue, a drain by a real worker, and the latency of single claims.

The drain dispatches a real (empty) handler for every task. Backlog and blocked lanes are put in place by SQL before
the clock starts; everything that is timed goes through the same doors as in production.
"""

import asyncio
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from thresher import build
from thresher.bench.fill import Field, baseline_per_s, fill
from thresher.config.settings import Settings
from thresher.core.context import Context
from thresher.core.outcome import Done, Outcome
from thresher.core.pipeline import App, Pipeline, Stage
from thresher.core.settlement import Settlement
from thresher.core.task import Entry
from thresher.engine.registry import Registry
from thresher.practice.postgres import practice_postgres
from thresher.store import workers
from thresher.store.store import Store

KIND = "noop"
SINGLES = 2_000
CLAIMS = 400
BULK = 1_000
LEASE_US = 3_600_000_000

def run(
    *, store: str = "sqlite", tasks: int = 20_000, gates: int = 3, lanes: int = 1_000, backlog: int = 0, blocked: int = 0,
    batch: int = 20, database: str | None = None, durability: str = "process",
) -> dict[str, Any]:  # fmt: skip
    """One measurement, as one flat object."""
    field = Field(lanes=lanes, gates=gates, backlog=backlog, blocked=blocked)
    with _database(store, database, durability) as url, build.opened_store(url) as opened:
        opened.settings = Settings({"worker.batch": batch, "worker.concurrency": min(10_000, 2 * batch)})
        fill(opened, field)
        before = time.process_time()
        found = {
            "store": store, "tasks": tasks, "gates": gates, "lanes": lanes, "batch": batch, "backlog": backlog, "blocked": blocked,
            "durability": durability if store == "sqlite" else "machine",
            "enqueue_per_s": _enqueue_singly(opened, field),
            "driver_bulk_per_s": baseline_per_s(opened, tasks),
            "bulk_enqueue_per_s": _enqueue_in_bulk(opened, field, max(0, tasks - SINGLES)),
            **_claims(opened, batch),
            "drain_per_s": asyncio.run(_drain(opened, url, max(0, tasks - CLAIMS))),
        }  # fmt: skip
        found["cpu_s"] = round(time.process_time() - before, 2)
    found["rss_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return found

@contextmanager
def _database(store: str, url: str | None, durability: str) -> Iterator[str]:
    """A database of its own: a file in a temporary folder, a throwaway server, or a schema of the server named."""
    with ExitStack() as stack:
        if store == "sqlite":
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="thresher-bench-"))
            yield f"sqlite:///{Path(folder) / 'bench.db'}?durability={durability}"
            return
        server = url or stack.enter_context(practice_postgres()).url
        yield f"{server}{'&' if '?' in server else '?'}schema=bench_{time.time_ns()}"

def _entries(field: Field, number: int) -> list[Entry]:
    return [Entry(KIND, "noop", field.names(at)) for at in range(number)]

def _enqueue_singly(store: Store, field: Field) -> int:
    entries = _entries(field, SINGLES)
    store.meet_lanes(entry.gates for entry in entries)
    started = time.perf_counter()
    for entry in entries:
        store.enqueue([entry])
    return round(SINGLES / (time.perf_counter() - started))

def _enqueue_in_bulk(store: Store, field: Field, number: int) -> int:
    entries = _entries(field, number)
    started = time.perf_counter()
    for at in range(0, number, BULK):
        store.enqueue(entries[at : at + BULK])
    return round(number / (time.perf_counter() - started)) if number else 0

def _claims(store: Store, batch: int) -> dict[str, float]:
    """The latency of single claims: settled again outside the clock."""
    worker = workers.register(store, name="bench", host="bench", pid=0, lease_us=LEASE_US)
    times = []
    claimed = 0
    while claimed < CLAIMS:
        started = time.perf_counter()
        turn = store.turn([], min(batch, CLAIMS - claimed), worker)
        times.append((time.perf_counter() - started) * 1e6)
        claimed += len(turn.tasks)
        store.turn([Settlement.done(task) for task in turn.tasks], 0, worker)
        if not turn.tasks and not turn.more:
            break
    times.sort()
    return {
        "claim_p50_us": round(statistics.median(times)),
        "claim_p99_us": round(times[min(len(times) - 1, int(len(times) * 0.99))]),
    }

async def _drain(store: Store, url: str, number: int) -> int:
    """Tasks per second through a worker with a real dispatch."""
    done = 0

    async def noop(ctx: Context) -> Outcome:  # noqa: ARG001
        nonlocal done
        done += 1
        if done >= number:
            worker.stop()
        return Done()

    registry = Registry([App("bench", pipelines=(Pipeline(KIND, Stage(noop)),))])
    worker = build.make_worker(store, registry, url)
    started = time.perf_counter()
    await worker.run()
    return round(worker.tally.settled / (time.perf_counter() - started))
