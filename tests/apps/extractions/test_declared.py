"""The key `extractions` of the project file: what it declares, what it refuses, and what becomes of a recipe
that has changed or is no longer there."""

import json
import secrets
import threading
from pathlib import Path

import pytest

from tests.apps.extractions.scene import app
from tests.apps.extractions.test_entities import LAMP
from tests.harness.schemas import SCHEMAS
from thresher.apps.extractions.declared import declare, declare_with
from thresher.apps.extractions.model import Recipe
from thresher.apps.extractions.service.recipes import (
    add_recipe,
    list_views,
    reconfigure,
    show_recipe,
    spec_named,
)
from thresher.apps.extractions.store.recipes import find_recipe
from thresher.config.project import read_project
from thresher.core.errors import ConfigError
from thresher.engine.registry import Registry
from thresher.store.store import Store
from thresher.testing.world import World

HEAD = "apps: [recipes_app.py]\n"
FILE = f"""{HEAD}extractions:
  recipes:
    acme:
      url: https://a.example/courses
      entity: course
    shop:
      url: https://b.example/
      entity: product
      limits: {{pages: 50}}
      configuration:
        page_type: DETAIL_LINKS
        link_pattern: /p/
        links: {{page_type: DETAIL}}
"""


def declared(store: Store, folder: Path, text: str) -> None:
    (folder / "thresher.yaml").write_text(text)
    declare_with(store, Registry([app]), read_project(folder).declaration(app))


def recipe(world: World, name: str) -> Recipe:
    with world.store.read() as session:
        found = find_recipe(session, name)
    assert found is not None
    return found


def detections(world: World) -> list[str]:
    return [each["payload"]["name"] for each in world.tasks("detectConfiguration")]


def test_what_the_file_declares_is_in_the_database(tmp_path):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        acme, shop = list_views(world.store)
        assert (acme.name, acme.status, acme.reason, acme.declared_in) == (
            "acme",
            "WAITING",
            "the recipe is new",
            "file",
        )
        assert (shop.status, shop.reason, shop.version) == ("SUCCESS", "given by the project file", 1)
        assert detections(world) == ["acme"]
        world.run_until_idle()
        assert recipe(world, "acme").version == 1


def test_the_same_file_again_changes_nothing(tmp_path):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        world.run_until_idle()
        with world.store.read() as session:
            before = session.rows("select * from recipes"), session.rows("select * from recipe_versions")
        world.advance(days=1)
        declared(world.store, tmp_path, FILE)
        with world.store.read() as session:
            assert before == (
                session.rows("select * from recipes"),
                session.rows("select * from recipe_versions"),
            )
        assert detections(world) == ["acme"]


def test_a_recipe_that_is_gone_is_retired_and_one_that_returns_has_its_versions(tmp_path):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        world.run_until_idle()
        declared(world.store, tmp_path, HEAD)
        assert list_views(world.store) == []
        assert {each["detail"]["name"] for each in world.events("recipe_retired")} == {"acme", "shop"}
        declared(world.store, tmp_path, FILE)
        assert [(each.name, each.version, each.status) for each in list_views(world.store)] == [
            ("acme", 1, "SUCCESS"),
            ("shop", 1, "SUCCESS"),
        ]
        assert detections(world) == ["acme"], "what was proved is still proved"


@pytest.mark.parametrize(
    ("old", "new", "version", "detected"),
    [
        ("a.example/courses", "a.example/catalog", 1, ["acme", "acme"]),
        ("entity: course", "entity: credential", 2, ["acme", "acme"]),
        ("entity: course", "entity: course\n      limits: {pages: 7}", 2, ["acme"]),
        ("entity: course", "entity: {name: course, key: [id]}", 2, ["acme", "acme"]),
        ("entity: course", "entity: course\n      configuration: {page_type: DETAIL}", 2, ["acme"]),
    ],
)
def test_a_changed_recipe_is_a_version_and_is_detected_where_that_is_needed(
    tmp_path, old, new, version, detected
):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        world.run_until_idle()
        declared(world.store, tmp_path, FILE.replace(old, new, 1))
        assert recipe(world, "acme").version == version
        assert detections(world) == detected
        assert recipe(world, "shop").version == 1


def test_a_configuration_that_the_file_no_longer_gives_is_detected_once(tmp_path):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        world.run_until_idle()
        without = FILE.partition("      configuration:")[0]
        declared(world.store, tmp_path, without)
        assert recipe(world, "shop").configuration is not None, "until another one is proved"
        declared(world.store, tmp_path, without)
        assert detections(world) == ["acme", "shop"]
        world.run_until_idle()
        declared(world.store, tmp_path, without)
        assert detections(world) == ["acme", "shop"]
        assert show_recipe(world.store, "shop").recipe.made_by == "rules"


def test_a_detection_that_failed_is_not_repeated_with_every_start(tmp_path):
    with World(app) as world:
        text = FILE.replace("a.example", "broken.example")
        declared(world.store, tmp_path, text)
        world.run_until_idle()
        declared(world.store, tmp_path, text)
        assert detections(world) == ["acme"]
        reconfigure(world.store, Registry([app]), "acme")
        assert detections(world) == ["acme", "acme"], "a person may ask"


def test_what_a_person_added_is_not_the_files_to_retire_until_it_is_declared(tmp_path):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        add_recipe(world.store, Registry([app]), "mine", spec_named(world.store, "acme"))
        declared(world.store, tmp_path, HEAD)
        assert [each.name for each in list_views(world.store)] == ["mine"]
        mine = FILE.replace("    acme:", "    mine:")
        declared(world.store, tmp_path, mine)
        assert {each.name: each.declared_in for each in list_views(world.store)} == {
            "mine": "file",
            "shop": "file",
        }


def test_a_schema_may_stand_in_a_file_of_the_project(tmp_path):
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "lamp.json").write_text(json.dumps(LAMP))
    with World(app) as world:
        declared(world.store, tmp_path, FILE.replace("entity: course", "entity: {schema: schemas/lamp.json}"))
        assert recipe(world, "acme").entity.name == "lamp"


@pytest.mark.parametrize(
    ("said", "line", "says"),
    [
        ("extractions: 3", 2, "extractions 3 is not a mapping"),
        ("extractions:\n  recipe: {}", 3, "extractions.recipe recipe is not a known key"),
        ("extractions:\n  recipes: [a]", 3, "must map names to recipes"),
        ("extractions:\n  recipes:\n    Acme: {}", 4, "is not a name for a recipe"),
        ("extractions:\n  recipes:\n    1: {}", 4, "is not a name for a recipe"),
        ("extractions:\n  recipes:\n    acme: {}", 4, "extractions.recipes.acme has no url"),
        (
            "extractions:\n  recipes:\n    acme:\n      url: https://a.example/\n      entity: lamp",
            6,
            "is not an entity type",
        ),
        (
            "extractions:\n  recipes:\n    acme:\n      url: https://a.example/\n      entity: course\n      configuration:\n        page_type: DETAIL\n        link_pattern: '('",
            9,
            "configuration.link_pattern",
        ),
        (
            "extractions:\n  recipes:\n    acme:\n      url: https://a.example/\n      entity: {schema: nope.json}",
            6,
            "cannot be read",
        ),
    ],
)
def test_a_mistake_is_named_with_its_line_and_nothing_is_changed(tmp_path, said, line, says):
    with World(app) as world:
        declared(world.store, tmp_path, FILE)
        with pytest.raises(ConfigError) as caught:
            declared(world.store, tmp_path, f"apps: [recipes_app.py]\n{said}\n")
        assert str(caught.value).startswith(f"{tmp_path / 'thresher.yaml'}:{line}: ")
        assert says in str(caught.value)
        assert [each.name for each in list_views(world.store)] == ["acme", "shop"]


def test_the_app_itself_declares_recipes_that_come_with_a_configuration(tmp_path):
    with World(app) as world:
        (tmp_path / "thresher.yaml").write_text(
            FILE.partition("    acme")[0] + "    shop" + FILE.partition("    shop")[2]
        )
        declare(world.store, read_project(tmp_path).declaration(app))
        assert [each.name for each in list_views(world.store)] == ["shop"]


@pytest.mark.promise(2)
def test_workers_that_start_at_once_declare_it_once(tmp_path, postgres_url):
    url = f"{postgres_url}?schema=declared_{secrets.token_hex(6)}"
    SCHEMAS.make(url, [app])
    with World(app, database=url) as world, World(app, database=url) as other:
        (tmp_path / "thresher.yaml").write_text(FILE)
        together = threading.Barrier(2)

        def start(store: Store) -> None:
            together.wait(30)
            declare_with(store, Registry([app]), read_project(tmp_path).declaration(app))

        threads = [threading.Thread(target=start, args=(each.store,)) for each in (world, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert detections(world) == ["acme"]
        assert [each.version for each in list_views(world.store)] == [0, 1]
    SCHEMAS.give_back(url)
