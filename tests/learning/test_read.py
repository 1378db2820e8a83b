"""Reading with an extractor: values with their places, and nothing that could be wrong."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.learning.sites import (
    LAYOUTS,
    SHELF,
    TOOLS,
    Knobs,
    Layout,
    boxes,
    declared,
    definitions,
    example,
    page,
    table,
)
from thresher.core.schema import Field, Schema
from thresher.learning.drift import Sign
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.read import read
from thresher.reading.html.document import Document
from thresher.reading.text.plain import full_text


def learned(layout: Layout) -> Extractor:
    found = learn(TOOLS, [example(layout, tool) for tool in SHELF[:3]])
    assert isinstance(found, Extractor)
    return found


EXTRACTORS = {layout.__name__: learned(layout) for layout in LAYOUTS}


@pytest.mark.promise(14)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_every_value_has_a_place_in_the_text_of_the_page(layout: Layout) -> None:
    for tool in SHELF[3:]:
        document = page(layout, tool)
        reading = read(learned(layout), document)
        assert set(reading.places) == set(reading.values)
        for name, place in reading.places.items():
            assert place is not None
            assert place.start is not None
            assert full_text(document)[place.start : place.end] == place.quote == reading.values[name]


def test_a_value_that_the_page_does_not_show_has_a_path_instead() -> None:
    pages = [
        Document.from_html(f'<p class="grade" data-stars="{at}"><i></i></p><p>Terms</p>')
        for at in ("three", "five", "one", "two")
    ]
    found = learn(
        Schema("s", (Field("stars"),)),
        [Example(each, {"stars": at}) for each, at in zip(pages, ("three", "five"), strict=False)],
    )
    assert isinstance(found, Extractor)
    place = read(found, pages[3]).places["stars"]
    assert place is not None
    assert (place.quote, place.start) == ("two", None)
    assert place.path is not None
    assert place.path.endswith("@data-stars")


def test_of_two_equal_texts_the_place_is_the_one_that_was_read() -> None:
    pages = [
        Document.from_html(f"<p>Price: <b>{a}</b> instead of <i>{b}</i></p><p>Bye</p>")
        for a, b in (("£1.00", "£2.00"), ("£3.00", "£4.00"))
    ]
    same = Document.from_html("<p>Price: <b>£5.00</b> instead of <i>£5.00</i></p><p>Bye</p>")
    found = learn(
        Schema("s", (Field("was"),)),
        [Example(each, {"was": was}) for each, was in zip(pages, ("£2.00", "£4.00"), strict=True)],
    )
    assert isinstance(found, Extractor)
    place = read(found, same).places["was"]
    assert place is not None
    assert place.start == full_text(same).rindex("£5.00")


def test_witnesses_that_agree_raise_the_confidence() -> None:
    alone, both = (
        read(EXTRACTORS["definitions"], page(definitions, SHELF[4])),
        read(learned(boxes), page(boxes, SHELF[4])),
    )
    assert 0 < alone.confidence["brand"] <= 1
    assert both.confidence["title"] > alone.confidence["brand"]


def test_a_text_of_the_site_is_never_taken_for_a_value() -> None:
    """An empty cell, and the next label would be read in its place."""
    reading = read(learned(definitions), page(definitions, SHELF[5], Knobs(emptied="brand")))
    assert "brand" not in reading.values
    assert "brand" in reading.drifting


def test_an_amount_out_of_all_proportion_is_drift() -> None:
    document = page(table, SHELF[4])
    dear = Document.from_html(document.html.replace("€112.00", "€11,200,000.00"), document.url)
    reading = read(learned(table), dear)
    assert "price" not in reading.values
    assert [drift.sign for drift in reading.drifts if drift.field == "price"] == [Sign.RANGE]


def test_two_answers_are_drift() -> None:
    bodies = [
        f'<p>Price: <b>{tool.price}</b></p><p class="cost">{tool.price}</p><p>Bye</p>' for tool in SHELF[:3]
    ]
    found = learn(
        Schema("s", (Field("price"),)),
        [
            Example(Document.from_html(body), {"price": t.price})
            for body, t in zip(bodies, SHELF, strict=False)
        ],
    )
    assert isinstance(found, Extractor)
    reading = read(found, Document.from_html('<p>Price: <b>€1.00</b></p><p class="cost">€2.00</p><p>Bye</p>'))
    assert reading.values == {}
    assert [drift.sign for drift in reading.drifts] == [Sign.DISAGREEMENT]


def test_a_value_that_another_field_has_lost_is_not_believed() -> None:
    """The article number stands where the brand stood, and the brand in its place."""
    tool = SHELF[4]
    document = page(table, tool)
    html = document.html.replace(tool.brand, "#").replace(tool.sku, tool.brand).replace("#", tool.sku)
    reading = read(learned(table), Document.from_html(html, document.url))
    assert not {"brand", "sku"} & set(reading.values)
    assert {"brand", "sku"} <= reading.drifting


def test_a_page_of_another_kind_has_no_values() -> None:
    other = Document.from_html(
        "<title>Terms</title><h1>Terms of sale</h1><p>Everything is sold as it is.</p>",
        "https://tools.example/terms",
    )
    for extractor in EXTRACTORS.values():
        reading = read(extractor, other)
        assert reading.values == {}
        assert any(drift.sign is Sign.SKELETON for drift in reading.drifts)


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested": lambda size: "<div>" * size + "x",
    "named boxes in each other": lambda size: "<div class='product'>" * size + "<h1>a</h1>" * size,
    "rows": lambda size: "<table>" + "<tr><th>Brand</th><td>x</td></tr>" * size,
    "labels": lambda size: "<dt>Brand:</dt>" * size + "<dd>x</dd>",
    "labels alone in each other": lambda size: "<section>" * size + "<dt>Brand:</dt>" + "<dd>x</dd>",
    "one long text": lambda size: "Brand: " * size,
    "lines": lambda size: "<b>Brand:</b> <br>" * size,
    "broken data": lambda size: '<script type="application/ld+json">' + "[" * size + "</script>",
    "headings": lambda size: "<h2>You may also like</h2>" * size,
    "values": lambda size: '<div class="row"><span class="price">€1.00</span></div>' * size,
    "odd characters": lambda size: "\0<p>\x0b</p>&#0;&nbsp;\u202e" * size,
}


def calls(work: Callable[[], object]) -> int:
    """How many function calls a piece of work takes: the same on every run, which time is not."""
    counted = 0

    def on_event(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


@pytest.mark.promise(18)
@pytest.mark.parametrize("extractor", ["definitions", "boxes"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_twice_as_hostile_takes_at_most_about_twice_the_steps(name: str, extractor: str) -> None:
    def work(size: int) -> int:
        html = HOSTILE[name](size)
        return calls(lambda: read(EXTRACTORS[extractor], Document.from_html(html)))

    work(10)  # what is computed once per process is not counted
    assert work(5_000) < 2.3 * work(2_500)


PIECES = st.sampled_from(
    [
        *(
            "<div>",
            "</div>",
            "<h1>",
            "</h1>",
            "<tr>",
            "<th>",
            "<td>",
            "<dt>",
            "<dd>",
            "<b>",
            "<br>",
            "<li>",
            "<p>",
            "<title>",
            "</title>",
            "&",
            "<",
        ),
        *("Brand:", "Brand", "Price", "€24.90", "Oakforge", "Home", "All tools", "\x00", "{", "</script>"),
        *(
            '<span class="price">',
            '<div class="row">',
            '<div class="product">',
            '<section id="item">',
            '<script type="application/ld+json">',
        ),
    ]
)


@settings(deadline=None, max_examples=60)
@given(st.lists(PIECES, max_size=60))
def test_reading_never_raises_and_always_says_the_same(pieces: list[str]) -> None:
    html = "".join(pieces)
    for extractor in EXTRACTORS.values():
        reading = read(extractor, Document.from_html(html, "https://tools.example/x"))
        assert reading == read(extractor, Document.from_html(html, "https://tools.example/x"))
        assert not reading.drifting & set(reading.values)


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=200))
def test_learning_never_raises_whatever_the_labels_say(text: str) -> None:
    learn(
        TOOLS,
        [Example(page(table, tool), {"title": text, "brand": [text], "price": None}) for tool in SHELF[:2]],
    )
    learn(
        TOOLS,
        [Example(Document.from_html(text), {"title": "a"}), Example(declared(SHELF[0]), {"title": "a"})],
    )
