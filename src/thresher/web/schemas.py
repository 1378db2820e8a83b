"""Schemas of what the API is sent: request bodies, parsed strictly, so that an unknown field is an error."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from thresher.admin.export import FileFormat
from thresher.web.answer import JSON
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

    model_config = like(reason="they asked us to wait")

    reason: Text | None = None


class Pause(ReasonBody):
    """The length of a pause, such as 90s, 10m, 2h or 1d, or its end (`until`) with the time zone, such as
    2026-11-20T08:00+01:00 or 2026-11-20 08:00 Europe/Berlin; and its reason.
    """

    model_config = like(**{"for": "2h", "reason": "they asked us to wait"})

    lasts: Text | None = Field(None, alias="for")
    until: Text | None = None


class Value(RequestBody):
    """The new value of a setting; null restores the project's value or the default."""

    model_config = like(value=5)

    value: int | float | None


# A route that streams a file in one of the formats, as its parameter `format` says.
FILES: Mapping[str, Any] = {
    "responses": {
        "200": {
            "description": "The file",
            "content": {
                form.media_type.partition(";")[0]: {"schema": {"type": "string"}} for form in FileFormat
            },
        }
    }
}


def said(reason: ReasonBody | None, otherwise: str) -> str:
    """Return the given reason, or the default one."""
    return (reason.reason if reason and reason.reason else None) or otherwise


def given(body: RequestBody) -> dict[str, Any]:
    """Return the fields of a body that have a value."""
    return {name: value for name, value in body.model_dump().items() if value is not None}


def asks(example: Any, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a request body that the framework does not read."""
    return {"required": True, "content": {JSON: {"schema": dict(schema), "example": example}}}
