"""Learning: what makes a rule, and what makes none."""

import pytest

from tests.learning.sites import LAYOUTS, SHELF, TOOLS, Layout, boxes, definitions, example, page, table
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Example, Extractor, LearningRefusal
from thresher.learning.learn import learn
from thresher.learning.locator import Family
from thresher.learning.read import read
from thresher.reading.html.document import Document


def shop(*bodies: str, head: str = "") -> list[Document]:
    return [
        Document.from_html(f"<head>{head}</head><body>{body}</body>", "https://shop.example/a")
        for body in bodies
    ]


def learned(schema: Schema, examples: list[Example], **more: list[Example]) -> Extractor:
    found = learn(schema, examples, **more)
    assert isinstance(found, Extractor), found
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_two_pages_are_enough_and_one_is_not(layout: Layout) -> None:
    assert isinstance(learn(TOOLS, [example(layout, tool) for tool in SHELF[:2]]), Extractor)
    refused = learn(TOOLS, [example(layout, SHELF[0])])
    assert isinstance(refused, LearningRefusal)
    assert "at least 2" in refused.reason


def test_a_label_and_a_name_are_two_witnesses() -> None:
    bodies = [
        f'<h1>{tool.title}</h1><p>Price: <span class="price">{tool.price}</span></p><p>Terms</p>'
        for tool in SHELF[:3]
    ]
    examples = [
        Example(page, {"price": tool.price}) for page, tool in zip(shop(*bodies), SHELF, strict=False)
    ]
    rules = learned(Schema("s", (Field("price"),)), examples).fields["price"].rules
    assert {Family.NAME, Family.LABEL} <= {rule.family for rule in rules}


def test_a_field_that_is_known_on_one_page_only_gets_no_rule_and_says_so() -> None:
    examples = [
        Example(page(table, SHELF[0]), SHELF[0].labels()),
        Example(page(table, SHELF[1]), {"title": SHELF[1].title}),
    ]
    found = learned(TOOLS, examples)
    assert list(found.fields) == ["title"]
    assert "known on 1 of the pages" in found.unlearned["price"]


def test_a_label_that_does_not_say_what_the_page_says_gets_no_rule() -> None:
    examples = [
        Example(page(table, tool), tool.labels() | {"brand": f"Somebody {at}"})
        for at, tool in enumerate(SHELF[:3])
    ]
    found = learned(TOOLS, examples)
    assert "brand" not in found.fields
    assert "check the labels" in found.unlearned["brand"]


def test_a_value_told_from_its_neighbours_by_order_alone_gets_no_rule() -> None:
    bodies = [
        "<h2>Facts</h2><ul><li>Steel</li><li>Leeds</li></ul>",
        "<h2>Facts</h2><ul><li>Ash</li><li>York</li></ul>",
        "<h2>Facts</h2><ul><li>Brass</li><li>Hull</li></ul>",
    ]
    examples = [
        Example(page, {"material": value})
        for page, value in zip(shop(*bodies), ("Steel", "Ash", "Brass"), strict=True)
    ]
    found = learn(Schema("s", (Field("material"),)), examples)
    assert isinstance(found, LearningRefusal)
    assert "order" in found.fields["material"]


def test_a_rule_that_speaks_where_the_field_is_known_to_be_absent_is_none() -> None:
    bodies = [f'<h1>Thing</h1><p class="note">{text}</p>' for text in ("Red oak", "Black ash", "Call us")]
    labels: list[dict[str, str | None]] = [{"wood": "Red oak"}, {"wood": "Black ash"}, {"wood": None}]
    found = learn(
        Schema("s", (Field("wood"),)),
        [Example(page, label) for page, label in zip(shop(*bodies), labels, strict=True)],
    )
    assert isinstance(found, LearningRefusal)


def test_a_rule_that_is_wrong_on_a_page_held_back_is_dropped() -> None:
    bodies = [
        f'<p class="a">{value}</p><p id="b">{other}</p>'
        for value, other in (("1st", "1st"), ("2nd", "2nd"), ("3rd", "nothing"))
    ]
    first, second, third = [
        Example(page, {"place": value})
        for page, value in zip(shop(*bodies), ("1st", "2nd", "3rd"), strict=True)
    ]
    schema = Schema("s", (Field("place"),))
    rules = learned(schema, [first, second], held_back=[third]).fields["place"].rules
    assert not any("id=" in str(rule.locator) for rule in rules)
    assert read(learned(schema, [first, second], held_back=[third]), third.document).values == {
        "place": "3rd"
    }


def test_a_judgement_is_not_looked_for_in_the_page() -> None:
    schema = Schema("s", (Field("title"), Field("good", Kind.BOOLEAN, judged=True)))
    found = learned(
        schema, [Example(page(table, tool), {"title": tool.title, "good": True}) for tool in SHELF[:3]]
    )
    assert "judgement" in found.unlearned["good"]


def test_numbers_are_known_by_what_they_say() -> None:
    schema = Schema("s", (Field("grams", Kind.INTEGER),))
    examples = [
        Example(page(definitions, tool), {"grams": int(tool.weight.replace(",", "").split()[0])})
        for tool in SHELF[:4]
    ]
    found = learned(schema, examples)
    assert read(found, page(definitions, SHELF[4])).values == {"grams": 7800}


def test_a_link_is_read_whole() -> None:
    bodies = [f'<h1>{at}</h1><a class="maker" href="/maker/{at}">Maker</a>' for at in range(4)]
    pages = shop(*bodies)
    examples = [
        Example(page, {"maker": f"https://shop.example/maker/{at}"}) for at, page in enumerate(pages[:3])
    ]
    found = learned(Schema("s", (Field("maker", Kind.URL),)), examples)
    assert read(found, pages[3]).values == {"maker": "https://shop.example/maker/3"}


def test_a_part_of_a_text_is_read_by_what_encloses_it_on_every_page() -> None:
    bodies = [
        f"<p class='by'>Made by {tool.brand} in {town}</p>"
        for tool, town in zip(SHELF, ("Leeds", "York", "Hull", "Bath"), strict=False)
    ]
    pages = shop(*bodies)
    examples = [Example(page, {"brand": tool.brand}) for page, tool in zip(pages[:3], SHELF, strict=False)]
    assert read(learned(Schema("s", (Field("brand"),)), examples), pages[3]).values == {
        "brand": SHELF[3].brand
    }


def test_several_values_are_read_as_a_list() -> None:
    bodies = [
        '<p class="by"><a href="/1">Ann</a>, <a href="/2">Bea</a></p>',
        '<p class="by"><a href="/3">Cid</a></p>',
        '<p class="by"><a href="/4">Dan</a>, <a href="/5">Eve</a>, <a href="/6">Fay</a></p>',
    ]
    pages = shop(*bodies)
    examples = [Example(pages[0], {"authors": ["Ann", "Bea"]}), Example(pages[1], {"authors": ["Cid"]})]
    found = learned(Schema("s", (Field("authors", many=True),)), examples)
    assert read(found, pages[2]).values == {"authors": ["Dan", "Eve", "Fay"]}


def test_values_in_embedded_data_and_meta_tags_are_found() -> None:
    def made(number: int) -> Document:
        state = f'<script>window.STATE = {{"item": {{"code": "K-{number}77", "kind": "tool"}}}};</script>'
        return Document.from_html(
            f'<head><meta property="og:title" content="Item {number}"></head><body><p>Hi</p>{state}</body>'
        )

    schema = Schema("s", (Field("code"), Field("title")))
    examples = [Example(made(at), {"code": f"K-{at}77", "title": f"Item {at}"}) for at in range(3)]
    assert read(learned(schema, examples), made(8)).values == {"code": "K-877", "title": "Item 8"}


def test_the_same_examples_always_give_the_same_extractor() -> None:
    assert learned(TOOLS, [example(boxes, tool) for tool in SHELF[:3]]) == learned(
        TOOLS, [example(boxes, tool) for tool in SHELF[:3]]
    )
