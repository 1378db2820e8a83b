"""Limits of a recipe on both stores: none is exceeded, and what they leave out is told."""

import threading
from itertools import pairwise

import pytest

from tests.apps.extractions import shop as shops
from tests.apps.extractions.shop import (
    HOST,
    LIST,
    NEXT_LINK,
    PRODUCT,
    Shop,
    add_recipe,
    configuration,
    extract,
)
from tests.apps.extractions.test_lifecycle import at_once, url_of
from tests.harness.databases import Database, file_and_server
from thresher.admin.sources import limit
from thresher.apps.extractions.fetch_page import fetch_task
from thresher.apps.extractions.model import Limits, PageType, StepKind, page_name
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import extractions, recipes
from thresher.apps.extractions.store.pages import add_pages, to_rows
from thresher.apps.extractions.walking import facts
from thresher.apps.extractions.walking.branch import NewPage
from thresher.core.clock import SECOND
from thresher.store.sources import find_gates
from thresher.testing.world import World

pytest_generate_tests = file_and_server


@pytest.mark.promise(15)
def test_a_list_without_an_end_stops_at_the_limit_of_pages(world):
    """A calendar has a next day for ever."""
    shop = Shop(1000, pager=lambda _, at: f'<a rel="next" href="?page={at + 1}">Next</a>')
    with world(shop) as made:
        add_recipe(made, configuration(NEXT_LINK), limits=Limits(pages=15))
        view = extract(made)
        assert view.status == "COMPLETE"
        assert (view.pages, len(shop.asked)) == (15, 15)
        assert "not followed because of a limit" in (view.reason or "")


@pytest.mark.promise(15)
def test_two_lists_that_reach_the_limit_at_once_do_not_exceed_it(database: Database):
    with shops.world(Shop(2), url_of(database)) as made, shops.world(Shop(2), url_of(database)) as other:
        add_recipe(made, limits=Limits(pages=15))
        started = extractions.start(made.store, made.registry, "shop").extraction
        together = threading.Barrier(2)

        def find(one: World, parent: str, numbers: range) -> None:
            urls = [f"{HOST}/thing/{number}" for number in numbers]
            new = [NewPage(page_name(url), url, 2, StepKind.LINKS, 1, PageType.DETAIL) for url in urls]
            said = {"extraction": started, "parent": parent, "pages": to_rows(new), "most": 15}
            together.wait(30)
            with one.store.write() as session:
                add_pages(session, said, 1)

        at_once(lambda: find(made, "a", range(12)), lambda: find(other, "b", range(20, 32)))
        view = extractions.show_extraction(made.store, started)
        assert (view.pages, view.dropped) == (15, 10)


@pytest.mark.promise(15)
def test_a_page_for_which_there_was_no_room_is_not_requested(world):
    """Its task was enqueued while there was room, and another page was faster."""
    shop = Shop(3)
    with world(shop) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop").extraction
        url = f"{HOST}/thing/99"
        made.enqueue(fetch_task(started, "shop", page_name(url), url))
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started)
        assert (view.status, view.items) == ("COMPLETE", 3)
        assert url not in shop.asked


def interval(made: World) -> int:
    with made.store.read() as session:
        return find_gates(session, name="source:recipe.shop")[0]["interval_us"]


def recipe(made: World, rate: str | None) -> None:
    spec = RecipeSpec(LIST, PRODUCT, configuration(), Limits(rate=rate))
    known = recipes.list_views(made.store)
    save = recipes.update_recipe if known else recipes.add_recipe
    save(made.store, made.registry, "shop", spec)


def test_the_rate_of_a_recipe_spaces_its_requests(world):
    shop, at = Shop(4), []
    with world(shop) as made:
        made.web.add(
            dict.fromkeys(shop.pages(), lambda request: at.append(made.clock.now()) or shop._answer(request))
        )
        recipe(made, "30/m")
        assert extract(made).status == "COMPLETE"
    assert len(at) == 5
    assert all(after - before >= 2 * SECOND for before, after in pairwise(at))


def test_the_rate_of_a_recipe_is_that_of_its_source_until_somebody_says_otherwise(world):
    with world(Shop(1)) as made:
        recipe(made, "30/m")
        assert interval(made) == 2 * SECOND
        recipe(made, "6/m")
        assert interval(made) == 10 * SECOND
        limit(made.store, "recipe.shop", {"rate": "1", "in_flight": "3"})
        recipe(made, "6/m")
        assert interval(made) == SECOND, "what was not changed in the recipe is the administrator's"
        recipe(made, None)
        assert interval(made) == 0
        with made.store.read() as session:
            assert find_gates(session, name="source:recipe.shop")[0]["max_in_flight"] == 3
        limit(made.store, "recipe.shop", {"rate": "1"})
        recipe(made, None)
        assert interval(made) == SECOND


@pytest.mark.promise(7)
def test_links_beyond_what_one_page_may_bring_are_counted(world, monkeypatch):
    monkeypatch.setattr(facts, "MAX_LINKS", 5)
    with world(Shop(12, per_page=12)) as made:
        add_recipe(made, configuration(None))
        view = extract(made)
        assert (view.status, view.items, view.dropped) == ("COMPLETE", 5, 7)
        assert "7 links not followed because of a limit" in (view.reason or "")


@pytest.mark.promise(7)
def test_links_beyond_what_one_page_may_explore_are_counted(world, monkeypatch):
    monkeypatch.setattr(facts, "MAX_EXPLORED", 2)
    shop = Shop(1)
    more = "".join(f'<p><a href="/thing/{each}">More</a></p>' for each in range(10, 15))
    shop.detail = lambda number, usual=shop.detail: usual(number) + (more if number == 0 else "")  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add({f"{HOST}/thing/{each}": shop.detail(each) for each in range(10, 15)})
        add_recipe(made, configuration(None, explore=True))
        view = extract(made)
        assert (view.status, view.items, view.dropped) == ("COMPLETE", 3, 3)
