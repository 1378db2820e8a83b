"""How extractions end where a page above the data failed, and how they go on from there, on both stores."""

import pytest

from tests.apps.extractions.shop import (
    HOST,
    LIST,
    NEXT_LINK,
    NUMBERED,
    Shop,
    add_recipe,
    configuration,
    extract,
    items,
    skus,
)
from tests.harness.databases import file_and_server
from thresher.apps.extractions.model import Configuration, Level, PageType
from thresher.apps.extractions.service import extractions
from thresher.testing.web import Reply

pytest_generate_tests = file_and_server
CATEGORIES = f"{HOST}/categories"


def tree() -> Configuration:
    listing, detail = configuration().levels
    return Configuration((Level(PageType.CATEGORY_LINKS, link_pattern=r"/things$"), listing, detail))


def with_categories(shop: Shop) -> dict[str, str]:
    return {CATEGORIES: f'<h1>Categories</h1><ul><li><a href="{LIST}">Things</a></li></ul>'}


@pytest.mark.promise(7)
def test_a_site_whose_only_category_failed_is_an_error_and_no_empty_success(world):
    shop = Shop(5)
    shop.down.add(LIST)
    with world(shop) as made:
        made.web.add(with_categories(shop))
        add_recipe(made, tree(), url=CATEGORIES)
        view = extract(made)
        assert view.status == "ERROR", view.reason
        assert "1 page" in (view.reason or "")
        shop.down.clear()
        made.advance(minutes=10)
        extractions.retry(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, skus(items(made, again))) == ("COMPLETE", [f"T-{each}" for each in range(5)])


@pytest.mark.promise(7)
def test_an_empty_site_that_was_read_whole_is_complete_and_empty(world):
    with world(Shop(0)) as made:
        add_recipe(made)
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 0)
        assert "nothing was found" in (view.reason or "")


@pytest.mark.promise(7)
def test_an_extraction_whose_first_page_failed_is_resumed_with_it(world):
    """The status page, the doctor and the dashboard all say: resume."""
    shop = Shop(5)
    shop.down.add(LIST)
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert view.status == "ERROR"
        shop.down.clear()
        made.advance(minutes=10)
        extractions.resume(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, again.items) == ("COMPLETE", 5), again.reason


def test_people_are_told_of_an_extraction_that_was_cancelled_before_it_began(world):
    with world(Shop(5)) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop")
        extractions.cancel(made.store, started.extraction, "enough")
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started.extraction)
        assert (view.status, view.reason) == ("CANCELLED", "enough")
        assert [title for title, _ in made.messages] == [f"Extraction {view.id} of shop: CANCELLED"]


def test_people_are_told_once_of_an_extraction_that_was_cancelled_on_its_way(world):
    shop = Shop(5)
    with world(shop) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop")
        made.web.add({f"{HOST}/thing/2": Reply("wait", 429, {"Retry-After": "7200"})})
        made.run_until_idle()
        extractions.cancel(made.store, started.extraction, "enough")
        made.run_until_idle()
        titles = [title for title, _ in made.messages]
        assert titles == [f"Extraction {started.extraction} of shop: CANCELLED"]


WAYS = [(NUMBERED, lambda *_: ""), (NEXT_LINK, Shop.next_link), (NUMBERED, Shop.numbers)]
NAMES = ["counted on", "next links", "numbers"]


@pytest.mark.promise(2)
@pytest.mark.parametrize(("pagination", "pager"), WAYS, ids=NAMES)
def test_a_list_that_was_cancelled_on_its_way_goes_on_to_its_end(world, pagination, pager):
    shop = Shop(45, pager=pager)
    with world(shop) as made:
        add_recipe(made, configuration(pagination))
        started = extractions.start(made.store, made.registry, "shop")
        made.web.add({f"{LIST}?page=3": Reply("wait", 429, {"Retry-After": "7200"})})
        made.run_until_idle()
        extractions.cancel(made.store, started.extraction, "a test")
        made.run_until_idle()
        made.web.add(shop.pages())
        made.advance(hours=3)
        extractions.resume(made.store, made.registry, started.extraction)
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started.extraction)
        assert (view.status, skus(items(made, view))) == (
            "COMPLETE",
            sorted(f"T-{each}" for each in range(45)),
        )


@pytest.mark.promise(2)
@pytest.mark.parametrize(("pagination", "pager"), WAYS, ids=NAMES)
def test_a_list_whose_middle_failed_goes_on_to_its_end_when_that_is_retried(world, pagination, pager):
    shop = Shop(45, pager=pager)
    shop.down.add(f"{LIST}?page=3")
    with world(shop) as made:
        add_recipe(made, configuration(pagination))
        view = extract(made)
        assert view.failed == 1
        shop.down.clear()
        made.advance(minutes=10)
        extractions.retry(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, skus(items(made, again))) == (
            "COMPLETE",
            sorted(f"T-{each}" for each in range(45)),
        )
