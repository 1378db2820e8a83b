"""Procrastinate: its async worker over a psycopg pool.

`--setting` is the worker's concurrency; 1 is its default. Jobs are kept after success, as by default.
"""

import asyncio
import time

from bench.contenders.contest import Tally, order, per_s, report
from procrastinate import App, PsycopgConnector


async def main() -> None:
    given = order()
    concurrency = int(given.setting or 1)
    app = App(
        connector=PsycopgConnector(
            conninfo=given.database, min_size=4, max_size=max(4, min(20, concurrency + 2))
        )
    )
    tally = Tally(given.tasks)

    @app.task(name="noop", pass_context=True)
    async def noop(context: object) -> None:
        tally.note(context.job.id)

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        singles = given.tasks // 2
        started = time.perf_counter()
        for _ in range(singles):
            await noop.defer_async()
        enqueue = per_s(singles, started)
        started = time.perf_counter()
        await noop.batch_defer_async(*[{} for _ in range(given.tasks - singles)])
        bulk = per_s(given.tasks - singles, started)
        await app.connector.execute_query_async("analyze")

        started = time.perf_counter()
        await app.run_worker_async(wait=False, concurrency=concurrency, install_signal_handlers=False)
        ended = time.perf_counter()
        rows = await app.connector.execute_query_all_async(
            "select count(*) as number from procrastinate_jobs where status <> 'succeeded'"
        )
    report(
        "Procrastinate",
        "postgres",
        given,
        tally,
        durability="machine",
        left=rows[0]["number"],
        guarantee="at least once",
        setting=f"concurrency {concurrency}",
        enqueue_per_s=enqueue,
        bulk_enqueue_per_s=bulk,
        drain_per_s=per_s(given.tasks, started, ended),
        last_call_per_s=per_s(given.tasks, started, tally.last),
    )


if __name__ == "__main__":
    asyncio.run(main())
