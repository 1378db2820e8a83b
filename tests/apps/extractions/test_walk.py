"""A walk over a site from end to end, on both stores: every page once, every item once, an exact end."""

from dataclasses import replace

import duckdb
import pytest

from tests.apps.extractions.shop import (
    HOST,
    LIST,
    NEXT_LINK,
    NUMBERED,
    PRODUCT,
    Shop,
    add_recipe,
    configuration,
    extract,
    items,
    skus,
)
from tests.harness.databases import file_and_server
from thresher.admin.export import FileFormat
from thresher.apps.extractions.completion import ending
from thresher.apps.extractions.model import Configuration, Extraction, ExtractionStatus, Limits, PageStatus
from thresher.apps.extractions.service import datasets, extractions
from thresher.apps.extractions.store.totals import Totals
from thresher.core.errors import NotAllowed
from thresher.testing.web import Reply

pytest_generate_tests = file_and_server


def all_skus(number: int) -> list[str]:
    return sorted(f"T-{each}" for each in range(number))


@pytest.mark.parametrize(
    ("pagination", "pager"),
    [(NUMBERED, Shop.numbers), (NEXT_LINK, Shop.next_link), (NUMBERED, lambda *_: "")],
)
def test_every_item_of_every_page_is_extracted_once(world, pagination, pager):
    shop = Shop(25, pager=pager)
    with world(shop) as made:
        add_recipe(made, configuration(pagination))
        view = extract(made)
        assert view.status == "COMPLETE", view.reason
        assert skus(items(made, view)) == all_skus(25)
        assert all(each.verified for each in items(made, view))
        assert len(shop.asked) == len(set(shop.asked)), "no page is requested twice"
        assert [(step.kind, step.total, step.succeeded) for step in view.steps] == [
            ("root", 1, 1),
            ("pagination", view.steps[1].total, view.steps[1].total),
            ("links", 25, 25),
        ]
        assert view.items == view.steps[-1].items == 25


def test_an_item_shows_where_each_value_stands(world):
    with world(Shop(3)) as made:
        add_recipe(made)
        found = items(made, extract(made))[0]
        place = found.evidence["places"]["name"]
        assert place["quote"] == found.values["name"]
        assert found.evidence["source"]


@pytest.mark.promise(7)
def test_a_root_that_cannot_be_read_is_an_error_and_no_empty_success(world):
    shop = Shop(5)
    shop.down.add(LIST)
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert view.status == "ERROR"
        assert "first page could not be read" in (view.reason or "")
        assert "503" in (view.reason or "")


def test_a_page_that_fails_is_counted_says_why_and_can_be_retried(world):
    shop = Shop(12)
    shop.down.add(f"{HOST}/thing/4")
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert view.status == "COMPLETE"
        assert "1 page failed" in (view.reason or "")
        assert len(items(made, view)) == 11
        (failed,) = extractions.list_pages(made.store, view.id, state="failed")
        assert failed.page.failure["error"] == "ServerError"
        shop.down.clear()
        asked = len(shop.asked)
        made.advance(minutes=10)
        extractions.retry(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert (again.status, again.failed, again.items) == ("COMPLETE", 0, 12)
        assert len(shop.asked) == asked + 1, "only the failed page is requested again"


@pytest.mark.promise(9)
def test_a_page_that_three_pages_lead_to_is_one_page_with_three_parents(world):
    shop = Shop(30)
    shop.listing = lambda url, usual=shop.listing: (
        usual(url) + '<a href="/thing/3?utm_source=x#top">See also</a>'
    )  # type: ignore[method-assign]
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert skus(items(made, view)) == all_skus(30)
        pages = extractions.list_pages(made.store, view.id, limit=100)
        third = next(each for each in pages if each.page.url.endswith("/thing/3"))
        assert len(extractions.show_page(made.store, view.id, third.page.page).parents) == 3


def test_a_total_that_lies_costs_a_few_empty_pages(world):
    shop = Shop(
        25,
        pager=lambda shop, at: (
            f"<p>{(at - 1) * 10 + 1} - {at * 10} of 500 results</p><a rel=next href='?page={at + 1}'>2</a>"
        ),
    )
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        assert skus(items(made, view)) == all_skus(25)
        beyond = [url for url in shop.asked if "page=" in url and int(url.partition("page=")[2]) > 3]
        assert len(beyond) < 20
        assert view.status == "COMPLETE"
        assert view.steps[1].skipped == 47 - len(beyond)


def test_a_limit_of_pages_stops_the_walk_and_is_told(world):
    with world(Shop(40)) as made:
        add_recipe(made, limits=Limits(pages=15))
        view = extract(made)
        assert view.pages == 15
        assert view.dropped > 0
        assert "not followed because of a limit" in (view.reason or "")


@pytest.mark.promise(15)
def test_a_second_run_of_an_unchanged_site_reads_nothing_again(world):
    shop = Shop(15)
    with world(shop) as made:
        add_recipe(made)
        first = extract(made)
        made.advance(days=1)
        shop.prices[3] = "99.00"
        second = extract(made)
        assert second.previous_id == first.id
        assert skus(items(made, second)) == all_skus(15)
        by = [each.page.extractor for each in extractions.list_pages(made.store, second.id, state="read")]
        assert sorted(by) == ["data", *["unchanged"] * 14]
        changed = next(each for each in items(made, second) if each.values["sku"] == "T-3")
        assert "99.00" in changed.values["price"]


def test_a_cancelled_extraction_asks_for_nothing_more_and_can_be_resumed(world):
    shop = Shop(30)
    with world(shop) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop")
        shop.down.add(f"{HOST}/never")
        view = extractions.cancel(made.store, started.extraction, "enough")
        assert (view.status, view.reason) == ("CANCELLED", "enough")
        made.run_until_idle()
        assert shop.asked == []
        extractions.resume(made.store, made.registry, started.extraction)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, started.extraction)
        assert (again.status, again.items) == ("COMPLETE", 30)


def test_stored_pages_are_read_again_into_another_version_without_a_request(world):
    shop = Shop(8)
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        asked = len(shop.asked)
        extractions.reextract(made.store, made.registry, view.id)
        made.run_until_idle()
        again = extractions.show_extraction(made.store, view.id)
        assert len(again.datasets) == 2
        assert (again.status, again.items) == ("COMPLETE", 8)
        assert len(shop.asked) == asked


def test_an_extraction_in_which_nothing_moves_is_stale_and_says_why(world):
    shop = Shop(10)
    with world(shop) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop")
        made.web.add({LIST: Reply("wait", 429, {"Retry-After": "86400"})})
        made.run_until_idle()
        made.advance(hours=5)
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started.extraction)
        assert view.status == "STALE"
        assert "nothing has moved for 4 hours" in (view.reason or "")
        assert "host:shop.example" in (view.reason or "")
        assert any("STALE" in title for title, _ in made.messages)
        made.web.add(shop.pages())
        made.advance(days=1)
        made.run_until_idle()
        assert extractions.show_extraction(made.store, started.extraction).status == "COMPLETE"


def test_people_are_told_of_the_end_with_a_summary_and_its_cost(world):
    with world(Shop(4)) as made:
        add_recipe(made)
        extract(made)
        (title, body) = made.messages[-1]
        assert "COMPLETE" in title
        assert "4 items from 5 pages" in body
        assert "Cost: $0.0000" in body


def test_what_cannot_be_resumed_says_so(world):
    with world(Shop(2)) as made:
        add_recipe(made)
        view = extract(made)
        with pytest.raises(NotAllowed, match="there is nothing to resume"):
            extractions.resume(made.store, made.registry, view.id)
        with pytest.raises(NotAllowed, match="COMPLETE already"):
            extractions.cancel(made.store, view.id, "late")


def test_a_list_whose_next_page_does_not_exist_has_ended(world):
    shop = Shop(20, pager=lambda *_: "")
    with world(shop) as made:
        made.web.add({f"{LIST}?page=3": 404})
        add_recipe(made)
        view = extract(made)
        assert (view.status, view.failed, view.items) == ("COMPLETE", 0, 20)
        (beyond,) = extractions.list_pages(made.store, view.id, state="skipped")
        assert "the list ends before it" in (beyond.page.note or "")


def test_rows_whose_address_has_another_shape_are_followed_if_the_recipe_says_so(world):
    shop = Shop(9)
    shop.listing = lambda url, usual=shop.listing: usual(url).replace('"/thing/4"', '"/go/4"')  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add({f"{HOST}/go/4": Reply("", 302, {"Location": "/thing/4"})})
        listing, detail = configuration(None).levels
        add_recipe(made, Configuration((listing, detail)))
        assert len(items(made, extract(made))) == 8
        add_recipe(made, Configuration((replace(listing, follow_rows=True), detail)))
        assert skus(items(made, extract(made))) == all_skus(9)


def test_a_budget_that_is_spent_cancels_the_extraction_and_says_so():
    found = ending(
        Totals(
            Extraction(
                1,
                1,
                "shop",
                1,
                LIST,
                PRODUCT,
                configuration(),
                Limits(),
                ExtractionStatus.CANCELLED,
                "its budget is spent",
            ),
            PageStatus.SUCCESS,
        )
    )
    assert (found.status, found.reason) == (ExtractionStatus.CANCELLED, "its budget is spent")


@pytest.mark.promise(7)
def test_pages_whose_tasks_were_cancelled_are_no_success(world):
    shop = Shop(5)
    with world(shop) as made:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop")
        made.web.add({f"{HOST}/thing/2": Reply("wait", 429, {"Retry-After": "7200"})})
        made.run_until_idle()
        waiting = made.tasks("fetchPage", "pending")
        assert waiting
        made.cancel(*(task["id"] for task in waiting))
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started.extraction)
        assert view.status == "STALE"
        assert "thresher extract resume" in (view.reason or "")
        made.web.add(shop.pages())
        made.advance(hours=3)
        extractions.resume(made.store, made.registry, view.id)
        made.run_until_idle()
        assert extractions.show_extraction(made.store, view.id).items == 5


def test_two_data_sets_are_compared_and_written_into_files(world, tmp_path):
    shop = Shop(6)
    with world(shop) as made:
        add_recipe(made)
        first = extract(made)
        made.advance(days=1)
        shop.prices[2] = "77.00"
        shop.number = 7
        made.web.add(shop.pages() | {f"{HOST}/thing/0": 404})
        second = extract(made)
        old, new = str(first.datasets[0]), str(second.datasets[0])
        found = datasets.diff(made.store, old, new)
        assert (found.counts.new, found.counts.changed, found.counts.gone, found.counts.same) == (1, 1, 1, 4)
        (changed,) = (each for each in found.changes if each.what == "changed")
        assert "77.00" in changed.fields["price"][1]
        for form in FileFormat:
            written = datasets.export_dataset(made.store, new, form, tmp_path / f"items.{form}")
            assert written.rows == 6
        rows = duckdb.sql(f"select sku, verified, name_evidence from '{tmp_path}/items.parquet'").fetchall()
        assert sorted(row[0] for row in rows) == [f"T-{number}" for number in range(1, 7)]
        assert all(row[1] is True and row[2] for row in rows)


def test_an_extraction_that_takes_too_long_is_cancelled(world):
    shop = Shop(5)
    with world(shop) as made:
        add_recipe(made, limits=Limits(hours=2))
        started = extractions.start(made.store, made.registry, "shop")
        made.web.add({f"{HOST}/thing/2": Reply("wait", 429, {"Retry-After": "10800"})})
        made.run_until_idle()
        made.advance(hours=4)
        made.run_until_idle()
        view = extractions.show_extraction(made.store, started.extraction)
        assert view.status == "CANCELLED"
        assert "its time is over: the recipe lets it take 2 hours" in (view.reason or "")
        assert f"thresher extract resume {view.id}" in (view.reason or "")


@pytest.mark.promise(7)
def test_a_site_of_which_not_one_page_could_be_read_is_an_error(world):
    shop = Shop(4)
    with world(shop) as made:
        add_recipe(made, configuration(content_selector=".nowhere"))
        view = extract(made)
        assert view.status == "ERROR"


def test_exploration_goes_on_from_pages_with_items_as_far_as_it_may(world):
    shop = Shop(3)
    more = "".join(f'<p><a href="/thing/{each}">More</a></p>' for each in range(10, 14))
    shop.detail = lambda number, usual=shop.detail: usual(number) + (more if number == 1 else "")  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add({f"{HOST}/thing/{each}": shop.detail(each) for each in range(10, 14)})
        add_recipe(made, configuration(explore=True))
        view = extract(made)
        assert skus(items(made, view)) == sorted([*all_skus(3), "T-10", "T-11", "T-12", "T-13"])
        assert [step.kind for step in view.steps] == ["root", "links", "exploration"]
        add_recipe(made, configuration(explore=True), limits=Limits(depth=0))
        assert len(items(made, extract(made))) == 3


EXPLORED = sorted([*all_skus(3), "T-10", "T-11"])


def test_a_second_run_explores_from_pages_that_have_not_changed(world):
    with world(exploring()) as made:
        add_recipe(made, configuration(explore=True))
        assert skus(items(made, extract(made))) == EXPLORED
        made.advance(days=1)
        again = extract(made)
        assert skus(items(made, again)) == EXPLORED
        by = {each.page.extractor for each in extractions.list_pages(made.store, again.id, state="read")}
        assert by == {"unchanged"}


def test_stored_pages_that_are_read_again_are_not_explored(world):
    """What a limit has kept out is fetched by a new extraction."""
    shop = exploring()
    with world(shop) as made:
        add_recipe(made, configuration(explore=True), limits=Limits(pages=5))
        view = extract(made)
        assert (view.items, view.dropped) == (4, 1)
        add_recipe(made, configuration(explore=True))
        asked = len(shop.asked)
        extractions.reextract(made.store, made.registry, view.id)
        made.run_until_idle()
        assert extractions.show_extraction(made.store, view.id).status == "COMPLETE"
        assert len(shop.asked) == asked


def exploring() -> Shop:
    """A shop in which one thing leads to two that no list has."""

    class Exploring(Shop):
        def detail(self, number: int) -> str:
            more = '<p><a href="/thing/10">More</a></p><p><a href="/thing/11">More</a></p>'
            return super().detail(number) + (more if number == 1 else "")

        def pages(self):
            return super().pages() | {f"{HOST}/thing/{each}": self._answer for each in (10, 11)}

    return Exploring(3)
