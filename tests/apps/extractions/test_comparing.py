"""Two data sets beside each other, on both stores: which fields were lost, who is told, and how to see all
differences.
"""

import pytest

from tests.apps.extractions.shop import LIST, Shop, add_recipe, configuration, extract
from tests.harness.databases import file_and_server
from thresher.apps.extractions.model import Entity, Limits
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.service.checks import check_datasets, check_extractions, check_recipes
from thresher.core.errors import UsageError
from thresher.core.schema import Field, Schema
from thresher.testing.world import World

pytest_generate_tests = file_and_server


class WithoutPrices(Shop):
    """A shop that changes its pages: the price is no longer there."""

    def detail(self, number: int) -> str:
        return super().detail(number).replace('"price"', '"cost"')


def drifts(made: World) -> list[list[str]]:
    return [each["detail"]["fields"] for each in made.events("dataset_drifted")]


@pytest.mark.promise(7)
def test_a_field_that_most_items_have_lost_is_an_event_a_line_of_the_notice_and_one_of_the_doctor(world):
    with world(Shop(6)) as made:
        add_recipe(made)
        first = extract(made)
        shown = datasets.show_dataset(made.store, str(first.datasets[0]))
        assert {each.field: (each.items, each.verified) for each in shown.fields}["price"] == (6, 6)
        assert drifts(made) == []
        made.advance(days=1)
        made.web.add(WithoutPrices(6).pages())
        second = extract(made)
        shown = datasets.show_dataset(made.store, str(second.datasets[0]))
        assert {each.field: each.share for each in shown.fields} == {
            "name": 1.0,
            "sku": 1.0,
            "price": 0.0,
            "description": 1.0,
        }
        assert drifts(made) == [["price"]]
        assert "far fewer items than last time have price" in made.messages[-1][1]
        (line,) = check_datasets(made.store)
        assert "have price" in line.found


@pytest.mark.promise(7)
def test_items_that_most_of_a_site_has_lost_are_told_like_a_lost_field(world):
    shop = Shop(9)
    with world(shop) as made:
        add_recipe(made)
        extract(made)
        made.advance(days=1)
        shop.number = 4
        assert extract(made).items == 4
        (event,) = made.events("dataset_drifted")
        assert (event["detail"]["items"], event["detail"]["before"]) == (4, 9)
        assert "4 items, and 9 last time" in made.messages[-1][1]
        (line,) = check_datasets(made.store)
        assert "4 items, and 9 last time" in line.found


def test_what_a_limit_keeps_out_is_not_lost(world):
    with world(Shop(9)) as made:
        add_recipe(made)
        extract(made)
        made.advance(days=1)
        add_recipe(made, limits=Limits(pages=4))
        assert extract(made).items == 3
        assert made.events("dataset_drifted") == []
        assert check_datasets(made.store) == []


@pytest.mark.promise(7)
def test_a_run_that_failed_in_between_hides_no_loss(world):
    shop = Shop(6)
    with world(shop) as made:
        add_recipe(made)
        extract(made)
        shop.down.add(LIST)
        made.advance(days=1)
        assert extract(made).status == "ERROR"
        made.advance(days=1)
        made.web.add(WithoutPrices(6).pages())
        assert extract(made).status == "COMPLETE"
        assert drifts(made) == [["price"]]
        assert "have price" in check_datasets(made.store)[0].found


def test_a_recipe_that_reads_something_else_now_has_lost_nothing(world):
    """Its data set has other fields because somebody wanted others."""
    with world(Shop(4)) as made:
        add_recipe(made)
        extract(made)
        made.advance(days=1)
        thing = Entity("thing", Schema("thing", (Field("name", required=True), Field("description"))))
        spec = RecipeSpec(LIST, thing, configuration(), Limits())
        recipes.update_recipe(made.store, made.registry, "shop", spec)
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 4)
        assert drifts(made) == []
        assert check_datasets(made.store) == []


@pytest.mark.promise(7)
def test_the_doctor_names_what_stopped_and_what_to_do(world):
    shop = Shop(3)
    with world(shop) as made:
        assert "there are no recipes" in check_recipes(made.store)[0].found
        assert check_extractions(made.store) == []
        add_recipe(made)
        extract(made)
        assert check_recipes(made.store)[0].found == "1 recipe"
        assert check_extractions(made.store)[0].found == "1 recipe was extracted"
        made.advance(days=1)
        shop.down.add(LIST)
        view = extract(made)
        (line,) = check_extractions(made.store)
        assert f"extraction {view.id} of shop is ERROR" in line.found
        assert line.advice == f"thresher extract resume {view.id}"
        add_recipe(made, name="busy")
        shop.down.clear()
        started = [extractions.start(made.store, made.registry, "busy") for _ in range(60)]
        for each in started:
            extractions.cancel(made.store, each.extraction, "a test")
        (line,) = check_extractions(made.store)
        assert f"extraction {view.id} of shop is ERROR" in line.found, "however many others came later"


def test_differences_that_are_too_many_for_one_look_are_looked_at_page_by_page(world):
    shop = Shop(9)
    with world(shop) as made:
        add_recipe(made)
        old = str(extract(made).datasets[0])
        made.advance(days=1)
        shop.prices = dict.fromkeys(range(7), "77.00")
        new = str(extract(made).datasets[0])
        found = datasets.diff(made.store, old, new, limit=3)
        assert (found.counts.changed, len(found.changes), found.more) == (7, 3, True)
        seen, after = [], ""
        while True:
            found = datasets.diff(made.store, old, new, what="changed", after=after, limit=3)
            seen += [each.item_key for each in found.changes]
            if not found.more:
                break
            after = found.changes[-1].item_key
        assert len(seen) == len(set(seen)) == 7
        with pytest.raises(UsageError, match="one of new, changed, gone"):
            datasets.diff(made.store, old, new, after=after)
