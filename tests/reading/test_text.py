"""The text of a page: what a person would read, in order, and always the same."""

import pytest

from thresher.core.page import Page
from thresher.reading.html.document import Document
from thresher.reading.text.plain import full_text


def text(html: str) -> str:
    return full_text(Document.from_html(html))


def test_paragraphs_stand_apart_and_inline_markup_leaves_no_trace() -> None:
    assert (
        text("<h1>Title</h1><p>One <b>b</b>old\n  word</p><p>Two<i>s</i></p>")
        == "Title\n\nOne bold word\n\nTwos"
    )


def test_a_line_break_breaks_the_line() -> None:
    assert text("<p>First street 1<br>Berlin<br/><br>Germany</p>") == "First street 1\nBerlin\nGermany"


def test_words_of_two_boxes_do_not_run_together() -> None:
    assert (
        text("<div>a<div>b</div>c</div><button>Apply</button><select><option>x<option>y</select>")
        == "a\nb\nc\nApply\nx\ny"
    )


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>var x = 'no';</script>",
        "<style>p { color: no }</style>",
        "<template><p>no</p></template>",
        "<noscript>no</noscript>",
        "<svg><title>no</title><text>no</text></svg>",
        "<p hidden>no</p>",
        "<div style='DISPLAY : none'><p>no</p></div>",
        "<span style='color: red; visibility:hidden'>no</span>",
        "<dialog><p>no</p></dialog>",
        "<iframe>no</iframe>",
        "<textarea>no</textarea>",
        "<!-- no -->",
    ],
)
def test_what_is_not_shown_is_not_read(unseen: str) -> None:
    assert text(f"<title>no</title><p>yes</p>{unseen}<p>yes</p>") == "yes\n\nyes"


def test_an_open_dialog_and_a_style_that_shows_are_read() -> None:
    assert text("<dialog open>a</dialog><p style='display:block'>b</p>") == "a\n\nb"


def test_entities_and_odd_spaces_become_what_they_mean() -> None:
    assert text("<p>&eacute;t&eacute; &amp; 5&nbsp;000&#8239;&euro;</p>") == "été & 5 000 €"
    assert text("<p>soft&shy;ware zero&#8203;width</p>") == "software zerowidth"


def test_cells_of_a_row_are_divided_and_rows_are_lines() -> None:
    assert text("<table><tr><th>Name<th>Price<tr><td>Coin<td>5 €</table>") == "Name\tPrice\nCoin\t5 €"


def test_items_of_a_list_are_marked_once() -> None:
    assert (
        text("<ul><li>one<li><p>two</p><p>more</p><li><ul><li>deep</ul></ul>after")
        == "- one\n\n- two\n\nmore\n\n- deep\nafter"
    )


def test_preformatted_text_keeps_its_lines() -> None:
    assert text("<pre>a\n  b\n\nc\n</pre>") == "a\n  b\n\nc"


def test_a_page_of_plain_text_is_its_own_text() -> None:
    page = Page("", "https://example.org/", 200, {"content-type": "text/plain"}, b"a < b\n  c")
    assert full_text(Document.of(page)) == "a < b\n  c"


def test_the_same_page_always_gives_the_same_text() -> None:
    html = "<div>a<p>b<ul><li>c</ul><table><tr><td>d<td>e</table>"
    assert text(html) == text(html)
    document = Document.from_html(html)
    assert full_text(document) == full_text(document)
