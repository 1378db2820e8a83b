"""DBOS: workflows on one of its queues, drained by the executor in this process; what both stores share.

The queue is registered only after the tasks are in, so that nothing runs while they are enqueued. The clock
starts with the first task, not with the registration: finding a new queue takes DBOS up to a second, and that
is not what is measured. `--setting` is `WORKER_CONCURRENCY-KIND`: 0 means unlimited, the kind is `sync`
(threads) or `async` (its event loop).
"""

import threading
import time

from bench.contenders.contest import Order, Tally, per_s, report
from dbos import DBOS

QUEUE = "contest"
POLL_SECONDS = 0.01
PATIENCE_SECONDS = 120


def contest(given: Order, store: str, url: str, **config: object) -> None:
    concurrency, kind = (given.setting or "0-async").split("-")
    tally = Tally(given.tasks)
    finished = threading.Event()
    DBOS(config={"name": "contest", "system_database_url": url, "log_level": "ERROR", **config})

    def note() -> None:
        if tally.note(DBOS.workflow_id):
            finished.set()

    @DBOS.workflow(name="noop")
    def noop() -> None:
        note()

    @DBOS.workflow(name="noop_async")
    async def noop_async() -> None:
        note()

    DBOS.launch()
    started = time.perf_counter()
    for _ in range(given.tasks):
        DBOS.enqueue_workflow(QUEUE, noop if kind == "sync" else noop_async)
    enqueue = per_s(given.tasks, started)
    DBOS.register_queue(QUEUE, worker_concurrency=int(concurrency) or None, polling_interval_sec=POLL_SECONDS)
    finished.wait(PATIENCE_SECONDS)
    left = _unfinished()
    width = "unlimited" if concurrency == "0" else concurrency
    report(
        "DBOS",
        store,
        given,
        tally,
        durability="process" if store == "sqlite" else "machine",
        left=left,
        guarantee="at least once, durable workflows",
        setting=f"{kind}, worker_concurrency {width}, poll {POLL_SECONDS:g} s",
        enqueue_per_s=enqueue,
        bulk_enqueue_per_s=None,
        drain_per_s=per_s(given.tasks, tally.first, tally.last),
    )
    DBOS.destroy()


def _unfinished() -> int:
    """How many are not recorded as done, once those still being recorded had their moment."""
    deadline = time.monotonic() + 10
    while (left := len(DBOS.list_workflows(status=["ENQUEUED", "PENDING"]))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
