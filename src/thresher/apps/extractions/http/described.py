"""How the routes of this app describe their answers: by an example, with open places for what people and
pages wrote.
"""

from collections.abc import Collection
from typing import Any

from thresher.web.answer import JSON
from thresher.web.schemas import answers

# As a person or a page wrote it: its members may be others than those of the example.
_OPEN = frozenset(("configuration", "schema", "data", "values", "evidence", "fields", "running"))

# An item of a data set, as several routes show it.
ITEM: dict[str, Any] = {
    "id": 51,
    "datasetId": 9,
    "itemKey": "catalog.acme.example/courses/101",
    "page": "0123456789abcdef",
    "place": 0,
    "values": {"name": "Calculus"},
    "evidence": {"source": "9f…", "places": {"name": {"quote": "Calculus", "start": 10, "end": 18}}},
    "verified": True,
    "doubts": ["the page declares no ceu"],
    "readBy": "data",
    "digest": "77…",
    "url": "https://catalog.acme.example/courses/101",
    "createdAt": "2026-03-02T10:45:01.000Z",
}


def fits(example: Any, perhaps: Collection[str] = (), absent: Collection[str] = ()) -> dict[str, Any]:
    """The description of a route whose answers look like this example. Members in `perhaps` may be null,
    those in `absent` may be missing.
    """
    found = answers(example, perhaps=perhaps, absent=absent)
    (told,) = found["content"].values()
    return {"responses": {"200": {**found, "content": {JSON: {**told, "schema": _opened(told["schema"])}}}}}


def _opened(schema: Any) -> Any:
    """A description in which what people write is any object, and an entity its name or its schema."""
    if isinstance(schema, list):
        return [_opened(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _opened(each) for name, each in schema.items()}
    members = found.get("properties", {})
    members |= {
        name: {"type": "object"} for name in members.keys() & _OPEN if members[name].get("type") == "object"
    }
    if "configuration" in members:
        members["entity"] = {"type": ["string", "object"]}
    return found
