"""Addresses of the pages of a list: made from a pattern, and read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.extractions.model import Pagination, PagingKind
from thresher.apps.extractions.walking.paging import paged_url, place_of, total_pages

LIST = "https://acme.example/courses?dept=art"


@pytest.mark.parametrize(
    ("pattern", "place", "url"),
    [
        ("https://acme.example/all?page={page_num}", 1, "https://acme.example/all?page=2"),
        ("?page={page_num}", 1, "https://acme.example/courses?dept=art&page=2"),
        ("{url}/page/{page_num}", 2, "https://acme.example/courses/page/3"),
        ("{url}-{page_num}.html", 2, "https://acme.example/courses-3.html"),
    ],
)
def test_a_pattern_is_a_whole_address_or_fits_every_list_of_a_level(pattern, place, url):
    assert paged_url(Pagination(url_pattern=pattern), LIST, place) == url


def test_a_list_that_counts_from_zero_does():
    paging = Pagination(url_pattern="?p={page_num}", start_page=0)
    assert paged_url(paging, "https://a.example/x", 1) == "https://a.example/x?p=1"


def test_an_offset_skips_the_rows_of_the_pages_before():
    paging = Pagination(PagingKind.OFFSET, "?start={offset}", page_size=25)
    assert paged_url(paging, "https://a.example/x", 3) == "https://a.example/x?start=75"


def test_a_page_of_a_page_stays_in_its_list():
    paging = Pagination(url_pattern="?page={page_num}")
    assert paged_url(paging, "https://a.example/x?page=4", 1) == "https://a.example/x?page=2"


def test_a_pattern_that_gives_no_address_gives_none():
    assert paged_url(Pagination(url_pattern="javascript:go({page_num})"), LIST, 1) is None


PATTERNS = st.sampled_from(
    [
        "?page={page_num}",
        "{url}/page/{page_num}",
        "{url}/p{page_num}.html",
        "https://acme.example/l?x=1&pg={page_num}",
    ]
)


@given(PATTERNS, st.integers(0, 5), st.integers(0, 10_000))
def test_the_place_of_an_address_is_the_one_that_it_was_made_for(pattern, start, place):
    paging = Pagination(url_pattern=pattern, start_page=start)
    url = paged_url(paging, LIST, place)
    assert url is not None
    assert place_of(paging, url) == place


@given(st.integers(1, 100), st.integers(0, 10_000))
def test_the_place_of_an_offset_is_the_one_that_it_was_made_for(size, place):
    paging = Pagination(PagingKind.OFFSET, "?from={offset}&size=20", page_size=size)
    assert place_of(paging, paged_url(paging, LIST, place) or "") == place


def test_an_address_of_something_else_has_no_place():
    paging = Pagination(url_pattern="?page={page_num}")
    assert place_of(paging, "https://acme.example/courses?dept=4") is None
    assert place_of(paging, "https://acme.example/courses?homepage=4") is None


def test_the_pages_of_a_list_are_counted_by_its_links_and_by_its_total():
    paging = Pagination(url_pattern="?page={page_num}", start_page=0)
    links = [f"https://a.example/x?page={number}" for number in (1, 2, 9)]
    assert total_pages(paging, urls=links) == 10
    assert total_pages(paging, urls=links, total=245, rows=20) == 13
    assert total_pages(paging, total=40, rows=20) == 2


def test_a_list_that_says_nothing_has_as_many_pages_as_the_recipe_says_or_nobody_knows():
    assert total_pages(Pagination(url_pattern="?page={page_num}", total_pages=7)) == 7
    assert total_pages(Pagination(url_pattern="?page={page_num}")) is None
