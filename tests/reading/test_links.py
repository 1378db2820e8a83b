"""Where a page leads, and where on it the link stands."""

from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.html.document import Document
from thresher.reading.html.links import MAX_LINKS, every_link, links

HERE = "https://shop.example/list"


def found(html: str) -> dict[str, str]:
    return {link.url: link.text for link in links(Document.from_html(html, HERE))}


def test_addresses_are_absolute_and_follow_the_base():
    assert found('<base href="/deep/"><a href="a">A</a><a href="//cdn.example/b">B</a>') == {
        "https://shop.example/deep/a": "A",
        "https://cdn.example/b": "B",
    }


def test_scripts_fragments_and_nonsense_lead_nowhere():
    hrefs = ["javascript:go()", "#top", "", "http://[", "/list#b", "data:text/html,x", "ftp://shop.example/"]
    assert found("".join(f'<a href="{href}">x</a>' for href in hrefs) + "<a>x</a>") == {}


def test_mail_and_telephone_are_kept_apart_by_kind():
    page = Document.from_html(
        '<a href="mailto:ann@shop.example?subject=x">Ann</a><a href="tel:+1-555">Call</a>', HERE
    )
    assert [(link.kind, link.url) for link in links(page)] == [
        ("mail", "ann@shop.example"),
        ("phone", "+1-555"),
    ]


def test_a_place_linked_three_times_is_given_once_with_the_text_that_says_most():
    html = '<a href="/1"><img src="x"></a><h3><a href="/1">Blue kettle, two litres</a></h3><a href="/1#more">Read more</a>'
    assert found(html) == {"https://shop.example/1": "Blue kettle, two litres"}


def test_a_link_without_text_is_called_by_its_label_or_picture():
    html = (
        '<a href="/1" aria-label="Basket"></a><a href="/2" title="Help"></a><a href="/3"><img alt="Home"></a>'
    )
    assert list(found(html).values()) == ["Basket", "Help", "Home"]


def test_the_region_is_that_of_the_nearest_element_that_names_one():
    html = """<nav><a href=/a>a</a></nav><div id="main-content"><a href=/b>b</a><aside><a href=/c>c</a></aside></div>
    <div class="site footer"><a href=/d>d</a></div><div role=banner><a href=/e>e</a></div><a href=/f>f</a>"""
    assert [link.region for link in links(Document.from_html(html, HERE))] == [
        "nav",
        "main",
        "aside",
        "footer",
        "header",
        "body",
    ]


def test_heading_row_and_relation_are_the_context():
    html = """<h2>Engineering</h2><ul><li><a rel="nofollow UGC" href=/1>Welder</a> Leeds, full time</li></ul>
    <h2>Sales</h2><p><a href=/2>Buyer</a></p>"""
    first, second = links(Document.from_html(html, HERE))
    assert (first.heading, first.row, first.rel) == (
        "Engineering",
        "Welder Leeds, full time",
        ("nofollow", "ugc"),
    )
    assert (second.heading, second.position) == ("Sales", 1)


def test_the_element_is_kept_as_evidence():
    (link,) = links(Document.from_html("<div><p><a href=/1>x</a></p></div>", HERE))
    assert link.node is not None
    assert Document.from_html("<div><p><a href=/1>x</a></p></div>").root.css(link.node.path)[0].line == "x"


def test_a_page_of_too_many_links_is_cut():
    page = Document.from_html("".join(f"<a href=/{number}>x</a>" for number in range(MAX_LINKS + 100)), HERE)
    assert len(links(page)) == MAX_LINKS


def test_deep_nesting_is_walked_once():
    page = Document.from_html(
        "<div>" * 30_000 + "".join(f"<a href=/{number}>x</a>" for number in range(1_000)), HERE
    )
    assert len(links(page)) == 1_000


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_some_page(text: str):
    assert isinstance(links(Document.from_html(text, HERE)), list)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<a href=/x>",
                "</a>",
                "<nav>",
                "<li>",
                "</li>",
                "<h1>",
                "<base href=x:>",
                "<a href='http://e/%'>",
                "t",
            ]
        )
    )
)
def test_soup_of_tags_is_some_page(pieces: list[str]):
    assert all(link.url for link in every_link(Document.from_html("".join(pieces), HERE)))
