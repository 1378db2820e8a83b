"""The budget and the time of a recipe: nothing is spent beyond them, the extraction says why it stopped, and
whoever raises a limit goes on from there. The budget is spent by real workers at a model
that counts.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.apps.extractions.campaign import (
    MODELS,
    PROJECT,
    SEED,
    Workers,
    _is_over,
    _until,
    compared,
    recipe_of,
)
from tests.apps.extractions.shop import Shop, items, skus, world
from tests.apps.extractions.shop import add_recipe as add_shop
from tests.harness.databases import Database, file_and_server
from thresher.admin.events import list_events
from thresher.apps.extractions.app import app
from thresher.apps.extractions.model import Limits
from thresher.apps.extractions.service import extractions
from thresher.apps.extractions.service.extractions import ExtractionView
from thresher.core.answer import DOLLAR
from thresher.practice.web import CATALOGUES, practice_process
from thresher.runtime import opened_store
from thresher.store.store import Store

pytest_generate_tests = file_and_server
SITE = next(each for each in CATALOGUES if each.name == "numbered")


class Project:
    """A project with one recipe, and a worker where one is needed."""

    def __init__(self, folder: Path, database: str, web: str, store: Store) -> None:
        self.store, self._folder = store, folder
        self._workers = Workers(folder, 0, SEED)
        self._line = [sys.executable, "-m", "thresher", "--project", str(folder), "--json"]

    def run(self, *words: str) -> Any:
        done = subprocess.run([*self._line, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    def budget(self, dollars: float) -> None:
        self.run("recipes", "edit", SITE.name, "--set", f"limits.budget={dollars:.6f}")

    def wait(self, extraction: int) -> ExtractionView:
        _until(self._workers, lambda: self._has_ended(extraction))
        return extractions.show_extraction(self.store, extraction)

    def _has_ended(self, extraction: int) -> bool:
        with self.store.read() as session:
            (live,) = session.rows(
                "select count(*) from tasks where finished_at is null and kind <> 'checkStale'"
            )
        return live[0] == 0 and _is_over(self.store, extraction)

    def resume(self, extraction: int) -> ExtractionView:
        self.run("extract", "resume", str(extraction))
        return self.wait(extraction)

    def stop(self) -> None:
        self._workers.kill()


@pytest.fixture
def project(database: Database, tmp_path: Path) -> Iterator[Project]:
    url = database.address(app)
    with practice_process(SEED) as web:
        models = MODELS.format(web=web.url)
        (tmp_path / "thresher.yaml").write_text(
            PROJECT.format(database=url, web=web.url, models=models), "utf-8"
        )
        with opened_store(url, apps=(app,)) as store:
            made = Project(tmp_path, url, web.url, store)
            try:
                yield made
            finally:
                made.stop()


def add_recipe(project: Project, folder: Path, budget: float) -> None:
    levels = {
        "page_type": "DETAIL_LINKS",
        "pagination": {"kind": "next_link"},
        "links": {"page_type": "DETAIL"},
    }
    said = {**recipe_of(SITE), "configuration": levels, "limits": {"budget": budget}}
    file = folder / "recipe.json"
    file.write_text(json.dumps(said), "utf-8")
    project.run("recipes", "add", SITE.name, "--file", str(file))


def _unread(project: Project, extraction: int) -> list[Any]:
    """Failures but those of the links that robots.txt forbids."""
    failed = extractions.list_pages(project.store, extraction, state="failed")
    return [each.page.failure for each in failed if (each.page.failure or {}).get("error") != "Refused"]


@pytest.mark.promise(15)
def test_a_budget_holds_over_every_resume_and_one_that_is_raised_goes_on(project: Project, tmp_path: Path):
    add_recipe(project, tmp_path, 0.0001)
    started = int(project.run("extract", "run", SITE.name)["extraction"])
    view = project.wait(started)
    assert (view.status, view.cost) == ("CANCELLED", 0), view.reason
    assert f"thresher extract resume {started}" in (view.reason or "")
    assert _unread(project, started) == [], "a page that nobody could pay for has not failed"
    (event,) = list_events(project.store, kind="extraction_cancelled", limit=10)
    assert view.reason in str(event)

    # Enough for one call: what it costs at the most was said.
    most = float(re.search(r"may cost \$([0-9.]+)", view.reason or "")[1])  # type: ignore[index]
    project.budget(1.02 * most)
    view = project.resume(started)
    assert view.status == "CANCELLED", view.reason
    assert 0 < view.cost <= 1.02 * most * DOLLAR
    spent = view.cost

    # The same budget again is no second budget.
    view = project.resume(started)
    assert view.status == "CANCELLED"
    assert spent <= view.cost <= 1.02 * most * DOLLAR

    project.budget(5)
    view = project.resume(started)
    assert view.status == "COMPLETE", view.reason
    verdict = compared(project.store, SITE, view, SEED)
    assert (verdict.missing, verdict.doubled, verdict.invented, verdict.wrong) == (0, 0, 0, ())


@pytest.mark.promise(15)
def test_the_time_of_an_extraction_begins_again_when_it_is_resumed(database: Database):
    """It is not stale at once either, however long ago it stopped."""
    url = database.address(app)
    with world(Shop(6), url, **{"host.interval": 60.0}) as made:
        add_shop(made, limits=Limits(hours=2))
        started = extractions.start(made.store, made.registry, "shop").extraction
        made.run_until_idle(within=1)
        first = extractions.show_extraction(made.store, started)
        extractions.cancel(made.store, started, "a test")
        made.run_until_idle()
        made.advance(hours=30)
        extractions.resume(made.store, made.registry, started)
        made.run_until_idle(within=1)
        view = extractions.show_extraction(made.store, started)
        assert (view.status, view.started_at) == ("IN_PROGRESS", first.started_at), view.reason
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started)
        assert view.status == "COMPLETE", view.reason
        assert skus(items(made, view)) == [f"T-{each}" for each in range(6)]
