"""huey: its consumer with worker threads in this process.

`--setting` is `DURABILITY-THREADS`. `machine` is huey as it comes: WAL, synchronous FULL, an fsync per
commit. `process` is synchronous NORMAL, set through the connection factory that its storage passes on, for
huey itself only knows FULL and OFF. A task is deleted when it is fetched, so one that dies with its worker is
lost: at most once.
"""

import sqlite3
import time

from bench.contenders.contest import Tally, order, per_s, report
from huey import SqliteHuey
from huey.consumer import Consumer


class NormalConnection(sqlite3.Connection):
    def __init__(self, *words: object, **options: object) -> None:
        super().__init__(*words, **options)
        self.execute("pragma journal_mode = wal")
        self.execute("pragma synchronous = normal")


def main() -> None:
    given = order()
    durability, threads = (given.setting or "process-1").split("-")
    options = {"factory": NormalConnection} if durability == "process" else {}
    queue = SqliteHuey("contest", filename=str(given.file), results=False, cache_mb=64, timeout=30, **options)
    tally = Tally(given.tasks)

    @queue.task(context=True)
    def noop(task: object = None) -> None:
        if tally.note(task.id):
            consumer.stop_flag.set()

    started = time.perf_counter()
    for _ in range(given.tasks):
        noop()
    enqueue = per_s(given.tasks, started)

    consumer = Consumer(
        queue,
        workers=int(threads),
        periodic=False,
        initial_delay=0.001,
        max_delay=0.01,
        check_worker_health=False,
    )
    started = time.perf_counter()
    consumer.run()
    report(
        "huey",
        "sqlite",
        given,
        tally,
        left=queue.storage.queue_size(),
        guarantee="at most once",
        durability=durability,
        setting=f"{threads} thread(s)",
        enqueue_per_s=enqueue,
        bulk_enqueue_per_s=None,
        drain_per_s=per_s(given.tasks, started, tally.last),
    )


if __name__ == "__main__":
    main()
