"""PgQueuer on asyncpg with uvloop, the event loop its own command line runs on.

`--setting` is the driver: `connection` (one) or `pool` (dequeue and status flush run side by side).
"""

import time

import asyncpg
import uvloop
from bench.contenders.contest import Order, Tally, order, per_s, report
from pgqueuer import PgQueuer
from pgqueuer.models import Job


async def main() -> None:
    given = order()
    if given.setting == "connection":
        connection = await asyncpg.connect(given.database)
        await contest(given, PgQueuer.from_asyncpg_connection(connection), "one connection")
        await connection.close()
        return
    async with asyncpg.create_pool(given.database, min_size=4, max_size=4) as pool:
        await contest(given, PgQueuer.from_asyncpg_pool(pool), "pool of 4")


async def contest(given: Order, queue: PgQueuer, setting: str) -> None:
    await queue.queries.install()
    tally = Tally(given.tasks)

    @queue.entrypoint("noop", accepts_context=False)
    async def noop(job: Job) -> None:
        if tally.note(job.id):
            queue.shutdown.set()

    started = time.perf_counter()
    for _ in range(given.singles):
        await queue.queries.enqueue("noop", None)
    enqueue = per_s(given.singles, started)
    started = time.perf_counter()
    for size in given.bulks():
        await queue.queries.enqueue(["noop"] * size, [None] * size, [0] * size)
    bulk = per_s(given.tasks - given.singles, started)
    await queue.connection.execute("analyze")

    started = time.perf_counter()
    await queue.qm.run(batch_size=given.batch)
    ended = time.perf_counter()
    left = (await queue.connection.fetch("select count(*) as number from pgqueuer"))[0]["number"]
    report(
        "PgQueuer",
        "postgres",
        given,
        tally,
        durability="machine",
        left=left,
        guarantee="at least once",
        setting=f"asyncpg, {setting}, uvloop",
        enqueue_per_s=enqueue,
        bulk_enqueue_per_s=bulk,
        drain_per_s=per_s(given.tasks, started, ended),
        last_call_per_s=per_s(given.tasks, started, tally.last),
    )


if __name__ == "__main__":
    uvloop.run(main())
