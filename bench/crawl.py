"""Thresher beside other crawlers: the same pages of one local site, three fields each, stored, in the same
run.

Every crawler is a process of its own with 16 requests at a time and robots.txt obeyed; the site is another
process. The rounds are interleaved, and every other one runs backwards. The CPU is the crawler's own; a crawl
that loses a page fails instead of reporting a figure.

    python bench/crawl.py [--pages N] [--rounds R] [--json FILE]
"""

import argparse
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from rivals import ROOT, Found, bounded, machine, print_table, spoken, spread

# The slow ones get a part of the pages: their rate does not depend on the number.
CRAWLERS = {
    "bare": 1.0,
    "thresher_sqlite": 1.0,
    "thresher_sqlite two": 1.0,
    "thresher_sqlite keep": 1.0,
    "scrapy_jobdir": 0.4,
    "crawlee_sql": 0.2,
}
OURS, RIVALS = ("thresher_sqlite", "thresher_sqlite two"), ("scrapy_jobdir", "crawlee_sql", "bare")
PACKAGES = ("aiohttp", "selectolax", "scrapy", "crawlee", "turbohtml", "uvloop")


def main() -> int:
    parser = argparse.ArgumentParser(description="Thresher beside other crawlers, in one run.")
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write everything measured to this file")
    words = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with site() as url:
        rounds = [one_round(url, words.pages, number) for number in range(words.rounds)]
    about = machine() | {"packages": {name: version(name) for name in PACKAGES}}
    print_tables(rounds, about)
    if words.json:
        words.json.write_text(json.dumps({"machine": about, "rounds": rounds}, indent=2) + "\n")
    return 1 if any("error" in found for each in rounds for found in each.values()) else 0


@contextlib.contextmanager
def site() -> Iterator[str]:
    command = [sys.executable, "-m", "bench.crawlers.site"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()


def one_round(url: str, pages: int, number: int) -> dict[str, Found]:
    found = {}
    for name in list(CRAWLERS) if number % 2 == 0 else list(CRAWLERS)[::-1]:
        module, _, setting = name.partition(" ")
        command = [
            sys.executable,
            "-m",
            f"bench.crawlers.{module}",
            "--site",
            url,
            "--pages",
            str(max(100, round(pages * CRAWLERS[name]))),
            "--setting",
            setting,
        ]
        with tempfile.TemporaryDirectory(prefix="thresher-crawl-") as folder:
            found[name] = spoken(*bounded([*command, "--folder", folder], folder))
        print(
            f"round {number + 1}  {name:<22} {found[name].get('error') or found[name]['pages_per_s']}",
            file=sys.stderr,
        )
    return found


def print_tables(rounds: list[dict[str, Found]], about: Found) -> None:
    print(f"{about['processor']}, {about['cores']} cores, Python {about['python']}, {len(rounds)} rounds\n")
    rows = [("crawler", "pages/s", "least-most", "CPU ms/page", "MB", "pages", "what survives a kill")]
    for name in CRAWLERS:
        good = [each[name] for each in rounds if "error" not in each[name]]
        if good:
            speed, cpu = (
                spread([found["pages_per_s"] for found in good]),
                spread([found["cpu_ms"] for found in good]),
            )
            rows.append(
                (
                    good[0]["name"],
                    f"{speed['median']:,.0f}",
                    f"{speed['least']:,.0f}-{speed['most']:,.0f}",
                    f"{cpu['median']:.2f}",
                    str(max(found["rss_mb"] for found in good)),
                    str(good[0]["pages"]),
                    good[0]["guarantee"],
                )
            )
    print_table(rows)
    ratios = [("ratio (median of the rounds)", "pages/s", "CPU")]
    for ours, rival in itertools.product(OURS, RIVALS):
        pairs = [(each[ours], each[rival]) for each in rounds if "error" not in each[ours] | each[rival]]
        if pairs:
            speed = spread([mine["pages_per_s"] / theirs["pages_per_s"] for mine, theirs in pairs])
            cpu = spread([mine["cpu_ms"] / theirs["cpu_ms"] for mine, theirs in pairs])
            ratios.append(
                (
                    f"{pairs[0][0]['name']} / {pairs[0][1]['name']}",
                    f"{speed['median']:.2f}",
                    f"{cpu['median']:.2f}",
                )
            )
    print_table(ratios)
    for each in rounds:
        for name, found in each.items():
            if "error" in found:
                print(f"FAILED {name}: {found['error']}")


if __name__ == "__main__":
    raise SystemExit(main())
