"""huey: its consumer with worker threads in this process.

WAL with synchronous NORMAL is set from outside, through the connection factory that its storage passes on: huey itself only
knows FULL (the default, an fsync per commit) and OFF. `--setting` is the number of threads. A task is deleted when it
is fetched, so one that dies with its worker is lost: at most once.
"""

import sqlite3
import time

from huey import SqliteHuey
from huey.consumer import Consumer

from bench.contenders.contest import Tally, order, per_s, report


class NormalConnection(sqlite3.Connection):
    def __init__(self, *words: object, **options: object) -> None:
        super().__init__(*words, **options)
        self.execute("pragma journal_mode = wal")
        self.execute("pragma synchronous = normal")


def main() -> None:
    given = order()
    threads = int(given.setting or 1)
    queue = SqliteHuey("contest", filename=str(given.file), results=False, cache_mb=64, timeout=30, factory=NormalConnection)
    tally = Tally(given.tasks)

    @queue.task(context=True)
    def noop(task: object = None) -> None:
        if tally.note(task.id):
            consumer.stop_flag.set()

    started = time.perf_counter()
    for _ in range(given.tasks):
        noop()
    enqueue = per_s(given.tasks, started)

    consumer = Consumer(queue, workers=threads, periodic=False, initial_delay=0.001, max_delay=0.01, check_worker_health=False)
    started = time.perf_counter()
    consumer.run()
    report(
        "huey", "sqlite", given, tally, left=queue.storage.queue_size(), guarantee="at most once", setting=f"{threads} thread(s)",
        enqueue_per_s=enqueue, bulk_enqueue_per_s=None, drain_per_s=per_s(given.tasks, started, tally.last),
    )  # fmt: skip


if __name__ == "__main__":
    main()
