"""The practice catalogues, extracted whole by real workers over real HTTP, which may be killed at any moment.

    python -m tests.apps.extractions.campaign [--database URL] [--kills 200] [--sites numbered,offsets]
        [--items 200] [--store sqlite|postgres]

Without a database it runs on a new one of each make. The sites are extracted again, each by a new recipe,
until as many workers were killed as were asked for. What ends in the data sets is compared with what was
planted: every item once, every value as its page has it, nothing else.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.apps.extractions.app import app
from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.practice.postgres import practice_postgres
from thresher.practice.web import CATALOGUES, DAY_ZERO, CatalogueSite, planted, practice_process
from thresher.practice.web.planted import catalogue
from thresher.runtime import opened_store
from thresher.store.store import Store

SEED = 7
PATIENCE = 600.0  # seconds without the end of a round, on a machine that does other things too
PATIENCE_FOR_KILL = 6.0  # and for each worker that is killed meanwhile
MAX_ROUNDS = 40
EVERY = 0.1
# Seconds that a worker lives: most die in their first work, some come far enough to have rendered a page.
LIVES = ((0.9, 2.2), (0.9, 2.2), (0.9, 2.2), (3.0, 6.0))
PROJECT = """apps: [extractions]
database: "{database}"
fetch:
  contact: me@example.com
  resolve: {{"*": "{web}"}}
{models}
settings:
  host.interval: 0.001
  host.in_flight: 4
  worker.lease: 2
  worker.poll: 0.05
  reaper.every: 0.1
  retry.base: 0.1
  retry.crash_spread: 0
  budget.app: 1000
  budget.day: 1000
  budget.run: 1000
"""
MODELS = """models:
  providers:
    practice: {{kind: openai, base_url: "{web}/v1", key: none-is-needed-here}}
  cheap: practice/practice-small
  prices: {{"practice/practice-small": {{input: 0.25, output: 2}}}}"""


def recipe_of(site: CatalogueSite) -> dict[str, Any]:
    """The recipe of a catalogue as a person would write it: an address and the fields that they want."""
    fields = {
        each.name: {"type": "string", **({"x-kind": each.type} if each.type != "text" else {})}
        for each in site.fields
    }
    required = [each.name for each in site.fields if each.required]
    schema = {"type": "object", "properties": fields, "required": required}
    return {"url": site.start_url, "entity": {"name": f"practice_{site.kind}", "schema": schema}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a data set has beside what was planted."""

    site: str
    planted: int
    items: int
    missing: int
    doubled: int
    invented: int
    wrong: tuple[str, ...]
    status: str
    reason: str | None

    @property
    def is_whole(self) -> bool:
        return self.items == self.planted and not (
            self.missing or self.doubled or self.invented or self.wrong
        )


def compared(store: Store, site: CatalogueSite, view: ExtractionView, seed: int) -> Verdict:
    """Compare the newest data set of an extraction with what was planted."""
    truth = {_address(each.url): each.fields for each in planted(site.host, seed, DAY_ZERO)}
    names = Counter(fields[site.title] for fields in truth.values())
    found = list(_items(store, view))
    told = Counter(item.values.get(site.title) for item in found)
    right = {name: fields for fields in truth.values() if (name := fields[site.title])}
    wrong = tuple(
        f"{item.url} {name}: {item.values.get(name)!r} is not {said!r}"
        for item in found
        if (fields := right.get(item.values.get(site.title))) and names[item.values.get(site.title)] == 1
        for name, said in fields.items()
        if not _same(item.values.get(name), said)
    )
    return Verdict(
        site.name,
        len(truth),
        len(found),
        sum((names - told).values()),
        sum(max(0, number - names[name]) for name, number in told.items() if name in names),
        sum(number for name, number in told.items() if name not in names),
        wrong,
        view.status,
        view.reason,
    )


def _items(store: Store, view: ExtractionView) -> Iterator[Any]:
    for dataset in view.datasets[:1]:
        after = 0
        while some := datasets.list_items(store, str(dataset), after=after, limit=500):
            yield from some
            after = some[-1].id


def _address(url: str) -> str:
    return url.partition("://")[2].rstrip("/")


def _same(found: Any, said: str | None) -> bool:
    return " ".join(str(found or "").split()) == " ".join((said or "").split())


class Workers:
    """One worker process after the other, killed after a random time."""

    def __init__(self, project: Path, kills: int, seed: int) -> None:
        self._project, self._left, self._pick = project, kills, random.Random(seed)
        self._process: subprocess.Popen[bytes] | None = None
        self._until = 0.0
        self.killed = 0

    def see(self) -> None:
        """See that one lives, and that it does not live too long."""
        if self._process is not None and self._process.poll() is None:
            if self._left and time.monotonic() > self._until:
                self.kill()
                self.killed, self._left = self.killed + 1, self._left - 1
            return
        line = [sys.executable, "-m", "thresher", "--project", str(self._project), "worker"]
        self._process = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._until = time.monotonic() + self._pick.uniform(*self._pick.choice(LIVES))

    @property
    def left(self) -> int:
        """How many are still to be killed."""
        return self._left

    def kill(self) -> None:
        """Kill the worker and all that it has started, without a word."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def extract_all(
    folder: Path,
    database: str,
    sites: tuple[CatalogueSite, ...],
    web: str,
    kills: int,
    *,
    seed: int,
    model: bool,
) -> tuple[list[Verdict], int]:
    """Detect, extract and compare, until the kills are spent. Returns the verdicts of all rounds and how many
    workers were killed.
    """
    models = MODELS.format(web=web) if model else ""
    (folder / "thresher.yaml").write_text(PROJECT.format(database=database, web=web, models=models), "utf-8")
    line = [sys.executable, "-m", "thresher", "--project", str(folder)]
    subprocess.run([*line, "migrate"], check=True, capture_output=True)
    workers = Workers(folder, kills, seed)
    verdicts: list[Verdict] = []
    try:
        with opened_store(database, apps=(app,)) as store:
            for number in range(1, MAX_ROUNDS + 1):
                verdicts += _round(folder, line, store, workers, sites, seed, number)
                if not workers.left:
                    break
    finally:
        workers.kill()
    return verdicts, workers.killed


def _round(
    folder: Path,
    line: list[str],
    store: Store,
    workers: Workers,
    sites: tuple[CatalogueSite, ...],
    seed: int,
    number: int,
) -> list[Verdict]:
    """Every site once, by recipes of its own: what an earlier round has stored is not taken over."""
    by_name = {f"{site.name}-{number}" if number > 1 else site.name: site for site in sites}
    for name, site in by_name.items():
        file = folder / f"{name}.json"
        file.write_text(json.dumps(recipe_of(site)), "utf-8")
        subprocess.run([*line, "recipes", "add", name, "--file", str(file)], check=True, capture_output=True)
    _until(workers, lambda: _detected(store, set(by_name)))
    started = {name: _start(line, name) for name in by_name if _is_ready(store, name)}
    _until(workers, lambda: all(_is_over(store, each) for each in started.values()))
    return [_verdict(store, name, site, started.get(name), seed) for name, site in by_name.items()]


def _until(workers: Workers, is_so: Any) -> None:
    end = time.monotonic() + PATIENCE + PATIENCE_FOR_KILL * workers.left
    while not is_so():
        workers.see()
        time.sleep(EVERY)
        if time.monotonic() > end:
            raise TimeoutError("the extractions do not come to an end")


def _detected(store: Store, names: set[str]) -> bool:
    return all(
        each.status in ("SUCCESS", "ERROR") for each in recipes.list_views(store) if each.name in names
    )


def _is_ready(store: Store, name: str) -> bool:
    return recipes.show_recipe(store, name).recipe.status == "SUCCESS"


def _start(line: list[str], name: str) -> int:
    done = subprocess.run(
        [*line, "--json", "extract", "run", name], check=True, capture_output=True, text=True
    )
    return int(json.loads(done.stdout)["extraction"])


def _is_over(store: Store, extraction: int) -> bool:
    return extractions.show_extraction(store, extraction).status not in ("WAITING", "IN_PROGRESS")


def _verdict(store: Store, name: str, site: CatalogueSite, extraction: int | None, seed: int) -> Verdict:
    if extraction is None:
        return unread(site, seed, recipes.show_recipe(store, name).recipe)
    return compared(store, site, extractions.show_extraction(store, extraction), seed)


def unread(site: CatalogueSite, seed: int, said: recipes.RecipeView) -> Verdict:
    """A site that nobody could find a way through: all of it is missing."""
    number = len(planted(site.host, seed, DAY_ZERO))
    return Verdict(site.name, number, 0, number, 0, 0, (), f"recipe {said.status}", said.reason)


def main() -> int:
    if os.geteuid() == 0:  # the pages are our own, and root's Chromium cannot have its sandbox
        os.environ.setdefault("THRESHER_CHROMIUM_SANDBOX", "off")
    parser = argparse.ArgumentParser()
    parser.add_argument("--database")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--sites", default=",".join(each.name for each in CATALOGUES))
    parser.add_argument("--items", type=int, default=200, help="items of each site; 0: as many as it has")
    parser.add_argument("--store", choices=("sqlite", "postgres"), help="one make of database only")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--without-model", action="store_true")
    given = parser.parse_args()
    prefix = f"n{given.items}." if given.items else ""
    sites = (catalogue(f"{prefix}{each.name}") for each in CATALOGUES if each.name in given.sites.split(","))
    wanted = tuple(each for each in sites if each is not None)
    with (
        tempfile.TemporaryDirectory() as place,
        practice_process(given.seed) as web,
        practice_postgres() as server,
    ):
        fresh = {"sqlite": f"sqlite:///{place}/campaign.db", "postgres": server.url}
        urls = [url for make, url in fresh.items() if given.store in (None, make)]
        urls = [given.database] if given.database else urls
        results = [_played(Path(place) / str(at), url, wanted, web.url, given) for at, url in enumerate(urls)]
    return 0 if all(results) else 1


def _played(
    folder: Path, url: str, sites: tuple[CatalogueSite, ...], web: str, given: argparse.Namespace
) -> bool:
    folder.mkdir()
    model = not given.without_model
    verdicts, killed = extract_all(folder, url, sites, web, given.kills, seed=given.seed, model=model)
    whole = sum(each.is_whole for each in verdicts)
    make = url.partition(":")[0]
    print(
        f"{make}: {killed} workers killed in {len(verdicts)} extractions, {whole} data sets whole", flush=True
    )
    for each in verdicts:
        _tell(each)
    return whole == len(verdicts) and killed == given.kills


def _tell(verdict: Verdict) -> None:
    said: Mapping[str, Any] = {
        "planted": verdict.planted,
        "items": verdict.items,
        "missing": verdict.missing,
        "doubled": verdict.doubled,
        "invented": verdict.invented,
        "wrong": len(verdict.wrong),
    }
    print(f"  {verdict.site}: {verdict.status}, {said}; {verdict.reason}", flush=True)
    for line in verdict.wrong[:5]:
        print(f"    {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
