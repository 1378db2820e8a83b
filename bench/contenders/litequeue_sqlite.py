"""litequeue: put, then a loop of pop, handler, done.

It sets WAL and synchronous NORMAL itself. There is no lease: a message whose worker died stays locked until
someone finds it with `list_locked`. `--setting N` prunes finished messages every N tasks, as its manual
advises for a long-lived queue.
"""

import time

from bench.contenders.contest import Tally, order, per_s, report
from litequeue import LiteQueue


def main() -> None:
    given = order()
    prune = int(given.setting or 0)
    queue = LiteQueue(given.file)
    tally = Tally(given.tasks)

    started = time.perf_counter()
    for _ in range(given.tasks):
        queue.put("{}")
    enqueue = per_s(given.tasks, started)

    started = time.perf_counter()
    while message := queue.pop():
        tally.note(message.message_id)
        queue.done(message.message_id)
        if prune and tally.calls % prune == 0:
            queue.prune()
    report(
        "litequeue",
        "sqlite",
        given,
        tally,
        durability="process",
        left=queue.qsize(),
        guarantee="at least once, locked tasks freed by hand",
        setting=f"pruned every {prune}" if prune else "never pruned",
        enqueue_per_s=enqueue,
        bulk_enqueue_per_s=None,
        drain_per_s=per_s(given.tasks, started),
    )


if __name__ == "__main__":
    main()
