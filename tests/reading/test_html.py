"""The tree: what others build on."""

import pytest

from thresher.core.errors import UsageError
from thresher.reading.html.parser import Node, parse

PAGE = """<!doctype html><html lang="en"><head><title>Two &amp; three</title></head>
<body class="wide dark" data-empty><div id="a">one<b>two</b> <p>three</p><script>var x = "<p>";</script></div>
<ul><li>first</li><li>second</li></ul></body></html>"""


def body() -> Node:
    found = parse(PAGE).css_first("body")
    assert found is not None
    return found


def test_an_element_knows_its_tag_and_attributes() -> None:
    assert body().tag == "body"
    assert body().attributes == {"class": "wide dark", "data-empty": ""}
    assert body().classes == ("wide", "dark")
    assert body().attribute("nothing") is None
    assert body().attribute("nothing", "else") == "else"


def test_elements_come_in_document_order() -> None:
    assert [node.tag for node in body().walk()] == ["div", "b", "p", "script", "ul", "li", "li"]
    assert [node.text for node in body().walk("li", "b")] == ["two", "first", "second"]
    assert [node.tag for node in body()] == [node.tag for node in body().walk()]


def test_the_family_can_be_visited() -> None:
    first, second = body().css("li")
    assert second.parent is not None
    assert second.parent.tag == "ul"
    assert second.previous == first
    assert first.next == second
    assert second.next is None
    assert [node.tag for node in second.ancestors] == ["ul", "body", "html"]
    assert [node.tag for node in body().children] == ["div", "ul"]
    assert parse(PAGE).parent is None


def test_text_keeps_everything_and_line_only_what_is_seen() -> None:
    div = body().css_first("#a")
    assert div is not None
    assert 'var x = "<p>";' in div.text
    assert div.line == "onetwo three"
    assert div.own_text.strip() == "one"


def test_words_of_two_blocks_do_not_run_together_on_a_line() -> None:
    assert parse("<div>a<div>b</div>c<table><tr><td>d<td>e</table></div>").line == "a b c d e"


def test_pieces_keep_the_text_between_elements() -> None:
    paragraph = parse("<p>a<b>b</b><!-- gone -->c</p>").css_first("p")
    assert paragraph is not None
    assert [piece if isinstance(piece, str) else piece.tag for piece in paragraph.pieces] == ["a", "b", "c"]


def test_a_selector_finds_in_document_order_and_a_wrong_one_is_a_usage_error() -> None:
    assert [node.text for node in body().css("li, b")] == ["two", "first", "second"]
    assert body().css_first("table") is None
    for broken in (body().css, body().css_first, body().matches, body().closest):
        with pytest.raises(UsageError, match="is not a CSS selector"):
            broken("li[")


def test_the_path_of_an_element_leads_back_to_it_alone() -> None:
    root = parse(PAGE)
    for node in root.walk():
        assert root.parent is None
        assert root.css(node.path) == [node] or node.tag in ("head", "body")


def test_an_element_is_written_out_as_it_would_be_read_again() -> None:
    first = body().css_first("li")
    assert first is not None
    assert first.html == "<li>first</li>"
    assert first.inner_html == "first"


@pytest.mark.parametrize(
    "markup", ["", "\0", "<", "</", "<!--", "<frameset>", "<svg><p>", "\ud800", "<plaintext>" * 3]
)
def test_anything_is_some_page(markup: str) -> None:
    assert parse(markup).tag == "html"
