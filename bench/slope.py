"""Does a claim get slower when much is waiting and blocked? Near-empty and full, in turns, on the same
machine.

python bench/slope.py [--rounds 3] [--store sqlite|postgres|both] [--backlog 1000000] [--blocked 100000]
[--json FILE]
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

LIMIT_SECONDS = 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--blocked", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = []
    for store in ["sqlite", "postgres"] if given.store == "both" else [given.store]:
        pair = ((0, 0), (given.backlog, given.blocked))
        rounds = [tuple(measure(store, given.batch, *size) for size in pair) for _ in range(given.rounds)]
        found.append({"store": store, "rounds": rounds, **compare(rounds)})
        print(json.dumps({name: value for name, value in found[-1].items() if name != "rounds"}), flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1))


def measure(store: str, batch: int, backlog: int, blocked: int) -> dict[str, float]:
    """One run in a process of its own."""
    words = [
        "--store",
        store,
        "--gates",
        "3",
        "--batch",
        str(batch),
        "--backlog",
        str(backlog),
        "--blocked",
        str(blocked),
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "thresher", "bench", "queue", *words],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_SECONDS,
    )
    measured: dict[str, float] = json.loads(done.stdout)
    print(
        f"  {store} {backlog:,} waiting, {blocked:,} blocked: p50 {measured['claim_p50_us']:,} us, p99 {measured['claim_p99_us']:,} us, "
        f"drain {measured['drain_per_s']:,}/s",
        flush=True,
    )
    return measured


def compare(rounds: list[tuple[dict[str, float], ...]]) -> dict[str, float]:
    """Medians over the rounds, and full against empty."""
    told: dict[str, float] = {}
    for name in ("claim_p50_us", "claim_p99_us", "drain_per_s"):
        empty, full = (statistics.median(pair[at][name] for pair in rounds) for at in (0, 1))
        told |= {f"{name}_empty": empty, f"{name}_full": full, f"{name}_ratio": round(full / empty, 2)}
    return told


if __name__ == "__main__":
    main()
