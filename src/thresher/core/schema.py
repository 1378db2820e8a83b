"""Schemas: the fields of a thing, as an app asks a model, an extractor or a person for them.

Things are flat on purpose. A field holds a value or a list of values, so each value can be located in the
page it came from, learned by a selector, and put into one cell of a table.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from math import isfinite
from typing import Any

import orjson

from thresher.core.errors import UsageError

MAX_FIELDS = 100
MAX_TEXT = 20_000
MAX_VALUES = 1_000
MAX_THINGS = 5_000

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

Value = str | int | float | bool | None
Thing = Mapping[str, Any]


class Kind(StrEnum):
    """The type of a field's values. Money and dates stay text, as the page writes them."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    MONEY = "money"
    DATE = "date"
    BOOLEAN = "boolean"
    URL = "url"


_TYPES: Mapping[Kind, tuple[str, tuple[type, ...]]] = {
    Kind.TEXT: ("string", (str,)),
    Kind.NUMBER: ("number", (int, float)),
    Kind.INTEGER: ("integer", (int,)),
    Kind.MONEY: ("string", (str,)),
    Kind.DATE: ("string", (str,)),
    Kind.BOOLEAN: ("boolean", (bool,)),
    Kind.URL: ("string", (str,)),
}


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `says` explains it to whoever fills it in.

    `many` makes it a list. `choices` are the only values allowed. `judged` marks an opinion: it is not
    searched for in the page, and never counts as verified.
    """

    name: str
    kind: Kind = Kind.TEXT
    says: str = ""
    required: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    judged: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"a field name may only contain a-z, 0-9 and _, got {self.name!r}")
        if self.choices and self.kind is not Kind.TEXT:
            raise UsageError(f"field {self.name!r} has choices, so it must be text, not {self.kind}")

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema that model vendors expect: every field present, and null where the page says
        nothing.
        """
        one: dict[str, Any] = {"type": _TYPES[self.kind][0]}
        if self.choices:
            one["enum"] = list(self.choices)
        if self.many:
            found: dict[str, Any] = {"type": "array", "items": one}
        else:
            found = {"anyOf": [one, {"type": "null"}]}
        return found | ({"description": self.says} if self.says else {})

    def complaints(self, value: Any) -> Iterator[str]:
        """Yield what is wrong with a value, in words its author can act on."""
        if value is None or value in ([], ""):
            if self.required:
                yield f"{self.name} is required and is missing"
            return
        if self.many != isinstance(value, list):
            yield f"{self.name} must be {'a list' if self.many else 'one value'}, got {_shown(value)}"
            return
        values = value if self.many else [value]
        if len(values) > MAX_VALUES:
            yield f"{self.name} has {len(values)} values, at most {MAX_VALUES} are allowed"
            return
        yield from (complaint for each in values for complaint in self._complaints_of_one(each))

    def _complaints_of_one(self, value: Any) -> Iterator[str]:
        wanted, types = _TYPES[self.kind]
        if not isinstance(value, types) or (isinstance(value, bool) and self.kind is not Kind.BOOLEAN):
            yield f"{self.name} must be {_article(wanted)}, got {_shown(value)}"
        elif isinstance(value, float) and not isfinite(value):
            yield f"{self.name} must be a number, got {value}"
        elif isinstance(value, str) and len(value) > MAX_TEXT:
            yield f"{self.name} has {len(value)} characters, at most {MAX_TEXT} are allowed"
        elif self.choices and value not in self.choices:
            yield f"{self.name} must be one of {', '.join(self.choices)}, got {_shown(value)}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The fields of a thing. `many`: a page may show several, and a value is a list of things.

    `key` names the fields by which two things are the same; without it all fields count.
    """

    name: str
    fields: tuple[Field, ...]
    many: bool = False
    key: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if not 0 < len(names) <= MAX_FIELDS or len(set(names)) < len(names):
            raise UsageError(
                f"schema {self.name!r} needs 1 to {MAX_FIELDS} fields with different names, got {names}"
            )
        if strangers := [name for name in self.key if name not in names]:
            raise UsageError(
                f"schema {self.name!r} has the key {', '.join(strangers)}, which is not among its fields"
            )

    def __getitem__(self, name: str) -> Field:
        return next(field for field in self.fields if field.name == name)

    @property
    def digest(self) -> str:
        """Return a digest that changes whenever an answer to the old schema would not fit the new one."""
        said = [
            self.name,
            self.many,
            [self._thing()],
            list(self.key),
            [[f.name, f.kind, f.required, f.judged] for f in self.fields],
        ]
        return sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON schema: always an object, because vendors insist; several things are listed under
        `items`.
        """
        if not self.many:
            return self._thing()
        return _object({"items": {"type": "array", "items": self._thing()}})

    def _thing(self) -> dict[str, Any]:
        return _object({field.name: field.json_schema() for field in self.fields})

    def things(self, value: Any) -> list[Thing]:
        """The things in a value of `json_schema`'s shape that has no complaints."""
        return list(value["items"]) if self.many else [value]

    def complaints(self, value: Any) -> list[str]:
        """Return what is wrong with a value; empty if nothing is."""
        if not self.many:
            return list(self._complaints_of(value, ""))
        if not isinstance(value, dict) or not isinstance(value.get("items"), list):
            return [f"the answer must be an object with a list named items, got {_shown(value)}"]
        if len(value["items"]) > MAX_THINGS:
            return [f"items has {len(value['items'])} things, at most {MAX_THINGS} are allowed"]
        return [
            found
            for place, thing in enumerate(value["items"])
            for found in self._complaints_of(thing, f"item {place + 1}: ")
        ]

    def _complaints_of(self, thing: Any, where: str) -> Iterator[str]:
        if not isinstance(thing, dict):
            yield f"{where}must be an object, got {_shown(thing)}"
            return
        names = {field.name for field in self.fields}
        yield from (f"{where}{name!r} is not a field" for name in thing if name not in names)
        for field in self.fields:
            yield from (f"{where}{found}" for found in field.complaints(thing.get(field.name)))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aio" else f"a {word}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def values_of(field: Field, thing: Thing) -> Sequence[Value]:
    """Return the values of a field as a list; empty if there are none."""
    value = thing.get(field.name)
    if value is None or value == "":
        return ()
    return value if field.many else (value,)


# Names of the values of an answer in its evidence: `title`, `skills.2`, and with several things `0.title`.


def named(schema: Schema, value: Any) -> Iterator[tuple[str, Field, Value]]:
    """Every value that is there, with its name and its field."""
    for where, thing in things(schema, value):
        for field in schema.fields:
            for name, each in zip(names(field, thing, where), values_of(field, thing), strict=True):
                yield name, field, each


def things(schema: Schema, value: Any) -> Iterator[tuple[str, Thing]]:
    """Every thing, with what the names of its values begin with."""
    for place, thing in enumerate(schema.things(value)):
        yield (f"{place}." if schema.many else ""), thing


def names(field: Field, thing: Thing, where: str = "") -> Iterator[str]:
    """The names of the values of one field."""
    for place, _ in enumerate(values_of(field, thing)):
        yield f"{where}{field.name}.{place}" if field.many else f"{where}{field.name}"
