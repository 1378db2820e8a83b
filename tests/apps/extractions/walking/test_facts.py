"""What a page holds for the walk: what a browser left undone on it, and whether a list says it is empty."""

import pytest

from thresher.apps.extractions.model import Level, PageType, Pagination, PagingKind
from thresher.apps.extractions.walking.facts import PageFacts, read_page
from thresher.core.page import Page, Via

URL = "https://acme.example/courses"
LIST = Level(PageType.DETAIL_LINKS, link_pattern=r"/course/\d+$")
ROWS = "".join(f'<li><a href="/course/{number}">Course number {number}</a></li>' for number in range(3))


def read(body: str, level: Level = LIST, **more: object) -> PageFacts:
    page = Page(URL, URL, 200, {"content-type": "text/html"}, body.encode(), via=Via.BROWSER, **more)  # type: ignore[arg-type]
    return read_page(page, level)


def test_elements_beyond_the_limit_of_clicks_are_counted_and_told():
    level = Level(PageType.DETAIL_LINKS, link_pattern=r"/x/", click_selector="a.open", click_limit=2)
    behind = (f"{URL}/1", f"{URL}/2")
    found = read("<p>Courses</p>", level, collected=behind, not_collected=5)
    assert (found.links, found.left) == (behind, 5)
    assert found.note == "5 elements were not clicked: raise click_limit"


def test_elements_without_an_address_behind_them_are_told():
    level = Level(PageType.DETAIL_LINKS, link_pattern=r"/x/", click_selector="a.open")
    found = read("<p>Courses</p>", level, collected=(f"{URL}/1",), not_collected=2)
    assert (found.left, found.note) == (0, "2 elements led to no address when they were clicked")


def test_a_button_that_could_load_more_is_told_and_counted():
    more = Pagination(PagingKind.LOAD_MORE, selector="button.more", clicks=2)
    level = Level(PageType.DETAIL_LINKS, link_pattern=LIST.link_pattern, pagination=more)
    found = read(f"<ul>{ROWS}</ul>", level, unfinished=("button.more",))
    assert (len(found.links), found.left) == (3, 1)
    assert found.note == "'button.more' could be clicked once more: raise pagination.clicks"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<h1>Courses</h1><p>No results found.</p>", "No results found."),
        ("<h1>Courses</h1><ul></ul>", None),
        ("<h1>1,240 results</h1><p>No results found.</p>", None),
        (f"<h1>Courses</h1><p>No results found.</p><ul>{ROWS}</ul>", None),
    ],
    ids=["it says so", "it says nothing", "it counts some", "it has rows"],
)
def test_a_list_is_empty_if_it_says_so_itself(body: str, words: str | None):
    assert read(body).empty == words
