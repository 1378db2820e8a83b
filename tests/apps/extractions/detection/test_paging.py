"""How a list goes on: what counts in the addresses of its pages, from where, and in which steps."""

import pytest

from thresher.apps.extractions.detection.paging import Paging, page_address, read_paging, relative
from thresher.apps.extractions.model import PagingKind
from thresher.reading.html.document import Document

A = "https://a.example/list"


def paging(body: str, url: str = A, rows: int = 10) -> Paging | None:
    return read_paging(Document.from_html(f"<html><body><main>{body}</main></body></html>", url), rows)


def pager(*links: tuple[str, str]) -> str:
    return (
        "<nav class=pagination>" + " ".join(f'<a href="{url}">{text}</a>' for text, url in links) + "</nav>"
    )


@pytest.mark.parametrize(
    ("links", "pattern", "first", "second"),
    [
        ([("2", "?page=2"), ("3", "?page=3")], f"{A}?page={{page_num}}", 1, f"{A}?page=2"),
        ([("1", "?p=0"), ("2", "?p=1"), ("3", "?p=2")], f"{A}?p={{page_num}}", 0, f"{A}?p=1"),
        ([("2", "?start=20"), ("3", "?start=40")], f"{A}?start={{offset}}", 0, f"{A}?start=20"),
        ([("2", "/list/page/2"), ("3", "/list/page/3")], f"{A}/page/{{page_num}}", 1, f"{A}/page/2"),
        ([("2", "/list-2.html"), ("3", "/list-3.html")], f"{A}-{{page_num}}.html", 1, f"{A}-2.html"),
    ],
)
def test_numbers_in_addresses_are_fitted_to_their_labels(links, pattern: str, first: int, second: str):
    found = paging(pager(*links))
    assert found is not None
    assert (found.url_pattern, found.first) == (pattern, first)
    assert page_address(found, 1, A) == second


def test_an_offset_is_read_from_the_next_link_and_the_size_beside_it():
    found = paging('<p>Showing 1-20 of 95</p><a rel="next" href="?offset=20&limit=20">Next</a>', rows=19)
    assert found is not None
    assert (found.kind, found.step, found.first) == (PagingKind.OFFSET, 20, 0)
    assert found.claimed_pages(19) == 5


def test_a_list_that_only_names_its_next_page_is_followed():
    found = paging('<a class="next" rel="next" href="?cursor=ZGU3ZjQw">More</a>')
    assert found is not None
    assert found.kind is PagingKind.CURSOR
    assert (
        paging('<div class=pagination><a href="/list/older">Older posts</a></div>').kind
        is PagingKind.NEXT_LINK
    )


def test_a_button_is_named_by_a_selector_of_our_own():
    found = paging('<button class="load-more big">Load more</button>')
    assert found is not None
    assert (found.kind, found.selector) == (PagingKind.LOAD_MORE, "button.load-more")
    html = """<body><button class="a'],*{x" id="x'] , body">Load more</button><p>Text</p></body>"""
    document = Document.from_html(html, A)
    evil = read_paging(document, 10)
    assert evil is not None
    assert [node.tag for node in document.root.css(evil.selector or "")] == ["button"]


def test_years_prices_and_sizes_are_no_pages():
    assert paging(pager(("2021", "/2021"), ("2022", "/2022"))) is None
    assert paging(pager(("12", "?show=12"), ("24", "?show=24"), ("48", "?show=48"))) is None


@pytest.mark.promise(15)
def test_a_list_that_claims_a_billion_pages_is_not_believed():
    found = paging(pager(("2", "?page=2"), ("3", "?page=3")) + "<p>Showing 1-10 of 9,999,999,990</p>")
    assert found is not None
    assert (found.claimed_pages(10) or 0) <= 1_000_000


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("https://a.example/c/x?page={page_num}", "https://a.example/c/x", "?page={page_num}"),
        ("https://a.example/c/x/page/{page_num}", "https://a.example/c/x", "{url}/page/{page_num}"),
        ("https://a.example/other?page={page_num}", "https://a.example/c/x", None),
    ],
)
def test_a_pattern_of_one_list_is_written_so_that_it_fits_its_siblings(
    pattern: str, url: str, expected: str | None
):
    assert relative(pattern, url) == expected
