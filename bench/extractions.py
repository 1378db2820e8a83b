"""A whole catalogue into a data set, beside Scrapy and Crawlee on the same walk, in the same run.

The site is a practice catalogue in a process of its own. Everybody begins at its first list page, finds all
others by its pager, fetches every item's page and stores its seven fields; 16 requests at a time, robots.txt
obeyed, no pauses. The rivals read by selectors that were written by hand. Every walk is a process of its own;
the rounds are interleaved, and every other one runs backwards. A walk whose items are not exactly those that
were planted fails instead of reporting a figure. `bare` only fetches, and is the limit.

    python bench/extractions.py [--items N] [--rounds R] [--json FILE]
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import rivals
from rivals import ROOT, Entrant, Found, bounded, database, machine, print_table, spoken, spread

from thresher.practice.postgres import practice_postgres
from thresher.practice.web import practice_process

# Their rate does not depend on the number, so the slow one gets a part of the items.
WALKS = {
    "bare": 1.0,
    "thresher_walk": 1.0,
    "scrapy_jobdir": 1.0,
    "crawlee_sql": 0.2,
    "thresher_walk postgres": 1.0,
}
OURS, RIVALS = ("thresher_walk", "thresher_walk postgres"), ("scrapy_jobdir", "crawlee_sql", "bare")
PACKAGES = ("aiohttp", "scrapy", "crawlee", "parsel", "uvloop")
rivals.TIMEOUT_SECONDS, rivals.PACKAGES = 300, PACKAGES


def main() -> int:
    parser = argparse.ArgumentParser(description="Thresher beside other crawlers on a whole catalogue.")
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="one walk by its name")
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    words = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    walks = [name for name in WALKS if words.only in (None, name)]
    with practice_process() as web, practice_postgres() as server:
        rounds = [one_round(walks, web.url, server.url, words.items, at) for at in range(words.rounds)]
    about = machine()
    print_tables(rounds, about)
    if words.json:
        words.json.write_text(json.dumps({"machine": about, "rounds": rounds}, indent=2) + "\n")
    return 1 if any("error" in found for each in rounds for found in each.values()) else 0


@contextlib.contextmanager
def site(items: int) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.extraction.site", "--items", str(items)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def one_round(walks: list[str], web: str, server: str, items: int, number: int) -> dict[str, Found]:
    found = {}
    for name in walks if number % 2 == 0 else walks[::-1]:
        module, _, setting = name.partition(" ")
        size = max(200, round(items * WALKS[name]))
        command = [sys.executable, "-m", f"bench.extraction.{module}", "--items", str(size), "--web", web]
        store = Entrant(name, module, setting or "sqlite")
        with (
            tempfile.TemporaryDirectory(prefix="thresher-walk-") as folder,
            site(size) as url,
            database(server, store) as fresh,
        ):
            given = ["--site", url, "--setting", setting, "--folder", folder, "--database", fresh]
            found[name] = spoken(*bounded([*command, *given], folder))
        said = found[name].get("error") or found[name]["pages_per_s"]
        print(f"round {number + 1}  {name:<24} {said}", file=sys.stderr)
    return found


def print_tables(rounds: list[dict[str, Found]], about: Found) -> None:
    print(f"{about['processor']}, {about['cores']} cores, Python {about['python']}, {len(rounds)} rounds\n")
    rows = [("walk", "pages/s", "least-most", "CPU ms/page", "MB", "pages", "what is kept")]
    for name in WALKS:
        good = [each[name] for each in rounds if name in each and "error" not in each[name]]
        if not good:
            continue
        speed = spread([found["pages_per_s"] for found in good])
        cpu = spread([found["cpu_ms"] for found in good])
        rows.append(
            (
                good[0]["name"],
                f"{speed['median']:,.0f}",
                f"{speed['least']:,.0f}-{speed['most']:,.0f}",
                f"{cpu['median']:.2f}",
                str(max(found["rss_mb"] for found in good)),
                str(good[0]["pages"]),
                good[0]["kept"],
            )
        )
    print_table(rows)
    print_table([("ratio (median of the rounds)", "pages/s", "least-most", "CPU"), *ratios(rounds)])
    for each in rounds:
        for name, found in each.items():
            if "error" in found:
                print(f"FAILED {name}: {found['error']}")


def ratios(rounds: list[dict[str, Found]]) -> Iterator[tuple[str, ...]]:
    """Ours by theirs, round by round: both saw the same minutes of the machine."""
    for ours in OURS:
        for rival in RIVALS:
            both = [(each.get(ours), each.get(rival)) for each in rounds]
            pairs = [(one, other) for one, other in both if one and other and "error" not in one | other]
            if not pairs:
                continue
            speed = spread([one["pages_per_s"] / other["pages_per_s"] for one, other in pairs])
            cpu = spread([one["cpu_ms"] / other["cpu_ms"] for one, other in pairs])
            yield (
                f"{pairs[0][0]['name']} / {pairs[0][1]['name']}",
                f"{speed['median']:.2f}",
                f"{speed['least']:.2f}-{speed['most']:.2f}",
                f"{cpu['median']:.2f}",
            )


if __name__ == "__main__":
    raise SystemExit(main())
