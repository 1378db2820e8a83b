"""The life of an extraction on both stores: what is in progress, what is written at once by two hands, and
what is read a second time.
"""

import csv
import threading
import zipfile
from collections import Counter

import orjson
import pytest

from tests.apps.extractions.shop import (
    HOST,
    NEXT_LINK,
    PRODUCT,
    Shop,
    add_recipe,
    configuration,
    extract,
    items,
    skus,
    world,
)
from tests.harness.databases import Database, file_and_server
from thresher.admin import sources
from thresher.admin.export import FileFormat
from thresher.apps.extractions import extract_data
from thresher.apps.extractions.app import app
from thresher.apps.extractions.model import Level, PageType, StepKind, page_name
from thresher.apps.extractions.service import datasets, extractions, recipes
from thresher.apps.extractions.store.datasets import datasets_of, items_stored, list_items
from thresher.apps.extractions.store.pages import add_pages, parents_of, to_rows
from thresher.apps.extractions.walking.branch import NewPage
from thresher.core.answer import By, Extract
from thresher.core.errors import NotAllowed, Permanent
from thresher.core.evidence import Evidence
from thresher.testing.web import Reply, Requested
from thresher.testing.world import World

pytest_generate_tests = file_and_server


def url_of(database: Database) -> str:
    return database.address(app)


def all_skus(number: int) -> list[str]:
    return sorted(f"T-{each}" for each in range(number))


def test_an_extraction_is_in_progress_with_its_root_and_a_page_with_its_own_start(database: Database):
    """The pages of a list that is followed are one task, and each of them is in progress in its turn."""
    shop = Shop(25, pager=Shop.next_link)
    seen: dict[str, tuple[str, str]] = {}

    def look(request: Requested, usual=shop._answer):
        view = extractions.show_extraction(made.store, 1)
        page = extractions.show_page(made.store, 1, page_name(request.url))
        seen[request.url] = (view.status, page.status)
        return usual(request)

    with world(shop, url_of(database)) as made:
        made.web.add(dict.fromkeys(shop.pages(), look))
        add_recipe(made, configuration(NEXT_LINK))
        assert extract(made).status == "COMPLETE"
    assert len(seen) == 28
    assert set(seen.values()) == {("IN_PROGRESS", "IN_PROGRESS")}


def test_when_a_reading_began_is_kept_whether_it_went_well_or_not(database: Database, monkeypatch):
    with world(Shop(2), url_of(database)) as made:
        add_recipe(made)
        well = extract(made)
        monkeypatch.setattr(extract_data, "identity_in", unreadable)
        add_recipe(made, configuration(several=True))
        made.advance(minutes=1)
        badly = extract(made)
        for view, state in ((well, "read"), (badly, "failed")):
            pages = extractions.list_pages(made.store, view.id, state=state)
            assert len(pages) == 2
            assert all(each.page.extraction_started_at >= view.created_at for each in pages)


def unreadable(*_: object) -> str:
    raise Permanent("the page cannot be read")


def test_a_recipe_that_was_removed_starts_nothing(database: Database):
    shop = Shop(2)
    with world(shop, url_of(database)) as made:
        add_recipe(made)
        recipes.remove_recipe(made.store, "shop")
        with pytest.raises(NotAllowed, match="retired"):
            extractions.start(made.store, made.registry, "shop")
        made.run_until_idle()
        assert shop.asked == []


@pytest.mark.promise(2)
def test_a_second_reading_that_was_cut_short_is_finished_in_its_own_version(database: Database):
    shop = Shop(6)
    with world(shop, url_of(database)) as made:
        add_recipe(made)
        view = extract(made)
        asked = len(shop.asked)
        sources.pause(made.store, "extractions.extractData", 60, "a test")
        extractions.reextract(made.store, made.registry, view.id)
        made.run_until_idle(within=1)
        waiting = [task["id"] for task in made.tasks("extractData", "pending")]
        assert len(waiting) == 6
        made.cancel(*waiting[:4])
        sources.resume(made.store, "extractions.extractData")
        made.run_until_idle()
        cut = extractions.show_extraction(made.store, view.id)
        assert (cut.status, len(items(made, cut))) == ("STALE", 2), cut.reason
        extractions.resume(made.store, made.registry, view.id)
        made.run_until_idle()
        whole = extractions.show_extraction(made.store, view.id)
        assert (whole.status, len(whole.datasets)) == ("COMPLETE", 2)
        assert skus(items(made, whole)) == all_skus(6)
        assert len(shop.asked) == asked, "stored pages are read without a request"


@pytest.mark.promise(2)
def test_two_pages_that_bring_the_first_items_at_once_fill_one_data_set(database: Database):
    with world(Shop(2), url_of(database)) as made, world(Shop(2), url_of(database)) as other:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop").extraction
        together = threading.Barrier(2)

        def store_page(one: World, page: str) -> None:
            row = ["key " + page, 0, '{"name":"a"}', "{}", 1, None, "data", page, HOST]
            said = {"extraction": started, "page": page, "version": 1, "items": [row], "bodies": []}
            together.wait(30)
            for _ in range(2):  # and once more, as a settlement that is repeated
                with one.store.write() as session:
                    items_stored(session, {**said, "started": 1, "extractor": "data"}, 1)

        at_once(lambda: store_page(made, "one"), lambda: store_page(other, "two"))
        with made.store.read() as session:
            (found,) = datasets_of(session, started)
            assert sorted(each.page for each in list_items(session, found.id)) == ["one", "two"]


@pytest.mark.promise(9)
def test_two_lists_that_find_the_same_address_at_once_lose_none_of_their_links(database: Database):
    with world(Shop(2), url_of(database)) as made, world(Shop(2), url_of(database)) as other:
        add_recipe(made)
        started = extractions.start(made.store, made.registry, "shop").extraction
        together = threading.Barrier(2)

        def find(one: World, parent: str, numbers: range) -> None:
            urls = [f"{HOST}/thing/{number}" for number in numbers]
            new = [NewPage(page_name(url), url, 2, StepKind.LINKS, 1, PageType.DETAIL) for url in urls]
            together.wait(30)
            with one.store.write() as session:
                add_pages(session, {"extraction": started, "parent": parent, "pages": to_rows(new)}, 1)

        at_once(lambda: find(made, "a", range(300)), lambda: find(other, "b", range(299, -1, -1)))
        assert len(extractions.list_pages(made.store, started, limit=1_000)) == 301
        with made.store.read() as session:
            assert parents_of(session, started, page_name(f"{HOST}/thing/7")) == ["a", "b"]


def at_once(*works) -> None:
    problems: list[BaseException] = []

    def run(work) -> None:
        try:
            work()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(each,)) for each in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems


@pytest.mark.promise(15)
def test_the_second_run_of_an_unchanged_site_sends_conditional_requests_alone(database: Database):
    shop, asked = Shop(12), Counter()

    def answer(request: Requested, usual=shop._answer):
        tag = f'"{page_name(request.url)}"'
        known = {name.lower(): value for name, value in request.headers.items()}.get("if-none-match")
        asked["conditional" if known == tag else "plain"] += 1
        return Reply("", 304, {"ETag": tag}) if known == tag else Reply(usual(request), 200, {"ETag": tag})

    with world(shop, url_of(database)) as made:
        made.web.add(dict.fromkeys(shop.pages(), answer))
        add_recipe(made)
        first = extract(made)
        assert asked == {"plain": 14}
        made.advance(days=1)
        asked.clear()
        second = extract(made)
        assert asked == {"conditional": 14}
        pages = extractions.list_pages(made.store, second.id, state="read")
        assert {each.page.extractor for each in pages} == {"unchanged"}
        assert [each.total for each in second.steps] == [each.total for each in first.steps]
        assert not made.tasks("extractData", "pending")
        with made.store.read() as session:
            reads = session.rows("select count(*) from tasks where kind = 'extractData'", {})
        assert reads[0][0] == 12, "nothing is read again"
        assert skus(items(made, second)) == all_skus(12)


@pytest.mark.parametrize("form", [FileFormat.CSV, FileFormat.XLSX])
def test_what_a_page_says_is_no_formula_in_a_file(form, tmp_path):
    shop = Shop(1)
    bad = "=HYPERLINK(0)"
    shop.detail = lambda number, usual=shop.detail: usual(number).replace("Thing number", bad)  # type: ignore[method-assign]
    with world(shop) as made:
        add_recipe(made, configuration(None))
        view = extract(made)
        assert items(made, view)[0].values["name"].startswith(bad)
        file = tmp_path / f"items.{form}"
        datasets.export_dataset(made.store, str(view.datasets[0]), form, file)
    if form is FileFormat.CSV:
        with file.open(encoding="utf-8-sig", newline="") as text:
            (row,) = csv.DictReader(text)
        assert row["name"].startswith(f"'{bad}")
        assert not row["name_evidence"].startswith("=")
    else:
        with zipfile.ZipFile(file) as book:
            sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert f">'{bad}" in sheet
        assert f">{bad}" not in sheet
        assert "<f>" not in sheet


@pytest.mark.promise(14)
def test_a_page_of_several_things_keeps_the_doubts_about_each():
    doubts = (
        "told by their likeness alone",
        "item 2: sku is required and is missing",
        "0.price is not found in the page",
    )
    value = {"items": [{"name": "Oak", "price": "1"}, {"name": "Elm"}]}
    level = Level(PageType.DETAIL, several=True)
    found = Extract(value, Evidence(), By.DATA, doubts)
    oak, elm = (orjson.loads(row[5]) for row in extract_data.rows_of(PRODUCT, level, "a/b", HOST, found))
    assert oak == ["told by their likeness alone", "price is not found in the page"]
    assert elm == ["told by their likeness alone", "sku is required and is missing"]
