"""Items out of answers: types, places, doubts; and whatever bytes come back, nothing is invented."""

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.extractions.course_api import LIST, with_detail
from tests.reading.test_apis import stands_at
from thresher.apps.extractions.api.definition import ItemApi, open_api
from thresher.apps.extractions.api.items import Batch, read_batch, read_detail
from thresher.apps.extractions.model import ApiSource, Entity
from thresher.core.errors import Malformed
from thresher.core.page import Page
from thresher.core.schema import Field, Kind, Schema

THING = Entity(
    "thing",
    Schema(
        "thing",
        (
            Field("name", required=True),
            Field("price", Kind.MONEY),
            Field("size", Kind.NUMBER),
            Field("count", Kind.INTEGER),
            Field("open", Kind.BOOLEAN),
            Field("link", Kind.URL),
            Field("level", choices=("Basic", "High")),
            Field("tags", many=True),
            Field("taste", judged=True),
        ),
    ),
)
FIELDS: dict[str, Any] = {each.name: each.name for each in THING.schema.fields}


def api_of(entity: Entity = THING, **answer: Any) -> ItemApi:
    shape = {"rows": "items", "total": "total", "next": "next", "fields": FIELDS, **answer}
    said = {
        "request": {"url": LIST, "query": {"c": "{cursor}"}},
        "paging": {"kind": "cursor"},
        "answer": shape,
    }
    return open_api(ApiSource(definition=said), entity).api


def answered(body: bytes | str, kind: str = "application/json") -> Page:
    raw = body.encode() if isinstance(body, str) else body
    return Page(LIST, LIST, 200, {"content-type": kind}, raw)


def read(*rows: Any, api: ItemApi | None = None, entity: Entity = THING) -> Batch:
    return read_batch(api or api_of(), entity, None, answered(json.dumps({"items": rows})))


def only(row: dict[str, Any]) -> Any:
    (item,) = read({"name": "A", **row}).items
    return item


@pytest.mark.parametrize(
    ("row", "value"),
    [
        ({"size": 3}, 3),
        ({"size": "3.50"}, 3.5),
        ({"size": -2.25}, -2.25),
        ({"count": "12"}, 12),
        ({"count": 12.0}, 12),
        ({"open": False}, False),
        ({"open": "TRUE"}, True),
        ({"open": 0}, False),
        ({"link": "/a b"}, "https://api.school.example/a%20b"),
        ({"level": "high"}, "High"),
        ({"tags": ["a", "b", "a", None, 3]}, ["a", "b", "3"]),
        ({"tags": "a"}, ["a"]),
        ({"name": "<p>A &amp; B</p>"}, "A & B"),
        ({"name": ["A", "B"]}, "A; B"),
        ({"price": 12.5}, "12.5"),
        ({"name": "A\x00\u202eB"}, "A\ufffd\u200bB"),
    ],
)
def test_a_value_has_the_type_of_its_field(row, value):
    item = only(row)
    (name,) = row
    found = item.values[name]
    assert (found, type(found)) == (value, type(value))
    assert not item.doubts


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"size": "three"}, "size is 'three', which is not a number"),
        ({"size": "1,200"}, "which is not a number"),
        ({"size": "NaN"}, "which is not a number"),
        ({"count": 1.5}, "which is not a whole number"),
        ({"count": 10**30}, "which is not a whole number"),
        ({"open": "perhaps"}, "which is not true or false"),
        ({"link": "javascript:alert(1)"}, "which is not a web address"),
        ({"level": "Middle"}, "which is not one of Basic, High"),
    ],
)
def test_a_value_that_does_not_fit_is_left_out_and_named(row, says):
    item = only(row)
    (name,) = row
    assert name not in item.values
    assert name not in item.places
    assert says in item.doubts[0]


@pytest.mark.parametrize(
    "row", [{"size": True}, {"name": {"a": 1}}, {"size": None}, {"link": ""}, {"tags": []}]
)
def test_what_says_nothing_is_no_value_and_no_doubt(row):
    item = read({"name": "A", "price": "1", **row}, {"name": "B"}).items
    assert all(set(each.values) <= {"name", "price"} for each in item)


@pytest.mark.promise(14)
def test_a_value_made_of_several_stands_in_what_holds_them_all():
    api = api_of(
        fields={
            "name": {"all": ["a.first", "a.last"], "with": " "},
            "link": {"template": "https://x.example/{id}?of={^school}"},
            "price": {"template": "free"},
            "tags": "list[].t",
        }
    )
    row = {"id": 7, "a": {"first": "Ada", "last": "L"}, "list": [{"t": "x"}, {"t": "y"}]}
    body = {"school": "s", "items": [{"id": 1, "a": {"first": "B"}}, row]}
    item = read_batch(api, THING, None, answered(json.dumps(body))).items[1]
    assert item.values == {
        "name": "Ada L",
        "link": "https://x.example/7?of=s",
        "price": "free",
        "tags": ["x", "y"],
    }
    places = {name: place and (place.path, place.quote) for name, place in item.places.items()}
    assert places == {
        "name": ("$.items[1].a", "Ada; L"),
        "link": ("$", "7; s"),
        "price": None,  # the definition alone says it, so nobody has verified it
        "tags.0": ("$.items[1].list[0].t", "x"),
        "tags.1": ("$.items[1].list[1].t", "y"),
    }


def test_an_opinion_has_no_place():
    assert only({"taste": "fine"}).places.keys() == {"name"}


def keys_of(entity: Entity, rows: list[dict[str, Any]], **answer: Any) -> list[str]:
    return [each.key for each in read(*rows, api=api_of(entity, **answer), entity=entity).items]


def test_items_are_told_apart_by_key_then_id_then_address_then_everything():
    rows = [
        {"name": "A  b", "id": 1, "u": "/a?utm_source=x", "tags": ["t"]},
        {"name": "a B", "id": 2, "u": "/b"},
    ]
    keyed = Entity("thing", Schema("thing", THING.schema.fields, key=("name",)))
    assert keys_of(keyed, rows, id="id", url="u") == ["a b", "a b"]
    assert keys_of(THING, rows, id="id", url="u") == ["1", "2"]
    first, second = keys_of(THING, rows, url="u")
    assert "utm" not in first
    assert first.endswith("/a")
    assert second.endswith("/b")
    assert len(set(keys_of(THING, rows))) == 2
    assert keys_of(THING, rows) == keys_of(THING, rows)


def test_a_row_without_anything_that_is_required_is_no_item():
    found = read({"name": "A"}, {"size": 3}, 7, {})
    assert [item.values for item in found.items] == [{"name": "A"}]
    assert found.bad == (
        "row 2: it has no name",
        "row 3: it is a number, not an object",
        "row 4: it has no name",
    )
    assert read({"size": 3}, {}).trouble == "none of 2 rows is a thing; row 1: it has no name"


def test_a_missing_required_field_is_a_doubt():
    entity = Entity("thing", Schema("thing", (Field("name", required=True), Field("code", required=True))))
    api = api_of(entity, fields={"name": "name", "code": "code"})
    assert read({"name": "A"}, api=api, entity=entity).items[0].doubts == ("code is required and is missing",)


def test_xml_is_read_like_json():
    fields = {"name": "title", "tags": "tag", "count": "@n", "open": "open"}
    api = api_of(format="xml", root="list", rows="course", total="@count", fields=fields)
    text = (
        '<list count="2"><course n="4"><title>A</title><tag>x</tag><tag>y</tag><open>true</open></course>'
        "<course><title>B</title></course></list>"
    )
    found = read_batch(api, THING, None, answered(text, "application/xml"))
    assert [dict(each.values) for each in found.items] == [
        {"name": "A", "tags": ["x", "y"], "count": 4, "open": True},
        {"name": "B"},
    ]
    assert found.items[0].places["tags.1"].path == "$.course[0].tag[1]"
    assert found.total == 2


DETAILED = with_detail("none") | {
    "answer": {"rows": "items", "id": "id", "fields": {"name": "name", "tags": "tags", "size": "size"}}
}
DETAILED["detail"] = {
    "request": {"url": f"{LIST}/{{id}}"},
    "answer": {"id": "id", "url": "page", "fields": {"tags": "tags", "price": "price"}},
}


def test_a_detail_replaces_what_it_says_and_keeps_the_rest():
    api = open_api(ApiSource(definition=DETAILED), THING).api
    body = {"items": [{"id": 5, "name": "A", "tags": ["a", "b"], "size": 1}]}
    (item,) = read_batch(api, THING, None, answered(json.dumps(body))).items
    detail = {"id": 5, "tags": ["z"], "price": "3 EUR", "page": "/things/5"}
    whole = read_detail(api, THING, item, answered(json.dumps(detail)), "hash")
    assert whole.values == {"name": "A", "tags": ["z"], "size": 1, "price": "3 EUR"}
    assert {name: place and place.source for name, place in whole.places.items()} == {
        "name": None,
        "size": None,
        "tags.0": "hash",
        "price": "hash",
    }
    assert (whole.key, whole.url) == (item.key, "https://api.school.example/things/5")
    with pytest.raises(Malformed, match="another item"):
        read_detail(api, THING, item, answered(json.dumps({**detail, "id": 6})), "hash")


# Hostile answers

WORDS = st.sampled_from([*FIELDS, "items", "total", "next", "error"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=40,
)
ROWS = st.fixed_dictionaries(
    {"items": st.lists(st.dictionaries(WORDS, DATA, max_size=6), max_size=4)},
    optional={"total": DATA, "next": DATA},
)


def honest(found: Batch, body: Any) -> None:
    assert len(found.items) + len(found.bad) <= found.rows
    assert not (found.next and (found.trouble or found.capped))
    for item in found.items:
        assert not THING.schema.complaints(dict(item.values))
        orjson.dumps([item.values, item.key, item.url])
        assert "\x00" not in item.key + item.url
        for name, place in item.places.items():
            assert name.partition(".")[0] in item.values
            if place is not None:
                stands_at(place.path or "", body)


@pytest.mark.promise(14)
@given(ROWS | DATA)
def test_whatever_an_answer_holds_nothing_is_raised_or_invented(body):
    text = json.dumps(body)
    if "NaN" not in text and "Infinity" not in text:
        honest(read_batch(api_of(), THING, None, answered(text)), json.loads(text))
    read_batch(api_of(), THING, None, answered(text))


@given(st.binary(max_size=200), st.sampled_from(["application/json", "text/html", "text/xml", ""]))
def test_bytes_that_are_no_answer_are_trouble(body, kind):
    found = read_batch(api_of(), THING, None, answered(body, kind))
    assert found.trouble
    assert not found.items


def test_a_huge_answer_is_read_in_a_moment():
    rows = [{"name": f"N{at}", "tags": ["x"] * 200, "price": "1" * 300} for at in range(5_000)]
    began = time.process_time()
    found = read(*rows)
    assert len(found.items) == 5_000
    assert time.process_time() - began < 20
