"""What a recipe reads: the entity types that come with the app, and any flat JSON Schema of a person's own.

Entities are flat, so that each value can be found on its page and put into one cell of a table. A schema that
is nested, or that asks for something nobody would check, is refused with the reason and with what to write
in its place: half a schema would silently be another one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from thresher.apps.extractions.model import Entity
from thresher.core.errors import UsageError
from thresher.core.schema import MAX_FIELDS, Field, Kind, Schema
from thresher.reading.structured.checked_yaml import (
    Path,
    flag_at,
    list_at,
    mapping_of,
    read_checked,
    shown,
    text_at,
    wrong,
)

FILE = "entities.yaml"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
MAX_SAYS = 1_000  # characters of a description
MAX_CHOICES = 200
MAX_CHOICE = 200  # characters
NAMELESS = "item"  # an entity whose schema has no title that could be its name
# Money and dates stay as the page writes them, so `format: date` would promise more than is true.
KIND = "x-kind"
JUDGED = "x-judged"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ROOT = (
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
)
_PROPERTY = ("$comment", "title", "description", "examples", "type", "enum", "format", "items", KIND, JUDGED)
_ITEMS = ("$comment", "title", "description", "examples", "type", "enum", "format", KIND)
_NESTED = ("properties", "additionalProperties", "patternProperties", "prefixItems", "contains")
_COMPOSED = (
    "$ref",
    "$defs",
    "$dynamicRef",
    "definitions",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
)
_KINDS = {"string": Kind.TEXT, "number": Kind.NUMBER, "integer": Kind.INTEGER, "boolean": Kind.BOOLEAN}
_FORMATS = {"date": Kind.DATE, "date-time": Kind.DATE, "uri": Kind.URL, "url": Kind.URL}
_TYPES = {kind: name for name, kind in _KINDS.items()} | {
    Kind.MONEY: "string",
    Kind.DATE: "string",
    Kind.URL: "string",
}


# The types that come with the app


@dataclass(frozen=True, slots=True)
class EntityType:
    """An entity type that comes with the app, and the other names by which a recipe may ask for it."""

    entity: Entity
    also: tuple[str, ...] = ()


@cache
def entity_types() -> Mapping[str, EntityType]:
    """The shipped types by name, in the order of the file."""
    text = (files("thresher.apps.extractions") / FILE).read_text("utf-8")
    return read_checked(text, FILE, _types)


def _types(data: Any) -> dict[str, EntityType]:
    return {name: _type(name, each) for name, each in data.items()}


def _type(name: str, data: Any) -> EntityType:
    said = mapping_of(data, ("also", "key", "schema"), (name,))
    schema = schema_of(said.get("schema"), name, tuple(list_at(said, "key", (name,))), (name, "schema"))
    return EntityType(Entity(name, schema), tuple(list_at(said, "also", (name,))))


def shipped_entity(name: str) -> Entity | None:
    """The shipped type of this name, in any spelling: `Learning Programme`, `COURSES`."""
    wanted = name_from(name)
    types = entity_types()
    if wanted in types:
        return types[wanted].entity
    return next((each.entity for each in types.values() if wanted in each.also), None)


def name_from(text: str) -> str:
    """The name that a title makes: lower-case words with underscores. Empty where nothing is left."""
    words = _NOT_IN_NAMES.sub("_", _HUMP.sub("_", text).lower()).strip("_")
    return words[:64] if words[:1].isalpha() else ""


# What a recipe says of its entity


def read_entity(said: Any, path: Path = ("entity",)) -> Entity:
    """An entity as a recipe names it: a shipped type, or a mapping with a JSON Schema. Raises Mistake."""
    if isinstance(said, str):
        return _shipped(said, path)
    entity = mapping_of(said, ("name", "schema", "key"), path)
    name, key = text_at(entity, "name", path), _key(entity, path)
    if entity.get("schema") is None:
        if name is None:
            wrong(path, "has neither a name nor a schema; write entity: course, or entity: {schema: ...}")
        found = _shipped(name, (*path, "name"))
        return found if key is None else _keyed(found, key, path)
    return _own(entity["schema"], name, key or (), path)


def _shipped(name: str, path: Path) -> Entity:
    found = shipped_entity(name)
    if found is None:
        known = ", ".join(entity_types())
        wrong(
            path, f"{shown(name)} is not an entity type; write one of {known}, or {{schema: ...}} of your own"
        )
    return found


def _own(said: Any, name: str | None, key: tuple[str, ...], path: Path) -> Entity:
    if name is not None and not _NAME.fullmatch(name):
        wrong((*path, "name"), f"{shown(name)} is not a name; write lower-case letters, digits and _: lamp")
    title = said.get("title") if isinstance(said, dict) else None
    made = name or name_from(title if isinstance(title, str) else "") or NAMELESS
    schema = schema_of(said, made, key, (*path, "schema"))
    if made in entity_types():
        wrong(path, f"{made} is the name of a shipped entity type; give yours another: name: my_{made}")
    return Entity(made, schema)


def _key(said: Mapping[str, Any], path: Path) -> tuple[str, ...] | None:
    if said.get("key") is None:
        return None
    names = [said["key"]] if isinstance(said["key"], str) else list_at(said, "key", path)
    if not all(isinstance(each, str) for each in names):
        wrong((*path, "key"), f"{shown(names)} is not a list of field names; write [id, name]")
    return tuple(names)


def _keyed(entity: Entity, key: tuple[str, ...], path: Path) -> Entity:
    try:
        return Entity(entity.name, replace(entity.schema, key=key))
    except UsageError as problem:
        wrong((*path, "key"), str(problem))


# JSON Schema


def schema_of(said: Any, name: str, key: tuple[str, ...] = (), path: Path = ("schema",)) -> Schema:
    """The schema that a flat JSON Schema describes. Raises Mistake, with the reason and what to do."""
    if not isinstance(said, dict):
        wrong(path, f"{shown(said)} is not a JSON Schema; write {{type: object, properties: {{...}}}}")
    _refuse_foreign(said, _ROOT, path)
    if said.get("type", "object") != "object":
        wrong(
            (*path, "type"),
            f"{shown(said['type'])} is wrong; an entity is an object, its fields are properties",
        )
    properties, required = _properties(said, path), _required(said, path)
    fields = [
        _field(each, properties[each], each in required, (*path, "properties", each)) for each in properties
    ]
    if unknown := sorted(required - properties.keys()):
        wrong((*path, "required"), f"names {', '.join(unknown)}, which is not among the properties")
    try:
        return Schema(name, tuple(fields), key=key)
    except UsageError as problem:
        wrong(path, str(problem))


def _properties(said: Mapping[str, Any], path: Path) -> dict[str, Any]:
    found = said.get("properties")
    if not isinstance(found, dict) or not 0 < len(found) <= MAX_FIELDS:
        wrong((*path, "properties"), f"must have 1 to {MAX_FIELDS} fields: {{name: {{type: string}}}}")
    for name in found:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            advice = name_from(name) if isinstance(name, str) else ""
            wrong(
                (*path, "properties", name),
                f"{shown(name)} is not a field name; write lower-case letters, digits and _"
                + (f": {advice}" if advice else ""),
            )
    return found


def _required(said: Mapping[str, Any], path: Path) -> set[str]:
    names = list_at(said, "required", path)
    if not all(isinstance(each, str) for each in names):
        wrong((*path, "required"), f"{shown(names)} is not a list of field names")
    return set(names)


def _field(name: str, said: Any, required: bool, path: Path) -> Field:
    if not isinstance(said, dict):
        wrong(path, f"{shown(said)} is not a JSON Schema; write {{type: string}}")
    _refuse_foreign(said, _PROPERTY, path)
    type_ = _type_name(said, path)
    if type_ == "object":
        wrong(path, _flatten(name))
    many = type_ == "array"
    one, inner = (_items(name, said, path), (*path, "items")) if many else (said, path)
    kind, choices = _kind(one, inner), _choices(one, inner)
    if choices and kind is not Kind.TEXT:
        wrong((*inner, "enum"), f"lists values of type {_type_name(one, inner)}; only text can have an enum")
    return Field(name, kind, _says(said, path), required, many, choices, flag_at(said, JUDGED, False, path))


def _items(name: str, said: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """What an array holds. It must be values: a list of things is a data set of its own."""
    items = said.get("items")
    if not isinstance(items, dict):
        wrong((*path, "items"), "must say what the list holds: {type: array, items: {type: string}}")
    if said.get("enum") is not None or said.get("format") is not None:
        wrong(path, "has enum or format beside a list; write them under items")
    if items.get("type") in ("object", "array") or any(each in items for each in _NESTED):
        wrong(
            (*path, "items"),
            f"is a list of {items.get('type', 'object')}s; a field holds values. Make {name} a list of texts, "
            "or read it with a recipe of its own",
        )
    _refuse_foreign(items, _ITEMS, (*path, "items"))
    return items


def _refuse_foreign(said: Mapping[str, Any], known: tuple[str, ...], path: Path) -> None:
    """Refuse what would not be obeyed. Nothing of a schema is passed over."""
    for word in said:
        if word in known:
            continue
        name = next((str(each) for each in reversed(path) if each not in ("schema", "items")), "field")
        if word in _COMPOSED:
            wrong(
                (*path, word),
                f"{word} composes schemas, and an entity is one flat list of fields; write each field out, "
                "with one type",
            )
        if word in _NESTED:
            wrong((*path, word), _flatten(name))
        wrong(
            (*path, word),
            f"{shown(word)} is not checked here, so it is refused; the words are {', '.join(known)}",
        )


def _flatten(name: str) -> str:
    return (
        "is an object inside the entity; entities are flat, so that each value can be found on its page. "
        f"Flatten it: {name}_city, {name}_street as fields of their own"
    )


def _type_name(said: Mapping[str, Any], path: Path) -> str:
    """The one type of a value. `null` beside it says nothing new: any field may be missing on a page."""
    type_ = said.get("type")
    if isinstance(type_, list):
        kept = [each for each in type_ if each != "null"]
        if len(kept) != 1:
            wrong(
                (*path, "type"), f"{shown(type_)} are several types; a field has one, and may be null besides"
            )
        type_ = kept[0]
    if type_ is None and isinstance(said.get("enum"), list):
        type_ = "string"
    if type_ is None and "properties" in said:
        return "object"
    if not isinstance(type_, str) or type_ not in (*_KINDS, "array", "object"):
        wrong((*path, "type"), f"{shown(type_)} is not a type; write one of {', '.join((*_KINDS, 'array'))}")
    return type_


def _kind(said: Mapping[str, Any], path: Path) -> Kind:
    kind, format_, own = _KINDS[_type_name(said, path)], said.get("format"), said.get(KIND)
    if format_ is None and own is None:
        return kind
    if kind is not Kind.TEXT:
        wrong(path, f"has a format, which is for text; it is {_type_name(said, path)}")
    if own is not None and own not in (Kind.MONEY, Kind.DATE, Kind.URL):
        wrong((*path, KIND), f"{shown(own)} is wrong; write one of money, date, url")
    if format_ is not None and format_ not in _FORMATS:
        known = ", ".join(_FORMATS)
        wrong(
            (*path, "format"), f"{shown(format_)} is not checked here, so it is refused; write one of {known}"
        )
    return Kind(own) if own is not None else _FORMATS[str(format_)]


def _choices(said: Mapping[str, Any], path: Path) -> tuple[str, ...]:
    found = [each for each in list_at(said, "enum", path) if each is not None]
    if "enum" in said and not 0 < len(found) <= MAX_CHOICES:
        wrong((*path, "enum"), f"must list 1 to {MAX_CHOICES} texts")
    for each in found:
        if not isinstance(each, str) or not 0 < len(each) <= MAX_CHOICE or not each.isprintable():
            wrong((*path, "enum"), f"{shown(each)} is not a text of 1 to {MAX_CHOICE} printable characters")
    if len(set(found)) < len(found):
        wrong((*path, "enum"), "lists a value twice")
    return tuple(found)


def _says(said: Mapping[str, Any], path: Path) -> str:
    text = text_at(said, "description", path) or text_at(said, "title", path) or ""
    line = " ".join(text.split())
    if len(line) > MAX_SAYS or not line.isprintable():
        wrong(
            (*path, "description"), f"must be at most {MAX_SAYS} printable characters; it has {len(line):,}"
        )
    return line


def result_schema(schema: Schema) -> dict[str, Any]:
    """The JSON Schema of what is read: what a person wrote, and what a program that takes the data checks."""
    properties = {field.name: _property(field) for field in schema.fields}
    required = [field.name for field in schema.fields if field.required]
    return {
        "$schema": DRAFT,
        "title": schema.name,
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _property(field: Field) -> dict[str, Any]:
    nullable = not field.required
    one = dict(_value(field, nullable=nullable and not field.many))
    found = {"type": ["array", "null"] if nullable else "array", "items": one} if field.many else one
    said = {"description": field.says} if field.says else {}
    return {**found, **said, **({JUDGED: True} if field.judged else {})}


def _value(field: Field, *, nullable: bool) -> Iterator[tuple[str, Any]]:
    type_ = _TYPES[field.kind]
    yield "type", [type_, "null"] if nullable else type_
    if field.choices:
        yield "enum", [*field.choices, *([None] if nullable else [])]
    if field.kind is Kind.URL:
        yield "format", "uri"
    elif field.kind in (Kind.MONEY, Kind.DATE):
        yield KIND, field.kind.value


# As it is stored with recipes, extractions and data sets


def entity_text(entity: Entity) -> str:
    """An entity as JSON."""
    return orjson.dumps(
        {
            "name": entity.name,
            "many": entity.schema.many,
            "key": entity.schema.key,
            "fields": [
                {
                    "name": field.name,
                    "kind": field.kind,
                    "says": field.says,
                    "required": field.required,
                    "many": field.many,
                    "choices": field.choices,
                    "judged": field.judged,
                }
                for field in entity.schema.fields
            ],
        }
    ).decode()


def entity_from(text: str) -> Entity:
    """An entity as it was stored."""
    said = orjson.loads(text)
    fields = tuple(_stored_field(each) for each in said["fields"])
    schema = Schema(said["name"], fields, bool(said.get("many")), tuple(said.get("key") or ()))
    return Entity(said["name"], schema)


def _stored_field(said: Mapping[str, Any]) -> Field:
    return Field(
        said["name"],
        Kind(said["kind"]),
        said.get("says", ""),
        bool(said.get("required")),
        bool(said.get("many")),
        tuple(said.get("choices") or ()),
        bool(said.get("judged")),
    )


def entity_said(entity: Entity) -> Any:
    """An entity as a recipe names it: the opposite of `read_entity`."""
    shipped = shipped_entity(entity.name)
    if shipped is not None and shipped == entity:
        return entity.name
    if shipped is not None and shipped.schema.fields == entity.schema.fields:
        return {"name": entity.name, "key": list(entity.schema.key)}
    plain = {word: each for word, each in result_schema(entity.schema).items() if word != "$schema"}
    return {
        "name": entity.name,
        **({"key": list(entity.schema.key)} if entity.schema.key else {}),
        "schema": plain,
    }
