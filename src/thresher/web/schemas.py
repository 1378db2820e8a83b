"""Schemas of the API: request bodies, parsed strictly (an unknown field is an error), and responses, derived
from one example per route.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request

from thresher.core.app import App
from thresher.web.answer import JSON
from thresher.web.auth import SECURE_NAME, key_headers
from thresher.web.route import MAX_TEXT

MAX_AT_ONCE = 1_000


def _whole(text: str) -> str:
    if "\0" in text:
        raise ValueError("text must not contain NUL")
    return text


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_whole)]


class RequestBody(BaseModel):
    """The base of every request body."""

    model_config = ConfigDict(extra="forbid", strict=True)


def like(**example: Any) -> ConfigDict:
    """Give a schema an example."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class TaskAsked(RequestBody):
    """A task of a kind that an app of the server defines. `key` is unique among the live tasks of the kind;
    `delay` is in seconds.
    """

    model_config = like(kind="greet", payload={"name": "Ada"}, key="ada")

    kind: Text
    payload: dict[str, Any] = {}
    url: Text | None = None
    key: Text | None = None
    priority: int = 0
    delay: float = 0.0


class ReasonBody(RequestBody):
    """The reason for a change; it is stored and shown."""

    reason: Text | None = None


class Pause(ReasonBody):
    """The length of a pause, such as 90s, 10m, 2h or 1d, or its end (`until`) with the time zone, such as
    2026-11-20T08:00+01:00 or 2026-11-20 08:00 Europe/Berlin; and its reason.
    """

    lasts: Text | None = Field(None, alias="for")
    until: Text | None = None


class Value(RequestBody):
    """The new value of a setting; null restores the project's value or the default."""

    value: int | float | None


def said(reason: ReasonBody | None, otherwise: str) -> str:
    """Return the given reason, or the default one."""
    return (reason.reason if reason and reason.reason else None) or otherwise


def given(body: RequestBody) -> dict[str, Any]:
    """Return the fields of a body that have a value."""
    return {name: value for name, value in body.model_dump().items() if value is not None}


# Response schemas for OpenAPI, derived from one example per route, so that the two never differ.

_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def shape(example: Any, perhaps: Collection[str] = (), absent: Collection[str] = ()) -> dict[str, Any]:
    """Return the schema of everything that looks like an example. Members in `perhaps` may be null, those in
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
    """Describe one response of a route."""
    return {
        "description": says,
        "content": {JSON: {"schema": shape(example, perhaps, absent), "example": example}},
    }


def asks(example: Any, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Describe a request body that the framework does not read."""
    return {
        "required": True,
        "content": {JSON: {"schema": dict(schema or shape(example)), "example": example}},
    }


def described(request: Request, below: str = "") -> dict[str, Any]:
    """Return the OpenAPI description of the API: all of it, or the routes below a path."""
    said = dict(request.app.openapi())
    schemes = security_schemes(request.app.state.runtime.registry.apps)
    said["components"] = {**said.get("components", {}), "securitySchemes": schemes}
    said["paths"] = {path: each for path, each in said["paths"].items() if path.startswith(below)}
    return {**said, "security": [{name: []} for name in schemes]}


def security_schemes(apps: Iterable[App]) -> dict[str, dict[str, str]]:
    """The ways to show who asks: a key in one of its headers, or a login."""
    headers = {name.lower(): {"type": "apiKey", "in": "header", "name": name} for name in key_headers(apps)}
    return {
        "bearer": {"type": "http", "scheme": "bearer"},
        **headers,
        "login": {"type": "apiKey", "in": "cookie", "name": SECURE_NAME},
    }
