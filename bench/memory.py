"""Is the memory of a worker flat over a million tasks? Its resident size at every tenth of a drain.

python bench/memory.py [--tasks 1000000] [--store sqlite|postgres]
"""

import argparse
import json
import os
import resource
from pathlib import Path

from thresher import App, Context, Done, Outcome, Pipeline, Stage, runtime
from thresher.bench.fill import BenchField, fill
from thresher.bench.queue import database_for
from thresher.engine.registry import Registry
from thresher.engine.worker import run_loop

PAGE = resource.getpagesize()


def resident_mb() -> int:
    return int(Path(f"/proc/{os.getpid()}/statm").read_text().split()[1]) * PAGE // 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=1_000_000)
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    given = parser.parse_args()
    sizes: list[int] = []
    done = 0

    async def noop(ctx: Context) -> Outcome:  # noqa: ARG001
        nonlocal done
        done += 1
        if done % (given.tasks // 10) == 0:
            sizes.append(resident_mb())
        if done >= given.tasks:
            worker.stop()
        return Done()

    with database_for(given.store, None, "process") as url:
        with runtime.opened_store(url) as store:
            fill(store, BenchField(lanes=1_000, gates=3, backlog=given.tasks, blocked=0))
        with runtime.opened_store(url) as store:
            registry = Registry([App("bench", pipelines=(Pipeline("noop", Stage(noop)),))])
            with runtime.opened_worker(runtime.Runtime(store, registry), url) as worker:
                run_loop(worker.run())
    print(json.dumps({"store": given.store, "tasks": given.tasks, "resident_mb_at_each_tenth": sizes}))


if __name__ == "__main__":
    main()
