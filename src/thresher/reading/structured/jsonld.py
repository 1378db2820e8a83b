"""JSON-LD: the things in a page's `application/ld+json` scripts.

Every object with a type becomes a thing, however deep it stands: in a list, in `@graph`, as the `item` of a
list element, as the `mainEntity` of a page. A mere reference (`{"@id": "#acme"}`) is filled in from the same
page.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from thresher.reading.html.parser import Node
from thresher.reading.structured.loose_json import BrokenJson, read_json
from thresher.reading.structured.thing import MAX_DEPTH, MAX_THINGS, BadData, Thing, type_names

Found = tuple[str, Mapping[str, Any]]


def json_ld(root: Node) -> tuple[list[Thing], list[BadData]]:
    """The things of a page's JSON-LD, in order, and the scripts that cannot be read."""
    found: list[Found] = []
    troubles: list[BadData] = []
    for script in root.css('script[type*="ld+json" i]'):
        if not script.text.strip():
            continue
        try:
            value = read_json(script.text).value
        except BrokenJson as problem:
            troubles.append(BadData(script.path, f"JSON-LD that cannot be read: {problem}"))
            continue
        found += islice(_typed(value, f"{script.path} $", 0), MAX_THINGS - len(found))
    known = {
        mark: each
        for _, each in reversed(found)
        if isinstance(mark := each.get("@id"), str) and len(each) > 1
    }
    return [_thing(path, each, known) for path, each in found], troubles


def things_in(value: Any, path: str = "$") -> list[Thing]:
    """The things in JSON that was read already: an answer of an interface, data embedded in a page."""
    return [_thing(where, each, {}) for where, each in islice(_typed(value, path, 0), MAX_THINGS)]


def _typed(value: Any, path: str, depth: int) -> Iterator[Found]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for at, each in enumerate(value):
            if isinstance(each, dict | list):
                yield from _typed(each, f"{path}[{at}]", depth + 1)
    elif isinstance(value, dict):
        if type_names(value.get("@type")):
            yield path, value
        for key, each in value.items():
            if isinstance(each, dict | list):
                yield from _typed(each, f"{path}.{key[:80]}", depth + 1)


def _thing(path: str, value: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> Thing:
    types = type_names(value.get("@type"))
    properties = {
        key: _filled(each, known) for key, each in value.items() if key not in ("@type", "@context")
    }
    return Thing(types[0], properties, path, "json-ld", types)


def _filled(value: Any, known: Mapping[str, Mapping[str, Any]]) -> Any:
    """A reference replaced by what it refers to, one level deep: things may refer to each other in a
    circle.
    """
    if isinstance(value, list):
        return (
            [_filled(each, known) for each in value] if any(_refers(each) for each in value[:100]) else value
        )
    return known.get(value["@id"], value) if _refers(value) else value


def _refers(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get("@id"), str)
