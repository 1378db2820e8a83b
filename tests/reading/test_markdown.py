"""Markdown: clean, whole links, and made without touching the document."""

import pytest

from thresher.reading.html.document import Document
from thresher.reading.text.markdown import LINK_BUDGET, full_markdown, main_markdown

HERE = "https://example.org/jobs/"


def markdown(html: str, *, images: bool = False) -> str:
    return full_markdown(Document.from_html(html, HERE), images=images)


def test_headings_paragraphs_and_emphasis() -> None:
    assert (
        markdown("<h2>Head</h2><p>Some <b>bold</b> and <em>soft</em> text</p>")
        == "## Head\n\nSome **bold** and *soft* text"
    )


def test_links_are_written_whole() -> None:
    assert markdown('<p><a href="../about?x=1">About</a></p>') == "[About](https://example.org/about?x=1)"


@pytest.mark.parametrize("href", ["javascript:alert(1)", "#top", "data:text/html,x", "http://["])
def test_a_link_that_leads_nowhere_is_its_text(href: str) -> None:
    assert markdown(f'<p>see <a href="{href}">this</a></p>') == "see this"


def test_a_link_without_words_is_dropped() -> None:
    assert markdown('<p>a<a href="x"><img src="y.png"></a></p>') == "a"


def test_pictures_come_on_demand_and_late_ones_are_found() -> None:
    html = '<p>x <img src="a.png" alt="A"> <img src="data:," data-src="b.png"> <img src="data:,"></p>'
    assert markdown(html) == "x"
    assert (
        markdown(html, images=True)
        == "x ![A](https://example.org/jobs/a.png) ![](https://example.org/jobs/b.png)"
    )


def test_tables_lists_and_code() -> None:
    assert "| Coin | 5 |" in markdown("<table><tr><th>Name<th>Price<tr><td>Coin<td>5</table>")
    assert markdown("<ul><li>one<ul><li>two</ul></ul>") == "- one\n  - two"
    assert markdown('<pre><code class="language-python">x = 1\ny</code></pre>') == "```python\nx = 1\ny\n```"


def test_what_is_not_shown_is_not_written() -> None:
    assert (
        markdown(
            "<head><title>t</title></head><p>a</p><p hidden>b</p><script>c</script><p style='display:none'>d</p>"
        )
        == "a"
    )


def test_words_of_two_controls_do_not_run_together() -> None:
    assert markdown("<button>Apply</button><select><option>x<option>y</select>").split() == [
        "Apply",
        "x",
        "y",
    ]


def test_the_document_is_left_as_it_was() -> None:
    document = Document.from_html("<nav>menu</nav><p>a<script>b</script><a href=c>d</a>", HERE)
    before = document.root.html
    full_markdown(document, images=True)
    main_markdown(document)
    assert document.root.html == before


ARTICLE = (
    """<html><head><meta property="og:type" content="article"><meta property="article:published_time" content="2026-01-01"></head><body>
<nav><a href="/">Home</a> <a href="/news">News</a></nav><div class="article-body"><h1>Bees return</h1>
<p>The bees are back in the city, says the keeper of the roof garden, who counted <a href="/hives">forty hives</a> last week.</p>
<figure><img src="bee.jpg" alt="A bee"><figcaption>A bee on a roof</figcaption></figure><h2>Why now</h2>
<p>Warm winters and flowering balconies feed them through the spring, and the new rules keep poison away from the parks.</p>
<ul><li>Forty hives on six roofs, most of them near the river</li><li>Two keepers</li></ul>
<p>The city plans to double the number of hives within three years, and invites every school to look after one.</p></div>"""
    """<div class="related"><h3>Related</h3><p>Wasps, too, are on the rise, and the fire service has its hands full with their nests.</p>
</div><footer>Imprint</footer></body></html>"""
)


def test_the_main_content_is_the_article_alone() -> None:
    written = main_markdown(Document.from_html(ARTICLE, HERE))
    assert written.startswith("The bees are back")
    assert "[forty hives](https://example.org/hives)" in written
    assert "## Why now" in written
    assert "- Two keepers" in written
    assert written.endswith("look after one.")
    for noise in ("Home", "Wasps", "Imprint", "bee.jpg", "on a roof"):
        assert noise not in written


def test_pictures_within_the_article_are_kept_on_demand() -> None:
    written = main_markdown(Document.from_html(ARTICLE, HERE), images=True)
    assert "![A bee](https://example.org/jobs/bee.jpg)" in written


def test_a_page_that_is_no_article_is_written_whole() -> None:
    document = Document.from_html("<nav>menu</nav><h1>Coin</h1><p>5 €</p>", HERE)
    assert main_markdown(document) == full_markdown(document) == "menu\n\n# Coin\n\n5 €"


@pytest.mark.promise(18)
def test_a_long_base_and_many_links_do_not_multiply_the_page() -> None:
    html = f'<base href="https://example.org/{"p" * 8000}/">' + '<p><a href="a">x</a></p>' * 20_000
    assert len(markdown(html)) < LINK_BUDGET + 2 * len(html)
    html = html.replace('<a href="a">x</a>', '<img src="a">')
    assert len(markdown(html, images=True)) < LINK_BUDGET + 2 * len(html)
