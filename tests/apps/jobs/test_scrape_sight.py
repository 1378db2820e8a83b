"""One page of a list: its rows, how it goes on, and what speaks against it."""

import json
from datetime import date

import pytest

from thresher.apps.jobs.scraping.page_result import PageResult, read_sight
from thresher.core.page import Page, Verdict
from thresher.reading.platforms.boards import Board, recognise

pytestmark = pytest.mark.promise(7)

TODAY = date(2026, 3, 2)
SITE = Board("site", None, "https://www.acme.example/careers")


def sight(text: str, board: Board | str = SITE, kind: str = "text/html") -> PageResult:
    known = recognise(board) if isinstance(board, str) else board
    assert known is not None
    url = known.endpoint or known.url
    return read_sight(Page(url, url, 200, {"content-type": kind}, text.encode()), known, TODAY)


def rows(number: int, beside: str = "") -> str:
    items = "".join(
        f'<li class="opening"><h3><a href="/careers/{each}-smith">Smith number {each}</a></h3><span class="place">Oslo, Norway</span></li>'
        for each in range(number)
    )
    return f"<html><body><h1>Careers</h1><h2>Open positions</h2><ul class='openings'>{items}</ul>{beside}</body></html>"


def test_the_rows_of_a_page_are_read_and_its_next_link_leads_on():
    seen = sight(rows(6, '<a rel="next" href="?page=2">Next</a>'))
    assert (len(seen.listing.postings), seen.look.verdict, seen.doubt) == (6, Verdict.FOUND, None)
    assert seen.listing.next == "https://www.acme.example/careers?page=2"
    assert seen.paging(SITE).kind == "next"


def test_two_next_links_that_disagree_are_a_doubt():
    seen = sight(
        rows(
            6,
            '<link rel="next" href="?page=7"><nav class="pagination"><a rel="next" href="?page=2">Next</a></nav>',
        )
    )
    assert seen.doubt is not None
    assert seen.doubt.startswith("another next-link leads to ")


def test_a_button_that_loads_more_is_a_doubt():
    assert (
        sight(rows(6, "<button>Load more</button>")).doubt
        == 'the page has more behind a button ("Load more")'
    )


def test_a_page_of_text_is_no_empty_list():
    seen = sight(
        "<html><body><h1>Careers</h1><p>We are a company that likes people who finish things.</p></body></html>"
    )
    assert (seen.look.verdict, seen.is_list) == (Verdict.UNKNOWN, False)


def test_a_page_that_says_that_there_are_none_is_an_empty_list():
    seen = sight("<html><body><h1>Careers</h1><p>There are currently no open positions.</p></body></html>")
    assert (seen.look.verdict, seen.is_list, seen.listing.rows) == (Verdict.CONFIRMED_EMPTY, True, 0)


def test_an_answer_in_another_shape_is_unknown():
    seen = sight('{"data": {"jobsV2": []}}', "https://boards.greenhouse.io/acme", "application/json")
    assert (seen.look.verdict, seen.is_list) == (Verdict.UNKNOWN, False)
    assert "greenhouse" in seen.look.reason


def test_a_bare_empty_list_is_an_answer_only_of_a_platform_that_answers_with_bare_lists():
    assert (
        sight("[]", "https://jobs.lever.co/acme", "application/json").look.verdict is Verdict.CONFIRMED_EMPTY
    )
    assert (
        sight("[]", "https://boards.greenhouse.io/acme", "application/json").look.verdict is Verdict.UNKNOWN
    )


def test_a_page_without_rows_that_counts_some_is_a_page_of_the_list_and_no_proof():
    body = json.dumps({"totalFound": 18, "content": []})
    seen = sight(body, "https://careers.smartrecruiters.com/Acme", "application/json")
    assert (seen.look.verdict, seen.is_list, seen.listing.total) == (Verdict.UNKNOWN, True, 18)


def test_a_feed_shows_the_newest_only():
    items = "".join(
        f"<item><title>Smith {each}</title><link>https://acme.example/{each}</link></item>"
        for each in range(4)
    )
    feed = Board("rss", None, "https://acme.example/careers/feed.xml")
    seen = sight(
        f'<rss version="2.0"><channel><title>Careers at Acme</title>{items}</channel></rss>',
        feed,
        "application/rss+xml",
    )
    assert seen.doubt == "a feed shows the newest rows only"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00\xff",
        "{",
        "<rss>",
        "[[[[",
        '{"jobs": 7, "meta": {"total": "many"}}',
        '{"jobs": [null, 7, "x", {}]}',
    ],
)
@pytest.mark.parametrize("kind", ["text/html", "application/json", "application/xml", ""])
def test_whatever_a_page_holds_is_some_sight(text: str, kind: str):
    for board in (SITE, "https://boards.greenhouse.io/acme", "https://jobs.lever.co/acme"):
        assert not sight(text, board, kind).look.verdict.is_proof
