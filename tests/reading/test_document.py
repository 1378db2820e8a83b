"""Documents: one page, decoded and parsed once, with its links written whole."""

import pytest

from thresher.core.page import Page
from thresher.reading.html.document import Document

HERE = "https://example.org/jobs/list?page=2"


def page(body: bytes, content_type: str = "text/html; charset=utf-8") -> Page:
    return Page("https://example.org/old", HERE, 200, {"content-type": content_type}, body)


def test_a_document_stands_at_the_address_that_answered() -> None:
    document = Document.of(page(b"<title> A \n title </title>"))
    assert document.url == HERE
    assert document.base_url == HERE
    assert document.title == "A title"
    assert document.page is not None


def test_the_tree_is_built_once() -> None:
    document = Document.of(page(b"<p>x"))
    assert document.root is document.root


def test_the_charset_of_the_header_is_obeyed() -> None:
    document = Document.of(
        page("<title>café</title>".encode("iso-8859-15"), "text/html; charset=ISO-8859-15")
    )
    assert document.title == "café"


def test_links_are_relative_to_the_base_element() -> None:
    document = Document.from_html('<base target="_blank"><base href="/static/"><base href="/late/">', HERE)
    assert document.base_url == "https://example.org/static/"
    assert document.absolute("a.html") == "https://example.org/static/a.html"


@pytest.mark.parametrize("base", ["javascript:alert(1)", "http://[", "data:text/html,x", ""])
def test_a_base_that_is_no_web_address_is_ignored(base: str) -> None:
    document = Document.from_html(f'<base href="{base}">', HERE)
    assert document.absolute("3") == "https://example.org/jobs/3"


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("  ../about \n", "https://example.org/about"),
        ("//other.example/x", "https://other.example/x"),
        ("?page=3", "https://example.org/jobs/list?page=3"),
        ("#top", "https://example.org/jobs/list?page=2#top"),
        ("HTTP://EXAMPLE.org:80/A", "http://example.org/A"),
    ],
)
def test_a_link_is_written_whole(href: str, url: str) -> None:
    assert Document.from_html("", HERE).absolute(href) == url


@pytest.mark.parametrize(
    "href",
    [
        "",
        "   ",
        "mailto:a@b.example",
        "javascript:void(0)",
        "tel:+49",
        "data:,x",
        "http://[::",
        "x" * 10_000,
        "ftp://a.example/",
    ],
)
def test_what_leads_to_no_page_is_nothing(href: str) -> None:
    assert Document.from_html("", HERE).absolute(href) is None


def test_without_an_address_only_whole_links_are_links() -> None:
    document = Document.from_html("<a href=x>")
    assert document.absolute("x") is None
    assert document.absolute("https://example.org/x") == "https://example.org/x"


def test_plain_text_is_not_read_as_markup() -> None:
    document = Document.of(page(b"if a <b and b> c: <script>", "text/plain"))
    assert document.root.line == "if a <b and b> c: <script>"


def test_the_title_of_a_drawing_is_not_the_title_of_the_page() -> None:
    assert Document.from_html("<body><svg><title>icon</title></svg>").title == ""
