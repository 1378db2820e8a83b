"""Pages that show several things: rows found by what they share, and rules that stay within a row."""

from dataclasses import dataclass
from html import escape
from typing import Any

import pytest

from tests.learning.sites import SHELF, Tool
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example, Extractor, LearningRefusal
from thresher.learning.learn import learn
from thresher.learning.read import read
from thresher.learning.rows import rows
from thresher.reading.html.document import Document
from thresher.reading.text.plain import full_text

LIST = Schema(
    "tools",
    (Field("title", required=True), Field("price", Kind.MONEY), Field("brand"), Field("link", Kind.URL)),
    many=True,
)


def card(tool: Tool) -> str:
    return (
        f'<li class="hit"><h3><a href="/item/{SHELF.index(tool)}00{SHELF.index(tool)}">{escape(tool.title)}</a></h3>'
        f'<p class="brand">{escape(tool.brand)}</p><p class="price">{tool.price}</p></li>'
    )


def line(tool: Tool) -> str:
    at = SHELF.index(tool)
    cells = f'<td class="brand">{escape(tool.brand)}</td><td class="price">{tool.price}</td>'
    return f'<tr class="hit"><td><a href="/item/{at}00{at}">{escape(tool.title)}</a></td>{cells}</tr>'


@dataclass(frozen=True, slots=True)
class Shop:
    row: Any
    around: str

    def listing(self, tools: tuple[Tool, ...], extra: str = "") -> Document:
        inner = self.around.format("".join(map(self.row, tools)) + extra)
        return Document.from_html(f"<h1>All tools</h1>{inner}<p>Terms</p>", "https://tools.example/all")


SHOPS = {"cards": Shop(card, "<ul>{}</ul>"), "lines": Shop(line, "<table>{}</table>")}


def thing(tool: Tool) -> dict[str, str]:
    at = SHELF.index(tool)
    return {
        "title": tool.title,
        "price": tool.price,
        "brand": tool.brand,
        "link": f"https://tools.example/item/{at}00{at}",
    }


def learned(shop: Shop) -> Extractor:
    found = learn(LIST, [Example(shop.listing(SHELF[:4]), {"items": [thing(tool) for tool in SHELF[:4]]})])
    assert isinstance(found, Extractor), found
    return found


@pytest.mark.parametrize("shop", SHOPS.values(), ids=SHOPS)
def test_one_labelled_list_teaches_to_read_the_others(shop: Shop) -> None:
    reading = read(learned(shop), shop.listing(SHELF[3:]))
    assert reading.values["items"] == [thing(tool) for tool in SHELF[3:]]
    assert reading.drifts == ()


@pytest.mark.promise(14)
@pytest.mark.parametrize("shop", SHOPS.values(), ids=SHOPS)
def test_values_of_a_row_are_pointed_at_in_the_page(shop: Shop) -> None:
    document = shop.listing(SHELF[3:])
    reading = read(learned(shop), document)
    for at, tool in enumerate(SHELF[3:]):
        place = reading.places[f"{at}.brand"]
        assert place is not None
        assert place.start is not None
        assert full_text(document)[place.start : place.end] == tool.brand
        title = full_text(document).index(tool.title)
        assert title < place.start < title + 100


@pytest.mark.promise(14)
@pytest.mark.parametrize("shop", SHOPS.values(), ids=SHOPS)
def test_a_row_without_a_value_does_not_borrow_that_of_the_next(shop: Shop) -> None:
    document = shop.listing(SHELF)
    poorer = Document.from_html(
        document.html.replace(f'class="price">{SHELF[5].price}', 'class="note">Ask us'), document.url
    )
    reading = read(learned(shop), poorer)
    assert "price" not in reading.values["items"][5]
    assert reading.values["items"][6] == thing(SHELF[6])
    assert "price" in reading.drifting


def test_a_page_without_rows_is_drift() -> None:
    reading = read(learned(SHOPS["cards"]), Document.from_html("<p>We are closed</p>"))
    assert reading.values == {"items": []}
    assert reading.drifts


def test_too_few_labelled_rows_are_refused() -> None:
    shop = SHOPS["cards"]
    assert isinstance(
        learn(LIST, [Example(shop.listing(SHELF[:2]), {"items": [thing(tool) for tool in SHELF[:2]]})]),
        LearningRefusal,
    )
    assert isinstance(learn(LIST, []), LearningRefusal)


@pytest.mark.parametrize("shop", SHOPS.values(), ids=SHOPS)
def test_rows_are_found_without_labels(shop: Shop) -> None:
    assert rows(LIST, shop.listing(SHELF)) == [thing(tool) for tool in SHELF]


@pytest.mark.promise(15)
def test_a_list_is_learned_from_its_own_structure() -> None:
    shop = SHOPS["cards"]
    first = shop.listing(SHELF[:4])
    extractor = learn(LIST, [Example(first, {"items": rows(LIST, first)})])
    assert isinstance(extractor, Extractor)
    assert read(extractor, shop.listing(SHELF[4:])).values["items"] == [thing(tool) for tool in SHELF[4:]]


def test_of_two_groups_the_one_that_says_more_of_what_was_asked_for_is_taken() -> None:
    """A wall of links to searches is longer than the list itself."""
    wall = "".join(
        f'<p><a href="/search/{at}00{at}-tools">Tools for purpose {at}</a></p>' for at in range(30)
    )
    document = SHOPS["cards"].listing(SHELF)
    assert rows(LIST, Document.from_html(document.html + wall, document.url)) == [
        thing(tool) for tool in SHELF
    ]


def test_a_page_without_a_group_of_alike_things_has_no_rows() -> None:
    assert rows(LIST, Document.from_html("<p>One <a href='/a'>link</a></p>", "https://tools.example/")) == []
