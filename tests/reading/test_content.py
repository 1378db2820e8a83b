"""Main content: the article without what stands around it, and everything where there is no article."""

import pytest

from thresher.reading.html.document import Document
from thresher.reading.html.parser import parse
from thresher.reading.text.content import (
    Declared,
    declared,
    is_credit,
    is_end,
    is_script,
    main_content,
    named_around,
    named_body,
)
from thresher.reading.text.plain import full_text

PARAGRAPHS = (
    "The harbour was rebuilt after the storm, and the first ferries have been running again since the middle of the week.",
    "Fishermen say that the new quay is higher than the old one, which makes the loading of the smaller boats more difficult.",
    "The mayor promised, in front of some two hundred citizens, that a ramp would be added before the summer season begins.",
    "Whether the money is there is another question: the council meets on Monday, and the opposition has announced its veto.",
)
PUBLISHED = '<meta property="article:published_time" content="2026-02-03">'


def page(body: str, head: str = PUBLISHED) -> Document:
    return Document.from_html(f"<html><head>{head}</head><body>{body}</body></html>", "https://example.org/x")


def column(*blocks: str, tag: str = "p") -> str:
    return "".join(f"<{tag}>{block}</{tag}>" for block in blocks)


def text_of(body: str, head: str = PUBLISHED) -> str:
    return main_content(page(body, head)).text


STORY = "\n\n".join(PARAGRAPHS)


def test_the_article_is_read_without_menu_and_footer() -> None:
    menu = "<ul>" + "<li><a href=x>Politics</a><li><a href=y>Sports</a>" * 10 + "</ul>"
    body = f"<header>{menu}</header><div>{column(*PARAGRAPHS)}</div><div>{menu}<p>Imprint and terms of this paper</p></div>"
    assert text_of(body) == STORY


@pytest.mark.parametrize("tag", ["nav", "footer", "aside"])
def test_prose_in_the_periphery_is_no_part_of_the_article(tag: str) -> None:
    assert (
        text_of(f"<article>{column(*PARAGRAPHS)}<{tag}>{column(PARAGRAPHS[0] * 2)}</{tag}></article>")
        == STORY
    )


@pytest.mark.parametrize(
    "name",
    ["comments", "related-stories", "authorBio", "newsletter_signup", "cookie-notice", "sidebar widget"],
)
def test_prose_under_a_telling_name_is_no_part_of_the_article(name: str) -> None:
    around = f'<div class="{name}">{column("A first reader writes that all this was to be expected, and that it will be worse.")}</div>'
    assert text_of(f"<div><div>{column(*PARAGRAPHS)}</div>{around}</div>") == STORY


def test_a_telling_name_on_the_wrapper_of_everything_is_no_reason_to_drop_everything() -> None:
    assert text_of(f'<div class="has-sidebar comments-open"><div>{column(*PARAGRAPHS)}</div></div>') == STORY


def test_headings_lists_and_quotes_inside_stay_where_they_are() -> None:
    inside = f"<h2>The quay</h2>{column(PARAGRAPHS[1])}<ul><li>Height: four metres</li><li>Length: ninety metres</li></ul>"
    body = f"<div>{column(PARAGRAPHS[0])}{inside}<blockquote>{column(PARAGRAPHS[2])}</blockquote>{column(PARAGRAPHS[3])}</div>"
    read = text_of(body)
    for piece in (*PARAGRAPHS, "The quay", "- Height: four metres", "- Length: ninety metres"):
        assert piece in read


def test_title_byline_caption_and_invitations_are_trimmed() -> None:
    top = "<h1>Ferries run again</h1><div>By Ann Example</div><div>3 February</div>"
    figure = "<figure><img src=a><figcaption>The harbour last week</figcaption></figure>"
    invitation = '<p>Read more: <a href="x">The storm in pictures, hour by hour</a></p>'
    late = (
        '<h3>Related articles</h3><p><a href="y">Another storm is coming, say those who know the sea</a></p>'
    )
    middle = f"{column(PARAGRAPHS[0])}{figure}{column(*PARAGRAPHS[1:3])}{invitation}{column(PARAGRAPHS[3])}"
    assert text_of(f"<article>{top}<div>{middle}{late}</div></article>") == STORY


def test_a_short_first_line_in_the_column_is_kept() -> None:
    assert text_of(f"<div>{column('It is over, for now.', *PARAGRAPHS)}</div>").startswith(
        "It is over, for now."
    )


def test_teasers_in_boxes_of_their_own_do_not_outweigh_the_article() -> None:
    teaser = "<li><div><div>An island far away has voted on its future, and the count was closer than anyone had thought.</div></div></li>"
    body = f"<div><div>{column(*PARAGRAPHS)}</div><div><ul>{teaser * 12}</ul></div></div>"
    assert text_of(body) == STORY


def test_text_between_line_breaks_without_paragraphs_is_read() -> None:
    assert text_of(f"<div>{'<br><br>'.join(PARAGRAPHS)}</div><div><a href=x>Home</a></div>").split(
        "\n"
    ) == list(PARAGRAPHS)


@pytest.mark.parametrize(
    ("head", "body", "said"),
    [
        (PUBLISHED, "", Declared.ARTICLE),
        (
            '<script type="application/ld+json">{"@context": "x", "@type": ["NewsArticle"]}</script>',
            "",
            Declared.ARTICLE,
        ),
        ("", '<div itemscope itemtype="https://schema.org/BlogPosting">', Declared.ARTICLE),
        ("", '<div itemprop="articleBody">', Declared.ARTICLE),
        ("", '<div itemtype="https://schema.org/BlogPosting"></div>' * 5, Declared.NOTHING),
        (
            '<script type="application/ld+json">{"@type":"Blog","blogPost":[{"@type":"BlogPosting"}]}</script>',
            "",
            Declared.NOTHING,
        ),
        (PUBLISHED, '<div itemtype="https://schema.org/BlogPosting"></div>' * 5, Declared.ARTICLE),
        ('<meta property="og:type" content="article">', "", Declared.PERHAPS),
        ("", '<article><time datetime="2026-01-02">', Declared.PERHAPS),
        ("", "<article>", Declared.NOTHING),
        ('<meta name="dc.date" content="2026-01-02">', "", Declared.PERHAPS),
        ("", "<article></article><article><time datetime=x></article>", Declared.NOTHING),
        (
            PUBLISHED + '<script type="application/ld+json">{"@type":"JobPosting"}</script>',
            "",
            Declared.OTHER,
        ),
        ('<script type="application/ld+json">{"@type":"Recipe"}</script>', "", Declared.OTHER),
        ('<script type="application/ld+json">{"@type":"JobPosting"}</script>', "<article>", Declared.OTHER),
        ('<meta property="og:type" content="product.item">', "", Declared.OTHER),
        ("", '<div itemtype="http://schema.org/Product">', Declared.OTHER),
        (
            '<script type="application/ld+json">{"@type":"Product"},{"@type":"Article"}</script>',
            "",
            Declared.ARTICLE,
        ),
        ("", "", Declared.NOTHING),
    ],
)
def test_a_page_may_say_what_it_is(head: str, body: str, said: Declared) -> None:
    assert declared(parse(f"<html><head>{head}</head><body>{body}")) == said


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.org/2026/02/03/ferries", Declared.PERHAPS),
        ("https://example.org/company-news/the-ferries-run-again", Declared.PERHAPS),
        ("https://example.org/news", Declared.NOTHING),
        ("https://example.org/jobs/senior-ferry-captain-north", Declared.NOTHING),
    ],
)
def test_an_address_may_hint_at_an_article(url: str, said: Declared) -> None:
    assert declared(parse("<p>x"), url) == said


@pytest.mark.parametrize(
    "head",
    [
        "",
        '<script type="application/ld+json">{"@type":"JobPosting"}</script>',
        '<meta property="og:type" content="product">',
    ],
)
def test_a_page_that_is_no_article_keeps_everything(head: str) -> None:
    body = f"<nav><a href=x>Ferries Ltd</a></nav><h1>Captain</h1><div>Hamburg</div><div>{column(*PARAGRAPHS)}</div><td>4,000 €"
    document = page(body, head)
    content = main_content(document)
    assert not content.is_article
    assert content.text == full_text(document)
    assert "declares itself as" in content.reason


def test_a_declared_article_without_prose_keeps_everything() -> None:
    content = main_content(page("<nav>Menu</nav><p>Please subscribe to read.</p>"))
    assert not content.is_article
    assert content.text == "Menu\n\nPlease subscribe to read."
    assert "too little prose" in content.reason


def test_a_page_that_may_be_an_article_but_is_mostly_something_else_keeps_everything() -> None:
    rows = "".join(f"<tr><td>Captain {n}<td>Hamburg harbour, pier {n}<td>permanent" for n in range(60))
    document = page(f"<article><time datetime=x>{column(*PARAGRAPHS)}</article><table>{rows}</table>", "")
    assert main_content(document).text == full_text(document)


def test_an_empty_page_has_empty_content() -> None:
    assert main_content(page("")).text == ""


def test_a_script_that_says_more_with_fewer_characters_is_weighed_accordingly() -> None:
    lines = (
        "港は嵐の後に再建され、週の半ばから最初のフェリーが再び運航しています。漁師たちは新しい岸壁が高いと言います。",
    ) * 2
    more = (
        "市長は夏の前に傾斜路を追加すると約束しました。予算があるかどうかは別の問題で、議会は月曜日に開かれます。",
    ) * 2
    content = main_content(page(f"<nav>目次</nav><div>{column(*lines, *more)}</div>"))
    assert content.is_article
    assert "目次" not in content.text


def test_a_notice_beside_the_article_is_left_outside() -> None:
    notice = "<div><p>This site keeps small files on your machine to remember what you have read, as all of them do nowadays.</p></div>"
    assert text_of(f"{notice}<div><div>{column(*PARAGRAPHS * 2)}</div></div>") == "\n\n".join(PARAGRAPHS * 2)


@pytest.mark.parametrize(
    "name",
    ["comments", "Related-Posts", "socialShare", "article__byline", "x newsletter-box", "post-author vcard"],
)
def test_names_that_are_given_to_what_stands_around(name: str) -> None:
    assert named_around(name)


@pytest.mark.parametrize(
    "name",
    ["", "story", "has-comments", "post tag-social category-more", "social-embed", "leads", "shareholder"],
)
def test_names_that_say_nothing_or_something_else(name: str) -> None:
    assert not named_around(name)


def test_names_that_are_given_to_the_body_of_an_article() -> None:
    assert all(
        map(named_body, ("article-body", "entry-content", "storyText", "post__content wide", "main article"))
    )
    assert not any(map(named_body, ("", "content", "bodyguard", "articles-list")))


def test_credits_ends_and_leaked_code_are_known_by_their_form() -> None:
    assert is_credit("The quay after the storm (Photo: A. Example)")
    assert is_credit("The quay after the storm. Getty Images")
    assert not is_credit("The quay (built last year) was closed (again).")
    assert is_end("Related articles")
    assert is_end("12 Kommentare")
    assert not is_end("The end of the quay")
    assert is_script("window.ads = window.ads || {}; ads.push(function () {});")
    assert not is_script("The function (of the quay) is = to none {so far}")
