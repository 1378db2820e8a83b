"""Recipes as people and programs change them: what each change enqueues, and what it leaves alone."""

import threading
from dataclasses import replace

import pytest

from tests.apps.extractions.scene import app
from tests.harness.tasks import rows
from thresher.apps.extractions.entities import entity_types
from thresher.apps.extractions.model import Configuration, Level, Limits, Origin, PageType
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service.recipes import (
    RecipeChanged,
    add_recipe,
    list_entities,
    list_views,
    reconfigure,
    refuse_unfetchable,
    remove_recipe,
    revert,
    show_recipe,
    spec_named,
    update_recipe,
)
from thresher.apps.extractions.store.recipes import BY_FILE, save_recipe
from thresher.config.outward import Outward
from thresher.core.errors import ConfigError, NotAllowed, UnknownName, UsageError
from thresher.engine.registry import Registry
from thresher.runtime import Runtime
from thresher.store.sources import disable
from thresher.store.store import Store
from thresher.store.tasks import cancel
from thresher.testing.world import World

SPEC = RecipeSpec("https://a.example/courses", entity_types()["course"].entity)
DETAIL = Configuration((Level(PageType.DETAIL),))
TASKS = "select payload, dedupe_key, state from tasks where kind = 'detectConfiguration' order by id"


class People:
    """Who changes recipes."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self.store, self.registry = store, registry

    def add(self, spec: RecipeSpec = SPEC, name: str = "acme", **how: object) -> RecipeChanged:
        return add_recipe(self.store, self.registry, name, spec, **how)  # type: ignore[arg-type]

    def update(self, spec: RecipeSpec, name: str = "acme", **how: object) -> RecipeChanged:
        return update_recipe(self.store, self.registry, name, spec, **how)  # type: ignore[arg-type]

    def detect(self, name: str = "acme") -> RecipeChanged:
        return reconfigure(self.store, self.registry, name)

    def keys(self) -> list[str]:
        return [row[1] for row in rows(self.store, TASKS)]


@pytest.fixture
def people(store: Store, registry: Registry) -> People:
    return People(store, registry)


def test_a_new_recipe_waits_for_the_detection_that_was_enqueued_with_it(people):
    found = people.add()
    assert (found.recipe.status, found.recipe.reason) == ("WAITING", "the recipe is new")
    assert (found.recipe.version, found.recipe.configured, found.recipe.detection) == (0, False, 1)
    assert found.task is not None
    assert (found.task.kind, found.task.key) == (
        "detectConfiguration",
        f"detectConfiguration.{found.recipe.id}.1",
    )
    assert people.keys() == [found.task.key]


def test_a_recipe_with_a_configuration_needs_no_detection(people):
    found = people.add(replace(SPEC, configuration=DETAIL), by="key anna")
    assert (found.task, people.keys()) == (None, [])
    assert (found.recipe.status, found.recipe.reason) == ("SUCCESS", "given by key anna")
    assert (found.recipe.version, found.recipe.made_by) == (1, "key anna")
    checked = people.update(replace(SPEC, configuration=DETAIL), detect=True)
    assert checked.task is not None, "--detect asks for a check"
    assert (checked.recipe.status, checked.recipe.configured) == ("WAITING", True)


def test_creating_updating_and_reconfiguring_each_ask_and_each_number_is_new(people):
    people.add()
    people.update(replace(SPEC, limits=Limits(pages=9)))
    found = people.detect()
    assert found.recipe.detection == 3
    assert people.keys() == [f"detectConfiguration.{found.recipe.id}.{number}" for number in (1, 2, 3)]


@pytest.mark.promise(1)
def test_a_recipe_and_its_task_are_stored_together_or_not_at_all(store):
    """A registry that knows no detection refuses the task, and then there must be no recipe that waits for
    it."""
    with pytest.raises(UnknownName, match="detectConfiguration"):
        add_recipe(store, Registry([]), "acme", SPEC)
    assert list_views(store, retired=True) == []


@pytest.mark.promise(2)
def test_people_who_ask_at_once_get_a_number_each(people, make_store):
    people.add()
    together = threading.Barrier(4)

    def ask(store: Store) -> None:
        together.wait(30)
        for _ in range(3):
            reconfigure(store, people.registry, "acme")

    stores = [people.store, *(make_store() for _ in range(3))]
    threads = [threading.Thread(target=ask, args=(each,)) for each in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(people.keys(), key=lambda key: int(key.rpartition(".")[2])) == [
        f"detectConfiguration.1.{number}" for number in range(1, 14)
    ]


@pytest.mark.promise(2)
def test_two_people_who_add_the_same_name_make_one_recipe(people, make_store):
    together, refused = threading.Barrier(3), []

    def add(store: Store) -> None:
        together.wait(30)
        try:
            add_recipe(store, people.registry, "acme", SPEC)
        except NotAllowed as problem:
            refused.append(str(problem))

    threads = [
        threading.Thread(target=add, args=(each,)) for each in (people.store, make_store(), make_store())
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(list_views(people.store)) == 1
    assert len(refused) == 2
    assert len(people.keys()) == 1


def test_a_name_that_is_taken_and_names_that_are_none_are_refused(people):
    people.add()
    with pytest.raises(NotAllowed, match="thresher recipes edit acme"):
        people.add()
    with pytest.raises(ConfigError, match="is not a name for a recipe"):
        people.add(name="A B")
    for act in (
        people.detect,
        lambda name: people.update(SPEC, name),
        lambda name: show_recipe(people.store, name),
    ):
        with pytest.raises(UnknownName, match="there is no recipe 'nobody'"):
            act("nobody")


def test_an_address_that_can_never_be_fetched_is_refused_with_the_reason(people):
    runtime = Runtime(people.store, people.registry, Outward())
    refuse_unfetchable(runtime, "https://a.example/")
    for url in ("http://127.0.0.1/", "http://169.254.169.254/", "http://localhost/", "https://a.example:22/"):
        with pytest.raises(UsageError, match=r"can never be fetched: .*fetch\.allow"):
            refuse_unfetchable(runtime, url)


def test_a_detection_that_was_cancelled_does_not_wait_for_ever(people):
    found = people.add()
    assert found.task is not None
    assert found.task.id is not None
    cancel(people.store, [found.task.id], "no")
    (seen,) = list_views(people.store)
    assert seen.status == "ERROR"
    assert "thresher recipes detect acme" in str(seen.reason)


def test_a_closed_source_is_shown_with_its_reason(people):
    people.add()
    disable(people.store, "source:recipe.acme", "admin", "the site asked us")
    (seen,) = list_views(people.store)
    assert seen.closed_until
    assert seen.closed_reason == "the site asked us"


def test_a_recipe_that_was_removed_comes_back_with_its_versions(people):
    people.add(replace(SPEC, configuration=DETAIL))
    gone = remove_recipe(people.store, "acme")
    assert gone.retired_at
    assert list_views(people.store) == []
    with pytest.raises(NotAllowed, match="is retired"):
        people.detect()
    with pytest.raises(NotAllowed, match="is retired"):
        people.update(SPEC)
    back = people.add()
    assert (back.recipe.id, back.recipe.retired_at, back.recipe.version) == (gone.id, None, 1)
    kinds = rows(people.store, "select kind, detail from events where kind = 'recipe_retired'")
    assert len(kinds) == 1


def test_an_earlier_version_is_taken_up_whole(people):
    people.add(replace(SPEC, configuration=DETAIL))
    other = Configuration((Level(PageType.EXPLORATORY),))
    people.update(RecipeSpec("https://b.example/", entity_types()["product"].entity, other))
    found = revert(people.store, people.registry, "acme", 1)
    assert (found.recipe.url, found.recipe.entity, found.recipe.version) == (SPEC.url, "course", 3)
    assert (found.recipe.made_by, found.task) == ("a person, from version 1", None)
    assert spec_named(people.store, "acme") == replace(SPEC, configuration=DETAIL)
    with pytest.raises(UnknownName, match="has no version 9"):
        revert(people.store, people.registry, "acme", 9)


def declared(store: Store, spec: RecipeSpec) -> None:
    with store.write() as session:
        save_recipe(session, "acme", spec, Origin.FILE, BY_FILE, store.backend.now(session))


def test_what_the_project_file_says_is_changed_there(people):
    declared(people.store, replace(SPEC, configuration=DETAIL))
    other = Configuration((Level(PageType.EXPLORATORY),))
    for spec in (
        replace(SPEC, configuration=other),
        RecipeSpec("https://b.example/", SPEC.entity, DETAIL),
        replace(SPEC, configuration=DETAIL, limits=Limits(pages=1)),
        SPEC,
    ):
        with pytest.raises(UsageError, match=r"change it there: extractions\.recipes\.acme"):
            people.update(spec)
    with pytest.raises(UsageError, match="remove it there"):
        remove_recipe(people.store, "acme")


def test_a_configuration_that_the_file_leaves_open_may_be_corrected(people):
    declared(people.store, SPEC)
    found = people.update(replace(SPEC, configuration=DETAIL))
    assert (found.recipe.declared_in, found.recipe.made_by) == ("file", "a person")


def test_everything_that_is_known_is_shown():
    with World(app) as world:
        registry = Registry([app])
        add_recipe(world.store, registry, "acme", SPEC)
        broken = replace(SPEC, url="https://broken.example/")
        add_recipe(world.store, registry, "broken", broken)
        world.run_until_idle()
        found = show_recipe(world.store, "acme")
        assert (found.recipe.status, found.recipe.reason, found.recipe.made_by) == (
            "SUCCESS",
            "proved",
            "rules",
        )
        assert found.report is not None
        assert (found.report.pages.likely, len(found.report.preview)) == (63, 3)
        assert found.report.cost.dollars == 1.25
        assert "link_pattern: /courses/" in found.yaml
        assert found.schema["required"] == ["id", "name", "description"]
        assert [each.version for each in found.versions] == [1]
        failed = show_recipe(world.store, "broken")
        assert (failed.recipe.status, failed.recipe.reason) == ("ERROR", "pages are of several types")
        assert failed.report is not None
        assert failed.report.question is not None


@pytest.mark.promise(2)
def test_of_several_detections_the_newest_writes_and_the_others_are_skipped():
    with World(app) as world:
        registry = Registry([app])
        add_recipe(world.store, registry, "acme", SPEC)
        for _ in range(3):
            reconfigure(world.store, registry, "acme")
        world.run_until_idle()
        assert sorted(each["state"] for each in world.tasks("detectConfiguration")) == [
            "skipped",
            "skipped",
            "skipped",
            "succeeded",
        ]
        (seen,) = list_views(world.store)
        assert (seen.status, seen.version) == ("SUCCESS", 1)


def test_a_paused_recipe_is_not_detected_until_it_is_opened():
    with World(app) as world:
        add_recipe(world.store, Registry([app]), "acme", SPEC)
        disable(world.store, "source:recipe.acme", "admin", "no")
        world.run_until_idle()
        (seen,) = list_views(world.store)
        assert seen.status == "WAITING"


def test_the_entity_types_are_listed_with_their_fields():
    course = list_entities()[0]
    assert (course.name, course.required, course.key) == (
        "course",
        ["id", "name", "description"],
        ["id", "name"],
    )
