"""Entities: the shipped types, and what a person's own JSON Schema may and may not say."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.apps.extractions.entities import (
    entity_from,
    entity_said,
    entity_text,
    entity_types,
    name_from,
    read_entity,
    result_schema,
    schema_of,
    shipped_entity,
)
from thresher.apps.extractions.model import Entity
from thresher.core.schema import Field, Kind, Schema
from thresher.reading.structured.checked_yaml import Mistake

LAMP = {
    "title": "Lamp",
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "description": "Name of the lamp."},
        "watts": {"type": "number"},
        "bulbs": {"type": ["integer", "null"]},
        "dimmable": {"type": "boolean"},
        "sockets": {"type": "array", "items": {"type": "string", "enum": ["E14", "E27"]}},
        "energy_class": {"enum": ["A", "B", "C"]},
        "since": {"type": "string", "format": "date"},
        "page": {"type": "string", "format": "uri"},
        "price": {"type": "string", "x-kind": "money"},
    },
    "additionalProperties": False,
}


def problem(said: object, **properties: object) -> str:
    with pytest.raises(Mistake) as caught:
        schema_of({"type": "object", "properties": properties} if properties else said, "lamp")
    return f"{'.'.join(map(str, caught.value.path))}: {caught.value.advice}"


def test_the_shipped_types_say_what_every_field_is():
    types = entity_types()
    assert list(types) == [
        "course",
        "learning_programme",
        "competency",
        "credential",
        "product",
        "job_posting",
        "article",
        "generic",
    ]
    for name, each in types.items():
        assert each.entity.name == each.entity.schema.name == name
        for field in each.entity.schema.fields:
            assert field.says.endswith("."), f"{name}.{field.name} has no sentence"
            assert field.says[0].isupper()


def test_the_shipped_types_have_the_fields_of_the_first_system():
    course = entity_types()["course"].entity.schema
    assert [field.name for field in course.fields if field.required] == ["id", "name", "description"]
    for name in ("credits_min", "credits_max", "credits_type", "ceu", "prerequisites", "non_credit"):
        assert course[name]
    assert {"text", "framework", "language", "category"} <= {
        field.name for field in entity_types()["competency"].entity.schema.fields
    }
    assert {"name", "description", "type", "language"} <= {
        field.name for field in entity_types()["credential"].entity.schema.fields
    }


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("course", "course"),
        ("COURSES", "course"),
        ("Job Posting", "job_posting"),
        ("job-posting", "job_posting"),
        ("LEARNING_PROGRAMS", "learning_programme"),
        ("learningProgramme", "learning_programme"),
    ],
)
def test_a_type_is_found_in_any_spelling(said, means):
    entity = shipped_entity(said)
    assert entity is not None
    assert entity.name == means


def test_a_flat_schema_of_a_persons_own_becomes_fields():
    entity = read_entity({"schema": LAMP, "key": ["name", "page"]})
    assert (entity.name, entity.schema.key) == ("lamp", ("name", "page"))
    kinds = {field.name: field.kind for field in entity.schema.fields}
    assert kinds == {
        "name": Kind.TEXT,
        "watts": Kind.NUMBER,
        "bulbs": Kind.INTEGER,
        "dimmable": Kind.BOOLEAN,
        "sockets": Kind.TEXT,
        "energy_class": Kind.TEXT,
        "since": Kind.DATE,
        "page": Kind.URL,
        "price": Kind.MONEY,
    }
    assert entity.schema["sockets"] == Field("sockets", many=True, choices=("E14", "E27"))
    assert entity.schema["name"] == Field("name", says="Name of the lamp.", required=True)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"type": "object", "properties": {}}, "address_city"),
        ({"properties": {"city": {"type": "string"}}}, "Flatten it: address_city"),
        ({"$ref": "#/$defs/address"}, "$ref composes schemas"),
        ({"oneOf": [{"type": "string"}]}, "oneOf composes schemas"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "anyOf composes schemas"),
        ({"type": "array", "items": {"type": "object"}}, "a recipe of its own"),
        ({"type": "array", "items": {"type": "array"}}, "is a list of arrays"),
        ({"type": "array"}, "must say what the list holds"),
        ({"type": ["string", "number"]}, "are several types"),
        ({"type": "text"}, "write one of string, number, integer, boolean, array"),
        ({}, "None is not a type"),
        ({"type": "string", "format": "email"}, "'email' is not checked here"),
        ({"type": "number", "format": "date"}, "format, which is for text"),
        ({"type": "string", "pattern": "(a+)+$"}, "'pattern' is not checked here"),
        ({"type": "string", "minLength": 3}, "'minLength' is not checked here"),
        ({"type": "integer", "enum": [1, 2]}, "1 is not a text"),
        ({"enum": []}, "must list 1 to 200 texts"),
        ({"enum": ["a", "a"]}, "lists a value twice"),
        ({"enum": ["\x1b[31m"]}, "is not a text of 1 to 200 printable"),
        ({"type": "string", "description": "x" * 1_001}, "must be at most 1000"),
        ("string", "is not a JSON Schema"),
    ],
)
def test_what_is_not_flat_or_not_checked_is_refused_with_what_to_do(field, says):
    told = problem(None, address=field)
    assert told.startswith("schema.properties.address")
    assert says in told


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("course", "is not a JSON Schema"),
        ({"type": "array", "items": {}}, "'items' is not checked here"),
        ({"type": "string", "properties": {"a": {"type": "string"}}}, "an entity is an object"),
        ({"properties": {}}, "must have 1 to 100 fields"),
        ({"properties": {f"f{n}": {"type": "string"} for n in range(101)}}, "must have 1 to 100 fields"),
        ({"properties": {"courseId": {"type": "string"}}}, "digits and _: course_id"),
        ({"properties": {"größe": {"type": "string"}}}, "is not a field name"),
        ({"properties": {"a": {"type": "string"}}, "required": ["b"]}, "names b, which is not among"),
        ({"properties": {"a": {"type": "string"}}, "required": "a"}, "is not a list"),
        ({"$defs": {}, "properties": {"a": {"type": "string"}}}, "$defs composes schemas"),
        ({"properties": {"a": {"type": "string"}}, "patternProperties": {}}, "entities are flat"),
    ],
)
def test_a_schema_that_is_none_is_refused(said, says):
    assert says in problem(said)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("recipe", "write one of course, learning_programme"),
        ({}, "neither a name nor a schema"),
        ({"name": "course", "key": ["nope"]}, "nope"),
        ({"name": "course", "schema": LAMP}, "name: my_course"),
        ({"name": "My Lamp", "schema": LAMP}, "is not a name"),
        ({"schema": LAMP, "key": ["volts"]}, "volts"),
        ({"schema": LAMP, "key": [1]}, "is not a list of field names"),
        ({"schemas": LAMP}, "schemas is not a known key"),
        (7, "is not a mapping"),
    ],
)
def test_an_entity_that_cannot_be_is_refused(said, says):
    with pytest.raises(Mistake) as caught:
        read_entity(said)
    assert says in caught.value.advice


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), min_size=1, max_size=20)


@st.composite
def fields(draw: st.DrawFn) -> Field:
    kind = draw(st.sampled_from(Kind))
    choices = draw(st.lists(WORDS, max_size=4, unique=True)) if kind is Kind.TEXT else []
    return Field(
        draw(NAMES),
        kind,
        draw(WORDS | st.just("")),
        draw(st.booleans()),
        draw(st.booleans()),
        tuple(choices),
        draw(st.booleans()),
    )


@st.composite
def entities(draw: st.DrawFn) -> Entity:
    found = draw(st.lists(fields(), min_size=1, max_size=8, unique_by=lambda field: field.name))
    key = draw(st.lists(st.sampled_from([field.name for field in found]), max_size=3, unique=True))
    name = draw(NAMES.filter(lambda each: each not in entity_types()))
    return Entity(name, Schema(name, tuple(found), key=tuple(key)))


@given(entities())
def test_an_entity_is_read_back_as_it_was_written(entity):
    assert entity_from(entity_text(entity)) == entity
    assert schema_of(result_schema(entity.schema), entity.name, entity.schema.key) == entity.schema
    assert read_entity(entity_said(entity)) == entity


def test_shipped_entities_are_written_by_their_name():
    for name, each in entity_types().items():
        assert entity_said(each.entity) == name
        assert entity_from(entity_text(each.entity)) == each.entity
    keyed = read_entity({"name": "course", "key": ["id"]})
    assert entity_said(keyed) == {"name": "course", "key": ["id"]}
    assert read_entity(entity_said(keyed)) == keyed


def test_the_schema_of_the_result_says_what_may_be_missing():
    told = result_schema(read_entity({"schema": LAMP}).schema)
    assert told["required"] == ["name"]
    assert told["properties"]["name"]["type"] == "string"
    assert told["properties"]["watts"] == {"type": ["number", "null"]}
    assert told["properties"]["energy_class"]["enum"] == ["A", "B", "C", None]
    assert told["properties"]["sockets"]["items"] == {"type": "string", "enum": ["E14", "E27"]}
    assert "format" not in told["properties"]["since"], "a date stays as the page writes it"


@given(st.text())
def test_any_title_makes_a_name_or_none(text):
    name = name_from(text)
    assert name == "" or Field(name)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["type", "properties", "items", "enum", "format", "required", "a", "$ref"])
                | st.text(max_size=4),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_whatever_is_sent_as_an_entity_is_an_entity_or_a_mistake(said):
    with suppress(Mistake):
        assert read_entity({"schema": said}).schema.fields
