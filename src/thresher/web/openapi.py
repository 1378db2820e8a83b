"""Response schemas for OpenAPI, derived from one example per route, so that the two never differ."""

from collections.abc import Collection, Mapping
from typing import Any

from starlette.requests import Request

from thresher.web.answer import JSON
from thresher.web.cookie import SECURE_NAME

KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "scraper": {"type": "apiKey", "in": "header", "name": "X-Scraper-API-Key"},
    "login": {"type": "apiKey", "in": "cookie", "name": SECURE_NAME},
}
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def shape(example: Any, perhaps: Collection[str] = (), absent: Collection[str] = ()) -> dict[str, Any]:
    """The schema of everything that looks like an example. Members in `perhaps` may be null, those in
    `absent` may be missing.
    """
    if isinstance(example, Mapping):
        members = {
            name: _or_null(shape(value, perhaps, absent), name in perhaps) for name, value in example.items()
        }
        return {
            "type": "object",
            "properties": members,
            "required": [name for name in members if name not in absent],
        }
    if isinstance(example, list):
        return (
            {"type": "array", "items": shape(example[0], perhaps, absent)} if example else {"type": "array"}
        )
    if example is None:
        return {}
    return {"type": _TYPES[type(example)]}


def _or_null(schema: dict[str, Any], nullable: bool) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]} if nullable and "type" in schema else schema


def answers(
    example: Any, says: str = "OK", perhaps: Collection[str] = (), absent: Collection[str] = ()
) -> dict[str, Any]:
    """One answer of a route for its description."""
    return {
        "description": says,
        "content": {JSON: {"schema": shape(example, perhaps, absent), "example": example}},
    }


def asks(example: Any, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The body of a request that the framework does not read, for its description."""
    return {
        "required": True,
        "content": {JSON: {"schema": dict(schema or shape(example)), "example": example}},
    }


def described(request: Request, below: str = "") -> dict[str, Any]:
    """The API that is served, for programs: all of it, or the routes below a path."""
    said = dict(request.app.openapi())
    said["components"] = {**said.get("components", {}), "securitySchemes": KEYS}
    said["paths"] = {path: each for path, each in said["paths"].items() if path.startswith(below)}
    return {**said, "security": [{name: []} for name in KEYS]}
