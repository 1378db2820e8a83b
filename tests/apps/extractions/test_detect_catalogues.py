"""The ten catalogues of the practice web, each of another make: every configuration is detected without a
model, and what it follows are the planted items."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.apps.extractions.test_detect import recipe_in
from thresher.apps.extractions.app import app
from thresher.apps.extractions.detect import DETECT
from thresher.apps.extractions.detection.link_pattern import matches
from thresher.apps.extractions.model import Entity, Limits, Origin, Recipe, RecipeStatus
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.store.recipes import ask_detection, save_recipe
from thresher.core.schema import Field, Kind, Schema
from thresher.core.task import NewTask
from thresher.practice.web import DAY_ZERO
from thresher.practice.web.planted import CATALOGUES, CatalogueSite, planted
from thresher.practice.web.web import Web
from thresher.testing.web import Reply, Requested
from thresher.testing.world import World

SEED = 7
LEVELS = {"departments": ["CATEGORY_LINKS", "CATEGORY_LINKS", "DETAIL_LINKS", "DETAIL"], "api": []}
PAGING = {"offsets": "offset", "nextlinks": "cursor", "loadmore": "load_more", "api": None}
ALL = pytest.mark.parametrize("of", CATALOGUES, ids=lambda each: each.name)


def entity_of(of: CatalogueSite) -> Entity:
    fields = tuple(Field(each.name, Kind(each.type), required=each.required) for each in of.fields)
    return Entity(of.kind, Schema(of.kind, fields))


def detected(of: CatalogueSite) -> Recipe:
    """Run the whole pipeline against a catalogue, served in this process."""
    web = Web(SEED)

    def answer(request: Requested) -> Reply:
        url = urlsplit(request.url)
        target = f"{url.path or '/'}{'?' if url.query else ''}{url.query}"
        found, _ = web.answer(web.arrive(of.host, "GET", target, {}), {}, b"")
        return Reply(found.body, found.status, {**found.headers})

    pages: dict[str, Any] = {f"https://{of.host}/robots.txt": answer, f"https://{of.host}/*": answer}
    with World(app, pages=pages, settings={"host.interval": 0.0}) as made:
        with made.store.write() as session:
            now = made.store.backend.now(session)
            spec = RecipeSpec(of.start_url, entity_of(of), None, Limits())
            recipe = save_recipe(session, of.name, spec, Origin.PERSON, "a person", now)
            number = ask_detection(session, recipe.id, "a test asks", now)
        payload = {"recipe": recipe.id, "detection": number, "name": of.name}
        made.enqueue(NewTask(DETECT, payload, url=of.start_url, key=f"{DETECT}.{recipe.id}.{number}"))
        made.run_until_idle(within=120)
        return recipe_in(made, of.name)


@ALL
def test_a_catalogue_is_understood_without_a_model(of: CatalogueSite):
    found = detected(of)
    assert found.status is RecipeStatus.SUCCESS, found.reason
    levels = [str(level.page_type) for level in found.configuration.levels]
    assert levels == LEVELS.get(of.name, ["DETAIL_LINKS", "DETAIL"])
    kinds = [level.pagination.kind for level in found.configuration.levels if level.pagination]
    assert (str(kinds[0]) if kinds else None) == PAGING.get(of.name, "page_num")
    items = planted(of.host, SEED, DAY_ZERO)
    likely, low = found.report["items"].get("likely"), found.report["items"].get("low", 0)
    assert low <= 1.1 * len(items)
    if of.name not in ("nextlinks", "departments"):  # the one says nothing, the other is uneven
        assert abs(likely - len(items)) <= 0.1 * len(items)
    if not found.configuration.is_api:
        pattern = found.configuration.levels[-2].link_pattern
        assert all(matches(pattern, each.url) for each in items)
    assert found.report["requests"] <= 30
