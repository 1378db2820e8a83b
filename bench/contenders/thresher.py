"""Thresher itself, by its own `bench queue`, whose worker stops only when its handler has been called for
every task.

`--setting` is the durability on SQLite: `process` or `machine`.
"""

import json

from bench.contenders.contest import order

from thresher.bench.queue import run

LANES = 1_000


def main() -> None:
    given = order()
    store = "postgres" if given.database else "sqlite"
    durability = given.setting or "process"
    found = run(
        store=store,
        tasks=given.tasks,
        gates=given.gates,
        lanes=LANES,
        batch=given.batch,
        database=given.database or None,
        durability=durability,
    )
    lanes = f"{LANES:,} lanes, {given.gates} gates each" if given.gates else "no gates"
    print(
        json.dumps(
            {**found, "name": "Thresher", "setting": lanes, "guarantee": "at least once, fenced settle"}
        )
    )


if __name__ == "__main__":
    main()
