"""Labels without a model: from structured data and from pairs of a label and a value."""

import json

import pytest

from tests.learning.sites import SHELF, TOOLS, declared, definitions, page
from thresher.core.schema import Field, Kind, Schema
from thresher.learning.extractor import Extractor
from thresher.learning.learn import learn
from thresher.learning.read import read
from thresher.learning.structure import from_structure
from thresher.reading.html.document import Document


def test_a_site_that_declares_its_things_labels_its_own_pages() -> None:
    examples = from_structure(TOOLS, [declared(tool) for tool in SHELF[:3]])
    assert [example.labels["title"] for example in examples] == [tool.title for tool in SHELF[:3]]
    assert [example.labels["brand"] for example in examples] == [tool.brand for tool in SHELF[:3]]
    assert [example.labels["price"] for example in examples] == [tool.price for tool in SHELF[:3]]


@pytest.mark.promise(15)
def test_a_site_is_learned_and_read_without_a_model() -> None:
    extractor = learn(TOOLS, from_structure(TOOLS, [declared(tool) for tool in SHELF[:3]]))
    assert isinstance(extractor, Extractor)
    values = read(extractor, declared(SHELF[6])).values
    assert values == {name: SHELF[6].labels()[name] for name in ("title", "price", "brand", "sku", "weight")}


def test_a_label_that_names_the_field_is_taken_at_its_word() -> None:
    schema = Schema("tool", (Field("brand"), Field("weight")))
    examples = from_structure(schema, [page(definitions, tool) for tool in SHELF[:4]])
    assert [example.labels for example in examples] == [
        {"brand": tool.brand, "weight": tool.weight} for tool in SHELF[:4]
    ]


def test_an_opening_is_labelled_by_what_it_declares() -> None:
    schema = Schema(
        "opening", (Field("title"), Field("company"), Field("location"), Field("date_posted", Kind.DATE))
    )

    def posting(number: int) -> Document:
        data = {
            "@type": "JobPosting",
            "title": f"Ladder maker {number}",
            "hiringOrganization": {"@type": "Organization", "name": f"Acme {number}"},
            "jobLocation": {"@type": "Place", "address": {"addressLocality": "Leeds"}},
            "datePosted": f"2026-01-0{number}",
        }
        return Document.from_html(
            f'<script type="application/ld+json">{json.dumps(data)}</script><h1>Ladder maker {number}</h1>'
        )

    examples = from_structure(schema, [posting(at) for at in (1, 2, 3)])
    assert examples[0].labels == {
        "title": "Ladder maker 1",
        "company": "Acme 1",
        "location": "Leeds",
        "date_posted": "2026-01-01",
    }


def test_a_page_that_declares_several_things_of_a_kind_is_not_guessed_at() -> None:
    two = "".join(
        f'<script type="application/ld+json">{{"@type": "Product", "name": "Tool {at}"}}</script>'
        for at in (1, 2)
    )
    assert from_structure(TOOLS, [Document.from_html(two), Document.from_html(two)]) == []


def test_the_title_of_a_card_counts_only_where_the_page_shows_it() -> None:
    def made(title: str, shown: str) -> Document:
        return Document.from_html(
            f'<head><meta property="og:title" content="{title}"></head><body><h1>{shown}</h1></body>'
        )

    schema = Schema("s", (Field("title"),))
    assert (
        from_structure(schema, [made("Saw | Shop of tools", "Saw"), made("Axe | Shop of tools", "Axe")]) == []
    )
    assert [each.labels for each in from_structure(schema, [made("Saw", "Saw"), made("Axe", "Axe")])] == [
        {"title": "Saw"},
        {"title": "Axe"},
    ]


def test_pages_that_say_nothing_to_machines_give_no_examples() -> None:
    assert (
        from_structure(
            Schema("s", (Field("colour"),)), [Document.from_html("<p>Red</p>"), Document.from_html("")]
        )
        == []
    )
