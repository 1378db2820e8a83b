"""Feeds of every age, and XML that is a little broken or wants to be a bomb."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.feeds import Feed, read_feed
from thresher.reading.xmlelement import read_xml_tree, rows

TODAY = date(2026, 1, 10)
URL = "https://news.example/feed/"


def feed(text: str) -> Feed:
    found = read_feed(text, url=URL, today=TODAY)
    assert found is not None
    return found


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="c" xmlns:dc="d" xmlns:media="m"><channel><title>Fairs</title><link>/</link>
<item><media:title>a picture</media:title><title>Spring &amp; summer</title><link>/a?x=1&amp;y=2</link><guid isPermaLink="false">7</guid>
<pubDate>Fri, 05 Dec 2025 21:44:46 +0000</pubDate><description><![CDATA[<p>Short</p>]]></description><content:encoded>Long</content:encoded>
<dc:creator>Ann</dc:creator><category>garden</category><region>Leeds</region></item></channel></rss>"""


def test_rss_gives_entries_with_absolute_links_dates_and_its_own_fields():
    found = feed(RSS)
    (entry,) = found.entries
    assert (found.kind, found.title, found.url, found.trouble) == ("rss", "Fairs", "https://news.example/", None)
    assert (entry.title, entry.url, entry.id) == ("Spring & summer", "https://news.example/a?x=1&y=2", "7")
    assert entry.published is not None
    assert (entry.published.day, entry.published_text) == (date(2025, 12, 5), "Fri, 05 Dec 2025 21:44:46 +0000")
    assert (entry.summary, entry.content, entry.author, entry.categories) == ("<p>Short</p>", "Long", "Ann", ("garden",))
    assert entry.extra == {"region": "Leeds"}


def test_a_permanent_id_is_an_address_too():
    assert feed("<rss><channel><item><guid>https://news.example/7</guid></item></channel></rss>").entries[0].url == "https://news.example/7"


def test_rdf_keeps_its_items_beside_the_channel():
    text = """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d"><channel><title>Old</title></channel>
    <item rdf:about="https://news.example/1"><title>One</title><dc:date>2025-12-05</dc:date></item></rdf:RDF>"""
    found = feed(text)
    assert (found.kind, found.title) == ("rdf", "Old")
    assert [(entry.title, entry.url, str(entry.published and entry.published.day)) for entry in found.entries] == [
        ("One", "https://news.example/1", "2025-12-05")
    ]


def test_atom_chooses_the_alternate_link_and_obeys_the_base():
    text = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://blog.example/x/"><title>Blog</title>
    <link rel="next" href="?page=2"/><entry><title type="html">A &lt;b&gt;</title><link rel="self" href="s"/>
    <link rel="alternate" type="text/html" href="one"/><id>tag:1</id>
    <updated>2025-12-06T00:00:00Z</updated><published>2025-12-05T10:00:00+01:00</published><author><name>Bob</name></author>
    <category term="x" label="Ex"/><content type="xhtml"><div>Hello <i>there</i></div></content></entry></feed>"""
    found = feed(text)
    (entry,) = found.entries
    assert (found.kind, found.next) == ("atom", "https://blog.example/x/?page=2")
    assert (entry.url, entry.id, entry.author) == ("https://blog.example/x/one", "tag:1", "Bob")
    assert (entry.categories, entry.title, entry.content.split()) == (("Ex",), "A <b>", ["Hello", "there"])
    assert entry.published is not None
    assert entry.published.day == date(2025, 12, 5)


def test_json_feed_is_a_feed():
    text = """{"version": "https://jsonfeed.org/version/1.1", "title": "J", "next_url": "/2", "items": [
    {"id": 1, "url": "/a", "title": "A", "content_html": "<p>", "date_published": "2025-12-05", "authors": [{"name": "Ann"}]}, 3]}"""
    found = feed(text)
    assert (found.kind, found.next, [(each.id, each.url, each.author) for each in found.entries]) == (
        "json", "https://news.example/2", [("1", "https://news.example/a", "Ann")]
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "plain", "<html><body>no</body></html>", '{"items": []}', "[1]", "{", "<", "<a", "<?xml?>", "<urlset><url/></urlset>"]
)
def test_what_is_no_feed_is_none(text: str):
    assert read_feed(text, url=URL, today=TODAY) is None


def test_entities_of_html_bare_ampersands_and_control_characters_are_mended():
    text = "\ufeff \n<rss><channel><title>A & B &nbsp;&copy; &bogus; \x01&lt;</title><item><link>/a?b=1&c=2</link></item></channel></rss>"
    found = feed(text)
    assert (found.title, found.entries[0].url) == ("A & B \xa0© &bogus; <", "https://news.example/a?b=1&c=2")


@pytest.mark.promise(7)
def test_a_feed_that_breaks_off_gives_the_whole_entries_before_it_and_says_so():
    found = feed("<rss><channel><item><title>One</title></item><item><title>Tw")
    assert [entry.title for entry in found.entries] == ["One"]
    assert found.trouble is not None
    assert "line 1" in found.trouble


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "declaration",
    ['<!ENTITY a "aaa"><!ENTITY b "&a;&a;&a;">', '<!ENTITY x SYSTEM "file:///etc/hosts">', '<!ENTITY % p SYSTEM "http://[::1]:1/"> %p;'],
)
def test_entities_of_its_own_are_refused(declaration: str):
    text = f"<?xml version='1.0'?><!DOCTYPE rss [{declaration}]><rss><channel><title>&a;&b;&x;</title></channel></rss>"
    assert read_feed(text, url=URL, today=TODAY) is None


def test_a_document_type_without_entities_is_harmless():
    kind = '<!DOCTYPE rss PUBLIC "-//N//DTD RSS 0.91//EN" "http://127.0.0.1:1/rss.dtd">'
    assert feed(f'{kind}<rss version="0.91"><channel><title>Old</title></channel></rss>').title == "Old"


@pytest.mark.promise(18)
@pytest.mark.parametrize("piece", ["<a>", "&", "<![CDATA[", "<a/>", "<!--"])
def test_hostile_xml_is_cut_off_with_a_reason(piece: str):
    assert feed("<rss>" + piece * 310_000).trouble is not None


def test_xml_of_unknown_kind_gives_the_repeated_element_as_rows():
    tree = read_xml_tree('<list><head/><row id="1"><a>x</a><b><c>y</c></b></row><row id="2"><a>z</a></row></list>')
    assert tree is not None
    assert rows(tree.root) == [{"@id": "1", "a": "x", "b.c": "y"}, {"@id": "2", "a": "z"}]


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_feed_or_none(text: str):
    for start in ("", "<rss>", "<feed>", "{"):
        assert isinstance(read_feed(start + text, url=URL, today=TODAY), Feed | None)


PIECES = ["<item>", "</item>", "<title>", "</title>", "<link>/x</link>", "&", "&amp;", "<![CDATA[", "]]>", "<!--", "-->", "<a:b>", "t"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_soup_of_tags_is_a_feed(pieces: list[str]):
    assert isinstance(feed("<rss><channel>" + "".join(pieces)), Feed)
