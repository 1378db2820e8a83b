"""Thresher beside other queues: the same work on the same machine in the same run.

No-op tasks are put into a fresh queue, then drained by one worker process that calls a real handler for each.
Every contender is a process of its own with a fresh file or a fresh database of one throwaway PostgreSQL
server. The rounds are interleaved, and every other one runs backwards, so that a busy minute of the machine
hits everyone. A contender that skips, repeats or leaves behind a task fails instead of reporting a figure.

Two classes of durability, never mixed in a ratio without saying so: `process` survives the death of any
process (SQLite: WAL, synchronous NORMAL), `machine` also a power cut (SQLite: synchronous FULL; PostgreSQL:
as it comes, fsync on).

    python bench/rivals.py [--tasks N] [--rounds R] [--only sqlite|postgres] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import psycopg

from thresher.practice.postgres import practice_postgres

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 120
PACKAGES = (
    "thresher",
    "huey",
    "litequeue",
    "dbos",
    "pgqueuer",
    "procrastinate",
    "asyncpg",
    "psycopg",
    "uvloop",
)


@dataclass(frozen=True, slots=True)
class Entrant:
    """One contender with one set of settings. `share` of the tasks is its part: the slow ones get fewer."""

    key: str
    module: str
    store: str
    share: float = 1.0
    batch: int = 1
    gates: int = 0
    setting: str = ""


# The two sides of a ratio stand next to each other: a machine that is busy with something else is busy for
# both.
ENTRANTS = (
    Entrant("limits sqlite", "limits", "sqlite"),
    Entrant("ours sqlite b20 g3", "thresher", "sqlite", batch=20, gates=3),
    Entrant("huey process", "huey_sqlite", "sqlite", 0.25, setting="process-1"),
    Entrant("ours sqlite b20 g0", "thresher", "sqlite", batch=20),
    Entrant("ours sqlite b100 g3", "thresher", "sqlite", batch=100, gates=3),
    Entrant("ours sqlite b100 g0", "thresher", "sqlite", batch=100),
    Entrant("litequeue", "litequeue_sqlite", "sqlite", 0.25, setting="500"),
    Entrant("dbos sqlite", "dbos_sqlite", "sqlite", 0.025, setting="0-async"),
    Entrant("ours sqlite machine b20 g3", "thresher", "sqlite", batch=20, gates=3, setting="machine"),
    Entrant("huey machine", "huey_sqlite", "sqlite", 0.1, setting="machine-1"),
    Entrant("limits postgres", "limits", "postgres"),
    Entrant("ours postgres b20 g3", "thresher", "postgres", batch=20, gates=3),
    Entrant("pgqueuer b20", "pgqueuer_postgres", "postgres", batch=20, setting="connection"),
    Entrant("ours postgres b20 g0", "thresher", "postgres", batch=20),
    Entrant("ours postgres b100 g3", "thresher", "postgres", batch=100, gates=3),
    Entrant("pgqueuer b100", "pgqueuer_postgres", "postgres", batch=100, setting="connection"),
    Entrant("ours postgres b100 g0", "thresher", "postgres", batch=100),
    Entrant("procrastinate c1", "procrastinate_postgres", "postgres", 0.025, setting="1"),
    Entrant("procrastinate c10", "procrastinate_postgres", "postgres", 0.025, setting="10"),
    Entrant("dbos postgres", "dbos_postgres", "postgres", 0.025, setting="0-async"),
)

# What is divided by what. The sentence names the classes wherever they are not obvious.
RATIOS = (
    ("SQLite, process-durable: ours (batch 20, 3 gates) / huey", "ours sqlite b20 g3", "huey process"),
    ("SQLite, process-durable: ours (batch 100, 3 gates) / huey", "ours sqlite b100 g3", "huey process"),
    ("SQLite, process-durable: ours (batch 20, no gates) / huey", "ours sqlite b20 g0", "huey process"),
    (
        "SQLite, machine-durable: ours (batch 20, 3 gates) / huey as it comes",
        "ours sqlite machine b20 g3",
        "huey machine",
    ),
    (
        "SQLite, UNEQUAL durability: ours (process, batch 20, 3 gates) / huey as it comes (machine)",
        "ours sqlite b20 g3",
        "huey machine",
    ),
    ("SQLite, process-durable: ours (batch 20, 3 gates) / litequeue", "ours sqlite b20 g3", "litequeue"),
    ("SQLite, process-durable: ours (batch 20, 3 gates) / DBOS", "ours sqlite b20 g3", "dbos sqlite"),
    ("PostgreSQL: ours (batch 20, 3 gates) / PgQueuer (batch 20)", "ours postgres b20 g3", "pgqueuer b20"),
    ("PostgreSQL: ours (batch 20, no gates) / PgQueuer (batch 20)", "ours postgres b20 g0", "pgqueuer b20"),
    (
        "PostgreSQL: ours (batch 100, 3 gates) / PgQueuer (batch 100)",
        "ours postgres b100 g3",
        "pgqueuer b100",
    ),
    (
        "PostgreSQL: ours (batch 100, no gates) / PgQueuer (batch 100)",
        "ours postgres b100 g0",
        "pgqueuer b100",
    ),
    (
        "PostgreSQL: ours (batch 20, 3 gates) / Procrastinate (concurrency 1)",
        "ours postgres b20 g3",
        "procrastinate c1",
    ),
    (
        "PostgreSQL: ours (batch 20, 3 gates) / Procrastinate (concurrency 10)",
        "ours postgres b20 g3",
        "procrastinate c10",
    ),
    ("PostgreSQL: ours (batch 20, 3 gates) / DBOS", "ours postgres b20 g3", "dbos postgres"),
)
LIMITS = ("fsync_commit_per_s", "normal_commit_per_s", "driver_bulk_per_s", "driver_copy_per_s")

Found = dict[str, object]


def main() -> int:
    words = arguments()
    # A terminated run must still stop its server and its contender: let `finally` blocks do it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    entrants = [entrant for entrant in ENTRANTS if words.only in (None, entrant.store)]
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(practice_postgres()).url if words.only != "sqlite" else ""
        rounds = [one_round(entrants, words.tasks, server, number) for number in range(words.rounds)]
    summary = {
        "machine": machine(),
        "tasks": words.tasks,
        "seconds": round(time.monotonic() - started),
        "timeout_s": TIMEOUT_SECONDS,
        "contenders": [
            standing(entrant, [found["results"][entrant.key] for found in rounds]) for entrant in entrants
        ],
        "ratios": [ratio for row in RATIOS if (ratio := divided(*row, rounds))],
        "rounds": rounds,
    }
    print_tables(summary)
    if words.json:
        words.json.write_text(json.dumps(summary, indent=2) + "\n")
    return 1 if any(standing["errors"] for standing in summary["contenders"]) else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Thresher beside other queues, in one run.")
    parser.add_argument(
        "--tasks",
        type=int,
        default=20_000,
        help="tasks for the fast contenders; the slow ones get a part of it",
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured")
    parser.add_argument("--only", choices=("sqlite", "postgres"), help="one store only")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    return parser.parse_args()


def one_round(entrants: list[Entrant], tasks: int, server: str, number: int) -> Found:
    before = os.getloadavg()[0]
    results = {}
    for entrant in entrants if number % 2 == 0 else entrants[::-1]:
        results[entrant.key] = found = contend(entrant, tasks, server)
        print(
            f"round {number + 1}  {entrant.key:<28} {found.get('error') or found.get('drain_per_s') or 'measured'}",
            file=sys.stderr,
        )
    return {"load_before": round(before, 2), "load_after": round(os.getloadavg()[0], 2), "results": results}


def contend(entrant: Entrant, tasks: int, server: str) -> Found:
    """One measurement in a process of its own, in a place of its own, for a bounded time."""
    command = [
        sys.executable,
        "-m",
        f"bench.contenders.{entrant.module}",
        "--tasks",
        str(max(100, round(tasks * entrant.share))),
        "--batch",
        str(entrant.batch),
        "--gates",
        str(entrant.gates),
        "--setting",
        entrant.setting,
    ]
    with tempfile.TemporaryDirectory(prefix="thresher-rivals-") as folder, database(server, entrant) as url:
        return spoken(*bounded([*command, "--folder", folder, "--database", url], folder))


@contextlib.contextmanager
def database(server: str, entrant: Entrant) -> Iterator[str]:
    """A fresh database, after a checkpoint: nobody pays for what the one before left unwritten."""
    if entrant.store == "sqlite":
        yield ""
        return
    name = f"rival_{time.time_ns()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}")
        connection.execute("checkpoint")
        try:
            yield f"{server.rsplit('/', 1)[0]}/{name}"
        finally:
            connection.execute(f"drop database if exists {name} with (force)")


def bounded(command: list[str], folder: str) -> tuple[int | None, str, str]:
    """Run it as the head of its own process group, so that whatever it started ends with it. No code means it
    took too long."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": folder, "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return None, "", ""
    else:
        return process.returncode, out, err
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def spoken(code: int | None, out: str, err: str) -> Found:
    """The object a contender printed, or what went wrong."""
    if code is None:
        return {"error": f"no result within {TIMEOUT_SECONDS} s"}
    if code != 0 or not out.strip():
        return {"error": (err.strip().splitlines() or [f"ended with {code} and no words"])[-1]}
    return json.loads(out.strip().splitlines()[-1])


def standing(entrant: Entrant, results: list[Found]) -> Found:
    """What one contender did over all rounds."""
    good = [found for found in results if "error" not in found]
    first = good[0] if good else {}
    rates = sorted({name for found in good for name in found if name.endswith("_per_s")})
    shown = {name: first.get(name) for name in ("name", "tasks", "setting", "durability", "guarantee")}
    return {
        "key": entrant.key,
        "store": entrant.store,
        "batch": entrant.batch,
        "gates": entrant.gates,
        **shown,
        **{name: spread([found[name] for found in good if found.get(name)]) for name in rates},
        "errors": [found["error"] for found in results if "error" in found],
    }


def spread(values: list[float]) -> Found | None:
    return (
        {"median": statistics.median(values), "least": min(values), "most": max(values)} if values else None
    )


def divided(label: str, ours: str, rival: str, rounds: list[Found]) -> Found | None:
    """The ratio of drains, round by round: both sides of it saw the same minutes of the machine."""
    pairs = [
        (
            found["results"].get(ours, {}).get("drain_per_s"),
            found["results"].get(rival, {}).get("drain_per_s"),
        )
        for found in rounds
    ]
    values = [round(mine / theirs, 2) for mine, theirs in pairs if mine and theirs]
    return {"label": label, **spread(values)} if values else None


def machine() -> Found:
    model = [
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "system": platform.platform(),
        "processor": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "free_gb": shutil.disk_usage(tempfile.gettempdir()).free // 2**30,
        "packages": {name: version(name) for name in PACKAGES},
    }


def print_tables(summary: Found) -> None:
    about = summary["machine"]
    loads = ", ".join(f"{found['load_before']}-{found['load_after']}" for found in summary["rounds"])
    print(f"{about['processor']}, {about['cores']} cores, Python {about['python']}")
    print(f"{len(summary['rounds'])} rounds in {summary['seconds']} s")
    print(f"load of the machine over the rounds (this run included): {loads}\n")
    limits = [found for found in summary["contenders"] if found["name"] == "bare store"]
    queues = [found for found in summary["contenders"] if found["name"] != "bare store"]
    rows = [
        (
            "contender",
            "durable",
            "batch",
            "gates",
            "tasks",
            "enqueue/s",
            "bulk/s",
            "drain/s",
            "least-most",
            "settings",
            "guarantee",
        )
    ]
    print_table(rows + [queue_row(found) for found in queues])
    print_table(
        [
            ("the bare store", *LIMITS),
            *[(found["key"], *[middle(found.get(name)) for name in LIMITS]) for found in limits],
        ]
    )
    rows = [
        (found["label"], f"{found['median']:.2f}", f"{found['least']:.2f}-{found['most']:.2f}")
        for found in summary["ratios"]
    ]
    print_table([("ratio of drains (median of the rounds)", "ratio", "least-most"), *rows])
    for found in summary["contenders"]:
        for error in found["errors"]:
            print(f"FAILED {found['key']}: {error}")


def queue_row(found: Found) -> tuple[str, ...]:
    drain = found.get("drain_per_s")
    about = f"{drain['least']:,.0f}-{drain['most']:,.0f}" if drain else "-"
    facts = [found["durability"], found["batch"], found["gates"], found["tasks"]]
    rates = [middle(found.get(name)) for name in ("enqueue_per_s", "bulk_enqueue_per_s", "drain_per_s")]
    return (
        found["key"],
        *[str(fact) for fact in facts],
        *rates,
        about,
        str(found["setting"]),
        str(found["guarantee"]),
    )


def middle(figure: Found | None) -> str:
    return f"{figure['median']:,.0f}" if figure else "-"


def print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
    print()


if __name__ == "__main__":
    sys.exit(main())
