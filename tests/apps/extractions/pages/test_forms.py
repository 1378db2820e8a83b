"""Forms for recipes: what is typed is stored, or is still there beside what is wrong with it."""

import re
from dataclasses import replace
from html import unescape

import orjson
import pytest

from tests.apps.extractions.filled import fill
from tests.web.pages.visitor import page, with_anna
from thresher.apps.extractions.detection.report import Choice, Question, Report
from thresher.apps.extractions.entities import shipped_entity
from thresher.apps.extractions.forms import FIELDS
from thresher.apps.extractions.model import Configuration, Level, PageType, detect_key
from thresher.apps.extractions.service.recipes import reconfigure, show_recipe, spec_named, update_recipe
from thresher.apps.extractions.store.recipes import undetected
from thresher.core.errors import UnknownName
from thresher.core.stored import written

BOOK = "title: book\nproperties:\n  name: {type: string}\n  price: {type: string}\nrequired: [name]\n"


def filled(**said: str) -> dict[str, str]:
    usual = {"name": "books", "url": "https://books.example/all", "entity": "product"}
    return dict.fromkeys(FIELDS, "") | usual | said


def shop(world) -> None:
    """A recipe of a shipped entity type, beside an extraction by it."""
    fill(world.store)
    entity = shipped_entity("product")
    assert entity is not None
    spec = replace(spec_named(world.store, "shop"), entity=entity)
    update_recipe(world.store, world.shop.registry, "shop", spec, by="bert")


def typed(text: str, field: str) -> str:
    """What stands in a text area."""
    found = re.search(rf'<textarea id="{field}"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    assert found
    return unescape(found[1])


@pytest.mark.promise(20)
def test_a_recipe_is_added_with_its_limits_and_its_detection_is_asked_for(world):
    anna = with_anna(world).log_in()
    told = anna.post("/recipes", **filled(pages="50", budget="2.5"))
    assert (told.status, told.headers["Location"]) == (303, "/recipes/books")
    found = show_recipe(world.store, "books")
    assert found.said == {
        "url": "https://books.example/all",
        "entity": "product",
        "limits": {"pages": 50, "budget": 2.5},
    }
    assert found.recipe.status == "WAITING"
    assert "Edit the recipe" in anna.see("/recipes/books")


def test_a_recipe_with_a_schema_of_its_own_is_added(world):
    anna = with_anna(world).log_in()
    told = anna.post("/recipes", **filled(entity="schema", schema=BOOK.replace("\n", "\r\n"), key="name"))
    assert told.status == 303, told.body
    entity = spec_named(world.store, "books").entity
    assert (entity.name, entity.schema.key) == ("book", ("name",))


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("field", "said", "told"),
    [
        ("name", {"name": "My Books"}, "is not a name for a recipe"),
        ("url", {"url": "books"}, "books"),
        ("url", {"url": ""}, "write where the list begins"),
        ("url", {"url": "https://anna:secret@books.example/"}, "holds no secrets"),
        ("entity", {"entity": "books"}, "is not an entity type"),
        ("schema", {"entity": "schema"}, "write the JSON Schema"),
        ("schema", {"schema": BOOK}, "choose that, or empty this field"),
        ("schema", {"entity": "schema", "schema": BOOK + "oneOf: []\n"}, "line 6"),
        ("schema", {"entity": "schema", "schema": "a: [b"}, "not YAML"),
        ("key", {"entity": "schema", "schema": BOOK, "key": "isbn"}, "isbn"),
        ("pages", {"pages": "many"}, "whole number"),
        ("hours", {"hours": "-1"}, "write a number from"),
        ("depth", {"depth": "99"}, "from 0 to 8"),
    ],
)
def test_a_mistake_stands_beside_its_field_and_nothing_that_was_typed_is_lost(world, field, said, told):
    anna = with_anna(world).log_in()
    sent = filled(**said)
    text = page(anna.post("/recipes", **sent), 400)
    beside = re.search(rf'<p class="notice bad" id="{field}-mistake">(.*?)</p>', text, re.DOTALL)
    assert beside
    assert told in unescape(re.sub("<[^>]*>", "", beside[1]))
    for name in ("name", "url", *(each for each in ("pages", "hours", "depth", "key") if sent[each])):
        assert f'name="{name}"' in text
        assert f'value="{sent[name]}"' in text
    assert typed(text, "schema") == sent["schema"]
    with pytest.raises(UnknownName):
        show_recipe(world.store, "books")


def test_a_name_that_is_taken_is_said_beside_the_name(world):
    shop(world)
    anna = with_anna(world).log_in()
    text = page(anna.post("/recipes", **filled(name="shop")), 409)
    assert 'id="name-mistake"' in text


@pytest.mark.promise(20)
def test_a_recipe_is_edited_and_its_versions_can_be_seen_and_restored(world):
    shop(world)
    anna = with_anna(world).log_in()
    before = show_recipe(world.store, "shop")
    assert typed(anna.see("/recipes/shop"), "recipe") == before.yaml
    text = before.yaml + "limits: {pages: 7}\n"
    told = anna.post("/recipes/shop/edit", recipe=text.replace("\n", "\r\n"), version=before.recipe.version)
    assert told.status == 303, told.body
    after = show_recipe(world.store, "shop")
    assert after.said["limits"] == {"pages": 7}
    assert (after.recipe.version, after.recipe.made_by) == (
        before.recipe.version + 1,
        "administrator anna",
    )
    old = before.recipe.version
    assert "pages: 7" not in anna.see(f"/recipes/shop?version={old}").partition('id="version"')[2]
    assert anna.post("/recipes/shop/revert", version=old).status == 303
    assert show_recipe(world.store, "shop").said == before.said
    anna.see("/recipes/shop?version=99", 404)
    assert anna.post("/recipes/shop/revert", version="x").status == 400


@pytest.mark.promise(7)
def test_a_mistake_in_the_yaml_names_its_line_and_keeps_what_was_typed(world):
    shop(world)
    anna = with_anna(world).log_in()
    before = show_recipe(world.store, "shop")
    lines = before.yaml.count("\n")
    wrong = before.yaml + "limits:\n  pages: <b>many</b>\n"
    text = page(anna.post("/recipes/shop/edit", recipe=wrong, version=before.recipe.version), 400)
    assert typed(text, "recipe") == wrong
    assert f"line {lines + 2}" in text.partition('id="recipe-mistake"')[2].partition("</p>")[0]
    assert show_recipe(world.store, "shop").said == before.said


def test_whoever_was_slower_replaces_nothing_and_loses_nothing(world):
    shop(world)
    anna = with_anna(world).log_in()
    before = show_recipe(world.store, "shop")
    mine = before.yaml + "limits: {pages: 7}\n"
    spec = spec_named(world.store, "shop")
    other = Configuration((*spec.configuration.levels[:-1], Level(PageType.DETAIL, content_selector="main")))
    changed = replace(spec, configuration=other)
    update_recipe(world.store, world.shop.registry, "shop", changed, by="bert")
    text = page(anna.post("/recipes/shop/edit", recipe=mine, version=before.recipe.version), 409)
    assert typed(text, "recipe") == mine
    assert "has changed meanwhile" in text
    assert show_recipe(world.store, "shop").said["configuration"]["links"]["content_selector"] == "main"
    newer = re.search(r'name="version" value="(\d+)"', text)
    assert newer
    assert anna.post("/recipes/shop/edit", recipe=mine, version=newer[1]).status == 303


def test_a_long_recipe_is_saved_and_other_fields_stay_short(world):
    shop(world)
    anna = with_anna(world).log_in()
    before = show_recipe(world.store, "shop")
    text = "# " + "x" * 20_000 + "\n" + before.yaml + "limits: {pages: 7}\n"
    assert anna.post("/recipes/shop/edit", recipe=text, version=before.recipe.version).status == 303
    assert anna.post("/recipes", **filled(url="https://books.example/" + "x" * 5_000)).status == 400


def ask(world, detection: int) -> None:
    """What a detection leaves behind that needs an answer."""
    choices = tuple(
        Choice(
            says,
            written(
                Configuration((Level(PageType.DETAIL_LINKS), Level(PageType.DETAIL, content_selector=says)))
            ),
        )
        for says in ("main", "article")
    )
    report = written(Report(question=Question("Which <i>pages</i> are meant?", choices)))
    said = {"recipe": show_recipe(world.store, "shop").recipe.id, "detection": detection}
    with world.store.write() as session:
        undetected(
            session, {**said, "reason": "a question", "report": report}, world.store.backend.now(session)
        )


@pytest.mark.promise(20)
def test_the_question_of_a_detection_is_answered_on_its_page(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    detection = reconfigure(world.store, world.shop.registry, "shop").recipe.detection
    ask(world, detection)
    text = anna.see("/recipes/shop")
    assert "A question for you" in text
    assert f'name="detection" value="{detection}"' in text
    assert anna.post("/recipes/shop/answer", detection=detection).status == 400, "nothing was chosen"
    assert anna.post("/recipes/shop/answer", detection=detection, choice=3).status == 400
    assert anna.post("/recipes/shop/answer", detection=detection + 1, choice=1).status == 409
    assert anna.post("/recipes/shop/answer", detection=detection, choice=2).status == 303
    found = show_recipe(world.store, "shop")
    assert found.said["configuration"]["links"]["content_selector"] == "article"
    assert found.recipe.status == "WAITING", "it is proved"
    with world.store.read() as session:
        ((payload,),) = session.rows(
            "select payload from tasks where dedupe_key = :key",
            {"key": detect_key(found.recipe.id, found.recipe.detection)},
        )
    assert orjson.loads(payload)["given"]["levels"], "what was chosen is not guessed again"
    assert anna.post("/recipes/shop/answer", detection=detection, choice=1).status == 409, "it was answered"


def test_a_recipe_is_retired_and_comes_back(world):
    fill(world.store)
    anna = with_anna(world).log_in()
    assert anna.post("/recipes/shop/remove").status == 303
    assert "retired" in anna.see("/recipes/shop")
    assert anna.post("/recipes", **filled(name="shop")).status == 303
    assert show_recipe(world.store, "shop").recipe.retired_at is None


@pytest.mark.promise(16)
@pytest.mark.parametrize(
    "path", ["/recipes", "/recipes/shop/edit", "/recipes/shop/answer", "/recipes/shop/remove"]
)
def test_a_form_of_another_site_changes_nothing(world, path):
    fill(world.store)
    anna = with_anna(world).log_in()
    before = show_recipe(world.store, "shop")
    told = anna.send(path, **filled(), recipe="x", version="1", choice="1")
    assert told.status == 403
    assert show_recipe(world.store, "shop") == before
    with pytest.raises(UnknownName):
        show_recipe(world.store, "books")
