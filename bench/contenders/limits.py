"""The floor under every queue: what the store does with no queue on it.

One tiny insert per commit, flushed to the disk each time (and, for SQLite, also in the class the queues are
measured in); and rows as wide as a task put in by the driver's own bulk calls, a thousand per commit.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import psycopg
from bench.contenders.contest import BULK, Order, order

COMMITS = 1_000
COLUMNS = "kind text, stage text, state text, lane bigint, due bigint, rank bigint, priority integer, payload text, created_at bigint"
ROW = ("noop", "noop", "pending", 1, 1, 1, 0, "{}", 1)


def per_s(times: int, work: Callable[[int], object], rows: int = 1) -> int:
    """Rows per second, for work that puts in so many rows each time."""
    started = time.perf_counter()
    for at in range(times):
        work(at)
    return round(times * rows / (time.perf_counter() - started))


def sqlite(given: Order) -> dict[str, object]:
    flushed = _opened(given.folder / "flushed.db", "full")
    normal = _opened(given.folder / "normal.db", "normal")
    insert = f"insert into wide values ({', '.join('?' * len(ROW))})"

    def bulk(_: int) -> None:
        normal.execute("begin immediate")
        normal.executemany(insert, [ROW] * BULK)
        normal.execute("commit")

    return {
        "fsync_commit_per_s": per_s(
            COMMITS, lambda at: flushed.execute("insert into tiny values (?)", (at,))
        ),
        "normal_commit_per_s": per_s(
            5 * COMMITS, lambda at: normal.execute("insert into tiny values (?)", (at,))
        ),
        "driver_bulk_per_s": per_s(max(1, given.tasks // BULK), bulk, BULK),
        "driver": f"sqlite {apsw.sqlite_lib_version()}",
    }


def _opened(path: Path, synchronous: str) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute("pragma journal_mode = wal")
    connection.execute(f"pragma synchronous = {synchronous}")
    connection.execute("create table tiny (number integer)")
    connection.execute(f"create table wide ({COLUMNS})")
    return connection


def postgres(given: Order) -> dict[str, object]:
    with psycopg.connect(given.database, autocommit=True) as connection:
        connection.execute("create table tiny (number integer)")
        connection.execute(f"create table wide ({COLUMNS})")
        cursor = connection.cursor()

        def many(_: int) -> None:
            with connection.transaction():
                cursor.executemany(f"insert into wide values ({', '.join(['%s'] * len(ROW))})", [ROW] * BULK)

        def copy(_: int) -> None:
            with connection.transaction(), cursor.copy("copy wide from stdin") as stream:
                for _row in range(BULK):
                    stream.write_row(ROW)

        settings = {
            name: cursor.execute(f"show {name}").fetchone()[0]
            for name in ("server_version", "fsync", "synchronous_commit")
        }
        return {
            "fsync_commit_per_s": per_s(
                COMMITS, lambda at: cursor.execute("insert into tiny values (%s)", (at,))
            ),
            "driver_bulk_per_s": per_s(max(1, given.tasks // BULK), many, BULK),
            "driver_copy_per_s": per_s(max(1, given.tasks // BULK), copy, BULK),
            "driver": f"psycopg {psycopg.__version__}",
            **settings,
        }


if __name__ == "__main__":
    given = order()
    store = "postgres" if given.database else "sqlite"
    print(
        json.dumps(
            {
                "name": "bare store",
                "store": store,
                "tasks": given.tasks,
                **(postgres if given.database else sqlite)(given),
            }
        )
    )
