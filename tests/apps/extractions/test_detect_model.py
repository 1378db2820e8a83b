"""A model where rules are not certain: it points at what stands on the page, most answers must agree, and
nothing is paid for twice."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.apps.extractions.test_detect_catalogues import entity_of
from tests.engine.asking import Study
from tests.engine.conftest import shared, web
from tests.engine.workshop import Workshop
from tests.harness.databases import Database, file_and_server
from thresher.apps.extractions.app import app
from thresher.apps.extractions.detect import DETECT
from thresher.apps.extractions.detection.look import PageLook, ShownLink
from thresher.apps.extractions.detection.votes import SCHEMAS, counted, question
from thresher.apps.extractions.model import Limits, Origin, RecipeStatus
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.store.recipes import ask_detection, find_recipe, save_recipe
from thresher.config.settings import Settings, catalogue_of
from thresher.core.clock import SystemClock
from thresher.core.task import NewTask
from thresher.practice.web import PracticeWeb
from thresher.practice.web.planted import CATALOGUES

__all__ = ["shared", "web"]

pytest_generate_tests = file_and_server

A = "https://a.example"
URLS = tuple(f"{A}/item/{at}" for at in range(6))
LOOK = PageLook(
    f"{A}/list",
    f"{A}/list",
    "A list",
    links=(*URLS, f"{A}/about", f"{A}/list?page=2"),
    shown=tuple(ShownLink(url, f"Item {url[-1]}") for url in URLS),
    excerpt="# A list",
)


def votes(about: str, *answers: Mapping[str, Any]) -> Any:
    return counted(about, LOOK, answers)


def test_most_votes_decide_what_a_page_is():
    said = [{"page_type": "DETAIL_LINKS"}, {"page_type": "DETAIL"}, {"page_type": "DETAIL_LINKS"}]
    assert votes("page_type", *said).value == "DETAIL_LINKS"
    assert votes("page_type", *said).agreed
    assert not votes("page_type", *said[:2]).agreed
    assert not votes("page_type", {"page_type": "BANANA"}, {}, {}).agreed


def test_links_that_are_not_on_the_page_do_not_count():
    good, invented = {"link_examples": [*URLS[:3]]}, {"link_examples": [*URLS[:3], f"{A}/item/999"]}
    assert votes("links", good, good, invented).agreed
    assert votes("links", good, good, invented).urls == URLS[:3]
    assert not votes("links", good, invented, invented).agreed


def test_a_next_page_that_is_not_on_the_page_does_not_count():
    good, invented = {"next_url": f"{A}/list?page=2"}, {"next_url": f"{A}/list?page=99"}
    assert votes("pagination", good, good, {}).urls == (f"{A}/list?page=2",)
    assert not votes("pagination", invented, invented, good).agreed


def test_every_vote_shows_something_else():
    asked = [question(LOOK, entity_of(CATALOGUES[0]), vote)["page"].text for vote in range(7)]
    assert len(set(asked)) == 7
    assert all(URLS[0] in text for text in asked)


def test_a_model_is_only_asked_for_things_that_stand_on_a_page():
    names = {field.name for schema in SCHEMAS.values() for field in schema.fields}
    assert not any(word in name for name in names for word in ("pattern", "selector", "regex"))


@pytest.fixture
def clock() -> SystemClock:
    """Real time: the worker waits for the network and nothing else."""
    return SystemClock()


@pytest.fixture
def workshop(database: Database) -> Iterator[Workshop]:
    database.make(app)
    found = Workshop(database)
    yield found
    found.close()


@pytest.mark.parametrize("of", CATALOGUES, ids=lambda each: each.name)
def test_with_the_practice_model_every_catalogue_is_detected_and_previewed(
    workshop: Workshop, web: PracticeWeb, of: Any
):
    study = Study(workshop, web)
    study.app = app
    store = workshop.store
    registry = study.open()
    store.settings = Settings(store.project_settings, catalogue_of((app,)))
    with store.write() as session:
        now = store.backend.now(session)
        spec = RecipeSpec(of.start_url, entity_of(of), None, Limits())
        recipe = save_recipe(session, of.name, spec, Origin.PERSON, "a person", now)
        number = ask_detection(session, recipe.id, "a test asks", now)
    payload = {"recipe": recipe.id, "detection": number, "name": of.name}
    workshop.put(registry, NewTask(DETECT, payload, url=of.start_url, key=f"{DETECT}.{recipe.id}.{number}"))
    study.drain(registry, patience=5)
    with store.read() as session:
        found = find_recipe(session, of.name)
    assert found is not None
    assert found.status is RecipeStatus.SUCCESS, found.reason
    assert found.configuration.is_api or found.configuration.levels[-1].page_type == "DETAIL"
    assert len(found.report["preview"]) == 3
    assert all(item["data"] for item in found.report["preview"])
