"""A value that fits a JSON schema: from what is known, else from a text, else null where that is allowed,
else invented.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from thresher.practice.web.answer import Json
from thresher.practice.web.draw import Draw
from thresher.practice.web.words import CITIES, FIRST, SECOND

# Values that look right and stand nowhere: what a model says when it would rather please than read.

TRIES = 50
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def invented(draw: Draw, kind: str, name: str, choices: list[Json], text: str) -> Json:
    """A plausible value of a field that is not in the text, as far as one can be found. Of choices, any."""
    if choices:
        return draw.pick(choices)
    if kind == "boolean":
        return draw.chance(50)
    lower = text.lower()
    for _ in range(TRIES):
        value = _invented_number(draw, kind) if kind in ("integer", "number") else _words(draw, name)
        if str(value).lower() not in lower:
            return value
    return f"{_words(draw, name)} {draw.between(10_000, 99_999)}"


def _invented_number(draw: Draw, kind: str) -> float:
    return draw.between(1_001, 9_998) if kind == "integer" else draw.between(100_101, 999_998) / 100


def _words(draw: Draw, name: str) -> str:
    """Of the sort that the name of the field makes one expect."""
    if any(part in name for part in ("price", "salary", "pay", "cost", "amount", "shipping")):
        return f"€{draw.between(1_001, 9_998):,}.{draw.between(11, 98)}"
    if any(part in name for part in ("date", "starts", "posted", "sold", "deadline")):
        return f"{draw.between(1, 28)} {draw.pick(MONTHS)} {draw.between(1931, 1959)}"
    if any(part in name for part in ("location", "city", "place", "where")):
        city = draw.pick(CITIES)
        return f"{city[0]}, {draw.pick(CITIES)[2]}"
    if "url" in name or "link" in name:
        return f"https://www.{draw.pick(FIRST).lower()}{draw.pick(SECOND).lower()}.example/{draw.between(1_000, 9_999)}"
    return f"{draw.pick(FIRST)} {draw.pick(SECOND)} {draw.between(10, 99)}"


MAX_DEPTH = 8
MAX_TEXT = 200
MAX_ITEMS = 20
MAX_VALUES = 2_000
MAX_TRUE_TEXT = 2_000
HEADED = ("title", "name", "heading", "headline")
PRESENT = ("present", "shown", "any", "exists", "found", "shows", "there")

Facts = Mapping[str, Json]


def instance(
    draw: Draw, schema: dict[str, Any], text: str, things: Sequence[Facts] | None = None, *, invents: int = 0
) -> Json:
    """One instance. `things` are the facts of what the text shows, None where nobody knows; `invents` is the
    percentage of made-up values.

    What cannot be understood of the schema becomes a string.
    """
    return _value(_Source(draw, text, schema, things, invents), schema, "value", 0)


def mapping(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


class _Source:
    """Where values come from: the facts, then the lines of a text that look like `name: value` and its
    headings, then the draw.
    """

    def __init__(
        self, draw: Draw, text: str, root: dict[str, Any], things: Sequence[Facts] | None, invents: int
    ) -> None:
        self.draw, self.root, self.left, self.text, self.invents = draw, root, MAX_VALUES, text, invents
        self.things = things
        self.thing: Facts = things[0] if things else {}
        lines = text.splitlines()
        pairs = (line.strip(" *-|\t").partition(":") for line in lines)
        self.lines = {
            name.strip(" *").lower(): value.strip(" *") for name, _, value in pairs if value.strip(" *")
        }
        self.heading = next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), None)

    def said(self, name: str) -> Json:
        """What is known or said under this name; None where nothing is."""
        if name in self.thing:
            return self.thing[name]
        if name in PRESENT and name not in self.lines:
            return bool(self.lines or self.heading) if self.things is None else bool(self.things)
        found = self.lines.get(name.lower()) or self.lines.get(name.replace("_", " ").lower())
        return found or (self.heading if name in HEADED else None)


def _value(source: _Source, schema: Json, name: str, depth: int) -> Json:
    nullable = _nullable(schema)
    schema = _resolved(source, schema)
    source.left -= 1  # a schema may branch into itself at every level: a budget, besides the depth
    if "const" in schema:
        return schema["const"]
    kind = _kind(schema)
    if depth >= MAX_DEPTH or source.left < 0 or (kind == "null" and "enum" not in schema):
        return None
    if kind == "object":
        return {
            key: _value(source, each, key, depth + 1)
            for key, each in mapping(schema.get("properties")).items()
        }
    if kind == "array":
        return _list(source, schema, name, depth)
    said = source.said(name)
    if isinstance(said, list):
        said = said[0] if said else None
    return _told(source, schema, name, said, nullable=nullable)


def _kind(schema: dict[str, Any]) -> str:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    return str(kind).lower()  # one vendor writes the names of types in capitals


def _list(source: _Source, schema: dict[str, Any], name: str, depth: int) -> Json:
    """Several things, several values of one, or as many as the schema insists on."""
    items, least = schema.get("items"), max(0, min(_whole(schema.get("minItems"), 0), MAX_ITEMS))
    if _kind(_resolved(source, items)) == "object" and source.things is not None and name not in source.thing:
        return [_each(source, items, name, depth, thing) for thing in source.things]
    if _kind(_resolved(source, items)) == "object":
        found = [_value(source, items, name, depth + 1) for _ in range(max(least, 1))]
        return [
            each
            for each in found
            if least or any(value not in (None, []) for value in mapping(each).values())
        ]
    return [
        _told(source, _resolved(source, items), name, each)
        for each in _several(source.said(name)) or [None] * least
    ]


def _several(said: Json) -> list[Json]:
    values = (
        said
        if isinstance(said, list)
        else [part.strip() for part in str(said or "").split(",") if part.strip()]
    )
    return values[:MAX_ITEMS]


def _told(source: _Source, schema: dict[str, Any], name: str, said: Json, *, nullable: bool = False) -> Json:
    """One value, unless one is made up in its place; null where nothing that fits was said."""
    if source.invents and source.draw.chance(source.invents):
        return invented(source.draw, _kind(schema), name, sequence(schema.get("enum")), source.text)
    return None if nullable and not _fits(schema, said) else _leaf(source, schema, _kind(schema), name, said)


def _fits(schema: dict[str, Any], said: Json) -> bool:
    if choices := sequence(schema.get("enum")):
        return str(said).lower() in [str(each).lower() for each in choices]
    return said is not None and (
        _kind(schema) not in ("integer", "number") or any(each.isdigit() for each in str(said))
    )


def _each(source: _Source, items: Json, name: str, depth: int, thing: Facts) -> Json:
    source.thing = thing
    return _value(source, items, name, depth + 1)


def _leaf(source: _Source, schema: dict[str, Any], kind: str, name: str, said: Json) -> Json:
    if choices := sequence(schema.get("enum")):
        fitting = [each for each in choices if str(each).lower() == str(said).lower()]
        return fitting[0] if fitting else source.draw.pick(choices)
    match kind:
        case "boolean":
            if isinstance(said, bool):
                return said
            return source.draw.chance(50) if said is None else str(said).lower() in ("yes", "true")
        case "integer" | "number":
            return _number(source, schema, "" if said is None else str(said), whole=kind == "integer")
        case _:
            most = MAX_TEXT if name not in source.thing else MAX_TRUE_TEXT
            return str(f"{name} {source.draw.below(1_000)}" if said is None else said)[
                : max(0, _whole(schema.get("maxLength"), most))
            ]


def _nullable(schema: Json) -> bool:
    schema = mapping(schema)
    branches = sequence(schema.get("anyOf")) or sequence(schema.get("oneOf"))
    kinds = schema.get("type")
    return (
        schema.get("nullable") is True
        or (isinstance(kinds, list) and "null" in kinds)
        or any(str(mapping(each).get("type")).lower() == "null" for each in branches)
    )


def _resolved(source: _Source, schema: Json) -> dict[str, Any]:
    """Follows references within the schema and takes the first real branch of a choice."""
    for _ in range(MAX_DEPTH):
        schema = mapping(schema)
        branches = (
            sequence(schema.get("anyOf")) or sequence(schema.get("oneOf")) or sequence(schema.get("allOf"))
        )
        if isinstance(schema.get("$ref"), str):
            found: Json = source.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = mapping(found).get(part)
            schema = found
        elif branches:
            schema = next((each for each in branches if str(mapping(each).get("type")).lower() != "null"), {})
        else:
            return mapping(schema)
    return {}


def _number(source: _Source, schema: dict[str, Any], said: str, *, whole: bool) -> float:
    least, most = _whole(schema.get("minimum"), 0), _whole(schema.get("maximum"), 10**15)
    found = re.search(r"-?\d{1,15}(?:\.\d{1,6})?", said.replace(",", ""))
    value = float(found[0]) if found else float(least + source.draw.below(max(1, min(most - least, 100) + 1)))
    value = max(least, min(value, most))
    return int(value) if whole else value


def _whole(value: Json, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) <= 10**15 else otherwise
