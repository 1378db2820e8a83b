"""Every value of structured data with its JSON path, in document order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_LEAVES = 50_000
MAX_DEPTH = 64
MAX_PATH = 2_000  # characters; keys as long as a book are nobody's field

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class JsonValue:
    """One value of the data. `key` is the name it is kept under, `beside` the object that it is a part of."""

    value: str | int | float | bool
    path: str
    key: str
    beside: Any


def leaves(data: Any) -> Iterator[JsonValue]:
    """Depth first, without recursion: data nests as deep as its sender likes."""
    stack: list[tuple[Any, str, str, Any, int]] = [(data, "$", "", None, 0)]
    count = 0
    while stack and count < MAX_LEAVES:
        value, path, key, beside, depth = stack.pop()
        if len(path) > MAX_PATH:
            continue
        if isinstance(value, (str, int, float)):
            count += 1
            yield JsonValue(value, path, key, beside)
        elif depth < MAX_DEPTH:
            stack.extend(
                (each, f"{path}{step}", name, around, depth + 1)
                for each, step, name, around in reversed(_inside(value, key))
            )


def _inside(value: Any, key: str) -> list[tuple[Any, str, str, Any]]:
    if isinstance(value, dict):
        return [(each, _step(str(name)), str(name), value) for name, each in list(value.items())[:MAX_LEAVES]]
    if isinstance(value, list):
        return [(each, f"[{at}]", key, None) for at, each in enumerate(value[:MAX_LEAVES])]
    return []


def _step(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return f".{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"['{escaped}']"
