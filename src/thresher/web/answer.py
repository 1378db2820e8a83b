"""Answers: a value of the rooms below as JSON, made on a database thread so that the event loop never waits for one."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ParamSpec, TypeVar

from starlette.responses import Response

from thresher.core.clock import as_text
from thresher.store.store import Store

# What an app or a person wrote: shown as it is, whatever its keys are called.
OPAQUE = frozenset({"payload", "checkpoint"})
JSON = "application/json"

P = ParamSpec("P")
T = TypeVar("T")


async def answer(store: Store, fn: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Response:
    """Call a function of the rooms below with a whole transaction of its own, and answer with what it returns."""
    body = await store.run(lambda: written(fn(*args, **kwargs)))
    return Response(body, media_type=JSON)


def written(value: Any) -> bytes:
    """A value as JSON. What is not text, such as half a character, becomes a question mark."""
    return json.dumps(jsonable(value), ensure_ascii=False, default=str).encode("utf-8", "replace")


def jsonable(value: Any, name: str = "") -> Any:
    """Plain JSON, with times (`at`, `..._at`, `until`) as ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: item if key in OPAQUE else jsonable(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and (name in ("at", "until") or name.endswith("_at")):
        return as_text(value)
    return value
