"""A catalogue of a hundred thousand pages, extracted whole by a real worker: is memory flat, is a turn at the
database as cheap at the end as at the beginning, are progress and completion exact?

    python -m bench.extraction_scale [--items 100000] [--site numbered] [--store sqlite|postgres]
        [--in-flight 16] [--minutes 120] [--json FILE]

The site is a practice catalogue in a process of its own. The worker is `thresher worker` with a clock around
its turns. While it works, the memory of all its processes is summed up every few seconds, and `extract
status` is asked and timed. At the end every item is compared with what was planted. It ends by itself: with
the extraction, or when its minutes are over.
"""

import argparse
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.extraction.processes import resident_mb
from tests.apps.extractions.campaign import MODELS, compared, recipe_of

from thresher.apps.extractions.app import app
from thresher.apps.extractions.extract_data import SLOTS as EXTRACT_SLOTS
from thresher.apps.extractions.fetch_page import SLOTS as FETCH_SLOTS
from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.core.gate import GateLimits
from thresher.practice.postgres import practice_postgres
from thresher.practice.web import CatalogueSite, practice_process
from thresher.practice.web.planted import catalogue
from thresher.runtime import opened_store
from thresher.store.backend import unscoped
from thresher.store.sources import set_limits
from thresher.store.store import Store

SEED = 7
EVERY = 5.0
RECIPE, TURNS = "scale", "turns"
# Nothing here is polite: the host is our own, on loopback.
PROJECT = """apps: [extractions]
database: "{database}"
fetch:
  contact: me@example.com
  resolve: {{"{host}": "{site}"}}
{models}
settings:
  host.interval: 0
  host.in_flight: {flight}
  worker.concurrency: {concurrency}
  extractions.max_pages: 1000000
  budget.app: 1000
  budget.day: 1000
  budget.run: 1000
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--site", default="numbered")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    site = catalogue(f"n{given.items}.{given.site}")
    if site is None:
        parser.error(f"there is no practice catalogue {given.site!r}")
    with (
        tempfile.TemporaryDirectory(prefix="thresher-scale-") as place,
        practice_process(SEED) as web,
        database(given.store, Path(place)) as url,
    ):
        found = extracted(Path(place), url, site, web.url, given)
    print_figures(found)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0 if found["exact"] else 1


@contextlib.contextmanager
def database(store: str, folder: Path) -> Iterator[str]:
    if store == "sqlite":
        yield f"sqlite:///{folder}/scale.db"
        return
    with practice_postgres() as server:
        yield server.url


def extracted(
    folder: Path, url: str, site: CatalogueSite, web: str, given: argparse.Namespace
) -> dict[str, Any]:
    """Detect, extract, watch and compare."""
    write_project(folder, url, site, web, given.in_flight)
    until = time.monotonic() + given.minutes * 60
    with opened_store(url, apps=(app,)) as store, prepared(folder, store, given.in_flight) as process:
        began = time.monotonic()
        started = json.loads(thresher(folder, "--json", "extract", "run", RECIPE))
        samples = list(watched(store, int(started["extraction"]), process.pid, began, until))
        view = extractions.show_extraction(store, int(started["extraction"]))
        seconds = samples[-1]["at"]
        verdict = compared(store, site, view, SEED)
    turns = folder / TURNS
    pages = sum(step.succeeded for step in view.steps)
    return {
        "store": given.store,
        "site": site.host,
        "status": view.status,
        "reason": view.reason,
        "seconds": seconds,
        "pages": pages,
        "pages_per_s": round(pages / seconds, 1),
        "model_cost": view.cost / 1_000_000,
        "steps": [
            {"step": each.step, "kind": each.kind.value, "pages": each.total, "items": each.items}
            for each in view.steps
        ],
        "failed": view.failed,
        "planted": verdict.planted,
        "items": verdict.items,
        "missing": verdict.missing,
        "doubled": verdict.doubled,
        "invented": verdict.invented,
        "wrong": len(verdict.wrong),
        "wrong_ones": verdict.wrong[:5],
        "exact": verdict.is_whole and view.status == "COMPLETE" and is_monotone(samples),
        "tenths": tenths(samples, turns, began),
        "samples": samples,
    }


def thresher(folder: Path, *words: str) -> str:
    line = [sys.executable, "-m", "thresher", "--project", str(folder), *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def write_project(
    folder: Path, url: str, catalogue: CatalogueSite, web: str, in_flight: int, *, site: str | None = None
) -> None:
    """A project with its recipe. The catalogue may be served by another process than the model."""
    project = PROJECT.format(
        database=url,
        host=catalogue.host,
        site=site or web,
        models=MODELS.format(web=web),
        flight=in_flight,
        concurrency=3 * in_flight,
    )
    (folder / "thresher.yaml").write_text(project, "utf-8")
    (folder / "recipe.json").write_text(json.dumps(recipe_of(catalogue)), "utf-8")
    thresher(folder, "migrate")
    thresher(folder, "recipes", "add", RECIPE, "--file", str(folder / "recipe.json"))


@contextlib.contextmanager
def prepared(folder: Path, store: Store, in_flight: int) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that has detected the recipe, with so many pages at a time."""
    line = [sys.executable, "-m", "bench.extraction.timed_worker", str(folder / TURNS)]
    process = subprocess.Popen(
        [*line, "--project", str(folder), "worker"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while (found := recipes.show_recipe(store, RECIPE).recipe).status not in ("SUCCESS", "ERROR"):
            time.sleep(0.2)
        if found.status == "ERROR":
            raise SystemExit(f"no recipe was found: {found.reason}")
        for slots in (FETCH_SLOTS, EXTRACT_SLOTS):
            store.meet_lanes([unscoped(slots.gate)])
            set_limits(store, slots.gate, GateLimits(max_in_flight=in_flight))
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def every_item(store: Store, view: ExtractionView) -> Iterator[datasets.DataItem]:
    """The items of its newest data set."""
    after, name = 0, str(view.datasets[0])
    while some := datasets.list_items(store, name, after=after, limit=500):
        yield from some
        after = some[-1].id


def watched(store: Store, extraction: int, pid: int, began: float, until: float) -> Iterator[dict[str, Any]]:
    """One look every few seconds, until it is over."""
    while True:
        asked = time.perf_counter()
        view = extractions.show_extraction(store, extraction)
        took = time.perf_counter() - asked
        yield {
            "at": round(time.monotonic() - began, 1),
            "status_ms": round(took * 1000, 1),
            "resident_mb": resident_mb(pid),
            **figures(view),
        }
        if view.status not in ("WAITING", "IN_PROGRESS") or time.monotonic() > until:
            return
        time.sleep(EVERY)


def figures(view: ExtractionView) -> dict[str, int]:
    return {
        "known": view.pages,
        "done": view.pages_done,
        "read": sum(step.extractions_succeeded for step in view.steps),
        "counted": sum(step.items for step in view.steps),
        "items": view.items,
    }


def is_monotone(samples: list[dict[str, Any]]) -> bool:
    """Progress never goes back, and never says that more is done than is known."""
    pairs = itertools.pairwise(samples)
    return all(
        before[name] <= after[name] for before, after in pairs for name in ("known", "done", "read", "items")
    ) and all(each["done"] <= each["known"] for each in samples)


def tenths(samples: list[dict[str, Any]], turns: Path, began: float) -> list[dict[str, Any]]:
    """What each tenth of the pages took: its rate, the memory, a look at the status, a turn."""
    taken = [json.loads(line) for line in turns.read_text().splitlines()]
    total, found, before = samples[-1]["done"], [], samples[0]
    for tenth in range(1, 11):
        inside = [each for each in samples if before["done"] < each["done"] <= total * tenth / 10]
        if not inside:
            continue
        last = inside[-1]
        during = [
            each for each in taken if before["at"] < each["at"] - began <= last["at"] and each["claimed"]
        ]
        found.append(
            {
                "tenth": tenth,
                "pages_per_s": round(
                    (last["done"] - before["done"]) / max(last["at"] - before["at"], 0.1), 1
                ),
                "resident_mb": max(each["resident_mb"] for each in inside),
                "status_ms": statistics.median(each["status_ms"] for each in inside),
                "turn_ms": statistics.median(each["ms"] for each in during) if during else None,
                "turn_tasks": round(statistics.mean(each["claimed"] for each in during), 1)
                if during
                else None,
            }
        )
        before = last
    return found


def print_figures(found: dict[str, Any]) -> None:
    print(f"{found['store']}, {found['site']}: {found['status']}, {found['reason']}")
    print(f"{found['pages']:,} pages in {found['seconds']:,.0f} s, {found['pages_per_s']} pages/s")
    for step in found["steps"]:
        print(f"  step {step['step']} {step['kind']}: {step['pages']:,} pages, {step['items']:,} items")
    names = ("planted", "items", "missing", "doubled", "invented", "wrong", "failed")
    print(", ".join(f"{name} {found[name]:,}" for name in names))
    print("tenth  pages/s  MB  status ms  turn ms  tasks a turn")
    for each in found["tenths"]:
        print(
            f"{each['tenth']:>5}  {each['pages_per_s']:>7}  {each['resident_mb']:>4}  {each['status_ms']:>8}"
            f"  {each['turn_ms']}  {each['turn_tasks']}"
        )
    print("exact" if found["exact"] else "NOT EXACT", f"on {os.cpu_count()} cores")


if __name__ == "__main__":
    sys.exit(main())
