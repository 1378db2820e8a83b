"""An extractor as JSON: the same after the way there and back, and a clear word about what cannot be read."""

import json
from typing import Any

import orjson
import pytest

from tests.learning.sites import LAYOUTS, SHELF, TOOLS, Layout, declared, example, page
from thresher.core.errors import UsageError
from thresher.core.schema import Field, Schema
from thresher.learning.extractor import Example, Extractor
from thresher.learning.learn import learn
from thresher.learning.read import read
from thresher.learning.record import from_json, to_json
from thresher.learning.structure import from_structure


def learned(layout: Layout) -> Extractor:
    found = learn(TOOLS, [example(layout, tool) for tool in SHELF[:3]])
    assert isinstance(found, Extractor)
    return found


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_an_extractor_is_the_same_after_the_way_there_and_back(layout: Layout) -> None:
    extractor = learned(layout)
    stored = orjson.loads(orjson.dumps(to_json(extractor)))
    again = from_json(stored)
    assert to_json(again) == stored
    assert again.schema == extractor.schema
    assert read(again, page(layout, SHELF[5])) == read(extractor, page(layout, SHELF[5]))


def test_rules_into_data_come_back_too() -> None:
    extractor = learn(TOOLS, from_structure(TOOLS, [declared(tool) for tool in SHELF[:3]]))
    assert isinstance(extractor, Extractor)
    again = from_json(json.loads(json.dumps(to_json(extractor))))
    assert read(again, declared(SHELF[6])) == read(extractor, declared(SHELF[6]))


def test_a_table_of_things_comes_back_too() -> None:
    schema = Schema("tools", (Field("title"), Field("price")), many=True)
    rows = "".join(
        f'<li class="hit"><a href="/{at}">{tool.title}</a> <b>{tool.price}</b></li>'
        for at, tool in enumerate(SHELF)
    )
    document = page(LAYOUTS[0], SHELF[0])
    listing = type(document).from_html(f"<ul>{rows}</ul>", "https://tools.example/")
    extractor = learn(
        schema, [Example(listing, {"items": [{"title": tool.title, "price": tool.price} for tool in SHELF]})]
    )
    assert isinstance(extractor, Extractor)
    assert read(from_json(to_json(extractor)), listing) == read(extractor, listing)


@pytest.mark.parametrize(
    "broken", [None, [], {}, {"format": 99}, "x", {"format": 1}, {"format": 1, "site": 3, "schema": {}}]
)
def test_what_is_no_extractor_is_refused_in_words(broken: Any) -> None:
    with pytest.raises(UsageError, match="learn the site again"):
        from_json(broken)


def test_a_field_of_the_record_that_is_broken_is_refused_in_words() -> None:
    stored = to_json(learned(LAYOUTS[0]))
    stored["fields"]["title"]["rules"][0]["by"] = ["spell", "abracadabra"]
    with pytest.raises(UsageError, match="cannot be read"):
        from_json(stored)
