"""A value that fits a JSON schema, taken from a text where the text has it, drawn where it has not."""

import re
from typing import Any

from thresher.practice.web.answer import Json
from thresher.practice.web.draw import Draw

MOST_DEPTH = 8
MOST_TEXT = 200
MOST_ITEMS = 20
MOST_VALUES = 2_000


def instance(draw: Draw, schema: dict[str, Any], text: str) -> Json:
    """One instance. What cannot be understood of the schema becomes a string."""
    return _value(_Source(draw, text, schema), schema, "value", 0)


def mapping(value: Json) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


class _Source:
    """Where values come from: the lines of a text that look like `name: value`, else the draw."""

    def __init__(self, draw: Draw, text: str, root: dict[str, Any]) -> None:
        self.draw, self.root, self.left = draw, root, MOST_VALUES
        pairs = (line.partition(":") for line in text.splitlines())
        self.lines = {name.strip().lower(): value.strip() for name, _, value in pairs if value.strip()}

    def line(self, name: str) -> str | None:
        return self.lines.get(name.lower()) or self.lines.get(name.replace("_", " ").lower())


def _value(source: _Source, schema: Json, name: str, depth: int) -> Json:
    schema = _resolved(source, schema)
    source.left -= 1  # a schema may branch into itself at every level: a budget, besides the depth
    if "const" in schema:
        return schema["const"]
    if choices := sequence(schema.get("enum")):
        return _enum(source, choices, name)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = next((each for each in kind if each != "null"), "null")
    if depth >= MOST_DEPTH or source.left < 0 or kind == "null":
        return None
    match kind:
        case "object":
            return {key: _value(source, each, key, depth + 1) for key, each in mapping(schema.get("properties")).items()}
        case "array":
            count = max(1, min(_whole(schema.get("minItems"), 1), MOST_ITEMS))
            return [_value(source, schema.get("items"), name, depth + 1) for _ in range(count)]
        case "boolean":
            said = source.line(name)
            return source.draw.chance(50) if said is None else said.lower() in ("yes", "true")
        case "integer" | "number":
            return _number(source, schema, name, whole=kind == "integer")
        case _:
            return (source.line(name) or f"{name} {source.draw.below(1_000)}")[: max(0, _whole(schema.get("maxLength"), MOST_TEXT))]


def _resolved(source: _Source, schema: Json) -> dict[str, Any]:
    """Follows references within the schema and takes the first real branch of a choice."""
    for _ in range(MOST_DEPTH):
        schema = mapping(schema)
        branches = sequence(schema.get("anyOf")) or sequence(schema.get("oneOf")) or sequence(schema.get("allOf"))
        if isinstance(schema.get("$ref"), str):
            found: Json = source.root
            for part in schema["$ref"].removeprefix("#/").split("/"):
                found = mapping(found).get(part)
            schema = found
        elif branches:
            schema = next((each for each in branches if mapping(each).get("type") != "null"), {})
        else:
            return mapping(schema)
    return {}


def _enum(source: _Source, choices: list[Json], name: str) -> Json:
    said = (source.line(name) or "").lower()
    fitting = [each for each in choices if str(each).lower() == said]
    return fitting[0] if fitting else source.draw.pick(choices)


def _number(source: _Source, schema: dict[str, Any], name: str, *, whole: bool) -> float:
    least, most = _whole(schema.get("minimum"), 0), _whole(schema.get("maximum"), 10**15)
    found = re.search(r"-?\d{1,15}(?:\.\d{1,6})?", (source.line(name) or "").replace(",", ""))
    value = float(found[0]) if found else float(least + source.draw.below(max(1, min(most - least, 100) + 1)))
    value = max(least, min(value, most))
    return int(value) if whole else value


def _whole(value: Json, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) and abs(value) <= 10**15 else otherwise
