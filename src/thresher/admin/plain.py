"""Convert what a query returns to plain JSON, the same for the command line and for HTTP."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from thresher.core.clock import as_text

# Written by an app or a person: shown as it is, whatever its keys are called.
OPAQUE = frozenset({"payload", "checkpoint"})


def is_time(name: str) -> bool:
    """Tell whether a whole number under this name is a time."""
    return name in ("at", "until") or name.endswith(("_at", "_until"))


def jsonable(value: Any, name: str = "") -> Any:
    """Plain JSON, with times (`at`, `..._at`, `until`, `..._until`) as ISO 8601."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: jsonable(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: item if key in OPAQUE else jsonable(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and is_time(name):
        return as_text(value)
    return value
