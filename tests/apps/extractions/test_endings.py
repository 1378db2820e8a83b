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
from thresher.admin import sources
from thresher.admin.sources import limit
from thresher.apps.extractions.model import Configuration, Level, Limits, PageType
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
    shop = Shop(0)
    shop.listing = lambda _: "<h1>Things</h1><p>No results found.</p>"  # type: ignore[method-assign]
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 0)
        assert "nothing was found" in (view.reason or "")
        (root,) = extractions.list_pages(made.store, view.id)
        assert (root.page.empty, root.page.note) == ("No results found.", 'it says "No results found."')


@pytest.mark.promise(7)
def test_a_list_that_has_changed_beyond_recognition_is_an_error_until_it_can_be_read_again(world):
    """Without a word of its own that there is nothing, an empty data set would be a claim of ours."""
    shop = Shop(6)
    with world(shop) as made:
        add_recipe(made)
        extract(made)
        made.advance(days=1)
        usual, shop.listing = (
            shop.listing,
            lambda _: '<h1>Things</h1><p><a href="/item-1.html">A thing</a></p>',
        )  # type: ignore[method-assign]
        view = extract(made)
        assert (view.status, view.items) == ("ERROR", 0)
        assert f"on {LIST} no link of it matches link_pattern" in (view.reason or "")
        assert "thresher recipes test shop" in (view.reason or "")
        (astray,) = extractions.list_pages(made.store, view.id, state="astray")
        assert astray.page.url == LIST
        shop.listing = usual  # type: ignore[method-assign]
        made.advance(minutes=10)
        extractions.resume(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, again.items) == ("COMPLETE", 6), again.reason


@pytest.mark.promise(7)
def test_a_site_all_of_whose_categories_lead_nowhere_is_an_error(world):
    shop = Shop(5)
    shop.listing = lambda _: "<h1>Things</h1><p>Welcome.</p>"  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add(with_categories(shop))
        add_recipe(made, tree(), url=CATEGORIES)
        view = extract(made)
        assert view.status == "ERROR"
        assert f"on {LIST} no link of it matches link_pattern" in (view.reason or "")


@pytest.mark.promise(7)
def test_a_root_that_scripts_were_to_fill_is_an_error(world):
    shop = Shop(5)
    shop.listing = lambda _: '<div id="root"></div><script src="/app.js"></script>'  # type: ignore[method-assign]
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert view.status == "ERROR"
        assert "empty frame for a script" in (view.reason or "")


def test_a_stale_extraction_whose_pages_are_read_at_last_is_in_progress_again(world):
    shop = Shop(2)
    with world(shop) as made:
        add_recipe(made)
        sources.pause(made.store, "extractions.extractData", 86_400, "a test")
        started = extractions.start(made.store, made.registry, "shop").extraction
        made.run_until_idle()
        made.advance(hours=5)
        made.run_until_idle()
        assert extractions.show_extraction(made.store, started).status == "STALE"
        limit(made.store, "extractions.extractData", {"rate": "1/m"})
        sources.resume(made.store, "extractions.extractData")
        made.run_until_idle(within=1)
        view = extractions.show_extraction(made.store, started)
        assert (view.status, view.items) == ("IN_PROGRESS", 1)


def test_the_time_of_an_extraction_counts_while_its_pages_are_read(world):
    shop = Shop(2)
    with world(shop) as made:
        add_recipe(made, limits=Limits(hours=2))
        sources.pause(made.store, "extractions.extractData", 3 * 3_600, "a test")
        started = extractions.start(made.store, made.registry, "shop").extraction
        made.run_until_idle()
        made.advance(hours=4)
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started)
        assert (view.status, view.items) == ("CANCELLED", 0)
        assert "its time is over" in (view.reason or "")
        extractions.resume(made.store, made.registry, started)
        made.run_until_idle()
        assert extractions.show_extraction(made.store, started).items == 2


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
