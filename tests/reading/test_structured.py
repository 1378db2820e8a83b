"""Things that pages describe for machines, well-formed and otherwise."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.html.document import Document
from thresher.reading.structured.facts import structured
from thresher.reading.structured.thing import MAX_THINGS, Structured

SCRIPT = '<script type="application/ld+json">{}</script>'


def read(html: str) -> Structured:
    return structured(Document.from_html(html, "https://shop.example/kettle"))


def ld(text: str) -> Structured:
    return read(SCRIPT.format(text))


def test_an_object_a_list_and_a_graph_are_all_things():
    product = '{"@type": "Product", "name": "Kettle"}'
    for text in (product, f"[{product}]", f'{{"@context": "https://schema.org", "@graph": [{product}]}}'):
        (thing,) = ld(text).things
        assert (thing.type, thing.text("name"), thing.syntax) == ("Product", "Kettle", "json-ld")


def test_a_thing_deep_inside_another_is_found_with_its_path():
    posting = '{"@type": ["Thing", "schema:JobPosting"], "title": "Welder"}'
    text = f'{{"@type": "ItemList", "itemListElement": [{{"@type": "ListItem", "item": {posting}}}]}}'
    found = ld(text).of("JobPosting")
    assert [(each.text("title"), each.types) for each in found] == [("Welder", ("Thing", "JobPosting"))]
    assert found[0].path.endswith("$.itemListElement[0].item")


def test_types_lose_their_vocabulary():
    written = ("https://schema.org/Offer", "schema:Offer", "Offer/")
    assert [ld(f'{{"@type": "{each}"}}').things[0].type for each in written] == ["Offer"] * 3


def test_a_reference_is_filled_in_from_the_same_page_and_circles_end():
    offer_text = '{"@type": "Offer", "@id": "#o", "seller": {"@id": "#s"}}'
    person_text = '{"@type": "Person", "@id": "#s", "name": "Ann", "makes": {"@id": "#o"}}'
    offer, person = ld(f'{{"@graph": [{offer_text}, {person_text}]}}').things
    assert offer.mapping("seller")["name"] == "Ann"
    assert json.dumps(offer.properties)
    assert person.mapping("makes")["@type"] == "Offer"


@pytest.mark.parametrize(
    "text",
    [
        '<!-- {"@type": "A", "name": "x"} -->',
        '//<![CDATA[\n{"@type": "A", "name": "x"}\n//]]>',
        '/* <![CDATA[ */ {"@type": "A", "name": "x"} /* ]]> */',
        '{"@type": "A", "name": "x",}',
        '{"@type": "A", /* why */ "name": "x"} // end',
        '{"@type": "A", "name": "x"};',
        "{&quot;@type&quot;: &quot;A&quot;, &quot;name&quot;: &quot;x&quot;}",
        '{"@type": "A", "name": "x"} {"@type": "B"}',
        "{'@type': 'A', name: 'x'}",
        '\ufeff{"@type": "A", "name": "x"}',
        '{"@type": "A", "rating": NaN, "name": "x"}',
    ],
)
def test_json_that_is_nearly_json_is_repaired(text: str):
    found = ld(text)
    assert (found.things[0].type, found.things[0].text("name"), found.troubles) == ("A", "x", ())


def test_raw_line_breaks_and_control_characters_in_texts_stay_texts():
    assert (
        ld('{"@type": "A", "description": "one\ntwo\tthree\x01"}').things[0].text("description")
        == "one\ntwo\tthree\x01"
    )


def test_escaped_markup_in_a_value_is_unescaped_once():
    assert (
        ld('{"@type": "A", "name": "Johnson &amp; Daughter"}').things[0].text("name") == "Johnson & Daughter"
    )


@pytest.mark.promise(14)
@pytest.mark.parametrize(
    "text",
    [
        '{"@type": "A", "name": "an "odd" one"}',
        '{"@type": "A", "name": "x"',
        '{"@type": f()}',
        "[[[",
        '{"a": "\\',
        "<p>",
    ],
)
def test_json_that_cannot_be_repaired_is_reported_with_the_place(text: str):
    found = ld(text)
    assert found.things == ()
    assert [("line 1, column" in trouble.what, "script" in trouble.path) for trouble in found.troubles] == [
        (True, True)
    ]


def test_a_broken_script_does_not_hide_the_others():
    found = read(SCRIPT.format("{oops") + SCRIPT.format('{"@type": "A"}'))
    assert (len(found.things), len(found.troubles)) == (1, 1)


MICRODATA = """<div itemscope itemtype="https://schema.org/Product">
  <h1 itemprop="name">Kettle</h1><img itemprop="image" src="/k.jpg"><meta itemprop="sku" content="K-1">
  <div itemprop="offers" itemscope itemtype="http://schema.org/Offer">
    <span itemprop="price" content="19.99">$19.99</span><link itemprop="availability" href="https://schema.org/InStock">
    <time itemprop="validFrom" datetime="2025-12-05">yesterday</time></div>
  <span itemprop="color">red</span><span itemprop="color">blue</span></div><b itemprop="name">nobody's</b>"""


def test_microdata_nests_and_keeps_to_its_scope():
    product, offer = read(MICRODATA).things
    assert (product.type, product.text("name"), product.texts("color")) == (
        "Product",
        "Kettle",
        ["red", "blue"],
    )
    assert (product.text("image"), product.text("sku")) == ("https://shop.example/k.jpg", "K-1")
    assert product.mapping("offers")["price"] == "19.99"
    assert (offer.type, offer.text("validFrom"), offer.syntax) == ("Offer", "2025-12-05", "microdata")


def test_the_path_of_a_thing_leads_to_its_element():
    page = Document.from_html(MICRODATA)
    offer = structured(page).of("Offer")[0]
    assert page.root.css(offer.path)[0].attribute("itemtype") == "http://schema.org/Offer"


def test_rdfa_lite_is_the_same_with_other_names():
    html = '<div vocab="https://schema.org/" typeof="Event"><span property="name">Fair</span><a property="schema:url" href="/f">x</a></div>'
    (thing,) = read(html).things
    assert (thing.type, thing.text("name"), thing.text("url"), thing.syntax) == (
        "Event",
        "Fair",
        "https://shop.example/f",
        "rdfa",
    )


def test_cards_for_social_media_are_one_thing():
    html = """<meta property="og:type" content="product"><meta property="og:title" content="Kettle">
    <meta name="twitter:card" content="x"><meta name="a" content="b">"""
    (thing,) = read(html).things
    assert (thing.type, thing.text("og:title"), thing.syntax) == ("product", "Kettle", "opengraph")
    assert "a" not in thing.properties


def test_a_page_without_any_has_none():
    assert read("<p>just text") == Structured()


@pytest.mark.promise(18)
def test_hostile_pages_give_a_bounded_number_of_things():
    assert len(read("<div itemscope itemtype=A>" * (MAX_THINGS + 500)).things) == MAX_THINGS
    assert len(ld(json.dumps([{"@type": "A"}] * (MAX_THINGS + 500))).things) == MAX_THINGS
    assert ld("[" * 100_000).troubles
    assert len(ld('{"@type": "A", "a": ' * 200 + "1" + "}" * 200).things) < 100
    assert read("<div itemscope itemtype=A>" + "<p>" * 20_000 + "<b itemprop=x>y</b>" * 5_000).things


keys = st.sampled_from(["@type", "@id", "@graph", "name", "item"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(keys, inner))


@settings(deadline=None)
@given(values)
def test_any_json_is_some_list_of_things(value: object):
    found = ld(json.dumps(value).replace("</", "<\\/"))
    assert all(thing.type and isinstance(thing.texts("name"), list) for thing in found.things)


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"'\\:,/*!0123 abc@type\n<>&;", max_size=300))
def test_soup_of_brackets_is_read_or_reported(text: str):
    assert isinstance(ld(text.replace("</", "")), Structured)


PIECES = [
    "<div itemscope itemtype=A>",
    "</div>",
    "<b itemprop=x>",
    "</b>",
    "<p typeof=B>",
    "<i property=y>",
    "t",
    "<meta itemprop=z>",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES)))
def test_soup_of_scopes_is_read(pieces: list[str]):
    assert isinstance(read("".join(pieces)), Structured)
