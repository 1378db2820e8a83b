"""Parse requests for tasks: arguments of a command, or a file with one JSON object per line."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from thresher.admin.times import seconds
from thresher.core.errors import InvalidPayload, UsageError
from thresher.core.task import Entry, NewTask
from thresher.engine.registry import Registry

FIELDS = ("kind", "payload", "url", "key", "priority", "delay")


def parse_payload(text: str, where: str) -> dict[str, Any]:
    """A JSON object, or an error that says where it stops being one."""
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise InvalidPayload(f"{where} is not JSON: {problem}") from None
    except RecursionError:
        raise InvalidPayload(f"{where} is nested too deeply to be read") from None
    if not isinstance(value, dict):
        raise InvalidPayload(f'{where} wants a JSON object such as {{"id": 1}}, got {_kind_of(value)}')
    return value


def read_lines(registry: Registry, lines: Iterable[str], name: str) -> list[Entry]:
    """The tasks in a file, all checked. The first bad line is named, and then none is taken."""
    entries = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                entries.append(registry.admit(new_task(parse_payload(line, "the line"))))
            except UsageError as problem:
                raise type(problem)(f"{name}:{number}: {problem}. Nothing was added.") from None
    return entries


def new_task(fields: Mapping[str, Any]) -> NewTask:
    """A request from plain fields, each of the right type."""
    for name in fields:
        if name not in FIELDS:
            raise InvalidPayload(f"{name!r} is not known; a task has {', '.join(FIELDS)}")
    if "kind" not in fields:
        raise InvalidPayload("there is no kind; a task names at least its kind")
    delay = _want(fields, "delay", (int, float, str), 0)
    return NewTask(
        kind=_want(fields, "kind", (str,), ""),
        payload=_want(fields, "payload", (dict,), {}),
        url=_want(fields, "url", (str,), None),
        key=_want(fields, "key", (str,), None),
        priority=_want(fields, "priority", (int,), 0),
        delay=seconds(delay) if isinstance(delay, str) else delay,
    )


def _want(fields: Mapping[str, Any], name: str, types: tuple[type, ...], default: Any) -> Any:
    value = fields.get(name)
    if value is None:
        return default
    if not isinstance(value, types) or isinstance(value, bool):
        words = {str: "text", dict: "an object", int: "a whole number", float: "a number"}
        raise InvalidPayload(
            f"{name} wants {' or '.join(words[each] for each in types)}, got {_kind_of(value)}"
        )
    return value


def _kind_of(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
