"""Recipes as they are stored: every accepted configuration is a version, and the newest detection wins."""

from dataclasses import replace
from typing import Any

import pytest

from thresher.apps.extractions.entities import entity_types, read_entity
from thresher.apps.extractions.model import (
    Configuration,
    Level,
    Limits,
    Origin,
    PageType,
    Recipe,
    RecipeStatus,
)
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.store.recipes import (
    ask_detection,
    detected,
    detection_began,
    find_recipe,
    find_version,
    give_configuration,
    list_recipes,
    list_versions,
    made_by,
    read_recipe,
    retire_recipe,
    save_recipe,
    spec_of,
    undetected,
)
from thresher.core.stored import written
from thresher.store.sources import find_gates
from thresher.store.store import Store

COURSE = entity_types()["course"].entity
SPEC = RecipeSpec("https://a.example/courses", COURSE)
DETAIL = Configuration((Level(PageType.DETAIL),))
LINKS = Configuration((Level(PageType.DETAIL_LINKS, "/c/", render=None), Level(PageType.DETAIL)))


class Recipes:
    """Each call is one transaction, at the time that the store says."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def do(self, change: Any, *args: Any) -> Any:
        with self.store.write() as session:
            return change(session, *args, self.store.backend.now(session))

    def save(self, spec: RecipeSpec = SPEC, name: str = "acme", origin: Origin = Origin.PERSON) -> Recipe:
        return self.do(save_recipe, name, spec, origin, "a person")  # type: ignore[no-any-return]

    def ask(self, recipe: Recipe) -> int:
        return self.do(ask_detection, recipe.id, "it is new")  # type: ignore[no-any-return]

    def detected(self, recipe: Recipe, number: int, found: Configuration = LINKS, by: str = "rules") -> None:
        said = {"recipe": recipe.id, "detection": number, "configuration": written(found)}
        self.do(detected, {**said, "report": {"pages": 12}, "made_by": by, "reason": "12 of 12 are courses"})

    def undetected(self, recipe: Recipe, number: int) -> None:
        said = {"recipe": recipe.id, "detection": number, "reason": "mixed pages", "report": {"asked": 3}}
        self.do(undetected, said)

    def began(self, recipe: Recipe, number: int) -> None:
        self.do(detection_began, {"recipe": recipe.id, "detection": number})

    def now(self, name: str = "acme") -> Recipe:
        with self.store.read() as session:
            found = find_recipe(session, name)
        assert found is not None
        return found

    def versions(self, recipe: Recipe) -> list[tuple[int, str]]:
        with self.store.read() as session:
            return [(each.version, each.made_by) for each in list_versions(session, recipe.id)]


@pytest.fixture
def recipes(store: Store) -> Recipes:
    return Recipes(store)


def test_a_recipe_is_found_by_name_and_by_id_as_it_was_saved(recipes):
    spec = replace(
        SPEC, limits=Limits(10, 2, 1.5, 3.0), entity=read_entity({"name": "course", "key": ["id"]})
    )
    saved = recipes.save(spec)
    assert recipes.now() == recipes.now(str(saved.id)) == saved
    assert (spec_of(saved), saved.status, saved.version, saved.detection) == (
        spec,
        RecipeStatus.WAITING,
        0,
        0,
    )
    with recipes.store.read() as session:
        assert find_recipe(session, "nobody") is None
        assert find_recipe(session, "9" * 40) is None
        assert read_recipe(session, {"recipe": saved.id}, 0) == saved
        assert read_recipe(session, {"recipe": 99}, 0) is None


def test_every_recipe_has_a_source_that_a_person_can_pause(recipes):
    recipes.save()
    recipes.save()
    with recipes.store.read() as session:
        (gate,) = find_gates(session, name="source:recipe.acme")
    assert (gate["source"], gate["app"]) == ("recipe.acme", "extractions")


def test_a_given_configuration_is_a_version_at_once(recipes):
    saved = recipes.save(replace(SPEC, configuration=DETAIL))
    assert (saved.status, saved.reason, saved.version) == (RecipeStatus.SUCCESS, "given by a person", 1)
    again = recipes.save(replace(SPEC, configuration=LINKS))
    assert (again.configuration, again.version) == (LINKS, 2)
    assert recipes.versions(saved) == [(2, "a person"), (1, "a person")]
    with recipes.store.read() as session:
        first = find_version(session, saved.id, 1)
        assert first is not None
        assert first.spec == replace(SPEC, configuration=DETAIL)
        assert made_by(session, again) == "a person"


def test_the_same_again_is_no_new_version(recipes):
    recipes.save(replace(SPEC, configuration=DETAIL))
    again = recipes.save(replace(SPEC, configuration=DETAIL))
    assert (again.version, recipes.versions(again)) == (1, [(1, "a person")])


def test_other_limits_or_another_entity_are_a_version_with_the_same_configuration(recipes):
    recipes.save(replace(SPEC, configuration=DETAIL))
    saved = recipes.save(replace(SPEC, limits=Limits(pages=3)))
    assert (saved.configuration, saved.limits.pages, saved.version) == (DETAIL, 3, 2)
    saved = recipes.save(replace(SPEC, entity=entity_types()["product"].entity))
    assert (saved.configuration, saved.entity.name, saved.version) == (DETAIL, "product", 3)


def test_another_address_forgets_what_was_proved_at_the_old_one(recipes):
    saved = recipes.save()
    recipes.detected(saved, recipes.ask(saved))
    moved = recipes.save(replace(SPEC, url="https://b.example/"))
    assert (moved.configuration, moved.report, moved.version) == (None, None, 1)
    recipes.detected(moved, recipes.ask(moved), DETAIL)
    assert recipes.now().version == 2
    with recipes.store.read() as session:
        assert [each.spec.url for each in list_versions(session, saved.id)] == [
            "https://b.example/",
            "https://a.example/courses",
        ]


def test_a_detection_goes_from_waiting_to_success(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    assert (recipes.now().status, recipes.now().reason, number) == (RecipeStatus.WAITING, "it is new", 1)
    recipes.began(saved, number)
    assert recipes.now().status is RecipeStatus.IN_PROGRESS
    recipes.detected(saved, number)
    found = recipes.now()
    assert (found.status, found.reason) == (RecipeStatus.SUCCESS, "12 of 12 are courses")
    assert (found.configuration, found.report, found.version) == (LINKS, {"pages": 12}, 1)
    assert recipes.versions(saved) == [(1, "rules")]


def test_a_detection_that_found_nothing_says_why_and_may_be_tried_again(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    recipes.undetected(saved, number)
    found = recipes.now()
    assert (found.status, found.reason, found.report) == (RecipeStatus.ERROR, "mixed pages", {"asked": 3})
    recipes.began(saved, number)
    assert recipes.now().status is RecipeStatus.IN_PROGRESS, "the task was retried by a person"
    recipes.detected(saved, number)
    assert recipes.now().status is RecipeStatus.SUCCESS


def test_a_failed_detection_leaves_the_configuration_that_was_there(recipes):
    saved = recipes.save(replace(SPEC, configuration=DETAIL))
    recipes.undetected(saved, recipes.ask(saved))
    assert (recipes.now().status, recipes.now().configuration) == (RecipeStatus.ERROR, DETAIL)


@pytest.mark.promise(2)
def test_the_newest_detection_wins_whatever_the_order(recipes):
    saved = recipes.save()
    old, new = recipes.ask(saved), recipes.ask(saved)
    recipes.began(saved, old)
    assert recipes.now().status is RecipeStatus.WAITING
    recipes.detected(saved, old, DETAIL)
    recipes.undetected(saved, old)
    assert (recipes.now().status, recipes.now().configuration) == (RecipeStatus.WAITING, None)
    recipes.detected(saved, new)
    recipes.detected(saved, old, DETAIL)
    recipes.undetected(saved, old)
    assert (recipes.now().configuration, recipes.versions(saved)) == (LINKS, [(1, "rules")])


@pytest.mark.promise(2)
def test_a_settlement_that_is_made_twice_changes_nothing_the_second_time(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    recipes.detected(saved, number)
    once = recipes.now()
    recipes.began(saved, number)
    recipes.detected(saved, number, DETAIL, by="model")
    recipes.undetected(saved, number)
    assert recipes.now() == once


@pytest.mark.promise(2)
def test_a_person_who_gives_a_configuration_outdates_the_detection_under_way(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    recipes.began(saved, number)
    recipes.do(give_configuration, saved.id, DETAIL, "key anna")
    recipes.detected(saved, number, LINKS)
    recipes.undetected(saved, number)
    found = recipes.now()
    assert (found.configuration, found.status, found.reason) == (
        DETAIL,
        RecipeStatus.SUCCESS,
        "given by key anna",
    )
    assert recipes.versions(saved) == [(1, "key anna")]


def test_a_retired_recipe_takes_no_configuration_until_it_is_back(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    assert recipes.do(retire_recipe, saved.id) is True
    assert recipes.do(retire_recipe, saved.id) is False
    recipes.began(saved, number)
    recipes.detected(saved, number)
    assert (recipes.now().status, recipes.now().configuration) == (RecipeStatus.WAITING, None)
    with recipes.store.read() as session:
        assert list_recipes(session) == []
        assert [each.name for each in list_recipes(session, retired=True)] == ["acme"]
    back = recipes.save()
    assert (back.id, back.retired_at) == (saved.id, 0)


@pytest.mark.promise(17)
def test_reasons_and_reports_are_kept_without_what_steers_a_terminal(recipes):
    saved = recipes.save()
    number = recipes.ask(saved)
    said = {"recipe": saved.id, "detection": number, "report": {"page\x1b": ["\x9b31m"]}}
    recipes.do(undetected, {**said, "reason": "\x1b[31m" + "x" * 5_000})
    found = recipes.now()
    assert found.reason is not None
    assert len(found.reason) == 2_000
    assert "\x1b" not in found.reason
    assert "\x1b" not in str(found.report)
    assert "\x9b" not in str(found.report)
