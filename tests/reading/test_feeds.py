"""Feeds of every age, the openings in them, and XML that is a little broken or wants to be a bomb."""

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.practice.browse import get
from tests.reading.pages import look
from thresher.core.errors import Malformed
from thresher.core.page import Verdict
from thresher.practice.web import PracticeWeb
from thresher.reading.inspect.inspection import Inspection
from thresher.reading.inspect.report import PageKind
from thresher.reading.structured.feeds import Feed, feed_in, read_feed
from thresher.reading.structured.xml import read_xml

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
    assert (found.kind, found.title, found.url, found.trouble) == (
        "rss",
        "Fairs",
        "https://news.example/",
        None,
    )
    assert (entry.title, entry.url, entry.id) == ("Spring & summer", "https://news.example/a?x=1&y=2", "7")
    assert entry.published is not None
    assert (entry.published.day, entry.published_text) == (
        date(2025, 12, 5),
        "Fri, 05 Dec 2025 21:44:46 +0000",
    )
    assert (entry.summary, entry.content, entry.author, entry.categories) == (
        "<p>Short</p>",
        "Long",
        "Ann",
        ("garden",),
    )
    assert entry.extra == {"region": "Leeds"}


def test_a_permanent_id_is_an_address_too():
    assert (
        feed("<rss><channel><item><guid>https://news.example/7</guid></item></channel></rss>").entries[0].url
        == "https://news.example/7"
    )


def test_rdf_keeps_its_items_beside_the_channel():
    text = """<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d"><channel><title>Old</title></channel>
    <item rdf:about="https://news.example/1"><title>One</title><dc:date>2025-12-05</dc:date></item></rdf:RDF>"""
    found = feed(text)
    assert (found.kind, found.title) == ("rdf", "Old")
    assert [
        (entry.title, entry.url, str(entry.published and entry.published.day)) for entry in found.entries
    ] == [("One", "https://news.example/1", "2025-12-05")]


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
        "json",
        "https://news.example/2",
        [("1", "https://news.example/a", "Ann")],
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "<html><body>no</body></html>",
        '{"items": []}',
        "[1]",
        "{",
        "<",
        "<a",
        "<?xml?>",
        "<urlset><url/></urlset>",
    ],
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
    [
        '<!ENTITY a "aaa"><!ENTITY b "&a;&a;&a;">',
        '<!ENTITY x SYSTEM "file:///etc/hosts">',
        '<!ENTITY % p SYSTEM "http://[::1]:1/"> %p;',
    ],
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


def test_xml_becomes_lists_and_mappings():
    assert read_xml("<a x='1'><b>2</b><b>3</b><c:d xmlns:c='u'>4</c:d></a>") == (
        "a",
        {"@x": "1", "b": ["2", "3"], "d": "4"},
    )
    assert read_xml("<A><b c='1'>x</b><b/>  y </A>") == (
        "A",
        {"b": [{"@c": "1", "#text": "x"}, ""], "#text": "y"},
    )


def test_xml_with_bare_ampersands_and_entities_of_html_is_read_as_what_it_means():
    assert read_xml("<a><b>Brush &amp; Co</b><c>R&D&nbsp;lead</c></a>") == (
        "a",
        {"b": "Brush & Co", "c": "R&D\xa0lead"},
    )


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<a><b>1</b><b>", "line 1"),
        ("", "no element"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "entities"),
        ("<a>" * 201, "deeper"),
    ],
)
def test_half_a_document_is_not_taken_for_the_whole(text: str, why: str):
    with pytest.raises(Malformed, match=why):
        read_xml(text)


def test_a_body_that_was_read_already_is_not_read_again():
    assert feed_in(read_xml(RSS)[1], url=URL, today=TODAY) == feed(RSS)
    assert feed_in(read_xml("<urlset><url/></urlset>")[1], today=TODAY) is None
    assert feed_in("text", today=TODAY) is None


def test_what_is_nested_in_an_entry_or_stands_there_twice_is_kept():
    places = "<at><city>Leeds</city></at><at><city>York</city></at>"
    entry = feed(f"<rss><channel><item><title>A</title>{places}</item></channel></rss>").entries[0]
    assert entry.extra == {"at": [{"city": "Leeds"}, {"city": "York"}]}


OPENINGS = ("Ladder maker", "Stool maker", "Chair mender")


def listed(
    title: str, path: str, *, about: str = "", text: str = "We make them of ash and oak."
) -> Inspection:
    items = "".join(
        f"<item><title>{each}</title><link>{path}/{number}</link><guid isPermaLink='false'>{number}</guid>"
        f"<pubDate>Sun, 01 Mar 2026 10:00:00 +0000</pubDate><description><![CDATA[<p>{text}</p>]]></description></item>"
        for number, each in enumerate(OPENINGS)
    )
    head = f"<title>{title}</title><description>{about}</description>"
    return look(f"<rss><channel>{head}{items}</channel></rss>", URL, kind="application/rss+xml")


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("title", "path", "about"),
    [
        ("Acme openings", "/opening", ""),
        ("Acme", "/en/position", "Open positions at Acme"),
        ("Stellen bei Acme", "/stelle", ""),
        ("Acme", "/jobs", ""),
        ("Acme", "https://jobs.acme.example/x", ""),
    ],
)
def test_every_entry_of_a_feed_of_openings_is_a_posting(title: str, path: str, about: str):
    seen = listed(title, path, about=about)
    assert (seen.look.verdict, seen.kind) == (Verdict.FOUND, PageKind.FEED)
    assert [posting.title for posting in seen.postings] == list(OPENINGS)
    assert [posting.description for posting in seen.postings] == ["We make them of ash and oak."] * 3
    assert {posting.posted_date for posting in seen.postings} == {date(2026, 3, 1)}
    assert all((posting.url or "").startswith("https://") for posting in seen.postings)


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    ("title", "path"),
    [
        ("Acme news", "/opening"),
        ("Acme openings", "/news"),
        ("Acme openings", "/grand-opening"),
        ("Ofertas de la semana", "/oferta"),
        ("Expositions", "/exposition"),
        ("Para o povo", "/o"),
    ],
)
def test_entries_that_do_not_speak_of_openings_are_left_unknown(title: str, path: str):
    seen = listed(title, path)
    assert (seen.postings, seen.look.verdict) == ((), Verdict.UNKNOWN)


@pytest.mark.promise(7)
def test_one_article_about_jobs_makes_no_posting_of_itself_nor_of_its_feed():
    items = [
        {"id": str(n), "url": f"/{n}", "title": "On wood", "summary": "Ash.", "date_published": "2026-03-01"}
        for n in range(6)
    ]
    items[3]["title"] = "Jobs in the forest"
    data = {"version": "https://jsonfeed.org/version/1.1", "title": "Wood", "items": items}
    for text in (json.dumps(data), json.dumps({"item": items})):
        assert look(text, URL, kind="application/json").postings == ()


@pytest.mark.promise(7)
@pytest.mark.parametrize(
    "text", ["<rss><channel><title>Jobs</title></channel></rss>", "<feed><title>Jobs</title></feed>"]
)
def test_a_feed_without_entries_proves_nothing(text: str):
    seen = look(text, URL, kind="application/xml")
    assert (seen.look.verdict, "proves nothing" in seen.look.reason) == (Verdict.UNKNOWN, True)


@pytest.mark.promise(7)
def test_a_feed_of_openings_that_breaks_off_is_unknown_with_the_place():
    seen = look(
        "<rss><channel><title>Jobs</title><item><title>A job</title><link>/jobs/1</link></item><item>",
        URL,
        kind="text/xml",
    )
    assert (seen.look.verdict, seen.postings, "line 1" in seen.look.reason) == (Verdict.UNKNOWN, (), True)


def test_the_next_page_of_a_feed_of_openings_is_known():
    text = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Jobs</title><link rel="next" href="?page=2"/><entry>
    <title>Ladder maker</title><link href="/jobs/1"/><updated>2026-03-01T00:00:00Z</updated><summary>Ash</summary></entry></feed>"""
    seen = look(text, URL, kind="application/atom+xml")
    assert ([posting.url for posting in seen.postings], seen.next) == (
        ["https://news.example/jobs/1"],
        "https://news.example/feed/?page=2",
    )


@pytest.mark.parametrize(
    ("url", "count"),
    [(f"https://feeds.practice.example/{name}", 50) for name in ("rss.xml", "atom.xml", "feed.json")]
    + [("https://isthmus.teamtailor.com/jobs.rss", None), ("https://isthmus.teamtailor.com/jobs.json", 20)],
)
def test_the_feeds_of_the_practice_web_are_read_completely(url: str, count: int | None):
    with PracticeWeb(seed=7) as web:
        got = get(web, url)
    seen = look(got.text, url, kind=got.headers["content-type"])
    assert len(seen.postings) == (count or got.text.count("<item>"))
    assert all(posting.url and posting.posted_date and posting.description for posting in seen.postings)


ATOM, RDF, RSS_1 = (
    "http://www.w3.org/2005/Atom",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://purl.org/rss/1.0/",
)


@pytest.mark.promise(7)
@pytest.mark.parametrize("prefix", ["ns0:", "a:", "Atom-1.0:", ""])
@pytest.mark.parametrize("declaration", ['<?xml version="1.0"?>', ""])
def test_atom_under_any_prefix_keeps_its_links_and_titles(prefix: str, declaration: str):
    p, name = prefix, f"xmlns:{prefix[:-1]}" if prefix else "xmlns"
    text = f"""{declaration}<{p}feed {name}="{ATOM}" xmlns:m="media"><{p}title>Jobs</{p}title>
    <{p}link href="/"/><{p}link rel="next" href="?page=2"/><{p}entry><m:title>a picture</m:title><m:link href="/picture.png"/>
    <{p}title>Ladder maker</{p}title><{p}link rel="self" href="/jobs/1.xml"/><{p}link href="/jobs/1"/><{p}id>7</{p}id>
    <{p}updated>2026-03-01T00:00:00Z</{p}updated><{p}summary>Ash</{p}summary></{p}entry></{p}feed>"""
    found = feed(text)
    assert (found.kind, found.url, found.next) == (
        "atom",
        "https://news.example/",
        "https://news.example/feed/?page=2",
    )
    assert [(entry.title, entry.url, entry.id) for entry in found.entries] == [
        ("Ladder maker", "https://news.example/jobs/1", "7")
    ]
    seen = look(text, URL, kind="application/octet-stream")
    assert [(posting.title, posting.url) for posting in seen.postings] == [
        ("Ladder maker", "https://news.example/jobs/1")
    ]


@pytest.mark.promise(7)
@pytest.mark.parametrize(("rdf", "rss"), [("ns0", "ns1"), ("rdf", "rss"), ("r", "")])
def test_rdf_under_any_prefix_keeps_its_links_and_titles(rdf: str, rss: str):
    p, name = f"{rss}:" if rss else "", f"xmlns:{rss}" if rss else "xmlns"
    text = f"""<{rdf}:RDF xmlns:{rdf}="{RDF}" {name}="{RSS_1}" xmlns:m="media"><{p}channel {rdf}:about="{URL}"><{p}title>Jobs</{p}title>
    <{p}link>/</{p}link></{p}channel>
    <{p}item {rdf}:about="/jobs/1"><m:title>a picture</m:title><{p}title>Ladder maker</{p}title></{p}item>
    <{p}item {rdf}:about="/x"><{p}title>Painter</{p}title><{p}link>/jobs/2</{p}link></{p}item></{rdf}:RDF>"""
    found = feed(text)
    assert (found.kind, found.title, found.url) == ("rdf", "Jobs", "https://news.example/")
    assert [(entry.title, entry.url) for entry in found.entries] == [
        ("Ladder maker", "https://news.example/jobs/1"),
        ("Painter", "https://news.example/jobs/2"),
    ]
    assert look(text, URL, kind="application/octet-stream").kind is PageKind.FEED


@pytest.mark.promise(7)
@pytest.mark.parametrize("prefix", ["ns0", "atom", "a10"])
def test_rss_takes_atom_links_under_any_prefix(prefix: str):
    found = feed(f"""<rss xmlns:{prefix}="{ATOM}"><channel><title>Jobs</title><{prefix}:link rel="next" href="?page=2"/><link>/</link>
    <item><title>Ladder maker</title><{prefix}:link href="/jobs/1"/></item></channel></rss>""")
    assert (found.url, found.next) == ("https://news.example/", "https://news.example/feed/?page=2")
    assert found.entries[0].url == "https://news.example/jobs/1"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_feed_or_none(text: str):
    for start in ("", "<rss>", "<feed>", "{"):
        assert isinstance(read_feed(start + text, url=URL, today=TODAY), Feed | None)


PIECES = [
    "<item>",
    "</item>",
    "<title>",
    "</title>",
    "<link>/x</link>",
    "&",
    "&amp;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<a:b>",
    "t",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_soup_of_tags_is_a_feed(pieces: list[str]):
    assert isinstance(feed("<rss><channel>" + "".join(pieces)), Feed)
