"""What a walk follows, on both stores: every way in which a list goes on, the links that a recipe means, and
nothing that robots.txt forbids.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.apps.extractions.shop import (
    HOST,
    LIST,
    PRODUCT,
    Shop,
    add_recipe,
    configuration,
    extract,
    items,
    skus,
)
from tests.harness.databases import file_and_server
from thresher.admin.sources import pause, resume
from thresher.apps.extractions.fetch_page import rendering_of
from thresher.apps.extractions.model import (
    Configuration,
    Level,
    Limits,
    PageSetup,
    PageType,
    Pagination,
    PagingKind,
)
from thresher.apps.extractions.recipe_file import RecipeSpec
from thresher.apps.extractions.service import extractions, recipes
from thresher.apps.extractions.service.marked import body_text
from thresher.core.clock import SECOND
from thresher.core.rendering import Click, Collect, Rendering, Wait
from thresher.store.sources import find_gates
from thresher.testing.web import Requested
from thresher.testing.world import World

pytest_generate_tests = file_and_server


class Counting(Shop):
    """A shop whose lists count rows, or pages from 0."""

    def __init__(self, number: int, name: str, first: int, step: int) -> None:
        super().__init__(number)
        self.name, self.first, self.step = name, first, step

    def pages(self):
        rows = range(0, self.number + 3 * self.step, self.step)
        said = {f"{LIST}?{self.name}={self.first + number}": self._answer for number in rows}
        return super().pages() | said

    def _answer(self, request: Requested):
        if urlsplit(request.url).path != "/things":
            return super()._answer(request)
        self.asked.append(request.url)
        said = parse_qs(urlsplit(request.url).query).get(self.name, [str(self.first)])[0]
        return self.listing(f"{LIST}?page={(int(said) - self.first) // self.step + 1}")

    def numbers(self, at: int) -> str:
        links = (
            f'<a href="?{self.name}={self.first + page * self.step}">{page + 1}</a>'
            for page in range(self.last)
            if page + 1 != at
        )
        return f'<nav class="pagination">{" ".join(links)}</nav>'


@pytest.mark.parametrize(
    ("name", "first", "step", "pagination"),
    [
        ("offset", 0, 10, Pagination(PagingKind.OFFSET, "?offset={offset}", start_page=0, page_size=10)),
        ("p", 0, 1, Pagination(PagingKind.PAGE_NUM, "?p={page_num}", start_page=0)),
    ],
    ids=["rows are skipped", "pages count from 0"],
)
def test_a_list_that_counts_otherwise_is_read_whole_and_no_page_twice(world, name, first, step, pagination):
    shop = Counting(35, name, first, step)
    with world(shop) as made:
        add_recipe(made, configuration(pagination))
        view = extract(made)
        assert view.status == "COMPLETE", view.reason
        assert skus(items(made, view)) == sorted(f"T-{each}" for each in range(35))
        assert len(shop.asked) == len(set(shop.asked)) == 35 + 4


def test_a_list_that_goes_on_by_a_cursor_is_read_whole(world):
    shop = Shop(25, pager=lambda shop, at: shop.next_link(at).replace("page=", "cursor=c"))
    with world(shop) as made:

        def by_cursor(request: Requested):
            return shop._answer(replace(request, url=request.url.replace("cursor=c", "page=")))

        made.web.add({f"{LIST}?cursor=c{at}": by_cursor for at in range(2, 5)})
        add_recipe(made, configuration(Pagination(PagingKind.CURSOR)))
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 25), view.reason


def test_only_the_matched_part_of_a_link_is_followed_if_the_recipe_says_so(world):
    shop = Shop(4)
    shop.listing = lambda url, usual=shop.listing: usual(url).replace('">Thing', '/session-77">Thing')  # type: ignore[method-assign]
    with world(shop) as made:
        listing = Level(PageType.DETAIL_LINKS, link_pattern=r"https://.*/thing/\d+", exact_link_match=True)
        add_recipe(made, Configuration((listing, Level(PageType.DETAIL))))
        view = extract(made)
        assert (view.status, view.items, view.failed) == ("COMPLETE", 4, 0), view.reason


def test_a_content_selector_keeps_the_rest_of_a_page_out(world):
    shop = Shop(3)
    shop.listing = lambda url, usual=shop.listing: (  # type: ignore[method-assign]
        f'<div id="content">{usual(url)}</div><aside><a href="/thing/99">Advertisement</a></aside>'
    )
    with world(shop) as made:
        listing, detail = configuration(None).levels
        chosen = Level(PageType.DETAIL_LINKS, listing.link_pattern, content_selector="#content")
        add_recipe(made, Configuration((chosen, detail)))
        assert skus(items(made, extract(made))) == ["T-0", "T-1", "T-2"]
        assert f"{HOST}/thing/99" not in shop.asked


@pytest.mark.promise(10)
def test_a_page_that_was_found_and_that_robots_txt_forbids_is_never_requested(world):
    shop = Shop(5)
    with world(shop) as made:
        made.web.add({f"{HOST}/robots.txt": "User-agent: *\nDisallow: /thing/3\n"})
        add_recipe(made)
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 4)
        (refused,) = extractions.list_pages(made.store, view.id, state="failed")
        assert refused.page.failure["error"] == "Refused"
        assert "robots.txt" in refused.page.failure["message"]
        assert f"{HOST}/thing/3" not in shop.asked


def test_exploration_follows_the_links_that_the_recipe_means(world):
    shop = Shop(1)
    more = "".join(
        f'<p><a href="/thing/{each}">More</a> <a href="/help/{each}">Help</a></p>' for each in (7, 8)
    )
    shop.detail = lambda number, usual=shop.detail: usual(number) + more  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add({f"{HOST}/thing/{each}": shop.detail(each) for each in (7, 8)})
        made.web.add({f"{HOST}/help/{each}": shop._answer for each in (7, 8)})
        add_recipe(made, configuration(None, explore=True, link_pattern=r"/thing/\d+$"))
        assert skus(items(made, extract(made))) == ["T-0", "T-7", "T-8"]
        assert [url for url in shop.asked if "/help/" in url] == []


def test_detections_share_two_slots_like_every_kind(world):
    """Others wait in the queue, and whoever has a bigger machine lets more of them through."""
    shop = Shop(2)
    with world(shop) as made:
        add(made)
        made.run_until_idle()
        assert limits_of(made)["max_in_flight"] == 2
        asked = len(shop.asked)
        assert asked
        pause(made.store, "extractions.detectConfiguration", 60, "a test")
        recipes.reconfigure(made.store, made.registry, "shop")
        made.run_until_idle(within=1)
        assert len(shop.asked) == asked
        resume(made.store, "extractions.detectConfiguration")
        made.run_until_idle()
        assert len(shop.asked) > asked


KINDS = ("detectConfiguration", "fetchPage", "extractData", "extractDataWithApi")


def test_two_tasks_of_each_kind_may_run_at_once(world):
    with world(Shop(1)) as made:
        assert [limits_of(made, kind)["max_in_flight"] for kind in KINDS] == [2, 2, 2, 2]


def test_a_page_is_tried_three_times_with_pauses_from_a_second_on(world):
    """A try that failed is told by nobody: only the last one is."""
    shop, at = Shop(2), []
    shop.down.add(f"{HOST}/thing/1")
    with world(shop) as made:
        made.web.add(
            {f"{HOST}/thing/1": lambda request: at.append(made.clock.now()) or shop._answer(request)}
        )
        add_recipe(made)
        view = extract(made)
        assert (view.status, view.items, view.failed) == ("COMPLETE", 1, 1)
        waits = [(after - before) / SECOND for before, after in pairwise(at)]
        assert [round(wait) for wait in waits] == [1, 2], "the chance that spreads them only shortens them"
        (task,) = (each for each in made.tasks("fetchPage", "failed"))
        assert task["url"] == f"{HOST}/thing/1", "it is kept with its reason"


def test_a_page_is_stored_as_it_came_and_as_text(world):
    shop = Shop(1)
    with world(shop) as made:
        add_recipe(made)
        view = extract(made)
        (page,) = (each.page for each in extractions.list_pages(made.store, view.id, state="read"))
        assert body_text(made.store, page.content) == shop.detail(0)
        assert body_text(made.store, page.markdown).startswith("# Thing number 0")
        assert page.final_url == f"{HOST}/thing/0"


def test_a_site_is_explored_from_its_first_page_on(world):
    """What has no list is read page by page: a page with items leads on, and one without leads nowhere."""
    shop = Shop(4)
    more = {0: '<a href="/thing/1">One</a> <a href="/empty">Empty</a>', 1: '<a href="/thing/2">Two</a>'}
    shop.detail = lambda number, usual=shop.detail: usual(number) + more.get(number, "")  # type: ignore[method-assign]
    with world(shop) as made:
        made.web.add({f"{HOST}/empty": '<p>Nothing here.</p><a href="/thing/3">Three</a>'})
        how = Configuration((Level(PageType.EXPLORATORY),))
        add_recipe(made, how, url=f"{HOST}/thing/0")
        view = extract(made)
        assert skus(items(made, view)) == ["T-0", "T-1", "T-2"]
        assert [step.kind for step in view.steps] == ["root", "exploration", "exploration"]


def test_what_a_level_says_is_what_a_browser_does():
    level = Level(
        PageType.DETAIL_LINKS,
        pagination=Pagination(PagingKind.LOAD_MORE, selector="button.more", clicks=7),
        click_selector="tr",
        setup=(PageSetup(click="#accept", optional=True), PageSetup(wait_for=".rows"), PageSetup(wait=0.5)),
    )
    assert rendering_of(level) == Rendering(
        steps=(
            Click("#accept", optional=True),
            Wait(".rows"),
            Wait(0.5),
            Click("button.more", repeat=7, optional=True),
        ),
        screenshot=True,
        collect=Collect("tr", 300),
    )
    assert level.needs_browser


def add(made: World) -> None:
    recipes.add_recipe(made.store, made.registry, "shop", RecipeSpec(LIST, PRODUCT, None, Limits()))


def limits_of(made: World, kind: str = "detectConfiguration") -> dict[str, Any]:
    with made.store.read() as session:
        return find_gates(session, name=f"source:extractions.{kind}")[0]


@pytest.mark.promise(7)
def test_a_list_page_that_leads_nowhere_says_so(world):
    """Its one entry may have an address of another shape: a person sees at which page to look."""
    shop = Shop(3)
    with world(shop) as made:
        made.web.add(
            {f"{HOST}/all": f'<h1>All</h1><a href="{LIST}">Things</a> <a href="/odd/things">Odd</a>'}
        )
        made.web.add({f"{HOST}/odd/things": '<h1>Odd</h1><ul><li><a href="/go/17">A thing</a></li></ul>'})
        listing, detail = configuration(None).levels
        root = Level(PageType.CATEGORY_LINKS, link_pattern=r"/things$")
        add_recipe(made, Configuration((root, listing, detail)), url=f"{HOST}/all")
        view = extract(made)
        assert (view.status, view.items) == ("COMPLETE", 3)
        pages = extractions.list_pages(made.store, view.id, state="succeeded")
        notes = {each.page.url: each.page.note for each in pages if each.page.note}
        assert notes == {f"{HOST}/odd/things": "no link of it matches link_pattern, so it leads nowhere"}
        assert f"1 list leads nowhere and not said to be empty: thresher extract pages {view.id}" in (
            view.reason or ""
        )
