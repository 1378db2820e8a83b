"""Hostile pages: no crash, no runaway time, no runaway memory, whatever the markup."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.text.content import article, main_content
from thresher.reading.text.language import language
from thresher.reading.text.markdown import full_markdown, main_markdown
from thresher.reading.text.plain import full_text

OPENED = "p|div|li|ul|ol|table|tr|td|th|a|b|pre|blockquote|article|nav|h2|select|option|dl|dd|br|img|script|svg|template|base href=x"
NAMED = "p hidden|div class='comments'|div style=display:none|meta property='og:type' content='article'|a href='/y'|html lang=de|!--"
CLOSED = "p|div|li|ul|table|tr|td|a|b|pre|blockquote|article|select|script"
LOOSE = (
    "-->",
    "&amp;",
    "\0",
    "&#x0;",
    "A sentence with words, and more of them, that is long enough to be taken for prose. " * 2,
)
TAGS = [*(f"<{tag}>" for tag in f"{OPENED}|{NAMED}".split("|")), *(f"</{tag}>" for tag in CLOSED.split("|"))]
SOUP = st.lists(st.one_of(st.sampled_from([*TAGS, *LOOSE]), st.text(max_size=30)), max_size=60)


def read_everything(document: Document) -> int:
    """Use every reader on a document; the size of what they say."""
    content = main_content(document)
    written = (
        full_markdown(document, images=True),
        main_markdown(document),
        full_text(document),
        content.text,
        document.title,
    )
    language(content.text, document.language_hint)
    article(document.flow)
    return sum(map(len, written))


@given(SOUP)
def test_any_soup_is_read_and_stays_small(pieces: list[str]) -> None:
    html = "<meta property='article:published_time' content=x>" + "".join(pieces)
    assert read_everything(Document.from_html(html, "https://example.org/a/")) < 60 * len(html) + 1000


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=2000),
    st.sampled_from(["text/html", "text/html; charset=gbk", "text/plain", "application/pdf", ""]),
)
def test_any_bytes_are_read(body: bytes, content_type: str) -> None:
    document = Document.of(Page("", "https://example.org/", 200, {"content-type": content_type}, body))
    assert read_everything(document) < 60 * len(body) + 1000


@settings(max_examples=80, deadline=None)
@given(SOUP)
def test_the_main_content_is_part_of_the_whole(pieces: list[str]) -> None:
    document = Document.from_html("<meta property='article:published_time' content=x>" + "".join(pieces))
    assert set(main_content(document).blocks) <= set(document.flow.blocks)


def calls(work: Callable[[], object]) -> int:
    """How many function calls, of Python or C, a piece of work takes. Unlike time it is the same on every
    run."""
    count = 0

    def on_event(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


PROSE = "words that make a sentence, which is long enough to count as prose on its own, so that it has some weight"
HOSTILE = {
    "nested boxes": lambda n: "<div>" * n + "x",
    "nested boxes with text": lambda n: f"<div>{PROSE}" * n,
    "nested lists": lambda n: f"<ul><li>{PROSE}" * n,
    "nested menus": lambda n: "<nav>" * n + f"<p>{PROSE}",
    "nested tables": lambda n: f"<table><tr><td>{PROSE}" * n,
    "nested names": lambda n: "".join(f"<div class='comments c{at}'>" for at in range(n)) + f"<p>{PROSE}",
    "many paragraphs": lambda n: f"<p>{PROSE}</p>" * n,
    "many links": lambda n: "<a href=x>y</a> " * n,
    "many hidden": lambda n: "<p hidden>x" * n,
    "many cells": lambda n: "<table><tr>" + "<td>x" * n,
    "many attributes": lambda n: "<p " + " ".join(f"a{at}=1" for at in range(n)) + ">x",
    "unclosed inline": lambda n: "<b><i><a href=x>" * n,
}


@pytest.mark.promise(18)
@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_page_is_at_most_twice_the_work(name: str) -> None:
    def work(n: int) -> int:
        html = "<meta property='article:published_time' content=x>" + HOSTILE[name](n)
        return calls(lambda: read_everything(Document.from_html(html, "https://example.org/")))

    work(
        10
    )  # what is computed once per process is not counted; the parser flattens what nests deeper than some hundreds
    assert work(4000) < 2.3 * work(2000)


LARGE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000, 3_000_000_000))
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
from tests.reading.test_content_hostile import HOSTILE, PROSE, read_everything
from thresher.reading.html.document import Document
name = sys.argv[1]
html = "<p>" + PROSE * 100_000 if name == "10 MB of text" else HOSTILE[name](int(sys.argv[2]))
print(read_everything(Document.from_html("<meta property='article:published_time' content=x>" + html, "https://example.org/")))
"""


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("nested boxes", 200_000),
        ("many attributes", 100_000),
        ("10 MB of text", 0),
        ("nested lists", 20_000),
        ("many links", 150_000),
    ],
)
def test_a_huge_page_is_read_within_limits_of_memory_and_processor_time(name: str, size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LARGE, name, str(size)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 100_000_000


def test_the_limits_of_the_test_above_are_real() -> None:
    bomb = "import resource; resource.setrlimit(resource.RLIMIT_AS, (3_000_000_000,) * 2); bytearray(4_000_000_000)"
    assert subprocess.run([sys.executable, "-c", bomb], capture_output=True, check=False).returncode != 0
